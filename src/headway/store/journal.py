"""The port to whatever keeps the journals: rows in, rows out, one writer a session. SQLite and memory stand behind it.

Append-only: rows are numbered 1, 2, 3… without a gap and never change. An append is whole or did not happen. What a
durable append returned from survives a power cut; what any append returned from survives the end of the process.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import InvalidInput
from headway.messages import Message
from headway.store.ids import is_fit
from headway.store.records import Forked, Imported, Renamed, SessionOpened, UserSaid
from headway.store.rows import Row, entry_of
from headway.wire.json_text import excerpt

OPENING = 80
"""How many of the first words' characters a list of sessions shows."""


class Heading(Struct, frozen=True):
    """What a list shows of a session, drawn from its records; `opening` is how the user's first words begin."""

    workspace: str = ""
    created_at: float = 0.0
    title: str = ""
    opening: str = ""


class SessionInfo(Struct, frozen=True):
    """A session in a list: its heading, when it was last written to, and how many records it has."""

    id: str
    heading: Heading
    updated_at: float
    records: int

    @property
    def name(self) -> str:
        """Return what to call it: its title, or else its first words."""
        return self.heading.title or self.heading.opening

    @property
    def is_begun(self) -> bool:
        """Say whether anything was said or done in it, or it was given a title."""
        return self.records > 1 or bool(self.heading.title)


class Journal(Protocol):
    """The one writer of one session, until it is closed."""

    @property
    def session(self) -> str:
        """Return the session's id."""

    @property
    def last(self) -> int:
        """Return the number of the last row that is written."""

    def append(self, rows: Sequence[Row], *, durable: bool = True) -> None:
        """Write rows, all or none, or raise `StoreFailed`."""

    def try_append(self, rows: Sequence[Row]) -> bool:
        """Write rows as deltas, without waiting for anybody; say whether that could be done now."""

    def close(self) -> None:
        """Let others write."""


class SessionStore(Protocol):
    """Where sessions are kept. An unknown session is `InvalidInput`, any trouble of the store `StoreFailed`."""

    @property
    def blocks(self) -> bool:
        """Say whether it waits for a disk, so that an event loop should leave it to a thread."""

    def create(self, session: str, rows: Iterable[Row]) -> None:
        """Make a session that has these rows; the first one is its opening, or a copy of another's."""

    def open(self, session: str) -> Journal:
        """Become the writer of a session; while somebody else is, this is refused."""

    def read(self, session: str) -> Iterator[Row]:
        """Give the rows of a session as they are now, whoever writes to it."""

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return all sessions, the one written to last first."""

    def writer(self, session: str) -> int | None:
        """Return the process that has a session open to write to, if there is one; only to be shown."""

    def delete(self, session: str) -> None:
        """Remove a session for good; while somebody writes to it, this is refused."""

    def close(self) -> None:
        """Let go of everything."""


def heading_after(heading: Heading, rows: Iterable[Row]) -> Heading:
    """Return the heading of a session after some more of its rows."""
    for row in rows:
        if row.kind in _HEADING_KINDS:
            heading = _headed(heading, row)
    return heading


def in_whole_characters(text: str) -> str:
    """Return a text as a column can hold it: halves of characters come from terminals, paths and broken clients."""
    return text.encode("utf-8", "replace").decode()


def no_such_session(session: str) -> InvalidInput:
    """Say that there is no such session."""
    return InvalidInput(
        f"session {excerpt(session, 80)!r}", "there is no such session", "`headway sessions --all` lists them."
    )


def whole_journal(session: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Give the rows of a new session on, if its name and they can be one."""
    if not is_fit(session):
        raise InvalidInput(f"session {excerpt(session, 80)!r}", "the name of a session is of letters, digits, - and _")
    first = None
    for row in in_order(rows, 0):
        if first is None and row.kind != SessionOpened.__struct_config__.tag:
            break
        first = first or row
        yield row
    if first is None:
        raise InvalidInput(f"session {session!r}", "its journal does not begin with the opening of a session")


class NameTaken(InvalidInput):
    """There is a session of that name; nothing was changed."""


def already_there(session: str) -> NameTaken:
    """Say that the name is taken."""
    return NameTaken(f"session {session!r}", "there is one of this name already")


def in_order(rows: Iterable[Row], last: int) -> Iterator[Row]:
    """Give the rows on, if they follow without a gap on the row `last`; anything else is a mistake of the caller."""
    for number, row in enumerate(rows, last + 1):
        if row.seq != number:
            raise ValueError(f"row {row.seq} is not the next one of the journal, which is {number}")
        yield row


_HEADING_KINDS = frozenset({"session_opened", "forked", "renamed", "user_said", "imported"})


def _headed(heading: Heading, row: Row) -> Heading:
    match entry_of(row).record:
        case SessionOpened(workspace=workspace, created_at=created_at, title=title):
            return Heading(in_whole_characters(workspace), created_at, in_whole_characters(title))
        case Forked():
            return replace(heading, created_at=row.at)
        case Renamed(title=title):
            return replace(heading, title=in_whole_characters(title))
        case UserSaid(message=message) if not heading.opening:
            return replace(heading, opening=_opening(message))
        case Imported(messages=messages) if not heading.opening:
            return replace(heading, opening=next(filter(None, map(_opening, messages)), ""))
        case _:
            return heading


def _opening(message: Message) -> str:
    """Return how the words of a user begin; blank for anybody else's."""
    words = message.text[: OPENING * 8] if message.role == "user" else ""
    return excerpt(" ".join(in_whole_characters(words).split()), OPENING)
