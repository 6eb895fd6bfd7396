"""A table of Markdown, in columns: drawn once, when its last row is known, because a later row may be wider. Pure."""

import re
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

from headway.cli.chat.paint import Span, wrapped
from headway.cli.terminal import cells

MOST_ROWS = 200
"""More rows than this are drawn by as many at a time, so that nobody waits for ever to see any."""
_NARROWEST = 8
_BETWEEN = " │ "
_CELL = re.compile(r"(?:[^|\\`]|\\.|`[^`]*`|`)*")
_LINE = re.compile(r"\s*:?-+:?\s*")
Row = list[list[Span]]


def is_row(line: str) -> bool:
    """Say whether a line is a row of a table."""
    return line.lstrip().startswith("|")


def drawn(rows: Sequence[str], width: int, inline: Callable[[str], list[Span]]) -> list[list[Span]] | None:
    """Return rows as lines of columns; None if there are no two rows, or no room for columns."""
    read = [_cells(row) for row in rows]
    is_head = len(read) > 1 and all(_LINE.fullmatch(cell) for cell in read[1])
    if not is_head:
        return None
    aligned = [_alignment(cell) for cell in read[1]]
    table: list[Row] = [[inline(cell) for cell in row] for row in (read[0], *read[2:])]
    widths = _fitted([max(map(_width, column)) for column in zip_longest(*table, fillvalue=[])], width)
    if widths is None:
        return None
    table[0] = [[Span(span.text, "bold") for span in cell] for cell in table[0]]
    line = [Span("─┼─".join("─" * each for each in widths), "dim")]
    head, *body = (_laid(row, widths, aligned) for row in table)
    return [*head, line, *chain.from_iterable(body)]


def _cells(row: str) -> list[str]:
    """Return the cells of a row; a bar in code, or behind a backslash, is a letter."""
    inner = row.strip().removeprefix("|")
    found = [cell.strip().replace("\\|", "|") for cell in _split(inner)]
    return found[:-1] if len(found) > 1 and not found[-1] else found


def _split(text: str) -> list[str]:
    parts, at = list[str](), 0
    while True:
        found = _CELL.match(text, at)
        assert found is not None, "it matches nothing, too"
        parts.append(found[0])
        at = found.end() + 1
        if at > len(text):
            return parts


def _alignment(cell: str) -> str:
    begins, ends = cell.strip().startswith(":"), cell.strip().endswith(":")
    return "^" if begins and ends else ">" if ends else "<"


def _width(cell: list[Span]) -> int:
    return sum(cells(span.text) for span in cell)


def _fitted(widths: list[int], room: int) -> list[int] | None:
    """Return widths that fit, taken from the widest first; None if that would leave too little."""
    room -= len(_BETWEEN) * (len(widths) - 1)
    while sum(widths) > room:
        widest = max(widths)
        if widest <= _NARROWEST:
            return None
        at = widths.index(widest)
        others = max((each for place, each in enumerate(widths) if place != at), default=0)
        widths[at] = max(_NARROWEST, min(widest - 1, max(others, widest - (sum(widths) - room))))
    return widths


def _laid(row: Row, widths: list[int], aligned: list[str]) -> list[list[Span]]:
    """Return a row as lines: what does not fit into its column goes on below."""
    given = [row[place] if place < len(row) else [] for place in range(len(widths))]
    columns = [
        wrapped(cell, width) if _width(cell) > width else [cell] for cell, width in zip(given, widths, strict=True)
    ]
    lines = []
    for pieces in zip_longest(*columns, fillvalue=[]):
        line: list[Span] = []
        for place, (piece, width) in enumerate(zip(pieces, widths, strict=True)):
            line += [Span(_BETWEEN, "dim")] if place else []
            line += _padded(piece, width, aligned[place] if place < len(aligned) else "<")
        lines.append(line)
    return lines


def _padded(piece: list[Span], width: int, alignment: str) -> list[Span]:
    spare = max(0, width - _width(piece))
    before = spare if alignment == ">" else spare // 2 if alignment == "^" else 0
    return [span for span in (Span(" " * before), *piece, Span(" " * (spare - before))) if span.text]
