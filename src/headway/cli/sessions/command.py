"""`headway sessions`: its name alone lists. Each command has a file of its own kind."""

import io
import sys

import click

from headway.cli.groups import Group
from headway.cli.sessions.changing_commands import delete, fork, rename
from headway.cli.sessions.import_command import import_
from headway.cli.sessions.reading_commands import export, list_, show

EPILOG = """
\b
Examples:
  headway sessions                         those of this folder
  headway sessions --all --json | jq       all of them, for programs
  headway sessions show 1n8k               one, by the beginning of its id
  headway sessions import --from codex     the latest that Codex had here
  headway run --resume 1n8k "continue"     go on with one
"""


class _ListsByItself(Group):
    """A group whose name alone lists, with the options of its list."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the name of the list where no command is named."""
        if not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_ListsByItself, epilog=EPILOG)
def sessions() -> None:
    """List, read, copy, export, import and delete what was talked about."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


for command in (list_, show, rename, fork, export, import_, delete):
    sessions.add_command(command)
