"""What is written on: words of our own, wrapped to the width of the moment, with a free line where one belongs."""

from collections.abc import Sequence
from typing import Protocol

from headway.cli.asking import coloured
from headway.cli.chat.markdown import Reply
from headway.cli.chat.paint import Paint, Span, wrapped
from headway.cli.terminal import Terminal, visible

SHOWN_OF_YOURS = 16


class Paper(Protocol):
    """Lines that stay, and a live part that can be drawn again."""

    @property
    def width(self) -> int:
        """Return how many columns there are now."""

    def print(self, *lines: str) -> None:
        """Write lines that stay."""

    def changed(self) -> None:
        """Draw the live part again, soon."""


class Page:
    """A paper, and how things are written on it."""

    def __init__(self, paper: Paper, terminal: Terminal) -> None:
        """Write on a paper; `terminal` knows about colours."""
        self.paper, self.terminal = paper, terminal
        self.paint = Paint(colours=terminal.has_colours)
        self._is_blank = True

    def write(self, lines: Sequence[str]) -> None:
        """Write lines as they are."""
        if lines:
            self._is_blank = not lines[-1].strip()
            self.paper.print(*lines)

    def gap(self) -> None:
        """Leave a line free, once."""
        if not self._is_blank:
            self.write([""])

    def say(self, text: str, style: str = "", hang: int = 0) -> None:
        """Write words of our own, wrapped; lines after the first begin at the column `hang`, or below their mark."""
        for line in visible(text).split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            rest = "  " if line[1:2] == " " and not line[0].isalnum() else indent
            rest = " " * hang or rest
            spans = [Span(line[len(indent) :], style)]
            self.write([self.paint.line(part) for part in wrapped(spans, self.paper.width, indent, rest)])

    def you(self, text: str) -> None:
        """Write what the user said."""
        self.gap()
        lines = visible(text).split("\n")
        for number, line in enumerate(lines[:SHOWN_OF_YOURS]):
            head = "› " if not number else "  "
            self.write([self.paint.line(part) for part in wrapped([Span(line, "you")], self.paper.width, head, "  ")])
        if len(lines) > SHOWN_OF_YOURS:
            self.write([self.paint(f"  … {len(lines) - SHOWN_OF_YOURS:,} lines more", "dim")])
        self.gap()

    def differences(self, diff: str) -> None:
        """Write a difference in colours, whole."""
        self.write([coloured(line, self.terminal) for line in diff.splitlines()])

    def recite(self, markdown: str) -> None:
        """Write a text of earlier as it was shown then."""
        reply = Reply(self.paint, lambda: self.paper.width)
        self.write([*reply.feed(markdown), *reply.end()])
