"""`headway mcp`: the servers that give the agent more tools: which there are, whether they work, and who is trusted."""

import asyncio
import io
import shlex
import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import click
import msgspec

from headway.cli.groups import Group
from headway.cli.mcp_examining import State, examine
from headway.cli.mcp_showing import Page
from headway.cli.terminal import Terminal, visible
from headway.failure import InvalidInput
from headway.settings import Loaded, load
from headway.settings.mcp_servers import Named, servers_named, trust, untrust
from headway.settings.reading import closest

ABOUT = """
\b
Examples:
  headway mcp list
  headway mcp test github
  headway mcp test --json | jq 'select(.state == "failed")'

\b
Servers are tables of the settings:
  [mcp.github]
  command = ["npx", "-y", "@modelcontextprotocol/server-github"]
  env = { GITHUB_PERSONAL_ACCESS_TOKEN = "env:GITHUB_TOKEN" }
"""
STATUSES = """
\b
Exit status:
  0    All of them work. One that is off (enabled = false) does not count.
  1    One does not work, is not trusted yet, or is off and was named; its line says why.
  2    The command line or the settings are wrong.
  130  It was interrupted.
"""
_CONFIG = click.option(
    "--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual."
)
_JSON = click.option("--json", "machine", is_flag=True, help="Print one server a line, as JSON.")


@click.group(cls=Group, epilog=ABOUT)
def mcp() -> None:
    """See and try the servers that give the agent more tools."""


@mcp.command(name="list", epilog=STATUSES)
@_CONFIG
@click.option("--no-start", "quietly", is_flag=True, help="Start none of them; only say what is set.")
@_JSON
def list_(config: Path | None, *, quietly: bool, machine: bool) -> int:
    """List the servers of the settings, and how many tools each has."""
    loaded = load(config)
    named = servers_named(loaded, loaded.around.folder)
    return _shown(loaded, named, start=not quietly, machine=machine, at_length=False)


@mcp.command(name="test", epilog=STATUSES)
@click.argument("names", nargs=-1, metavar="[NAME]...")
@_CONFIG
@_JSON
def test_(names: tuple[str, ...], config: Path | None, *, machine: bool) -> int:
    """Start servers, and show how long each phase took and which tools there are."""
    loaded = load(config)
    _check(names, loaded)
    named = [one for one in servers_named(loaded, loaded.around.folder) if not names or one.name in names]
    return _shown(loaded, named, start=True, machine=machine, at_length=True, wanted=bool(names))


@mcp.command(name="trust")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_CONFIG
def trust_(names: tuple[str, ...], config: Path | None) -> int:
    """Let servers of this project's headway.toml start, as they are written now."""
    loaded = load(config)
    _check(names, loaded)
    trust(loaded, names)
    for name in names:
        click.echo(f"{name} may start now: {visible(way_to(loaded, name))}")
    return 0


@mcp.command(name="untrust")
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@_CONFIG
def untrust_(names: tuple[str, ...], config: Path | None) -> int:
    """Take back that servers of this project's headway.toml may start."""
    loaded = load(config)
    _check(names, loaded)
    gone = untrust(loaded, names)
    for name in names:
        click.echo(
            f"{name} does not start any more." if name in gone else f"{name} was not trusted, and does not start."
        )
    return 0


def way_to(loaded: Loaded, name: str) -> str:
    """Return how a server is reached, as people write it; variables and headers are not shown."""
    entry = loaded.settings.mcp[name]
    return entry.url or shlex.join(entry.command)


def _check(names: tuple[str, ...], loaded: Loaded) -> None:
    known = loaded.settings.mcp
    for name in names:
        if name not in known:
            near = closest(name, known)
            there = f"There is: {', '.join(known)}" if known else f"Add a table [mcp.{name}] to the settings"
            raise InvalidInput(name, "there is no such server", f"Did you mean {near!r}?" if near else there)


def _shown(loaded: Loaded, named: Sequence[Named], **how: bool) -> int:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    page = Page(Terminal(sys.stdout, loaded.around.environ), at_length=how["at_length"])
    if not named and not how["machine"]:
        page.nothing()
    return asyncio.run(_examined(loaded, named, page, how))


async def _examined(loaded: Loaded, named: Sequence[Named], page: Page, how: dict[str, bool]) -> int:
    failed = False
    bad = {State.FAILED, State.NOT_TRUSTED, *([State.OFF] if how.get("wanted") else [])}
    async with aclosing(examine(loaded, named, start=how["start"])) as found:
        async for one in found:
            failed |= one.state in bad
            if how["machine"]:
                click.echo(msgspec.json.encode(one))
            else:
                page.show(one)
    return 1 if failed else 0
