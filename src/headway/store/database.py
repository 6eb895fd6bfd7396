"""One SQLite file, opened, brought up to date, and guarded: errors leave here in words for people.

Only apsw, which brings its own SQLite, ever opens the file: two builds of SQLite on one WAL file can damage it.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TypeAlias

import apsw

from headway.store.errors import StoreFailed, Trouble, from_system

APPLICATION_ID = 0x48445759
"""What tells our files from those of other programs: HDWY."""
PATIENCE_MS = 5000
CHECKPOINT_PAGES = 1000
_VERSION = """
  select user_version, application_id, (select count(*) from sqlite_schema)
  from pragma_user_version, pragma_application_id
"""

_NO_INDEX = frozenset({apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMMAP})
"""What SQLite says where the index of the log cannot be made, as on a full disk."""
_WITHOUT_LOCKS = "win32-none" if sys.platform == "win32" else "unix-none"

Job: TypeAlias = Callable[[apsw.Connection], None]

_BY_KIND: tuple[tuple[type[apsw.Error], Trouble], ...] = (
    (apsw.FullError, Trouble.DISK_FULL),
    (apsw.ReadOnlyError, Trouble.READ_ONLY),
    (apsw.PermissionsError, Trouble.READ_ONLY),
    (apsw.AuthError, Trouble.READ_ONLY),
    (apsw.CantOpenError, Trouble.NO_PLACE),
    (apsw.CorruptError, Trouble.DAMAGED),
    (apsw.NotADBError, Trouble.NOT_OURS),
    (apsw.BusyError, Trouble.BUSY),
    (apsw.LockedError, Trouble.BUSY),
    (apsw.ProtocolError, Trouble.BUSY),
    (apsw.ConstraintError, Trouble.OVERTAKEN),
)


class Pace(Enum):
    """How a write goes about it."""

    DURABLE = "durable"
    """It is on the disk when it is done, whatever happens to the power."""
    SAVED = "saved"
    """It is the operating system's when it is done, whatever happens to the process."""
    AT_ONCE = "at_once"
    """So too, but it waits for nobody, and leaves checkpoints to others: it may be made on an event loop."""


@contextmanager
def in_plain_words(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into `StoreFailed`."""
    try:
        yield
    except apsw.Error as error:
        trouble = next((trouble for kind, trouble in _BY_KIND if isinstance(error, kind)), Trouble.DISK_FAULT)
        if getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_SHMSIZE:
            trouble = Trouble.DISK_FULL  # the index of the log could not grow
        raise StoreFailed(trouble, path, str(error)) from error
    except OSError as error:
        raise from_system(error, path) from error


class Database:
    """The file, with one connection to write by. Threads may share it; each read has a connection of its own."""

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        """Open the file; make it, and its folder, if it is not there and may be written."""
        self.path = path.absolute()
        self._guard = threading.Lock()
        self._pace: Pace | None = None
        self.is_blank = False
        """Was it opened only to be read, before anybody has made a table in it?"""
        with in_plain_words(self.path):
            self._db = None if read_only else _open_to_write(self.path)
            self._has_wal = self._db is not None and self._db.pragma("journal_mode") == "wal"
        if read_only:
            with self.reading() as db:
                version = _version(db, self.path)
                self.is_blank = not version
                if 0 < version < len(_migrations()):
                    raise StoreFailed(Trouble.READ_ONLY, self.path, "it must be written to before it can be read")

    def to_write(self) -> apsw.Connection:
        """Return the connection to write by, or refuse: the file may be open only to be read."""
        if self._db is None:
            raise StoreFailed(Trouble.READ_ONLY, self.path, "it was opened only to be read")
        return self._db

    def write(self, job: Job, pace: Pace = Pace.DURABLE) -> None:
        """Do a job in a transaction, after whatever is being written now."""
        with self._guard, in_plain_words(self.path):
            self._do(job, pace)

    def try_write(self, job: Job) -> bool:
        """Do a job in a transaction at once, if nobody is writing now; say whether it was done."""
        if not self._guard.acquire(blocking=False):
            return False
        try:
            with in_plain_words(self.path):
                self._do(job, Pace.AT_ONCE)
        except StoreFailed as failed:
            if failed.trouble is Trouble.BUSY:
                return False
            raise
        finally:
            self._guard.release()
        return True

    def forget_log(self) -> None:
        """Let nothing that was deleted stay in the log, unless somebody still reads it there."""
        with self._guard, in_plain_words(self.path), suppress(apsw.BusyError):
            self.to_write().wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Give a connection that sees the file as it is at its first read."""
        with in_plain_words(self.path):
            db = _open_to_read(self.path)
            try:
                db.pragma("temp_store", "memory")  # a long list is sorted without a file, which needs a disk with room
                yield db
            finally:
                db.close()

    def close(self) -> None:
        """Close the file; the last one to do so leaves no log beside it."""
        with self._guard, in_plain_words(self.path):
            if self._db is not None:
                self._db.close()

    def _do(self, job: Job, pace: Pace) -> None:
        db = self.to_write()
        if self._pace is not pace:
            db.pragma("synchronous", "full" if pace is Pace.DURABLE or not self._has_wal else "normal")
            db.wal_autocheckpoint(0 if pace is Pace.AT_ONCE else CHECKPOINT_PAGES)
            db.set_busy_timeout(0 if pace is Pace.AT_ONCE else PATIENCE_MS)
            self._pace = pace
        with _transaction(db):
            job(db)


@contextmanager
def _transaction(db: apsw.Connection) -> Iterator[None]:
    """Write all or nothing. When a disk is full, SQLite has taken everything back by itself."""
    db.execute("begin immediate")
    try:
        yield
        db.execute("commit")
    finally:
        if db.in_transaction:
            db.execute("rollback")


def _open_to_write(path: Path) -> apsw.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Conversations are private; SQLite gives its other files the rights of this one. If it is there already, it must
    # not be opened here: closing it would drop the locks that SQLite holds on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    db.set_busy_timeout(PATIENCE_MS)
    _version(db, path)
    if db.readonly("main"):
        raise StoreFailed(Trouble.READ_ONLY, path)
    _switch_to_wal(db)
    db.pragma("secure_delete", True)
    _migrate(db)
    return db


def _switch_to_wal(db: apsw.Connection) -> None:
    """Switch the file, once in its life, to a write-ahead log. SQLite does not wait for others here by itself."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while True:
        try:
            db.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.005)
        else:
            return


def _open_to_read(path: Path) -> apsw.Connection:
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    db.set_busy_timeout(PATIENCE_MS)
    try:
        db.execute("select count(*) from sqlite_schema").get  # noqa: B018  # the first read is what opens the log
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError) as error:
        db.close()
        if isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) not in _NO_INDEX:
            raise
        return _open_where_nothing_can_be_made(path)
    return db


def _open_where_nothing_can_be_made(path: Path) -> apsw.Connection:
    """Open the file without the index that readers share beside it: the folder is read-only, or the disk is full.

    Nobody writes meanwhile: a writer has made the index, and then we could have read by it.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    if not _log_size(path):
        return apsw.Connection(f"{path.as_uri()}?immutable=1", flags=flags)
    db = apsw.Connection(f"{path.as_uri()}?vfs={_WITHOUT_LOCKS}", flags=flags)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.pragma("locking_mode", "exclusive")  # for one reader alone, SQLite keeps the index in memory
    return db


def _log_size(path: Path) -> int:
    log = path.with_name(f"{path.name}-wal")
    return log.stat().st_size if log.exists() else 0


@cache
def _migrations() -> tuple[str, ...]:
    """Return the SQL that leads from each version to the next, in order."""
    folder = resources.files("headway.store").joinpath("schema")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return tuple(file.read_text(encoding="utf-8") for file in files)


def _version(db: apsw.Connection, path: Path) -> int:
    """Return the file's version; refuse one that is not ours or newer than we are, before anything in it is touched."""
    version, owner, tables = db.execute(_VERSION).get  # in one look: another process may be making the file
    if owner != APPLICATION_ID and tables:
        raise StoreFailed(Trouble.NOT_OURS, path, "it is the database of another program")
    # SQLite takes the rest of a page that is not there for zeros. What is in the log will make the file whole.
    if path.stat().st_size % db.pragma("page_size") and not _log_size(path):
        raise StoreFailed(Trouble.DAMAGED, path, "its end is missing")
    known = len(_migrations())
    if version > known:
        raise StoreFailed(Trouble.TOO_NEW, path, f"its version is {version}, and this Headway knows up to {known}")
    return int(version)


def _migrate(db: apsw.Connection) -> None:
    """Bring the file up to date, wholly or not at all; another process may be doing the same."""
    migrations = _migrations()
    if db.pragma("user_version") == len(migrations):
        return
    with _transaction(db):
        for version, sql in enumerate(migrations[db.pragma("user_version") :], db.pragma("user_version") + 1):
            db.execute(sql)
            db.pragma("user_version", version)
        db.pragma("application_id", APPLICATION_ID)
