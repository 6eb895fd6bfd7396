"""Bytes of a client to requests, by httptools. Pure: it knows no socket and no clock.

What cannot be read, or is too large, is a `Refusal`, and the last thing that is read.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, TypeAlias

import httptools
from msgspec import Struct

from headway.gateway.message import Limits, Request, request_of

_ABOUT_SWITCHING: Final = frozenset({"connection", "upgrade", "http2-settings"})


class Refusal(Struct, frozen=True):
    """Why a request is not read on."""

    status: int
    words: str
    target: str = ""


class Signal(Enum):
    """What a client waits for before it sends more."""

    ASKS_TO_GO_ON = "100-continue"


Read: TypeAlias = Request | Refusal | Signal


class RequestReader:
    """Reads the requests of one connection, one behind the other."""

    def __init__(self, limits: Limits, knows: Callable[[Mapping[str, str]], bool]) -> None:
        """Read within limits; the body of a request whose headers nobody `knows` is read and not kept."""
        self._limits, self._knows = limits, knows
        self.peer = ""
        """Whose requests they are: an address."""
        self._parser = httptools.HttpRequestParser(self)
        self._out: list[Read] = []
        self._target = b""
        self._headers: dict[str, str] = {}
        self._body = bytearray()
        self._body_bytes = 0
        self._keeps_body = True
        self._head_bytes = 0
        self._head_is_whole = False
        self.in_request = False
        """Has a request begun that has not come to its end?"""
        self.stopped = False
        """Is nothing read any more?"""

    def feed(self, data: bytes) -> list[Read]:
        """Return what these bytes complete."""
        if not self.stopped:
            self._parse(data)
        out, self._out = self._out, []
        return out

    def stop(self, status: int, words: str) -> Refusal:
        """Read nothing more; return what to say about the request that is being read."""
        self.stopped = True
        return Refusal(status, words, self._target.decode("latin-1"))

    def close(self) -> None:
        """Read nothing more, and let go of the parser: it holds this object, and this object it."""
        self.stopped = True
        del self._parser

    def _parse(self, data: bytes) -> None:
        while data:  # each round has read one request that offers to switch
            try:
                self._parser.feed_data(data)
            except httptools.HttpParserUpgrade as exc:
                data = self._staying_with_http(data[exc.args[0] :])
                continue
            except httptools.HttpParserCallbackError:
                raise  # a mistake of ours is none of the client's
            except httptools.HttpParserError as exc:
                self._refuse(400, f"This is not an HTTP/1.1 request: {exc}")
            return

    def _staying_with_http(self, rest: bytes) -> bytes:
        """Read a request that offers to switch to another protocol as if it did not: its body comes as HTTP anyway."""
        if self._parser.get_method() == b"CONNECT":
            self._refuse(400, "This gateway is no proxy for other hosts.")
            return b""
        lines = [f"{self._parser.get_method().decode()} {self._target.decode('latin-1')} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self._headers.items() if name not in _ABOUT_SWITCHING]
        if "close" in self._headers.get("connection", "").lower():
            lines.append("connection: close")
        self._parser = httptools.HttpRequestParser(self)
        return "\r\n".join((*lines, "", "")).encode("latin-1") + rest

    # What the parser calls

    def on_message_begin(self) -> None:
        """Forget the request before."""
        self._target, self._headers, self._body = b"", {}, bytearray()
        self._head_bytes, self.in_request, self._head_is_whole = 0, True, False
        self._body_bytes, self._keeps_body = 0, True

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._target += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; one that comes twice is joined, as HTTP allows. Behind the body it is none."""
        if self._head_is_whole:
            return
        self._count(len(name) + len(value))
        key, said = name.decode("latin-1").lower(), value.decode("latin-1")
        self._headers[key] = f"{self._headers[key]}, {said}" if key in self._headers else said

    def on_headers_complete(self) -> None:
        """Refuse a body that says it is too large; tell of one that waits to be asked for.

        A stranger's is not kept: it will be refused whatever it says, and until then it would be memory for the asking.
        """
        self._head_is_whole = True
        if self.stopped or self._parser.should_upgrade():
            return
        self._keeps_body = self._knows(self._headers)
        length = self._headers.get("content-length", "")
        if length.isdecimal() and int(length[:19]) > self._limits.body_bytes:
            self._too_large()
        elif self._headers.get("expect", "").lower() == "100-continue":
            self._out.append(Signal.ASKS_TO_GO_ON)

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        if self.stopped:
            return
        self._body_bytes += len(body)
        if self._keeps_body:
            self._body += body
        if self._body_bytes > self._limits.body_bytes:
            self._too_large()

    def on_message_complete(self) -> None:
        """Give the request."""
        if self.stopped or self._parser.should_upgrade():
            return
        self.in_request = False
        chunks = self._parser.get_http_version() != "1.0"
        self._out.append(
            request_of(
                self._parser.get_method().decode("latin-1"),
                self._target,
                self._headers,
                bytes(self._body),
                peer=self.peer,
                keeps_alive=chunks and self._parser.should_keep_alive(),
                takes_chunks=chunks,
            )
        )
        self._body = bytearray()

    def _count(self, length: int) -> None:
        self._head_bytes += length
        if self._head_bytes > self._limits.head_bytes:
            self._refuse(431, f"The headers are larger than {self._limits.head_bytes // 1024} KB.")

    def _too_large(self) -> None:
        self._refuse(413, f"The body is larger than {self._limits.body_bytes // 2**20} MB, the limit of this gateway.")

    def _refuse(self, status: int, words: str) -> None:
        if not self.stopped:
            self._body = bytearray()
            self._out.append(self.stop(status, words))
