"""One connection of a client. Each of its requests is answered by one task, one at a time and in order.

When the client goes, the task that answers it is cancelled, and with it everything it has open upstream. A client that
stops reading is waited for until its deadline, and then reset: its memory is bounded, and so is its time.
"""

import asyncio
import socket
import struct
import sys
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Protocol, cast

from headway.gateway.message import Limits, Request
from headway.gateway.reading import Refusal, RequestReader

_RESET_ON_CLOSE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_LAST_CHUNK = b"0\r\n\r\n"
PIPELINED = 4
"""Requests of one connection that may wait for the one before them."""
REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"} | {
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    502: "Bad Gateway",
    503: "Service Unavailable",
    504: "Gateway Timeout",
    529: "Overloaded",
}


class ClientGone(Exception):
    """The client went away, or takes nothing any more; there is nobody to answer."""


class Answer:
    """Writes one answer. It begins when somebody has something to say, and ends once."""

    def __init__(
        self, connection: "Connection", *, keeps_alive: bool, head_only: bool = False, chunked: bool = True
    ) -> None:
        """Answer on a connection; `head_only` for a request by HEAD. Without `chunked`, the close ends a stream."""
        self._connection, self._keeps_alive, self._head_only = connection, keeps_alive, head_only
        self._chunked = chunked
        self._unsent = b""
        self.begun = False
        self.over = False
        self.sent = 0
        """Bytes of the body so far."""

    def whole(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        """Answer with a body that is there."""
        head = self._head(status, {**headers, "content-length": str(len(body))})
        self.sent += len(body)
        self._connection.write(head if self._head_only else head + body)
        self.over = True

    def begin(self, status: int, headers: Mapping[str, str]) -> None:
        """Begin an answer that is written in pieces; its head goes out with the first of them."""
        framing = {"transfer-encoding": "chunked"} if self._chunked else {}
        self._unsent = self._head(status, {**headers, **framing})

    async def write(self, data: bytes) -> None:
        """Write a piece, as fast as the client takes it."""
        self.write_now(data)
        if self.is_ahead:
            await self.taken()

    def write_now(self, data: bytes) -> None:
        """Write a piece; whoever has more of them looks at `is_ahead` and waits."""
        if self._unsent:
            self._connection.write(self._framed(data))
        elif data:
            self.sent += len(data)
            self._connection.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)

    @property
    def is_ahead(self) -> bool:
        """Say whether the client has to take something before more is written."""
        return not self._connection.writable

    async def taken(self) -> None:
        """Wait until the client has taken enough; raises `ClientGone` when it does not in time."""
        await self._connection.drained()

    async def finish(self, data: bytes = b"") -> None:
        """Write the last piece, if there is one, and say that this was all."""
        if not self.over:
            if last := self._framed(data) + (_LAST_CHUNK if self._chunked else b""):
                self._connection.write(last)
            self.over = True
            if self.is_ahead:
                await self.taken()

    def _framed(self, data: bytes) -> bytes:
        """Return a piece as it goes out, behind the head if that has not gone out yet."""
        self.sent += len(data)
        head, self._unsent = self._unsent, b""
        if not data or not self._chunked:  # an empty chunk would be the last one
            return head + data
        return b"%b%x\r\n%b\r\n" % (head, len(data), data)

    def _head(self, status: int, headers: Mapping[str, str]) -> bytes:
        self.begun = True
        lines = [f"HTTP/1.1 {status} {REASONS.get(status, 'Status')}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if not self._keeps_alive:
            lines.append("connection: close")
        return "\r\n".join((*lines, "", "")).encode("latin-1", "replace")


class Desk(Protocol):
    """Whoever answers what connections read."""

    async def handle(self, request: Request, answer: Answer) -> None:
        """Answer a request."""

    def refuse(self, status: int, words: str, target: str) -> tuple[Mapping[str, str], bytes]:
        """Return headers and body for a status, words, and the path it is about, in the words of that path's wire."""

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request with these headers may come in; the body of one that may not is not kept."""


class Connection(asyncio.Protocol):
    """Has requests answered in order, and knows when the client is gone."""

    def __init__(
        self,
        desk: Desk,
        limits: Limits,
        closed: Callable[["Connection"], None],
        *,
        welcome: bool = True,
    ) -> None:
        """Have requests answered at a desk; tell `closed` when the connection is. Not `welcome`: reset at once."""
        self._desk, self._limits, self._closed = desk, limits, closed
        self._welcome = welcome
        self._loop = asyncio.get_running_loop()
        self._reader = RequestReader(limits, desk.knows)
        self._transport: asyncio.Transport | None = None
        self._waiting: deque[Request | Refusal] = deque()
        self._task: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drain: asyncio.Future[None] | None = None
        self.writable = True
        self.lost = False
        self.closing = False
        """No more requests are taken: the last answer closes it."""

    @property
    def busy(self) -> bool:
        """Say whether a request is being answered."""
        return self._task is not None

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for the first request."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are of a family of their own
        if not self._welcome:
            self.abort()
            return
        self._transport.set_write_buffer_limits(high=self._limits.buffer_bytes)
        peer = transport.get_extra_info("peername")
        self._reader.peer = str(peer[0]) if isinstance(peer, tuple) else ""
        self._patience(self._limits.request_seconds)

    def data_received(self, data: bytes) -> None:
        """Take bytes of requests."""
        was_in_request = self._reader.in_request
        for read in self._reader.feed(data):
            if isinstance(read, Request):
                self._take(read)
            elif isinstance(read, Refusal):
                self._wait_in_line(read)
            elif not self.busy:  # it asks to go on
                self.write(_CONTINUE)
        if self._reader.in_request and not was_in_request and not (self.busy or self.closing):
            self._patience(self._limits.request_seconds)

    def connection_lost(self, _exc: Exception | None) -> None:
        """Stop what is being done for this client."""
        self.lost = True
        self.writable = False
        self._patience(None)
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()
        if self._drain is not None and not self._drain.done():
            self._drain.set_result(None)
        self._transport = None
        self._reader.close()
        self._closed(self)

    def pause_writing(self) -> None:
        """Note that the client does not keep up."""
        self.writable = False

    def resume_writing(self) -> None:
        """Note that there is room again."""
        self.writable = not self.lost
        if self._drain is not None and not self._drain.done():
            self._drain.set_result(None)

    # What an answer calls

    def write(self, data: bytes) -> None:
        """Send bytes; `writable` says when to stop and wait."""
        if self._transport is None or self.lost:
            raise ClientGone
        self._transport.write(data)

    async def drained(self) -> None:
        """Wait until the client has taken enough; raises `ClientGone` when it takes nothing for too long."""
        self._drain = self._loop.create_future()
        try:
            while not (self.lost or self._drain.done()):
                untaken = self._untaken()
                await asyncio.wait((self._drain,), timeout=self._limits.write_seconds)
                if not self._drain.done() and self._untaken() >= untaken:
                    self.abort()
                    raise ClientGone
        finally:
            self._drain = None
        if self.lost:
            raise ClientGone

    def _untaken(self) -> int:
        return self._transport.get_write_buffer_size() if self._transport is not None else 0

    # What the server calls

    def close_when_idle(self) -> None:
        """Take no more requests; close now if nothing is being answered."""
        self.closing = True
        if self._task is None:
            self._hang_up()

    def abort(self) -> None:
        """Close now, by a reset."""
        if self._transport is not None:
            sock = self._transport.get_extra_info("socket")
            with suppress(OSError):  # closed already
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
            self._transport.abort()

    # One request after another

    def _take(self, request: Request) -> None:
        held = sum(len(read.body) for read in self._waiting if isinstance(read, Request))
        too_many = len(self._waiting) >= PIPELINED or held + len(request.body) > self._limits.body_bytes
        if not self._reader.stopped or not too_many:
            self._wait_in_line(
                self._reader.stop(429, "Too many requests wait on one connection.") if too_many else request
            )

    def _wait_in_line(self, read: Request | Refusal) -> None:
        """Have a request answered, or refused, after those before it."""
        if not self.closing:
            self._waiting.append(read)
            if self._task is None:
                self._next()

    def _next(self) -> None:
        self._patience(None)
        read = self._waiting.popleft()
        if isinstance(read, Refusal):
            self._turn_away(read)
            return
        answer = Answer(self, keeps_alive=read.keeps_alive, head_only=read.method == "HEAD", chunked=read.takes_chunks)
        self._task = self._loop.create_task(self._serve(read, answer), name=f"{read.method} {read.path}")
        self._task.add_done_callback(partial(self._served, read, answer))

    async def _serve(self, request: Request, answer: Answer) -> None:
        try:
            await self._desk.handle(request, answer)
        except ClientGone:
            self.abort()
            return
        if not answer.over:  # whoever answers ends what it began; what was begun and not ended is no whole answer
            self.abort()
        elif not request.keeps_alive or self.closing:
            self._hang_up()

    def _served(self, request: Request, answer: Answer, task: "asyncio.Task[None]") -> None:
        self._task = None
        if task.cancelled() or self.lost:
            self.abort()
            return
        if (error := task.exception()) is not None:
            # A mistake of ours is one request's trouble, and never the gateway's.
            self._loop.call_exception_handler({"message": "a request could not be answered", "exception": error})
            if answer.begun:
                self.abort()
            else:
                self._turn_away(Refusal(500, "The gateway made a mistake; its log says which.", request.path))
        elif self._waiting and not self.closing:
            self._next()
        elif not self.closing:
            limits = self._limits
            self._patience(limits.request_seconds if self._reader.in_request else limits.idle_seconds)

    # The end

    def _patience(self, seconds: float | None) -> None:
        """Wait so long for the client; None while it waits for us."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, self._waited_enough) if seconds is not None else None

    def _waited_enough(self) -> None:
        self._timer = None
        if self.closing:
            self.abort()
        elif self._reader.in_request:
            self._wait_in_line(self._reader.stop(408, "The request did not arrive in time."))
        else:
            self._hang_up()

    def _hang_up(self) -> None:
        """Close once the client has taken what was written; one that does not is reset."""
        self.closing = True
        if self._transport is not None:
            self._transport.close()
            self._patience(self._limits.write_seconds)

    def _turn_away(self, refusal: Refusal) -> None:
        """Answer what cannot be read, and close.

        A client that is cut while it still sends sees a reset and never reads why, so the rest of what it sends is
        taken first, and dropped.
        """
        self.closing = self._reader.stopped = True
        if self._transport is None or self._transport.is_closing():
            return
        headers, body = self._desk.refuse(refusal.status, refusal.words, refusal.target)
        Answer(self, keeps_alive=False).whole(refusal.status, headers, body)
        self._transport.write_eof()
        self._patience(self._limits.request_seconds)
