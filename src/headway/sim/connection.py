"""One HTTP/1.1 connection of the simulator, with every byte in its own hands.

Requests are read by httptools; what is written is up to the caller, who can also end the connection in any way there
is. Each write waits until the kernel has all of it. When the connection is gone, the task that serves it is
cancelled: that is the only way in which a serving task learns of it.
"""

import asyncio
import socket
import struct
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias, cast
from urllib.parse import parse_qsl, unquote, urlsplit

import httptools
from msgspec import Struct

BODY_LIMIT = 64 * 1024 * 1024
_PATIENCE = 400
_SIOCOUTQNSD = 0x894B
"""Linux's request for the bytes of a socket that were not sent yet."""
_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_TOO_LARGE = b"HTTP/1.1 413 Content Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
_UNREADABLE = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Request(Struct, frozen=True):
    """One whole request. Names of headers are in small letters."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    keeps_alive: bool = True


Serve: TypeAlias = Callable[["Connection"], Coroutine[Any, Any, None]]


class Connection(asyncio.Protocol):
    """One connection and the task that serves it."""

    def __init__(self, serve: Serve) -> None:
        """Serve the connection by `serve` as soon as it is made."""
        self._serve = serve
        self._parser = httptools.HttpRequestParser(self)
        self._requests: asyncio.Queue[Request] = asyncio.Queue()
        self._can_write = asyncio.Event()
        self._can_write.set()
        self._target = b""
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._transport: asyncio.Transport | None = None
        self.task: asyncio.Task[None] | None = None
        self.closed_by_us = False

    # What the loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to serve."""
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are of a family of their own
        self._transport.set_write_buffer_limits(high=0)
        self.task = asyncio.get_running_loop().create_task(self._serve(self), name="sim connection")

    def data_received(self, data: bytes) -> None:
        """Take bytes of requests."""
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            self._refuse(_UNREADABLE)

    def connection_lost(self, _exc: Exception | None) -> None:
        """Stop serving."""
        if self.task is not None:
            self.task.cancel()

    def pause_writing(self) -> None:
        """Make writers wait."""
        self._can_write.clear()

    def resume_writing(self) -> None:
        """Let writers go on."""
        self._can_write.set()

    # What the parser calls

    def on_message_begin(self) -> None:
        """Forget the last request."""
        self._target, self._headers, self._body = b"", {}, bytearray()

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that comes twice is joined, as HTTP allows."""
        key, said = name.decode("latin-1").lower(), value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {said}" if key in self._headers else said

    def on_headers_complete(self) -> None:
        """Ask for the body, if the client waits to be asked."""
        if self._headers.get("expect", "").lower() == "100-continue" and self._transport:
            self._transport.write(_CONTINUE)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._body += body
        if len(self._body) > BODY_LIMIT:
            self._refuse(_TOO_LARGE)

    def on_message_complete(self) -> None:
        """Hand the request to whoever waits for it."""
        target = urlsplit(self._target.decode("latin-1"))
        self._requests.put_nowait(
            Request(
                self._parser.get_method().decode("latin-1"),
                unquote(target.path),
                dict(parse_qsl(target.query)),
                self._headers,
                bytes(self._body),
                self._parser.should_keep_alive(),
            )
        )

    # What the server calls

    async def next_request(self) -> Request:
        """Wait for a request."""
        return await self._requests.get()

    async def send(self, data: bytes) -> None:
        """Write bytes and wait until the kernel has them."""
        if self._transport is None or self._transport.is_closing():
            await asyncio.Event().wait()  # the connection is going: this task is about to be cancelled
        else:
            self._transport.write(data)
            await self._can_write.wait()

    async def sent(self) -> None:
        """Wait until nothing is left in the kernel that was never sent: a reset throws that away."""
        for attempt in range(_PATIENCE):
            if not self._unsent():
                return
            await asyncio.sleep(0 if attempt < _PATIENCE // 2 else 0.001)

    def _unsent(self) -> int:
        sock = self._transport.get_extra_info("socket") if self._transport else None
        if sock is None or not sys.platform.startswith("linux"):
            return 0
        import fcntl  # there is none on every platform

        return int.from_bytes(fcntl.ioctl(sock.fileno(), _SIOCOUTQNSD, bytes(4)), sys.byteorder)

    def hang_up(self) -> None:
        """Close with a FIN."""
        self.closed_by_us = True
        if self._transport is not None:
            self._transport.close()

    def reset(self) -> None:
        """Close with a RST."""
        self.closed_by_us = True
        if self._transport is not None:
            sock = self._transport.get_extra_info("socket")
            with suppress(OSError):  # the client may have closed it a moment ago
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()

    def _refuse(self, answer: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(answer)
        self.hang_up()
