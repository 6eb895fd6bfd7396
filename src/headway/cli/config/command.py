"""`headway config`: make settings, show those in force with where each came from, and give editors a schema."""

import sys
from pathlib import Path

import click
import msgspec

from headway.cli.config.init import init
from headway.cli.groups import Group
from headway.cli.terminal import Terminal, cells, visible
from headway.failure import InvalidInput
from headway.settings import From, load
from headway.settings.places import FILE_NAME, Surroundings, surroundings
from headway.settings.reading import closest
from headway.settings.showing import Row, json_schema, rows
from headway.settings.trusting import trust_file, untrust_file

SHOW = """
\b
Examples:
  headway config show
  headway config show limits
  headway config show limits.silence_seconds
  headway config show --changed

Keys are shown as the references they are; headers and passwords are masked.
"""
SCHEMA = """
\b
Example, for editors with a TOML language server (Even Better TOML, taplo):
  headway config schema > headway.schema.json
and as the first line of headway.toml:
  #:schema ./headway.schema.json
"""
TRUST = """
\b
A file that came with a folder may name providers and forbid. That it lets the agent do more (agent.approve, allow,
sandbox, network, writable), or keeps sessions elsewhere (store.url), counts once you say so here. Read it first.
"""
WIDEST_VALUE = 48


@click.group(cls=Group)
def config() -> None:
    """Make settings, see which are in force and why, or get their schema."""


config.add_command(init)


@config.command(epilog=SHOW)
@click.argument("key", required=False)
@click.option("--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual.")
@click.option("--changed", is_flag=True, help="Leave out what is as it is by default.")
@click.option("--json", "machine", is_flag=True, help="Print one value a line, as JSON.")
def show(key: str | None, config: Path | None, *, changed: bool, machine: bool) -> int:
    """Show every value in force, or those of one KEY or table, and where each came from."""
    loaded = load(config)
    found = [row for row in _named(rows(loaded), key) if not changed or row.origin.kind is not From.DEFAULT]
    if machine:
        for row in found:
            fact = {"key": row.key, "value": row.said, "from": row.origin.kind.value, "place": row.place}
            click.echo(msgspec.json.encode(fact))
        return 0
    terminal = Terminal(sys.stdout, loaded.around.environ)
    width = min(max((len(_line(row)) for row in found), default=0), WIDEST_VALUE)
    for row in found:
        line = visible(_line(row))
        gap = " " * max(2, width - cells(line) + 2)
        terminal.write(f"{line}{gap}{terminal.styled(f'# {visible(row.place)}', dim=True)}\n")
    return 0


@config.command(epilog=SCHEMA)
def schema() -> int:
    """Print the JSON Schema of headway.toml, for editors."""
    click.echo(msgspec.json.format(msgspec.json.encode(json_schema()), indent=2))
    return 0


@config.command(epilog=TRUST)
def trust() -> int:
    """Let the headway.toml of this folder decide what the agent may do, as it is now."""
    around = surroundings()
    path = _file_of(around)
    held = load().held_back
    trust_file(path, around)
    what = f"it decides {', '.join(held)} from now on" if held else "it permits nothing that would need it"
    click.echo(f"{path} is trusted as it is now: {what}. If it changes, you are asked again.")
    return 0


@config.command()
def untrust() -> int:
    """Take back that the headway.toml of this folder decides what the agent may do."""
    around = surroundings()
    path = _file_of(around)
    was = untrust_file(path, around)
    held = load().held_back
    what = f"it does not decide {', '.join(held)} any more" if held else "it permits nothing that would need it"
    click.echo(f"{path} is not trusted{'' if was else ', and was not'}: {what}.")
    return 0


def _file_of(around: Surroundings) -> Path:
    path = around.folder / FILE_NAME
    if not path.is_file():
        raise InvalidInput(str(path), "there is no such file", "Go to the folder that it is in.")
    return path


def _line(row: Row) -> str:
    return f"{row.key} = {row.value}"


def _named(found: list[Row], key: str | None) -> list[Row]:
    if key is None:
        return found
    named = [row for row in found if row.key == key or row.key.startswith(f"{key}.")]
    if named:
        return named
    keys = [row.key for row in found]
    tables = {name.rpartition(".")[0] for name in keys}
    near = next((name for name in keys if name.endswith(f".{key}")), None) or closest(key, (*tables, *keys))
    hint = f"Did you mean {near}?" if near else "`headway config show` lists all; the reference says what can be set."
    raise InvalidInput(f"the key {key[:80]!r}", "nothing of that name is in force", hint)
