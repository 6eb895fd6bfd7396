"""How these commands speak: pages to the terminal, values to programs, a word beside; and the option they share."""

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import click
import msgspec

from headway.cli.chat.paint import Paint
from headway.cli.terminal import Terminal
from headway.settings import Loaded

WIDE = 100
"""Columns where nobody sees how wide it is."""
config_option = click.option(
    "--config", type=click.Path(path_type=Path, dir_okay=False), help="The settings, instead of the usual."
)


def screen(stream: TextIO, loaded: Loaded) -> tuple[Terminal, int, Paint]:
    """Return a stream as a terminal, its width, and what paints on it."""
    terminal = Terminal(stream, loaded.around.environ)
    return terminal, terminal.width if terminal.is_seen else WIDE, Paint(colours=terminal.has_colours)


def lines(terminal: Terminal, given: Iterable[str]) -> None:
    """Write lines."""
    terminal.write("".join(f"{line}\n" for line in given))


def json_lines(values: Iterable[Any]) -> None:
    """Write values for programs, one a line."""
    for value in values:
        try:
            line = msgspec.json.encode(value)
        except UnicodeEncodeError:  # half a character, as broken clients leave them
            line = json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()
        sys.stdout.buffer.write(line + b"\n")
    sys.stdout.flush()


def say(words: str) -> None:
    """Say something to the person beside."""
    click.echo(f"headway: {words}", err=True)
