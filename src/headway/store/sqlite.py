"""Sessions in one SQLite file: the journal is a table whose rows are added and never changed."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import apsw

from headway.store.database import Database, Pace
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
from headway.store.locks import SessionLock, writer_of
from headway.store.rows import Row

_INSERT = "insert into event (session, seq, at, kind, body) values (?, ?, ?, ?, ?)"
_HEADING = "select workspace, created_at, title, opening from session where id = ?"
_LIST = """
  select id, workspace, created_at, title, opening,
    (select at from event where session = id order by seq desc limit 1) as updated_at,
    (select max(seq) from event where session = id)
  from session order by updated_at desc, id desc
"""


class SqliteStore:
    """A `SessionStore` in a file. `read_only` opens what can be opened, for lists and exports, and changes nothing."""

    blocks = True

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the store; make it if it is not there."""
        self._database = Database(path, read_only=read_only)
        self._locks = self.path.with_name(f".{self.path.name}.locks")
        self._held: set[SessionLock] = set()

    @property
    def path(self) -> Path:
        """Return where the file is."""
        return self._database.path

    def create(self, session: str, rows: Iterable[Row]) -> None:
        """Make a session that has these rows."""

        def insert(db: apsw.Connection) -> None:
            if db.execute(_HEADING, (session,)).fetchone():
                raise already_there(session)
            heading = Heading()
            for row in whole_journal(session, rows):
                heading = heading_after(heading, (row,))
                db.execute(_INSERT, (session, row.seq, row.at, row.kind, row.body))
            columns = (session, heading.workspace, heading.created_at, heading.title, heading.opening)
            db.execute("insert into session values (?, ?, ?, ?, ?)", columns)

        self._database.write(insert)

    def open(self, session: str) -> "SqliteJournal":
        """Become the writer of a session."""
        self._database.to_write()
        self._heading(session)
        lock = SessionLock(self._locks, session)
        self._held.add(lock)
        with ExitStack() as undo:
            undo.callback(self._let_go, lock)
            journal = SqliteJournal(self._database, session, self._heading(session), partial(self._let_go, lock))
            undo.pop_all()
        return journal

    def read(self, session: str) -> Iterator[Row]:
        """Give the rows of a session as they are now."""
        self._heading(session)
        return self._rows(session)

    def sessions(self) -> tuple[SessionInfo, ...]:
        """Return all sessions, the one written to last first."""
        if self._database.is_blank:
            return ()
        with self._database.reading() as db:
            return tuple(
                SessionInfo(name, Heading(*heading), updated_at, records)
                for name, *heading, updated_at, records in db.execute(_LIST)
            )

    def writer(self, session: str) -> int | None:
        """Return the process that has a session open to write to, if there is one."""
        return writer_of(self._locks, session)

    def delete(self, session: str) -> None:
        """Remove a session for good."""

        def remove(db: apsw.Connection) -> None:
            db.execute("delete from session where id = ?", (session,))
            db.execute("delete from event where session = ?", (session,))

        self._database.to_write()
        self._heading(session)
        lock = SessionLock(self._locks, session)
        try:
            self._database.write(remove)
            self._database.forget_log()
        finally:
            lock.release()

    def check(self) -> tuple[str, ...]:
        """Look at every page of the file; return what is wrong with it, which should be nothing."""
        try:
            with self._database.reading() as db:
                found = [str(line) for (line,) in db.execute("pragma integrity_check")]
        except StoreFailed as failed:
            if failed.trouble is not Trouble.DAMAGED:
                raise
            return (failed.detail,)
        return tuple(line for line in found if line != "ok")

    def close(self) -> None:
        """Close the file, and the journals that are still open."""
        for lock in tuple(self._held):
            self._let_go(lock)
        self._database.close()

    def _let_go(self, lock: SessionLock) -> None:
        """Let others write to a session."""
        self._held.discard(lock)
        lock.release()

    def _heading(self, session: str) -> Heading:
        if self._database.is_blank:
            raise no_such_session(session)
        with self._database.reading() as db:
            found = db.execute(_HEADING, (session,)).fetchone()
        if found is None:
            raise no_such_session(session)
        return Heading(*found)

    def _rows(self, session: str) -> Iterator[Row]:
        query = "select seq, at, kind, body from event where session = ? order by seq"
        with self._database.reading() as db:
            for row in db.execute(query, (session,)):
                yield Row(*row)


class SqliteJournal:
    """The `Journal` of one session in the file."""

    def __init__(self, database: Database, session: str, heading: Heading, let_go: Callable[[], None]) -> None:
        """Go on behind the last row."""
        self.session = session
        self._database, self._heading, self._let_go = database, heading, let_go
        with database.reading() as db:
            self._last: int = db.execute("select max(seq) from event where session = ?", (session,)).get or 0

    @property
    def last(self) -> int:
        """Return the number of the last row that is written."""
        return self._last

    def append(self, rows: Sequence[Row], *, durable: bool = True) -> None:
        """Write rows, all or none."""
        if rows:
            heading = heading_after(self._heading, rows)
            pace = Pace.DURABLE if durable else Pace.SAVED
            self._database.write(lambda db: self._insert(db, rows, heading), pace)
            self._last, self._heading = rows[-1].seq, heading

    def try_append(self, rows: Sequence[Row]) -> bool:
        """Write rows as deltas, without waiting for anybody."""
        heading = heading_after(self._heading, rows)
        done = self._database.try_write(lambda db: self._insert(db, rows, heading))
        if done and rows:
            self._last, self._heading = rows[-1].seq, heading
        return done

    def close(self) -> None:
        """Let others write."""
        self._let_go()

    def _insert(self, db: apsw.Connection, rows: Sequence[Row], heading: Heading) -> None:
        numbered = in_order(rows, self._last)
        db.executemany(_INSERT, ((self.session, row.seq, row.at, row.kind, row.body) for row in numbered))
        if heading != self._heading:
            words = (heading.title, heading.opening, self.session)
            db.execute("update session set title = ?, opening = ? where id = ?", words)
