"""A client that sends any bytes it likes, and reads answers by the letter. Nothing of `src` is in it: it judges it."""

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import httptools

LONG_SECONDS = 3600
"""Longer than anything may take; virtual, so it costs nothing."""


class Answered:
    """One answer."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.complete = False


class AnswerReader:
    """Splits what a server sent into answers; interim ones (100) are counted apart."""

    def __init__(self, *, head_only: bool = False) -> None:
        self.answers: list[Answered] = []
        self.interim = 0
        self._head_only = head_only
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        if self._head_only:
            self._feed_heads(data)
        else:
            self._parser.feed_data(data)

    def _feed_heads(self, data: bytes) -> None:
        """Read answers to HEAD: they announce a body that does not come."""
        for head in data.split(b"\r\n\r\n")[:-1]:
            one = Answered()
            lines = head.decode("latin-1").split("\r\n")
            one.status = int(lines[0].split()[1])
            one.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
            one.complete = True
            self.answers.append(one)

    def on_message_begin(self) -> None:
        self._now = Answered()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._now.headers[name.decode().lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        self._now.status = self._parser.get_status_code()
        if self._now.status == 100:
            self.interim += 1
        else:
            self.answers.append(self._now)

    def on_body(self, body: bytes) -> None:
        self._now.body += body

    def on_message_complete(self) -> None:
        self._now.complete = True


class RawClient:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, head_only: bool) -> None:
        self._reader, self._writer = reader, writer
        self.got = AnswerReader(head_only=head_only)
        self.closed = False
        self.reset = False

    @property
    def answers(self) -> list[Answered]:
        return self.got.answers

    @property
    def statuses(self) -> list[int]:
        return [answer.status for answer in self.answers]

    async def send(self, *pieces: bytes, gap_seconds: float = 0.0) -> None:
        """Send pieces, each on its own; a server that has closed is no error here."""
        with suppress(ConnectionError):
            for piece in pieces:
                self._writer.write(piece)
                await self._writer.drain()
                await asyncio.sleep(gap_seconds)

    def say_no_more(self) -> None:
        """Close our half, and go on reading."""
        with suppress(OSError):
            self._writer.write_eof()

    def tear(self) -> None:
        """Leave by a reset."""
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    async def read(self, answers: int = 0) -> None:
        """Read until so many answers are whole, or until the server closes; a server that does neither has stalled."""
        async with asyncio.timeout(LONG_SECONDS):
            while not self.closed and (not answers or sum(one.complete for one in self.answers) < answers):
                try:
                    data = await self._reader.read(65536)
                except ConnectionResetError:
                    self.reset, data = True, b""
                self.closed = not data
                self.got.feed(data)

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


@asynccontextmanager
async def raw_client(url: str, *, head_only: bool = False) -> AsyncIterator[RawClient]:
    port = int(url.rpartition(":")[2])
    client = RawClient(*await asyncio.open_connection("127.0.0.1", port), head_only=head_only)
    try:
        yield client
    finally:
        await client.close()


def request_bytes(
    body: bytes = b"",
    *,
    method: str = "POST",
    path: str = "/v1/chat/completions",
    chunks: Sequence[int] = (),
    **headers: Any,
) -> bytes:
    """Return a request; `chunks` are the sizes in which its body is sent, where it is not sent as one."""
    lines = [f"{method} {path} HTTP/1.1", "host: localhost"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if not chunks:
        lines.append(f"content-length: {len(body)}")
        return "\r\n".join((*lines, "", "")).encode("latin-1") + body
    lines.append("transfer-encoding: chunked")
    pieces, at = [], 0
    for size in (*chunks, len(body)):
        piece, at = body[at : at + size], at + size
        pieces += [b"%x\r\n%s\r\n" % (len(piece), piece)] if piece else []
    return "\r\n".join((*lines, "", "")).encode("latin-1") + b"".join(pieces) + b"0\r\n\r\n"
