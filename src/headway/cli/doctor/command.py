"""`headway doctor`: look at everything that an answer needs, and say what to do next."""

import asyncio
import io
import sys
from contextlib import aclosing
from pathlib import Path

import click
import msgspec

from headway.cli.doctor.about_providers import Manner
from headway.cli.doctor.examining import Wish, examine
from headway.cli.doctor.findings import Finding, State, Verdict
from headway.cli.doctor.probing import PATIENCE_SECONDS
from headway.cli.doctor.showing import Page
from headway.cli.terminal import Terminal
from headway.failure import InvalidInput
from headway.settings import load, surroundings
from headway.settings.places import Surroundings

EPILOG = """
\b
Examples:
  headway doctor
  headway doctor anthropic openai/gpt-5.5
  headway doctor --no-request
  headway doctor --json | jq 'select(.state == "problem")'

\b
Each provider of the routes is asked for one word, with each of its keys, all at
once: that costs a few tokens. --no-request only sees whether somebody answers
there, and shows no key.

\b
Exit status:
  0    All is well, or what is not does not keep anybody from working.
  1    There are problems; each has a line of advice.
  2    The command line is wrong, or names a file or provider that is not there.
  130  It was interrupted.
"""


@click.command(epilog=EPILOG)
@click.argument("providers", nargs=-1, metavar="[PROVIDER[/MODEL]]...")
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--no-request", "quietly", is_flag=True, help="Ask nobody for anything; only see who answers.")
@click.option(
    "--seconds",
    type=click.FloatRange(0.1, 600),
    default=PATIENCE_SECONDS,
    show_default=True,
    help="The longest quiet to wait for.",
)
@click.option("--json", "machine", is_flag=True, help="Print one finding a line, as JSON, and the verdict last.")
def doctor(providers: tuple[str, ...], config: Path | None, *, quietly: bool, seconds: float, machine: bool) -> int:
    """Look at settings, keys, providers, store and sandbox; say what to do about each problem."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    around = surroundings()
    if config is not None and not (around.folder / config.expanduser()).is_file():
        raise InvalidInput(str(config), "there is no such file", "Check the path after --config.")
    wish = Wish(providers, Manner(asks=not quietly, patience_seconds=seconds), config)
    return asyncio.run(_examined(config, around, wish, machine=machine))


async def _examined(config: Path | None, around: Surroundings, wish: Wish, *, machine: bool) -> int:
    page = Page(Terminal(sys.stdout, around.environ))
    problems = notes = 0
    async with aclosing(examine(lambda: load(config, around=around), around, wish)) as findings:
        async for finding in findings:
            problems += finding.state is State.PROBLEM
            notes += finding.state is State.NOTE
            if machine:
                _print(finding)
            else:
                page.show(finding)
    verdict = Verdict(problems, notes)
    if machine:
        _print(verdict)
    else:
        page.end(verdict)
    return 1 if problems else 0


def _print(value: Finding | Verdict) -> None:
    click.echo(msgspec.json.encode(value))
