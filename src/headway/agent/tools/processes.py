"""A program in a session of its own, with a time limit for all that it starts. Nothing of its group outlives the call.

Its output, both kinds in one, comes through a pipe that is ours alone, so a process that has left the group can keep
neither the pipe nor the caller. A cancelled or overdue group is asked to end, and a moment later it is killed.
"""

import asyncio
import os
import signal
import subprocess
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from headway.agent.tools.threads import start_thread

ASKED_SECONDS = 0.15
"""Time between asking a group to end and killing it: enough to remove a lock file."""
LINGER_SECONDS = 0.1
"""Time for the last of a group to go by themselves after their leader."""
DRAIN_SECONDS = 0.2
_PIECE = 65_536


class Ended(Struct, frozen=True):
    """How a program ended. A negative status is the number of a signal; None means that its time was over."""

    status: int | None
    left_running: bool = False
    """Whether it left processes behind, which were then killed."""
    stopped: str = ""
    """What it took too much of, if it was stopped for that: `processes` or `disk`."""


async def run_group(
    program: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    seconds: float,
    on_text: Callable[[str], None],
    hands_on: int | None = None,
    patience_seconds: float = ASKED_SECONDS,
) -> Ended:
    """Run a program until it ends, its time is over or the caller is cancelled.

    `hands_on` is a file descriptor that it gets as well. `patience_seconds` is how long it has to end when asked to.
    """
    ours, theirs = os.pipe()
    reader = _Reader(ours, on_text)
    try:
        process = _start(program, folder, environment, theirs, hands_on)
        return await _until_ended(process, seconds, reader, patience_seconds)
    finally:
        reader.close()


def _start(
    program: Sequence[str], folder: Path, environment: Mapping[str, str], output: int, hands_on: int | None
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603  # what may run was decided before
            program,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
            pass_fds=() if hands_on is None else (hands_on,),
        )
    finally:
        os.close(output)


async def _until_ended(
    process: "subprocess.Popen[bytes]", seconds: float, reader: "_Reader", patience_seconds: float
) -> Ended:
    over = start_thread(process.wait)
    left_running = True
    try:
        done, _ = await asyncio.wait({over}, timeout=seconds)
        left_running = not done or await _lingers(process.pid)
    finally:
        if left_running:
            await _end_group(process.pid, over, patience_seconds)
    await asyncio.wait({reader.ended}, timeout=DRAIN_SECONDS)
    return Ended(over.result() if done else None, left_running)


async def _end_group(group: int, over: "asyncio.Future[int]", patience_seconds: float) -> None:
    """Ask, wait a moment, kill. A second cancellation shortens the wait; nothing skips the end."""
    try:
        if _signal(group, signal.SIGTERM) and not over.done():
            await asyncio.wait({over}, timeout=patience_seconds)
    finally:
        _signal(group, signal.SIGKILL)
    await asyncio.wait({over}, timeout=ASKED_SECONDS)


async def _lingers(group: int) -> bool:
    """Say whether something of a group is still there a moment after its leader has gone."""
    deadline = asyncio.get_running_loop().time() + LINGER_SECONDS
    while _signal(group, 0):
        if asyncio.get_running_loop().time() >= deadline:
            return _is_alive(group)
        await asyncio.sleep(LINGER_SECONDS / 10)
    return False


def _is_alive(group: int) -> bool:
    """Say whether a process of a group is more than a name that nobody has collected; True where it cannot be told."""
    processes = list(Path("/proc").glob("[0-9]*/stat"))
    for process in processes:
        with suppress(OSError):
            state, _, its_group = process.read_bytes().rpartition(b")")[2].split()[:3]
            if int(its_group) == group and state not in {b"Z", b"X"}:
                return True
    return not processes


def _signal(group: int, number: int) -> bool:
    """Send a signal to a group; say whether there was anybody to get it."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


class _Reader:
    """Reads a pipe as text, a piece at a time, from the loop."""

    def __init__(self, pipe: int, on_text: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe, self._on_text = pipe, on_text
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self.ended: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(pipe, False)
        self._loop.add_reader(pipe, self._read)

    def close(self) -> None:
        self._loop.remove_reader(self._pipe)
        with suppress(OSError):
            os.close(self._pipe)
        self.ended.cancel()

    def _read(self) -> None:
        try:
            data = os.read(self._pipe, _PIECE)
        except BlockingIOError:
            return
        text = self._decode(data, final=not data)
        if not data:
            self._loop.remove_reader(self._pipe)
            self.ended.set_result(None)
        if text:
            self._on_text(text)
