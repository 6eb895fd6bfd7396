"""A foreign session becomes one of ours: as it was in the journal, healed in every request, with an account of it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from headway.cli.sessions.reading import Read
from headway.dialect import DIALECTS
from headway.foreign.session import ForeignSession, LeftOut
from headway.history.edits import Repair
from headway.history.exchanges import is_words, size_of
from headway.history.project import project
from headway.messages import Message, ModelRequest, user
from headway.store.fold import fold
from headway.store.records import Imported, Record, Repaired, SessionOpened
from headway.store.rows import entries_of
from headway.store.sessions import Sessions

RECORD_CHARACTERS = 1_000_000
"""About so much goes into one record."""
LONGEST_TITLE = 200
_NEXT = user("continue")
"""Stands for what the user will say: only with it is a history one that can be sent."""


class TakenOver(Struct, frozen=True):
    """What became of one file; `--json` prints it."""

    file: str
    format: str
    because: str
    """The shape that gave the format away."""
    session: str
    """The new session; blank if it was only looked at."""
    title: str
    folder: str
    messages: int
    turns: int
    calls: int
    characters: int
    repaired: tuple[Repair, ...] = ()
    """What has to be mended before its own wire takes it; the journal keeps it as it was."""
    mended: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def take_over(read: Read, sessions: Sessions | None, folder: Path, title: str) -> TakenOver:
    """Make a session of what was read, in a store if there is one."""
    if read.session is None:
        return _adopt(read, sessions)
    foreign = read.session
    name = " ".join((title or foreign.title).split())[:LONGEST_TITLE]
    repairs = healed(foreign)
    records: list[Record] = [Imported(piece, foreign.source) for piece in _pieces(foreign.messages)]
    if repairs:
        records.append(Repaired(repairs))
    opened = SessionOpened("", str(folder), foreign.created_at or time.time(), name)
    session = sessions.take_in(opened, *records) if sessions is not None else ""
    return TakenOver(
        read.name,
        read.format.name,
        read.format.because,
        session,
        name,
        str(folder),
        *_counts(foreign.messages),
        repairs,
        foreign.mended,
        foreign.left_out,
    )


def healed(foreign: ForeignSession) -> tuple[Repair, ...]:
    """Return what projection mends of it, for the wire that it was written in."""
    whole = ModelRequest("", (*foreign.messages, _NEXT))
    return project(whole, DIALECTS[foreign.wire]).repairs


def _adopt(read: Read, sessions: Sessions | None) -> TakenOver:
    """Take in an export of our own, record by record."""
    state = fold(entries_of(read.rows))
    session = sessions.adopt(read.rows) if sessions is not None else ""
    counts = _counts(state.history, state.is_said_by_user)
    return TakenOver(
        read.name,
        read.format.name,
        read.format.because,
        session,
        state.title,
        state.workspace,
        *counts,
        left_out=read.left_out,
    )


def _counts(
    messages: tuple[Message, ...], is_said_by_user: Callable[[Message], bool] = is_words
) -> tuple[int, int, int, int]:
    calls = sum(len(message.calls) for message in messages)
    return len(messages), sum(map(is_said_by_user, messages)), calls, size_of(messages)


def _pieces(messages: tuple[Message, ...]) -> Iterator[tuple[Message, ...]]:
    """Give the messages in pieces of a size that a record may well have."""
    piece: list[Message] = []
    held = 0
    for message in messages:
        piece.append(message)
        held += size_of((message,))
        if held >= RECORD_CHARACTERS:
            yield tuple(piece)
            piece, held = [], 0
    if piece:
        yield tuple(piece)
