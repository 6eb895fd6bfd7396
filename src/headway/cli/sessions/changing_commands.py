"""`headway sessions rename`, `fork` and `delete`."""

import sys
import time
from pathlib import Path

import click

from headway.cli.sessions.listing import listed
from headway.cli.sessions.opening import to_write
from headway.cli.sessions.overview import overview
from headway.cli.sessions.saying import config_option, lines, say, screen
from headway.cli.terminal import visible
from headway.failure import InvalidInput
from headway.settings import Loaded, load
from headway.store.records import TurnEnded
from headway.store.rows import entries_of
from headway.store.sessions import Sessions


@click.command()
@click.argument("name", metavar="ID")
@click.argument("title")
@config_option
def rename(name: str, title: str, config: Path | None) -> int:
    """Give a session another title."""
    title = " ".join(title.split())
    if not title:
        raise InvalidInput("the title", "it is empty", 'Try: headway sessions rename ID "A title"')
    with to_write(load(config)) as store:
        session = store.find(name).id
        store.rename(session, title)
    say(f"session {session} is called “{visible(title)}” now")
    return 0


@click.command()
@click.argument("name", metavar="ID")
@config_option
@click.option("--turn", type=click.IntRange(0), help="Copy only up to the end of this turn.")
def fork(name: str, config: Path | None, turn: int | None) -> int:
    """Copy a session, and print the id of the copy; the original stays as it is."""
    from headway.settings.safety import copy_checkpoints

    loaded = load(config)
    with to_write(loaded) as store:
        session = store.find(name).id
        copy = store.fork(session, _end_of(store, session, turn) if turn is not None else None)
    click.echo(copy)
    if turn is None:  # of a copy of a part, nobody can say which changes belong to it
        try:
            copy_checkpoints(loaded, session, copy)
        except OSError as error:
            say(f"what was kept to undo changes could not be copied: {error.strerror or error}")
    say(f"a copy of {session}; to go on with it: headway chat --resume {copy}")
    return 0


@click.command()
@click.argument("names", metavar="ID...", nargs=-1, required=True)
@config_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(names: tuple[str, ...], config: Path | None, *, yes: bool) -> int:
    """Remove sessions for good, with what was kept to undo their changes."""
    loaded = load(config)
    with to_write(loaded) as store:
        found = {info.id: info for info in map(store.find, names)}
        if not yes:
            terminal, width, paint = screen(sys.stderr, loaded)
            seen = [overview(store, info) for info in found.values()]
            lines(terminal, listed(seen, loaded.around.home, time.time(), width, paint))
            if not _is_sure(len(found)):
                say("nothing was deleted")
                return 1
        for session in found:
            _delete(store, loaded, session)
    return 0


def _end_of(store: Sessions, session: str, turn: int) -> int:
    """Return the record that ends a turn; turn 0 is what was imported, or nothing."""
    ends = {
        entry.record.turn: entry.seq
        for entry in entries_of(store.store.read(session))
        if isinstance(entry.record, TurnEnded)
    }
    if turn not in ends:
        known = f"It has ended turns: {', '.join(map(str, ends))}." if ends else "No turn of it has ended."
        raise InvalidInput(f"turn {turn} of session {session}", "there is no such turn that has ended", known)
    return ends[turn]


def _is_sure(count: int) -> bool:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput("delete", "nobody is here to be asked", "Add --yes.")
    what = "this session" if count == 1 else f"these {count} sessions"
    return click.confirm(f"Delete {what} for good?", default=False, err=True)


def _delete(store: Sessions, loaded: Loaded, session: str) -> None:
    from headway.settings.safety import forget_checkpoints

    store.delete(session)
    try:
        forget_checkpoints(loaded, session)
    except OSError as error:
        say(f"what was kept to undo the changes of {session} could not be removed: {error.strerror or error}")
    say(f"session {session} is deleted")
