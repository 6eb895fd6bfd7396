"""A session that is being written: its state as it grows, and its journal behind it.

`note` is for deltas: it returns at once, and they are written within a quarter of a second. `await commit` is for what
must be secured before anything else happens: when it returns, its records and all before them are on the disk. If the
disk fails, the session goes on in memory: what could not be written is kept in order and goes with the next write.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor
from types import TracebackType
from typing import Self

from headway.store.batch import HELD_SECONDS, Batch
from headway.store.errors import StoreFailed
from headway.store.fold import Folding
from headway.store.journal import Journal
from headway.store.records import Delta, Record
from headway.store.rows import Entry, Row, row_of
from headway.store.state import SessionState


class Session:
    """The one writer of a session. Use it on one event loop, and close it."""

    def __init__(self, journal: Journal, folding: Folding, wall: Callable[[], float], thread: Executor | None) -> None:
        """Go on from what was folded. `wall` tells the time of day; `thread` is where a disk is waited for."""
        self.found = folding.state
        """What the journal came to when it was opened, with everything that was left open."""
        self.trouble: StoreFailed | None = None
        """What keeps the latest records from being written, if anything does."""
        self.one_turn_at_a_time = asyncio.Lock()
        """Held while a turn goes on: its records belong together, and what it answers must not change under it."""
        self._journal, self._folding, self._wall, self._thread = journal, folding, wall, thread
        self._batch = Batch()
        self._unwritten: list[Row] = []
        self._next = journal.last + 1
        self._commits = 0
        self._writing = threading.Lock()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def id(self) -> str:
        """Return the session's id."""
        return self._journal.session

    @property
    def state(self) -> SessionState:
        """Return what the session comes to now; the newest deltas may be a moment late."""
        return self._folding.state

    @property
    def unwritten(self) -> int:
        """Return how many records are not in the journal yet."""
        return len(self._unwritten)

    def note(self, delta: Delta) -> None:
        """Write a delta down, soon."""
        loop = asyncio.get_running_loop()
        self._batch.add(delta, loop.time())
        if self._batch.is_due(loop.time()):
            self._flush()
        elif self._timer is None:
            self._timer = loop.call_later(HELD_SECONDS, self._flush)

    async def commit(self, *records: Record) -> None:
        """Secure records, all or none, with everything noted before; or raise `StoreFailed` and keep them."""
        self._put_down(*self._batch.take(), *records)
        if self._thread is None:
            self._write()
            return
        self._commits += 1
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, self._write)
        finally:
            self._commits -= 1

    async def keep(self, *records: Record) -> bool:
        """Secure records if that can be done now, and go on in memory if not; say whether they are secured."""
        try:
            await self.commit(*records)
        except StoreFailed:
            return False
        return True

    async def close(self) -> None:
        """Write what is left and let others write; a failure to write is told after that."""
        self._disarm()
        try:
            await self.commit()
        finally:
            self._disarm()
            self._journal.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _put_down(self, *records: Record) -> None:
        """Give records their numbers and their time. From here on they are part of the session."""
        for record in records:
            at = self._wall()
            self._unwritten.append(row_of(self._next, at, record))
            self._folding.add(Entry(self._next, at, record))
            self._next += 1

    def _write(self) -> None:
        """Write everything that is not written, durably; commits that wait meanwhile find theirs done."""
        with self._writing:
            rows = self._unwritten[:]
            try:
                self._journal.append(rows)
            except StoreFailed as failed:
                self.trouble = failed
                raise
            del self._unwritten[: len(rows)]
            self.trouble = None

    def _flush(self) -> None:
        """Write what was noted, if that can be done without waiting; otherwise soon."""
        self._disarm()
        self._put_down(*self._batch.take())
        if not self._wrote_at_once():
            self._timer = asyncio.get_running_loop().call_later(HELD_SECONDS, self._flush)

    def _wrote_at_once(self) -> bool:
        # A commit on its way may find nothing left to write, and must not return before its records are secured.
        if self._commits or not self._writing.acquire(blocking=False):
            return False
        try:
            done = self._journal.try_append(self._unwritten)
        except StoreFailed as failed:
            self.trouble = failed
            return False
        finally:
            self._writing.release()
        if done:
            self._unwritten.clear()
            self.trouble = None
        return done

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
