"""Findings for people: a heading for each area, a mark and a line for each finding, its advice below it."""

import textwrap
from collections.abc import Iterator
from typing import Any

from headway.cli.doctor.findings import Area, Finding, State, Verdict
from headway.cli.terminal import Terminal, visible

WIDEST = 100
_MARKS = {State.WELL: ("✓", "green"), State.NOTE: ("!", "yellow"), State.PROBLEM: ("✗", "red")}
_INDENT = "    "


class Page:
    """Writes findings as they come."""

    def __init__(self, terminal: Terminal) -> None:
        """Write to a terminal, or to a file."""
        self._terminal = terminal
        self._area: Area | None = None

    def show(self, finding: Finding) -> None:
        """Write one finding."""
        if finding.area is not self._area:
            blank = "\n" if self._area is not None else ""
            heading = self._terminal.styled(finding.area.value.capitalize(), bold=True)
            self._terminal.write(f"{blank}{heading}\n")
            self._area = finding.area
        for line, style in lines_of(finding, min(self._terminal.width, WIDEST)):
            self._terminal.write(self._terminal.styled(line, **style) + "\n")

    def end(self, verdict: Verdict) -> None:
        """Write the last line."""
        lines = _wrapped(verdict_words(verdict), min(self._terminal.width, WIDEST), "", "")
        self._terminal.write("\n" + "".join(f"{line}\n" for line in lines))


def lines_of(finding: Finding, width: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the lines of a finding, none wider than this but for words that are, and how each is to be styled."""
    mark, colour = _MARKS[finding.state]
    for line in _wrapped(f"{mark} {finding.name}: {finding.words}", width, "", _INDENT):
        yield line, {"fg": colour} if finding.state is not State.WELL else {}
    for more in finding.more:
        yield from ((line, {"dim": True}) for line in _wrapped(more, width, _INDENT, _INDENT))
    if finding.advice:
        yield from ((line, {}) for line in _wrapped(f"→ {finding.advice}", width, _INDENT, f"{_INDENT}  "))


def verdict_words(verdict: Verdict) -> str:
    """Return the last line."""
    notes = f" {_count(verdict.notes, 'thing')} worth knowing: see the lines with “!”." if verdict.notes else ""
    if not verdict.problems:
        return f"All is well.{notes}"
    return f"{_count(verdict.problems, 'problem')}: see the lines with “✗”; what to do next stands behind each “→”."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """Wrap at words; an address that is longer than a line stays whole, so that it can be copied."""
    return textwrap.wrap(
        " ".join(visible(text).split()),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first]
