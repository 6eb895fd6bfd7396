"""The entry: a table of commands loaded only when asked for, and the mapping of every ending to an exit status."""

import os
import sys
from collections.abc import Sequence
from enum import IntEnum
from importlib import import_module

import click
from click.shell_completion import CompletionItem

from headway import __version__
from headway.cli.groups import Group
from headway.failure import HeadwayError, InvalidInput


class ExitStatus(IntEnum):
    """How a command ended."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    INTERRUPTED = 130


COMMANDS: dict[str, tuple[str, str]] = {
    "chat": ("headway.cli.chat.command:chat", "Talk with the agent at a terminal."),
    "completion": ("headway.cli.completion:completion", "Print the script that completes commands in a shell."),
    "config": ("headway.cli.config.command:config", "Make settings, and see which are in force and why."),
    "demo": ("headway.cli.demo:demo", "Show the core at work on streams that break."),
    "doctor": ("headway.cli.doctor.command:doctor", "Look at everything an answer needs; say what to do next."),
    "exec": ("headway.cli.exec:exec_", "Run a client people already use through the gateway."),
    "explain": ("headway.cli.explain:explain", "Say what an error is and what Headway does about it."),
    "import": ("headway.cli.import_:import_", "Make settings from those of another gateway."),
    "run": ("headway.cli.run:run", "Give the agent one task, and wait until it is done."),
    "serve": ("headway.cli.serve:serve", "Serve clients of every wire through streams that break."),
    "sessions": ("headway.cli.sessions.command:sessions", "List, read, copy, carry over and delete sessions."),
    "sim": ("headway.cli.sim:sim", "Start a provider that misbehaves on purpose."),
    "trace": ("headway.cli.trace:trace", "Show what became of the gateway's requests."),
    "mcp": ("headway.cli.mcp:mcp", "See and try the servers that give the agent more tools."),
    "heal": ("headway.cli.heal:heal", "Make a wedged history valid again, or convert it to another wire."),
}
"""Name to (place, one line of help); `--help` loads none of them."""


class LazyGroup(Group):
    """A group that imports a command only when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click calls it so
        """Return the names, in order."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), name)
        if ctx.resilient_parsing:  # a shell asks how the line could go on
            import_module("headway.cli.completion_values").with_values(command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Offer the commands from the table, so that a press of a key loads none of them."""
        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        found = [CompletionItem(name, help=COMMANDS[name][1]) for name in names]
        return [*found, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list from the table, so that help stays light."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


BEGIN_HERE = "Begin here: headway config init. Does all work? headway doctor. Without a key: headway demo."


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, epilog=BEGIN_HERE)
@click.version_option(__version__, prog_name="headway")
def cli() -> None:
    """A streaming runtime for LLM agents in which no broken stream can stop the work."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; nothing gets out as a traceback."""
    try:
        result = cli.main(args=list(arguments) if arguments is not None else None, standalone_mode=False)
    except click.ClickException as exc:
        exc.show()
        return int(ExitStatus.USAGE)
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except InvalidInput as exc:
        click.echo(f"headway: {exc}", err=True)
        return int(ExitStatus.USAGE)
    except HeadwayError as exc:
        click.echo(f"headway: {exc}", err=True)
        return int(ExitStatus.FAILED)
    except (click.Abort, KeyboardInterrupt):
        click.echo("headway: interrupted", err=True)
        return int(ExitStatus.INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (`headway … | head`): nothing to say, nobody to say it to.
        sys.stderr.close()
        return int(ExitStatus.FAILED)
    except OSError as exc:
        where = exc.filename or "the output"
        click.echo(f"headway: {where} could not be read or written: {exc.strerror or exc}", err=True)
        # What is left in the buffer would be tried again at the exit, and be complained about by the interpreter.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitStatus.FAILED)
    return result if isinstance(result, int) else int(ExitStatus.DONE)
