"""Performs a play on a connection: events are encoded for the wire, and the other beats are done as they say.

The only place where the simulator waits, apart from waiting for requests. All waits are the loop's, so a virtual clock
drives them. Cancelled when the client leaves, at any wait. What is said without a pause goes out in one write: nobody
could tell the difference.
"""

import asyncio
from http import HTTPStatus
from typing import Protocol, get_args

from headway.events import Event, StreamEnded
from headway.sim.connection import Connection
from headway.sim.exchange import Exchange
from headway.sim.frames import object_of, split_frames
from headway.sim.manners import Manners, Sent
from headway.sim.play import (
    DELTAS,
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
)
from headway.wire.base import Wire
from headway.wire.json_text import encode

_LAST_CHUNK = b"0\r\n\r\n"
_MOST_UNSENT = 16 * 1024
_SAID = frozenset((*get_args(Event), Altered))
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
        self._unsent = bytearray()
        self._last_delta = self._last_stored = b""
        self.is_finished = False
        """Has the answer ended as HTTP wants it?"""

    async def perform(self, play: Play) -> None:
        """Do one beat after another."""
        for beat in play:
            if type(beat) in _SAID:
                self._say(beat)  # type: ignore[arg-type]  # each token comes by here, and the union has many members
            else:
                await self._do(beat)
            if len(self._unsent) > _MOST_UNSENT:
                await self._flush()
        await self._flush()

    async def _do(self, beat: Beat) -> None:
        match beat:
            case Pause(seconds=seconds):
                await self._flush()
                await asyncio.sleep(seconds)
            case Silence():
                await self._flush()
                await asyncio.Event().wait()
            case Forever(beats=beats):
                while True:
                    await self.perform(list(beats))
            case Head():
                self._open(beat)
            case Bytes(data=data):
                self._body(data)
            case ChunkSize(bytes=size):
                self._chunk_size = size
            case Finish() | HangUp() | Reset():
                await self._end(beat)
            case Torn():
                self._tear(beat)
            case Idle():
                self._idle(beat)
            case _:
                self._say(beat)

    def _idle(self, kind: Idle) -> None:
        """Say nothing. What is stored has its numbers already: there, such a frame repeats the last one."""
        sent = self._sent
        sent.delta = split_frames(self._last_delta)[-1] if self._last_delta else b""
        if self._last_stored:
            last = object_of(split_frames(self._last_stored)[-1]) or {}
            sent.frames = last.get("sequence_number", sent.frames)
        self._body(self._manners.idle(kind, sent))
        sent.frames += 0 if self._last_stored else 1

    async def _flush(self) -> None:
        """Send what was said since the last wait."""
        if self._unsent:
            data, self._unsent = bytes(self._unsent), bytearray()
            await self._connection.send(data)

    def _open(self, head: Head) -> None:
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
            self._send_head()

    def _send_head(self) -> None:
        if self._head is not None:
            (self._exchange.status, data), self._head = self._head, None
            self._unsent += data

    def _say(self, beat: Event | Altered) -> None:
        """Encode an event and send it; what a stored response says was counted when it was made."""
        event, is_stored = (beat.event, beat.whole) if isinstance(beat, Altered) else (beat, False)
        data = self._writer.write(event)
        if isinstance(beat, Altered):
            data = beat.alter(data)
        if isinstance(event, DELTAS):
            self._last_delta = data or self._last_delta
            if not is_stored:
                text = event.text
                self._exchange.generated += len(text)
                self._exchange.generated_bytes += len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if not data:
            return
        self._last_stored = data if is_stored else b""
        self._sent.frames += data.count(b"\n\n")
        self._sent.first = self._sent.first or split_frames(data)[0]
        self._body(data)

    def _body(self, data: bytes) -> None:
        """Send bytes of the body, in chunks if the body is chunked."""
        if self._head is None and not self._exchange.status:
            self._open(Head())  # what struck before the head took it away
        self._send_head()
        size = self._chunk_size or max(1, len(data))
        for at in range(0, len(data), size):
            piece = data[at : at + size]
            self._unsent += b"%x\r\n%s\r\n" % (len(piece), piece) if self._is_chunked else piece
        self._exchange.sent_bytes += len(data)

    def _tear(self, torn: Torn) -> None:
        data = self._writer.write(torn.event)
        kept = data[: torn.keep(data)]
        if not torn.in_chunk:
            self._body(kept)
            return
        self._body(b"")
        self._unsent += b"%x\r\n%s" % (len(data), kept)

    async def _end(self, how: Finish | HangUp | Reset) -> None:
        if isinstance(how, Finish):
            self._body(b"")
            self._unsent += (_LAST_CHUNK if self._is_chunked else b"") + how.late
        await self._flush()
        if isinstance(how, Finish):
            self.is_finished = True
        elif isinstance(how, HangUp):
            self._connection.hang_up()
        else:
            await self._connection.sent()
            self._connection.reset()
