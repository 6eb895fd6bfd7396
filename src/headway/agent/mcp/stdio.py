"""A server that is a process of ours: messages over its standard input and output, one a line.

It runs in a session of its own, so that all it starts can be ended with it. What it says on standard error is kept
apart, the first and the last of it. No task reads for it: the loop hands over what comes.
"""

import asyncio
import os
import signal
from asyncio import Future
from codecs import getincrementaldecoder
from contextlib import suppress
from subprocess import PIPE

from headway.agent.mcp.link import LARGEST_MESSAGE, Ask, Hear
from headway.agent.mcp.spec import ServerSpec
from headway.agent.mcp.troubles import Phase, ServerFailed, Trouble
from headway.agent.tools.bounds import Spool

MOST_UNASKED = 64 * 1024 * 1024
"""Bytes that may come without one of them answering anything: more is a flood."""
MOST_UNREAD = 32 * 1024 * 1024
KEPT_WORDS = 16_000
LAST_WORDS_SECONDS = 0.2
"""Time between the end of a process and the end of its output, or the other way round."""
LEAVE_SECONDS = 0.5
"""Time to end by itself when its input has ended, and again when it is asked to."""


class StdioLink(asyncio.SubprocessProtocol):
    """The pipes of one process."""

    def __init__(self, spec: ServerSpec) -> None:
        """Prepare it; `open` starts the process."""
        self.hear: Hear = lambda _: ()
        self.lost: ServerFailed | None = None
        self.version = ""
        self._spec = spec
        self._transport: asyncio.SubprocessTransport | None = None
        self._line = bytearray()
        self._unasked = 0
        self._words = Spool(KEPT_WORDS)
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._waiting: set[Future[object]] = set()
        self._loop = asyncio.get_running_loop()
        self._exited: Future[None] = self._loop.create_future()
        self._ending: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int:
        """Return the process, which is also its group; 0 if there is none."""
        return self._transport.get_pid() if self._transport is not None else 0

    async def open(self) -> None:
        """Start the process."""
        spec = self._spec
        try:
            self._transport, _ = await self._loop.subprocess_exec(
                lambda: self,
                *spec.command,
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=spec.folder,
                env=spec.environment,
                start_new_session=True,
            )
        except OSError as error:
            raise self._failure(Trouble.NO_PROGRAM, _why_not(error, spec), Phase.START) from None
        except ValueError:  # a null character in an argument or a variable
            raise self._failure(Trouble.NO_PROGRAM, "its command cannot be run by any system", Phase.START) from None

    async def exchange(self, ask: Ask, answered: "Future[object]") -> None:
        """Write a request and wait."""
        self._write(ask.body)
        self._waiting.add(answered)
        try:
            await asyncio.wait({answered})
        finally:
            self._waiting.discard(answered)

    async def tell(self, body: bytes) -> None:
        """Write."""
        self._write(body)

    async def close(self) -> None:
        """End its input, ask it to end, kill it and all of its group; one after the other, and soon."""
        self._lose(self._failure(Trouble.ENDED, "it was ended by Headway"))
        if self._transport is None:
            return
        group = self._transport.get_pid()
        try:
            if (stdin := self._transport.get_pipe_transport(0)) is not None:
                stdin.close()
            await asyncio.wait({self._exited}, timeout=LEAVE_SECONDS)
            if not self._exited.done():
                _signal(group, signal.SIGTERM)
                await asyncio.wait({self._exited}, timeout=LEAVE_SECONDS)
        finally:
            _signal(group, signal.SIGKILL)
            self._transport.close()
        await asyncio.wait({self._exited}, timeout=2 * LEAVE_SECONDS)

    def evidence(self) -> str:
        """Return the last line of its standard error."""
        lines = self._words.text().split("\n")
        return next((" ".join(line.split())[:300] for line in reversed(lines) if line.strip()), "")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Take what it says."""
        if fd == 1:
            self._read(data)
        else:
            self._words.write(self._decode(data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  # the loop calls it so
        """Take the end of its output for its end."""
        if fd == 1:
            self._end_soon()

    def process_exited(self) -> None:
        """Take note of its end."""
        if not self._exited.done():
            self._exited.set_result(None)
        self._end_soon()

    def _read(self, data: bytes) -> None:
        self._unasked += len(data)
        if self.lost is not None:
            return
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        self._line += rest
        if len(self._line) > LARGEST_MESSAGE:
            self._lose(self._failure(Trouble.FLOODS, f"it sent a line of over {LARGEST_MESSAGE // 2**20} MB"))
            return
        for line in lines:
            before = self._unanswered()
            for answer in self.hear(line) if line.strip() else ():
                self._write(answer)
            if self._unanswered() < before:
                self._unasked = 0
        if self._unasked > MOST_UNASKED:
            self._lose(self._failure(Trouble.FLOODS, f"it sent over {MOST_UNASKED // 2**20} MB that nobody asked for"))

    def _unanswered(self) -> int:
        return sum(not one.done() for one in self._waiting)

    def _write(self, body: bytes) -> None:
        if self.lost is not None:
            raise self.lost
        assert self._transport is not None, "it was opened"
        stdin = self._transport.get_pipe_transport(0)
        if not isinstance(stdin, asyncio.WriteTransport) or stdin.is_closing():
            raise self._failure(Trouble.ENDED, self._last_words())
        if stdin.get_write_buffer_size() > MOST_UNREAD:
            raise self._failure(Trouble.HUNG, "it does not read what it is sent")
        stdin.write(body + b"\n")

    def _end_soon(self) -> None:
        """Both its output and its process have ended, or one of them; the other may be a moment behind."""
        if self._ending is None:
            self._ending = self._loop.call_later(LAST_WORDS_SECONDS, self._end)
        else:
            self._ending.cancel()
            self._loop.call_soon(self._end)

    def _end(self) -> None:
        self._lose(self._failure(Trouble.ENDED, self._last_words()))

    def _last_words(self) -> str:
        status = self._transport.get_returncode() if self._transport is not None else None
        if status is None:
            ended = "it closed its output"
        elif status < 0:
            ended = f"it was ended by signal {-status}"
        else:
            ended = f"it ended with status {status}"
        said = self.evidence()
        return f"{ended}; its last words: {said}" if said else ended

    def _lose(self, why: ServerFailed) -> None:
        """Say that it is of no more use, to everybody who waits."""
        self.lost = self.lost or why
        self._line.clear()
        for waiting in tuple(self._waiting):
            if not waiting.done():
                waiting.set_exception(self.lost)

    def _failure(self, trouble: Trouble, detail: str, phase: Phase = Phase.CALL) -> ServerFailed:
        return ServerFailed(trouble, self._spec.name, phase, detail)


def _why_not(error: OSError, spec: ServerSpec) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if error.filename is not None and os.fspath(error.filename) == os.fspath(spec.folder):
            return f"there is no folder {spec.folder}"
        return f"there is no program {spec.command[0]}"
    return f"{spec.command[0]} cannot be started: {error.strerror or error}"


def _signal(group: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
