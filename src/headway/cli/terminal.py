"""The terminal that a person sits at: what it can do, how wide it is, and what may be written to it.

What comes from a model, a provider or a file is not trusted with it: a control character could rewrite the screen, so
none of them gets there as it is.
"""

import os
import re
import unicodedata
from collections.abc import Mapping
from typing import TextIO

import click

NARROWEST = 20
USUAL_WIDTH = 80
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Terminal:
    """One of the standard streams, and whether a person sees it."""

    def __init__(self, stream: TextIO, environment: Mapping[str, str]) -> None:
        """Look at a stream; `TERM` and `NO_COLOR` of the environment count."""
        self.stream = stream
        self.is_seen = stream.isatty()
        """Is there a person? Otherwise it is a file or a pipe."""
        self.is_live = self.is_seen and environment.get("TERM", "") not in ("", "dumb")
        """Can a line be rewritten in place?"""
        self.has_colours = self.is_live and not environment.get("NO_COLOR")

    @property
    def width(self) -> int:
        """Return how many columns there are now; a window may have been resized."""
        try:
            columns = os.get_terminal_size(self.stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return max(NARROWEST, columns or USUAL_WIDTH)

    def write(self, text: str) -> None:
        """Write, at once."""
        self.stream.write(text)
        self.stream.flush()

    def styled(self, text: str, **style: bool | str) -> str:
        """Return the text in a colour or weight, where there are colours."""
        return click.style(text, **style) if self.has_colours else text  # type: ignore[arg-type]


def visible(text: str) -> str:
    """Return the text with every character that acts instead of being seen written out; lines and tabs stay."""
    return _CONTROL.sub(
        lambda found: f"\\x{ord(found[0]):02x}" if ord(found[0]) < 256 else f"\\u{ord(found[0]):04x}", text
    )


def cells(text: str) -> int:
    """Return how many columns a text takes: wide characters two, combining ones none."""
    return sum(map(_cell, text))


def fit(text: str, width: int) -> str:
    """Return a text as one line of at most `width` columns, cut at a word with an ellipsis if it is longer."""
    line = " ".join(visible(text).split())
    if len(line) * 2 <= width or cells(line) <= width:
        return line
    end, room = 0, width - 1
    while room >= _cell(line[end]):
        room -= _cell(line[end])
        end += 1
    word = line.rfind(" ", end * 2 // 3, end + 1)
    return f"{line[: word if word > 0 else end].rstrip(' ,;:')}…"


def size(characters: int) -> str:
    """Return a size as people read it."""
    if characters >= 1_000_000:
        return f"{characters / 1_000_000:.1f} MB"
    return f"{characters / 1000:.1f} KB" if characters >= 1000 else f"{characters} characters"


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
