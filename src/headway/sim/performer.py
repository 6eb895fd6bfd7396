"""Performs a play on a connection: events are encoded for the wire, and the other beats are done as they say.

The only place where the simulator waits, apart from waiting for requests. All waits are the loop's, so a virtual clock
drives them. Cancelled when the client leaves, at any beat.
"""

import asyncio
from http import HTTPStatus
from typing import Protocol

from headway.events import Event, StreamEnded
from headway.sim.connection import Connection
from headway.sim.exchange import Exchange
from headway.sim.frames import split_frames
from headway.sim.manners import Manners, Sent
from headway.sim.play import (
    Altered,
    Beat,
    Bytes,
    ChunkSize,
    Finish,
    Forever,
    HangUp,
    Head,
    Idle,
    Pause,
    Play,
    Reset,
    Silence,
    Torn,
    delta_of,
)
from headway.wire.base import Wire
from headway.wire.json_text import encode

_LAST_CHUNK = b"0\r\n\r\n"
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


class _Writer(Protocol):
    def write(self, event: Event) -> bytes: ...


class _WholeReply:
    """Writes nothing until the end, and then a reply that did not stream."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._events: list[Event] = []

    def write(self, event: Event) -> bytes:
        self._events.append(event)
        return encode(self._wire.render_reply(self._events)) if isinstance(event, StreamEnded) else b""


class Performer:
    """Performs one play."""

    def __init__(self, connection: Connection, exchange: Exchange, manners: Manners) -> None:
        """Perform on a connection, and keep the exchange's counts."""
        self._connection = connection
        self._exchange = exchange
        self._manners = manners
        self._writer: _Writer = manners.wire.encoder()
        self._sent = Sent()
        self._head: tuple[int, bytes] | None = None
        """A head that was not sent yet: that of a reply that does not stream waits for its body."""
        self._is_chunked = True
        self._chunk_size = 0
        self.is_finished = False
        """Has the answer ended as HTTP wants it?"""

    async def perform(self, play: Play) -> None:
        """Do one beat after another."""
        for beat in play:
            await self._do(beat)

    async def _do(self, beat: Beat) -> None:
        match beat:
            case Pause(seconds=seconds):
                await asyncio.sleep(seconds)
            case Silence():
                await asyncio.Event().wait()
            case Forever(beats=beats):
                while True:
                    await self.perform(list(beats))
            case Head():
                await self._open(beat)
            case Bytes(data=data):
                await self._body(data)
            case ChunkSize(bytes=size):
                self._chunk_size = size
            case Finish() | HangUp() | Reset():
                await self._end(beat)
            case Torn():
                await self._tear(beat)
            case Idle():
                await self._body(self._manners.idle(beat, self._sent))
                self._sent.frames += 1
            case _:
                await self._say(beat)

    async def _open(self, head: Head) -> None:
        self._is_chunked = head.length is None
        framing = "transfer-encoding: chunked" if head.length is None else f"content-length: {head.length}"
        lines = [
            f"HTTP/1.1 {head.status} {_PHRASES.get(head.status, 'Unknown')}",
            *(f"{name}: {value}" for name, value in head.headers),
            framing,
        ]
        data = "\r\n".join((*lines, "", "")).encode("latin-1", "replace")
        self._head = (head.status, data)
        if head.whole:
            self._writer = _WholeReply(self._manners.wire)
        else:
            await self._send_head()

    async def _send_head(self) -> None:
        if self._head is not None:
            (self._exchange.status, data), self._head = self._head, None
            await self._connection.send(data)

    async def _say(self, beat: Event | Altered) -> None:
        """Encode an event and send it; what a stored response says was counted when it was made."""
        event, is_stored = (beat.event, beat.whole) if isinstance(beat, Altered) else (beat, False)
        data = self._writer.write(event)
        if isinstance(beat, Altered):
            data = beat.alter(data)
        delta = delta_of(beat)
        if delta is not None and not is_stored:
            self._exchange.generated += len(delta.text)
            self._exchange.generated_bytes += len(delta.text.encode("utf-8", "replace"))
        if not data:
            return
        frames = split_frames(data)
        self._sent.frames += len(frames)
        self._sent.first = self._sent.first or frames[0]
        self._sent.delta = frames[-1] if delta is not None else self._sent.delta
        await self._body(data)

    async def _body(self, data: bytes) -> None:
        """Send bytes of the body, in chunks if the body is chunked."""
        await self._send_head()
        size = self._chunk_size or max(1, len(data))
        for at in range(0, len(data), size):
            piece = data[at : at + size]
            await self._connection.send(b"%x\r\n%s\r\n" % (len(piece), piece) if self._is_chunked else piece)
        self._exchange.sent_bytes += len(data)

    async def _tear(self, torn: Torn) -> None:
        data = self._writer.write(torn.event)
        kept = data[: torn.keep(data)]
        if not torn.in_chunk:
            await self._body(kept)
            return
        await self._body(b"")
        await self._connection.send(b"%x\r\n%s" % (len(data), kept))

    async def _end(self, how: Finish | HangUp | Reset) -> None:
        if isinstance(how, Finish):
            await self._body(b"")
            await self._connection.send((_LAST_CHUNK if self._is_chunked else b"") + how.late)
            self.is_finished = True
        elif isinstance(how, HangUp):
            self._connection.hang_up()
        else:
            await self._connection.sent()
            self._connection.reset()
