"""Runs of `headway` that die on purpose, or on bad disks: `Nursery` in a test, `python -m support.nursery` behind it.

The nursery is a process that has everything loaded. For each order it forks a child that runs one command, as a process
of its own, within milliseconds instead of a third of a second. A child may be told where to be killed, and its disk may
be told to fail; nothing else about it is changed.
"""

import ctypes
import errno
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec import Struct

from support.disks import DeadlyDisk, FillingDisk, writing_by

TESTS = Path(__file__).parents[1]
_IN_PIECES = ("text_received", "arguments_received")
_disks = ExitStack()


class Death(Struct, frozen=True):
    """Where a process is killed: `before` or `after` the `nth` time that it takes a step.

    A step is the kind of a record, which is taken by the append that holds it. What comes in pieces is counted in
    characters: `text_received`, and `arguments_received write_file` of that tool. `replace` is how a file gets its
    name; `pwrite` is a write of the database, which is then half done. `interrupted` is SIGINT before the step.
    """

    when: str
    step: str
    nth: int = 1


class Weather(Struct, frozen=True):
    """What is wrong with the disk of a process."""

    full_after: int | None = None
    """So many writes of the database, and the disk is full …"""
    full_for: int = 10**9
    """… for so many writes."""
    most_bytes: int | None = None
    """No file may become larger."""
    heeds_rights: bool = False
    """What may not be written to cannot be written to, not even by root."""


class Ended(Struct, frozen=True):
    """How a run ended. A negative status is the number of a signal."""

    pid: int
    status: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return self.err.splitlines()[-1] if self.err else ""


class Nursery:
    """Runs commands of `headway`, one after another. Close it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(TESTS)},
            text=True,
        )

    def run(self, home: Path, *arguments: str, dies: Death | None = None, weather: Weather | None = None) -> Ended:
        """Run a command with `home` as its home, to its end."""
        order = {"home": str(home), "arguments": arguments, "folder": str(self._folder)}
        order |= {"dies": dies and [dies.when, dies.step, dies.nth]}
        order |= {"weather": weather and {name: getattr(weather, name) for name in weather.__struct_fields__}}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        pid, status = json.loads(self._process.stdout.readline())
        out, err = ((self._folder / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
        return Ended(pid, os.waitstatus_to_exitcode(status), out, err)

    def close(self) -> None:
        self._process.communicate(timeout=20)


class _Dying:
    """Counts the steps of this process and kills it at one of them."""

    def __init__(self, when: str, step: str, nth: int) -> None:
        self._when, self._step, self._left = when, step, nth

    def _around(self, steps: Sequence[str], act: Callable[[], Any]) -> Any:
        taken = Counter(steps)[self._step]
        is_now = 0 < self._left <= taken
        self._left -= taken
        if is_now and self._when != "after":
            os.kill(os.getpid(), signal.SIGINT if self._when == "interrupted" else signal.SIGKILL)
        done = act()
        if done is False:
            self._left += taken  # nothing was written: it is tried again
        elif is_now and self._when == "after":
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    def prepare(self) -> None:
        if self._step == "pwrite":
            _disks.enter_context(writing_by(DeadlyDisk(self._left).write))
            return
        from headway.store.sqlite import SqliteJournal, SqliteStore

        append, try_append, create = SqliteJournal.append, SqliteJournal.try_append, SqliteStore.create
        replace = os.replace

        def dying_append(journal: Any, rows: Any, *, durable: bool = True) -> None:
            return self._around(_steps(rows), lambda: append(journal, rows, durable=durable))

        def dying_try(journal: Any, rows: Any) -> bool:
            return self._around(_steps(rows), lambda: try_append(journal, rows))

        def dying_create(store: Any, session: str, rows: Any) -> None:
            given = tuple(rows)
            return self._around(_steps(given), lambda: create(store, session, given))

        def dying_replace(*names: Any, **options: Any) -> None:
            return self._around(["replace"], lambda: replace(*names, **options))

        SqliteJournal.append, SqliteJournal.try_append = dying_append, dying_try
        SqliteStore.create, os.replace = dying_create, dying_replace


def _steps(rows: Sequence[Any]) -> list[str]:
    steps = []
    for row in rows:
        body = json.loads(row.body)
        name = f"{row.kind} {body['name']}" if row.kind == "arguments_received" else row.kind
        steps += [name] * (len(body["text"]) if row.kind in _IN_PIECES else 1)
    return steps


class _FullForAWhile(FillingDisk):
    """A disk that is full after so many writes, for so many."""

    def __init__(self, room: int, refused: int) -> None:
        super().__init__(room)
        self._refused = refused

    def write(self, handle: int, data: int, size: int, offset: int) -> int:
        if self.room <= 0 and self._refused > 0:
            self._refused -= 1
            ctypes.set_errno(errno.ENOSPC)
            return -1
        self.room = max(1, self.room)
        return super().write(handle, data, size, offset)


def _let_it_storm(weather: Weather) -> None:
    if weather.full_after is not None:
        _disks.enter_context(writing_by(_FullForAWhile(weather.full_after, weather.full_for).write))
    if weather.most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (weather.most_bytes, weather.most_bytes))
    if weather.heeds_rights and os.geteuid() == 0:
        _give_up_overrides()


def _give_up_overrides() -> None:
    """Give up what lets root pass over the rights of files, and stay root otherwise (capset(2), version 3)."""
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    overrides = 1 << 1 | 1 << 2  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capget(header, sets) == 0
    for at in (0, 1):  # the effective and the permitted set
        sets[at] &= ~overrides
    assert libc.capset(header, sets) == 0


def _begin(order: dict[str, Any]) -> int:
    """Be a run of `headway`, and nothing else any more."""
    folder = Path(order["folder"])
    for number, name in ((1, "out"), (2, "err")):
        handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    sys.stdin = os.fdopen(0, encoding="utf-8")
    os.environ.clear()
    os.environ.update({"PATH": "/usr/bin:/bin", "HEADWAY_HOME": order["home"]})
    if order["dies"]:
        _Dying(*order["dies"]).prepare()
    if order["weather"]:
        _let_it_storm(Weather(**order["weather"]))
    from headway.cli.main import main

    return main(order["arguments"])


def _serve() -> None:
    import headway.cli.run
    import headway.store.sqlite  # noqa: F401  # loaded once, for all children

    for line in sys.stdin:
        child = os.fork()
        if not child:
            status = _begin(json.loads(line))
            sys.stdout.flush()
            os._exit(status)
        _, status = os.waitpid(child, 0)
        os.write(1, json.dumps([child, status]).encode() + b"\n")


if __name__ == "__main__":
    _serve()
