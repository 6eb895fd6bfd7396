"""Sessions that end with the process: for tests, for simulations, and for a program that wants nothing kept."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from headway.store.errors import StoreFailed, Trouble
from headway.store.journal import (
    Heading,
    SessionInfo,
    already_there,
    heading_after,
    in_order,
    no_such_session,
    whole_journal,
)
from headway.store.rows import Row


class MemoryStore:
    """A `SessionStore` without a disk."""

    blocks = False

    def __init__(self) -> None:
        """Start with no session."""
        self._rows: dict[str, list[Row]] = {}
        self._writers: dict[str, MemoryJournal] = {}

    def create(self, session: str, rows: Iterable[Row]) -> None:
        """Make a session that has these rows."""
        if session in self._rows:
            raise already_there(session)
        self._rows[session] = list(whole_journal(session, rows))

    def open(self, session: str) -> "MemoryJournal":
        """Become the writer of a session."""
        rows = self._of(session)
        self._refuse_if_open(session)
        return MemoryJournal(session, rows, self._writers)

    def read(self, session: str) -> Iterator[Row]:
        """Give the rows of a session as they are now."""
        return iter(tuple(self._of(session)))

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return all sessions, the one written to last first."""
        found = (
            SessionInfo(session, heading_after(Heading(), rows), rows[-1].at, len(rows))
            for session, rows in self._rows.items()
        )
        return tuple(sorted(found, key=lambda info: (info.updated_at, info.id), reverse=True))

    def writer(self, session: str) -> int | None:
        """Return this process, if it has the session open."""
        return os.getpid() if session in self._writers else None

    def delete(self, session: str) -> None:
        """Remove a session for good."""
        self._of(session)
        self._refuse_if_open(session)
        del self._rows[session]

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def _of(self, session: str) -> list[Row]:
        if session not in self._rows:
            raise no_such_session(session)
        return self._rows[session]

    def _refuse_if_open(self, session: str) -> None:
        if session in self._writers:
            raise StoreFailed(Trouble.IN_USE, Path(session), f"session {session}, this process")


class MemoryJournal:
    """The `Journal` of one session in memory."""

    def __init__(self, session: str, rows: list[Row], writers: "dict[str, MemoryJournal]") -> None:
        """Go on behind the last row."""
        self.session = session
        self._rows, self._writers = rows, writers
        writers[session] = self

    @property
    def last(self) -> int:
        """Return the number of the last row that is written."""
        return len(self._rows)

    def append(self, rows: Sequence[Row], *, durable: bool = True) -> None:  # noqa: ARG002  # here, nothing is
        """Write rows, all or none."""
        self._rows += tuple(in_order(rows, self.last))

    def try_append(self, rows: Sequence[Row]) -> bool:
        """Write rows."""
        self.append(rows)
        return True

    def close(self) -> None:
        """Let others write."""
        if self._writers.get(self.session) is self:
            del self._writers[self.session]
