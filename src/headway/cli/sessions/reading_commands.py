"""`headway sessions list`, `show` and `export`: nothing is changed by them."""

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from headway.cli.delivery import write_whole
from headway.cli.sessions.listing import listed
from headway.cli.sessions.opening import chosen, to_read
from headway.cli.sessions.overview import overview
from headway.cli.sessions.page import Page
from headway.cli.sessions.saying import config_option, json_lines, lines, say, screen
from headway.cli.sessions.words import counted
from headway.cli.terminal import visible
from headway.failure import InvalidInput
from headway.settings import load
from headway.store.jsonl import to_lines
from headway.store.markdown import to_markdown
from headway.store.sessions import Sessions


@click.command("list")
@config_option
@click.option("--all", "everywhere", is_flag=True, help="Those of all folders.")
@click.option("--last", type=click.IntRange(1), default=20, show_default=True, help="How many to show.")
@click.option("--json", "machine", is_flag=True, help="Print one session a line, as JSON.")
def list_(config: Path | None, *, everywhere: bool, last: int, machine: bool) -> int:
    """List the sessions of this folder, the latest first, and what is open in them."""
    loaded = load(config)
    folder = loaded.around.folder.resolve()
    with to_read(loaded) as store:
        found = store.list(None if everywhere else str(folder))
        elsewhere = 0 if everywhere else len(store.list()) - len(found)
        shown = [overview(store, info) for info in found[:last]]
    if machine:
        json_lines(shown)
        return 0
    terminal, width, paint = screen(sys.stdout, loaded)
    lines(terminal, listed(shown, loaded.around.home, time.time(), width, paint))
    if len(found) > len(shown):
        say(f"{counted(len(found) - len(shown), 'older one')} not shown (--last {len(found)} shows all)")
    if not found:
        words = f"; {counted(elsewhere, 'session')} of other folders (--all)" if elsewhere else ""
        say(f"no session of {visible(str(folder)) if not everywhere else 'any folder'} yet{words}")
    return 0


@click.command()
@click.argument("name", metavar="[ID]", required=False)
@config_option
@click.option("--full", is_flag=True, help="Every word, and not only how long texts begin.")
@click.option("--json", "machine", is_flag=True, help="Print it as one JSON value.")
def show(name: str | None, config: Path | None, *, full: bool, machine: bool) -> int:
    """Show a session: what was said and done in it, and what is open. Without an ID, the latest of this folder."""
    loaded = load(config)
    with to_read(loaded) as store:
        info = chosen(store, name, loaded.around.folder.resolve())
        seen, state = overview(store, info), store.state(info.id)
    if machine:
        nudges = [at for at, message in enumerate(state.history) if message in state.nudges]
        json_lines([{**msgspec.to_builtins(seen), "messages": msgspec.to_builtins(state.history), "nudges": nudges}])
        return 0
    terminal, width, paint = screen(sys.stdout, loaded)
    lines(terminal, Page(width, paint, full=full).lines(seen, state, loaded.around.home, time.time()))
    return 0


@click.command()
@click.argument("name", metavar="[ID]", required=False)
@config_option
@click.option("--format", "form", type=click.Choice(["jsonl", "markdown"]), help="By the name of the file, or jsonl.")
@click.option("-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to a file.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def export(name: str | None, config: Path | None, form: str | None, output: Path | None, *, force: bool) -> int:
    """Write a session out: every record a line (`jsonl`, which can be imported again), or as Markdown to read."""
    if output is not None and output.exists() and not force:
        raise InvalidInput(str(output), "it is there already", "Choose another name, or add --force.")
    loaded = load(config)
    by_name = "markdown" if output is not None and output.suffix.lower() in (".md", ".markdown") else "jsonl"
    with to_read(loaded) as store:
        session = chosen(store, name, loaded.around.folder.resolve()).id
        pieces = _pieces(store, session, form or by_name)
        if output is None:
            seen = sys.stdout.isatty()  # then nothing of it may act on the terminal
            sys.stdout.buffer.writelines(visible(one.decode()).encode() if seen else one for one in pieces)
            sys.stdout.flush()
            return 0
        try:
            write_whole(output.resolve(), pieces, private=True)
        except OSError as error:  # what it names may be a file that only we know of
            why = f"{visible(str(output))} could not be written: {error.strerror or type(error).__name__}"
            say(f"{why}. Nothing was written; name a place in a folder that is there and has room")
            return 1
    say(f"wrote session {session} to {visible(str(output))}")
    return 0


def _pieces(store: Sessions, session: str, form: str) -> Iterator[bytes]:
    if form == "markdown":
        yield to_markdown(store.state(session)).encode("utf-8", "replace")
    else:
        yield from to_lines(store.store.read(session))
