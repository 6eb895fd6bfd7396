"""The last traces, on disk: a small SQLite file of its own, written in batches by one thread, never in a stream's way.

A trace that cannot be written is lost, and said to be lost once; a request never fails because of it.
"""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import msgspec

from headway.failure import InvalidInput
from headway.gateway.trace import Trace

FLUSH_SECONDS = 0.5
MOST_WAITING = 10_000
_TABLE = """
  create table if not exists trace (number integer primary key, id text not null, at real not null, body blob not null);
  create index if not exists trace_by_id on trace (id);
"""
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Trace).decode


class TraceLog:
    """Keeps the last `most` traces in a file."""

    def __init__(self, path: Path, most: int, complain: Callable[[str], None]) -> None:
        """Write to a file; `complain` is told, once, when that does not work."""
        self._path, self._most, self._complain = path, most, complain
        self._waiting: list[Trace] = []
        self._timer: asyncio.TimerHandle | None = None
        self._guard = threading.Lock()
        self._db: apsw.Connection | None = None
        self._complained = False

    def add(self, trace: Trace) -> None:
        """Take a trace; it is on disk a moment later."""
        if self._most <= 0 or len(self._waiting) >= MOST_WAITING:
            return
        self._waiting.append(trace)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(FLUSH_SECONDS, self._flush_soon)

    def flush(self) -> None:
        """Write what waits."""
        traces, self._waiting = self._waiting, []
        if traces:
            self._write(traces)

    def _flush_soon(self) -> None:
        self._timer = None
        traces, self._waiting = self._waiting, []
        asyncio.get_running_loop().run_in_executor(None, self._write, traces)

    def _write(self, traces: list[Trace]) -> None:
        try:
            with self._guard:
                db = self._opened()
                with db:
                    rows = [(trace.id, trace.at, _encode(trace)) for trace in traces]
                    db.executemany("insert into trace (id, at, body) values (?, ?, ?)", rows)
                    db.execute("delete from trace where number <= (select max(number) from trace) - ?", (self._most,))
        except (apsw.Error, OSError) as exc:
            if not self._complained:
                self._complained = True
                self._complain(f"traces cannot be kept in {self._path}: {exc}; requests are answered all the same")

    def _opened(self) -> apsw.Connection:
        if self._db is None:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = apsw.Connection(str(self._path))
            self._path.chmod(0o600)
            self._db.set_busy_timeout(2000)
            self._db.pragma("journal_mode", "wal")
            self._db.pragma("synchronous", "normal")
            self._db.execute(_TABLE)
        return self._db


def read_traces(path: Path, *, id_begins: str = "", last: int = 20) -> list[Trace]:
    """Return traces, the newest first: those whose id begins so, or the last ones."""
    if not path.is_file():
        raise InvalidInput(str(path), "there are no traces yet", "`headway serve` and `headway exec` write them.")
    try:
        db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        sql = "select body from trace where id >= ? and id < ? order by number desc limit ?"
        found = db.execute(sql, (id_begins, f"{id_begins}\uffff", last)).fetchall()
    except apsw.Error as exc:
        hint = "If it is damaged, move it away; a new one is made."
        raise InvalidInput(str(path), f"it cannot be read: {exc}", hint) from None
    return [_decode(body) for (body,) in found if isinstance(body, bytes)]
