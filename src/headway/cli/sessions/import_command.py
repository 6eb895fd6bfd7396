"""`headway sessions import`: conversations of other agents, and saved histories."""

import sys
from pathlib import Path
from typing import Any

import click

from headway.cli.sessions.accounts import told
from headway.cli.sessions.agents import latest_of
from headway.cli.sessions.importing import take_over
from headway.cli.sessions.opening import to_write
from headway.cli.sessions.reading import read_session
from headway.cli.sessions.saying import config_option, json_lines, lines, say, screen
from headway.cli.terminal import visible
from headway.failure import InvalidInput
from headway.foreign.formats import FORMATS
from headway.settings import Loaded, load

EPILOG = f"""
\b
Examples:
  headway sessions import --from claude-code
  headway sessions import ~/.claude/projects/-home-me-site/1f0c….jsonl
  headway sessions import wedged.json --dry-run
  headway run --resume "$(headway sessions import rollout.jsonl)" "continue"

\b
PATH is a session file, a folder of them (the latest is taken), or - for standard
input. Without a PATH it is the latest session that the agent of --from had in this
folder. The format is found out: {", ".join(FORMATS[:3])},
{", ".join(FORMATS[3:])}, or an export of `headway sessions export`.

\b
The id of the new session goes to standard output, the account of what was repaired
and left out to standard error. The file itself is never changed.

\b
Exit status: 0 everything was taken over; 2 a file could not be read, or wrong usage.
"""


@click.command("import", epilog=EPILOG)
@click.argument("paths", metavar="[PATH...]", nargs=-1)
@config_option
@click.option("--from", "source", type=click.Choice(FORMATS), help="What it is, if it is not found out rightly.")
@click.option("--workspace", type=click.Path(path_type=Path, file_okay=False), help="The folder it is about.")
@click.option("--title", default="", help="What to call it.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option(
    "--json", "machine", is_flag=True, help="Print the account of each as a line of JSON, to standard output."
)
def import_(paths: tuple[str, ...], config: Path | None, source: str | None, **given: Any) -> int:
    """Take over a conversation of another agent, or a saved history, healed; it can be gone on with at once."""
    loaded = load(config)
    here = loaded.around.folder.resolve()
    asked = given["workspace"]
    if asked is not None and not asked.is_dir():
        raise InvalidInput(str(asked), "there is no such folder", "Make it first, or name another.")
    places = paths or (str(latest_of(source or "", loaded.around, (asked or here).resolve())),)
    status = 0
    for place in places:
        try:
            _import(place, loaded, source, given)
        except InvalidInput as error:
            if len(places) == 1:
                raise
            say(visible(str(error)))
            status = 2
    return status


def _import(place: str, loaded: Loaded, source: str | None, given: dict[str, Any]) -> None:
    here = loaded.around.folder.resolve()
    read = read_session(place, source, here)
    if read.session is None and (given["workspace"] or given["title"]):
        raise InvalidInput(
            read.name, "an export of Headway brings its folder and its title along", "Rename it afterwards."
        )
    folder = given["workspace"] or _folder_of(read.session.folder if read.session else "", here)
    if given["dry_run"]:
        account = take_over(read, None, folder.resolve(), given["title"])
    else:
        with to_write(loaded) as store:
            account = take_over(read, store, folder.resolve(), given["title"])
    if given["machine"]:
        json_lines([account])
        return
    terminal, width, paint = screen(sys.stderr, loaded)
    lines(terminal, told(account, loaded.around.home, width, paint))
    if account.session:
        click.echo(account.session)


def _folder_of(named: str, here: Path) -> Path:
    """Return the folder that a session names, if it is one of this machine."""
    path = Path(named)
    return path if named and path.is_absolute() and path.is_dir() else here
