"""Words with a look, and lines that fit: styles by name, and wrapping that loses no word. Pure.

Where there are no colours, everything here is the plain text itself.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from headway.cli.terminal import cells

STYLES = {
    "heading": "1;36",
    "bold": "1",
    "italic": "3",
    "struck": "9",
    "code": "36",
    "link": "4",
    "dim": "2",
    "quote": "2;3",
    "you": "1;34",
    "good": "32",
    "bad": "31",
    "place": "36",
    "warn": "33",
    "keyword": "35",
    "string": "32",
}
_WORDS = re.compile(r"\s+|\S+")
_SEQUENCE = re.compile("(\x1b\\[[\\d;]*m)")
_PLAIN = "\x1b[0m"


class Span(NamedTuple):
    """A piece of a line in one style; an empty style is none."""

    text: str
    style: str = ""


class Paint:
    """Turns styles into what a terminal understands, or into nothing."""

    def __init__(self, *, colours: bool) -> None:
        """Paint in colours, or leave everything as it is."""
        self._colours = colours

    def __call__(self, text: str, style: str) -> str:
        """Return a text in a style."""
        if not (self._colours and style and text):
            return text
        return f"\x1b[{STYLES[style]}m{text}{_PLAIN}"

    def line(self, spans: Iterable[Span]) -> str:
        """Return spans as one line."""
        return "".join(self(span.text, span.style) for span in spans)


def wrapped(spans: Sequence[Span], width: int, first: str = "", rest: str = "") -> list[list[Span]]:
    """Return spans as lines of at most `width` columns, broken between words; `first` and `rest` stand before them."""
    lines = [[Span(first)] if first else []]
    used, room = cells(first), max(8, width)
    for span in spans:
        for word in _WORDS.findall(span.text):
            for piece in _pieces(word, room - cells(rest)):
                size = cells(piece)
                if used + size > room:
                    if piece.isspace():
                        continue  # the line ends here anyway
                    _trim(lines[-1])
                    lines.append([Span(rest)] if rest else [])
                    used = cells(rest)
                lines[-1].append(Span(piece, span.style))
                used += size
    _trim(lines[-1])
    return [_joined(line) for line in lines]


def folded(line: str, width: int, rest: str = "  ") -> list[str]:
    """Return a line that has its colours already as lines that fit."""
    if cells(_SEQUENCE.sub("", line)) <= width:
        return [line]
    spans, style = list[Span](), ""
    for part in _SEQUENCE.split(line):
        if _SEQUENCE.fullmatch(part):
            style = "" if part == _PLAIN else style + part
        else:
            spans.append(Span(part, style))
    return ["".join(_coloured(span) for span in one) for one in wrapped(spans, width, rest=rest)]


def _coloured(span: Span) -> str:
    return f"{span.style}{span.text}{_PLAIN}" if span.style else span.text


def _pieces(word: str, room: int) -> Iterable[str]:
    """Cut a word that is longer than a line."""
    if len(word) * 2 <= room or cells(word) <= room:
        return (word,)
    pieces, held, size = list[str](), "", 0
    for character in word:
        wide = cells(character)
        if size + wide > room:
            pieces.append(held)
            held, size = "", 0
        held, size = held + character, size + wide
    return [*pieces, held]


def _trim(line: list[Span]) -> None:
    while line and line[-1].text.isspace() and len(line) > 1:
        line.pop()


def _joined(line: list[Span]) -> list[Span]:
    """Put neighbours of one style together, so that a terminal is told once."""
    joined: list[Span] = []
    for span in line:
        if joined and joined[-1].style == span.style:
            joined[-1] = Span(joined[-1].text + span.text, span.style)
        else:
            joined.append(span)
    return joined
