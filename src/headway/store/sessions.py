"""All sessions of a store: begin, take up again, find, copy, rename, remove. The clock and the die are given to it."""

import asyncio
import random
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain, takewhile
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from headway.failure import InvalidInput
from headway.store.errors import StoreFailed
from headway.store.fold import Folding, fold
from headway.store.ids import session_id
from headway.store.journal import (
    NameTaken,
    SessionInfo,
    SessionStore,
    already_there,
    in_whole_characters,
    no_such_session,
)
from headway.store.memory import MemoryStore
from headway.store.records import Forked, How, Record, Renamed, SessionOpened, ToolUnknown, TurnEnded
from headway.store.rows import Row, entries_of, row_of
from headway.store.session import Session
from headway.store.state import SessionState

T = TypeVar("T")
DRAWS = 10
"""So often is a name drawn before a new session is given up."""


def open_store(url: str, *, read_only: bool = False) -> SessionStore:
    """Open a store by its URL: `sqlite:PATH`, or `memory:` for one that ends with the process."""
    scheme, _, place = url.partition(":")
    if scheme == "memory" and not place:
        return MemoryStore()
    if scheme == "sqlite" and place:
        from headway.store.sqlite import SqliteStore

        return SqliteStore(Path(place), read_only=read_only)
    raise InvalidInput("the store's url", "it names no store that is known", "Use `sqlite:` and a path, or `memory:`.")


class Sessions:
    """What a program does with sessions. One thread waits for the disk on behalf of all of them."""

    def __init__(
        self,
        store: SessionStore,
        *,
        wall: Callable[[], float] = time.time,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Work on a store, which is closed with this."""
        self.store = store
        self._wall, self._chance = wall, chance
        self._thread = ThreadPoolExecutor(1, "headway-journal") if store.blocks else None

    async def create(self, workspace: str, title: str = "") -> Session:
        """Begin a session."""

        def opened(name: str) -> Iterable[Row]:
            return self._rows(SessionOpened(name, workspace, self._wall(), title))

        return await self._off_the_loop(lambda: self._open(self._created(opened)))

    async def resume(self, session: str) -> Session:
        """Take a session up again. What a dead process left open is in `found`, and is settled in the journal."""
        taken = await self._off_the_loop(lambda: self._open(session))
        found = taken.found
        if found.is_open:
            unknown = (ToolUnknown(found.turn, call.id) for call in found.unknown)
            with suppress(StoreFailed):  # the session goes on in memory, and says so by its `trouble`
                await taken.commit(*unknown, TurnEnded(found.turn, How.DIED))
        return taken

    def state(self, session: str) -> SessionState:
        """Return what a session comes to, without opening it."""
        return fold(entries_of(self.store.read(session)))

    def list(self, workspace: str | None = None) -> tuple[SessionInfo, ...]:
        """Return the sessions, of one workspace or of all, the latest first.

        One in which nothing was ever said is none, unless somebody is about to say something in it.
        """
        found = [info for info in self.store.sessions() if info.is_begun or self.store.writer(info.id) is not None]
        wanted = None if workspace is None else in_whole_characters(workspace)
        return tuple(info for info in found if wanted is None or info.heading.workspace == wanted)

    def find(self, name: str) -> SessionInfo:
        """Return the session that is meant by the beginning of its id; of none or several, tell."""
        if not name.strip():
            raise InvalidInput("the name of the session", "it is empty", "`headway sessions --all` lists them.")
        found = [info for info in self.store.sessions() if info.id.startswith((name, name.lower()))]
        exact = [info for info in found if info.id == name]
        if len(exact or found) == 1:
            return (exact or found)[0]
        if not found:
            raise no_such_session(name)
        names = ", ".join(info.id for info in found[:5])
        raise InvalidInput(f"session {name!r}", f"{len(found)} sessions begin so: {names}", "Give more of the name.")

    def fork(self, session: str, at: int | None = None) -> str:
        """Copy a session, up to its record `at` or whole, and return the name of the copy."""
        rows = tuple(takewhile(lambda row: at is None or row.seq <= at, self.store.read(session)))
        if not rows or (at is not None and at != rows[-1].seq):
            raise InvalidInput(f"record {at} of session {session!r}", "there is no such record")
        return self._created(lambda name: self._forked(rows, name, session))

    def rename(self, session: str, title: str) -> None:
        """Give a session another title."""
        journal = self.store.open(session)
        try:
            journal.append(self._rows(Renamed(title), after=journal.last))
        finally:
            journal.close()

    def take_in(self, opened: SessionOpened, *records: Record) -> str:
        """Make a session that begins with these records, and return its name, which is a new one."""

        def journal(name: str) -> Iterable[Row]:
            whole = (replace(opened, id=name), *records)
            return (row_of(number, self._wall(), record) for number, record in enumerate(whole, 1))

        return self._created(journal)

    def adopt(self, rows: Iterable[Row]) -> str:
        """Take in a session that was exported and return its name, which is another if there is one of its name."""
        given = tuple(rows)
        origin = fold(entries_of(given)).id
        if not origin:
            raise InvalidInput("the export", "it does not begin with the opening of a session")
        try:
            self.store.create(origin, given)
        except InvalidInput:
            if all(info.id != origin for info in self.store.sessions()):
                raise
            return self._created(lambda name: self._forked(given, name, origin))
        return origin

    def delete(self, session: str) -> None:
        """Remove a session for good."""
        self.store.delete(session)

    def close(self) -> None:
        """Wait for the last write and close the store. Close the sessions first."""
        if self._thread is not None:
            self._thread.shutdown()
        self.store.close()

    def _open(self, session: str) -> Session:
        journal = self.store.open(session)
        try:
            folding = Folding()
            for entry in entries_of(self.store.read(session)):
                folding.add(entry)
        except StoreFailed:
            journal.close()
            raise
        return Session(journal, folding, self._wall, self._thread)

    def _created(self, journal: Callable[[str], Iterable[Row]]) -> str:
        """Make a session of a new name and return the name; one that is taken is drawn again."""
        for _ in range(DRAWS):
            name = session_id(self._wall(), self._chance())
            with suppress(NameTaken):  # the die fell twice the same way within a second
                self.store.create(name, journal(name))
                return name
        raise already_there(name)

    def _forked(self, rows: tuple[Row, ...], name: str, origin: str) -> Iterable[Row]:
        return chain(rows, self._rows(Forked(name, origin, len(rows)), after=len(rows)))

    def _rows(self, record: Record, after: int = 0) -> tuple[Row]:
        return (row_of(after + 1, self._wall(), record),)

    async def _off_the_loop(self, job: Callable[[], T]) -> T:
        if self._thread is None:
            return job()
        return await asyncio.get_running_loop().run_in_executor(self._thread, job)
