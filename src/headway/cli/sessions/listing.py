"""Sessions as a list for people: by folder, the latest first, with what is open below each."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from headway.cli.chat.paint import Paint
from headway.cli.sessions.overview import Overview
from headway.cli.sessions.words import age, counted, from_home
from headway.cli.terminal import cells, fit

NOTHING_SAID = "(nothing said yet)"
NARROW = 72
"""With fewer columns than this, a title gets a line of its own."""


def listed(sessions: Sequence[Overview], home: Path, now: float, width: int, paint: Paint) -> Iterator[str]:
    """Give the lines."""
    folders: dict[str, list[Overview]] = {}
    for session in sessions:
        folders.setdefault(session.folder, []).append(session)
    ids = max((len(session.id) for session in sessions), default=0)
    for number, (folder, found) in enumerate(folders.items()):
        if number:
            yield ""
        yield paint(fit(from_home(folder, home) or "(no folder)", width), "bold")
        for session in found:
            yield from _session(session, ids, now, width, paint)


def _session(session: Overview, ids: int, now: float, width: int, paint: Paint) -> Iterator[str]:
    name, turns, when = f"  {session.id:<{ids}}  ", counted(session.turns, "turn"), age(session.updated_at, now)
    title, style = session.title or NOTHING_SAID, "" if session.title else "dim"
    if width >= NARROW:
        facts = f"{when:>10}  {turns:>9}  "
        indent = " " * (cells(name) + cells(facts))
        room = width - cells(indent)
        yield f"{paint(name, 'place')}{paint(facts, 'dim')}{paint(fit(title, room), style)}"
    else:
        indent = "    "
        room = width - cells(indent)
        yield f"{paint(name, 'place')}{paint(f'{when} · {turns}', 'dim')}"
        yield f"{indent}{paint(fit(title, room), style)}"
    for words in session.open_words():
        yield f"{indent}{paint(fit(f'▸ {words}', room), 'warn')}"
