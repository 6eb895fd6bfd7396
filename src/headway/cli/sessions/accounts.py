"""The account of an import, for people: what was taken over, what was repaired, what was left out and why."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.cli.chat.paint import Paint, Span, wrapped
from headway.cli.sessions.importing import TakenOver
from headway.cli.sessions.words import counted, from_home
from headway.cli.terminal import size, visible

MOST = 12
"""Lines of one kind; `--json` has them all."""
_COLUMN = 13


def told(account: TakenOver, home: Path, width: int, paint: Paint) -> Iterator[str]:
    """Give the lines."""
    yield paint(visible(account.file), "bold")
    yield from _entry("read as", [f"{account.format} ({account.because})"], width, paint, "dim")
    yield from _entry("taken over", _taken(account, home), width, paint)
    in_order = sorted(account.repaired, key=lambda one: -1 if one.index is None else one.index)
    repairs = [one.words if one.index is None else f"message {one.index}: {one.words}" for one in in_order]
    yield from _entry("repaired", [*account.mended, *repairs], width, paint, "good")
    yield from _entry("left out", [one.words for one in account.left_out], width, paint, "dim")
    if not (repairs or account.mended or account.left_out):
        yield from _entry("repaired", ["nothing had to be"], width, paint, "dim")
    if account.session:
        yield from _entry("to go on", [f'headway run --resume {account.session} "continue"'], width, paint)


def _taken(account: TakenOver, home: Path) -> list[str]:
    title = f"“{account.title}”, " if account.title else ""
    counts = (
        counted(account.turns, "turn"),
        counted(account.messages, "message"),
        counted(account.calls, "call"),
        size(account.characters),
    )
    place = f"as session {account.session}" if account.session else "not yet: this was only a look"
    return [f"{title}{', '.join(counts)}", f"{place}, folder {from_home(account.folder, home) or '(none)'}"]


def _entry(name: str, entries: Sequence[str], width: int, paint: Paint, style: str = "") -> Iterator[str]:
    """Give entries under a name that stands before the first of them."""
    more = len(entries) - MOST
    shown = [*entries[:MOST], f"… {more} more (--json has all)"] if more > 1 else entries
    for number, words in enumerate(shown):
        before = f"  {name if not number else '':<{_COLUMN - 2}}"
        for line in wrapped([Span(" ".join(visible(words).split()), style)], width, before, " " * _COLUMN):
            yield paint.line(line)
