"""One answer as its reader sees it: status, headers, and the body in the reads it came in.

Everything that arrived is handed out before anything is raised. `complete` says that HTTP proved the end of the body;
a body that only the end of the connection ended just ends, and what it means is its decoder's question.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

from headway.transport.connection import Connection
from headway.transport.encoding import IDENTITY, KNOWN, Inflater
from headway.transport.errors import Cause, Phase, TransportFailed
from headway.transport.message import Headers
from headway.transport.reading import AnswerReader, Reading
from headway.transport.watchdog import Watchdog

UPLOAD_SLICE = 128 * 1024
UNREAD_LIMIT = 64 * 1024
"""More than this unread, and the connection is paused: with one read of the loop (256 KB, over TLS 512) that is all."""
SETTLE_SECONDS = 0.25
_BODY = Reading.BODY  # a name of the module is there at once, a member of an Enum has to be looked for


class _ForTheOwner:
    """Carries what is raised in the loop's own time to the task that owns the response: there it is raised again."""

    def __init__(self) -> None:
        self._carried: BaseException | None = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, raised: BaseException | None, __: object) -> bool:
        self._carried = raised
        return True

    def out(self) -> None:
        """Raise what is carried, if anything is."""
        if self._carried is not None:
            carried, self._carried = self._carried, None
            raise carried


class Response:
    """One answer. Iterate over `bytes()`; leave the `async with` block of the stream to close it."""

    def __init__(self, connection: Connection, watchdog: Watchdog, *, head_only: bool = False) -> None:
        """Await an answer on a connection that this exchange alone uses."""
        self.watchdog = watchdog
        """Tell it `saw_content`; ask it how long it has been quiet."""
        self._connection = connection
        self._reader = AnswerReader(head_only=head_only)
        self._unread = 0
        self._sent = False
        self._plain = True
        self._inflater: Inflater | None = None
        self._inflated: Iterator[bytes] = iter(())
        self._taker: Callable[[bytes], bool] | None = None
        """Takes pieces as they come, while the owner of the response waits."""
        self._raised = _ForTheOwner()
        connection.listen(self._received)

    @property
    def status(self) -> int:
        """Return the HTTP status."""
        return self._reader.status

    @property
    def headers(self) -> Headers:
        """Return the headers."""
        return self._reader.headers

    @property
    def complete(self) -> bool:
        """Say whether the body has proven its end."""
        whole = self._reader.state is Reading.WHOLE
        return whole and (self._inflater is None or self._inflater.whole)

    @property
    def begun(self) -> bool:
        """Say whether any byte of an answer came."""
        return self._reader.begun

    @property
    def reusable(self) -> bool:
        """Say whether the connection stands at the end of a message and may carry another."""
        reader = self._reader
        return reader.state is Reading.WHOLE and reader.keep_alive and self._sent and self._connection.lost is None

    async def begin(self, head: bytes, body: bytes) -> None:
        """Send the request and wait for the head of its answer."""
        self._connection.phase = Phase.SEND
        await self._send(head, body)
        self._connection.phase = Phase.FIRST_BYTE
        while self._reader.state is Reading.HEAD:
            await self._more()
            self.watchdog.saw_bytes()
        if not self._reader.status:
            raise self._failure(Cause.PROTOCOL, self._reader.why)
        self._connection.phase = Phase.BODY
        encoding = self.headers.get("content-encoding").lower()
        self._plain = encoding in IDENTITY
        self._inflater = Inflater() if encoding in KNOWN else None

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        while True:
            if not self._plain:
                for piece in self._inflated:
                    await asyncio.sleep(0)  # a few bytes may hold a flood, which must not keep the loop from its timers
                    return piece
            if self._reader.pieces:
                data = self._take()
                if self._plain:
                    return data
                self._inflated = self._inflate(data)
            elif self._ended():
                raise StopAsyncIteration
            else:
                await self._more()

    async def each(self, take: Callable[[bytes], bool]) -> bool:
        """Give each piece to `take` as it comes, until it says False, and return True; False when the body is over.

        A piece that comes while this waits is taken where the loop brings it: no task is woken for it. So `take` must
        not wait; where it would have to, it says False, and does the rest when this has returned. It tells the
        watchdog what it saw, bytes or content.
        """
        if not self._plain:
            async for data in self:
                if not take(data):
                    return True
            return False
        while True:
            if self._reader.pieces:
                if not take(self._take()):
                    return True
            elif self._ended():
                return False
            else:
                waiting = self._more()
                self._taker = take
                try:
                    await waiting
                finally:
                    self._taker = None
                self._raised.out()
                if self.watchdog.is_away:  # the piece that woke us was taken, and what it said has to be waited for
                    return True

    async def read(self, limit: int) -> bytes:
        """Return the body as a whole, or its first `limit` bytes."""
        held = bytearray()
        async for data in self:
            held += data
            if len(held) >= limit:
                break
        return bytes(held[:limit])

    async def settle(self, seconds: float = SETTLE_SECONDS) -> bool:
        """Wait a moment for HTTP's own end, after the stream has said its last, so that the connection can be kept.

        What still comes is dropped. Never raises; True means that the connection will be used again.
        """
        deadline = self._connection.loop.call_later(seconds, self.close)
        try:
            while not self._reader.over and self._connection.lost is None:
                self._take()
                await self._connection.changed()
        finally:
            deadline.cancel()
        return self.reusable

    def close(self) -> None:
        """Close the connection now, from whatever task; the reader gets what has come, and then a failure."""
        self._connection.abort()

    def leave(self) -> None:
        """Expect nothing more; called last."""
        self._reader.end()  # its parser holds it, and it its parser, until then

    def _received(self, data: bytes) -> bool:
        """Take bytes (the connection); True: they are dealt with, and nobody needs to be woken."""
        reader, take = self._reader, self._taker
        reader.feed(data)
        if take is not None and reader.pieces:  # nearly always
            with self._raised:
                if take(reader.take()):
                    return reader.state is _BODY
            self._taker = None
            self.watchdog.hand_over()
            return False
        if reader.pieces:  # the frame of a chunk, come by itself, is nothing that waits to be read
            self._unread += len(data)
        if self._unread > UNREAD_LIMIT:
            self._connection.pause_reading()
        return False

    def _take(self) -> bytes:
        if self._unread > UNREAD_LIMIT:
            self._connection.resume_reading()
        self._unread = 0
        self.watchdog.hand_over()
        return self._reader.take()

    async def _send(self, head: bytes, body: bytes) -> None:
        """Write it all, as fast as the peer takes it; a peer that answers before the end gets no more."""
        if len(body) <= UPLOAD_SLICE:
            self._connection.write(head + body)
        else:
            self._connection.write(head)
        rest = memoryview(body)[0 if len(body) > UPLOAD_SLICE else len(body) :]
        while rest or not self._connection.writable:
            if self._reader.state is not Reading.HEAD:
                return
            if self._connection.writable:
                self._connection.write(rest[:UPLOAD_SLICE])
                rest = rest[UPLOAD_SLICE:]
                self.watchdog.saw_bytes()
            else:
                await self._more()
        self._sent = True

    def _more(self) -> "asyncio.Future[None]":
        """Return what to await until something came; raises when nothing can."""
        if self._connection.lost is not None:
            raise self._connection.lost
        self.watchdog.wait()
        return self._connection.changed()

    def _ended(self) -> bool:
        """Say whether the body is over; raises when it is over before its end."""
        reader, lost = self._reader, self._connection.lost
        if lost is None and reader.state is _BODY:  # nearly always
            return False
        if lost is not None and lost.cause is Cause.CLOSED_EARLY:
            reader.end()
        if reader.state is Reading.BROKEN:
            raise self._failure(Cause.PROTOCOL, reader.why)
        if reader.state is Reading.CUT:
            raise self._failure(Cause.CLOSED_EARLY, "peer closed connection without sending complete message body")
        return reader.over

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        if self._inflater is None:
            encoding = self.headers.get("content-encoding")[:40]
            raise self._failure(Cause.PROTOCOL, f"its body is encoded as {encoding!r}, which nobody asked for")
        try:
            yield from self._inflater.feed(data)
        except ValueError as exc:
            raise self._failure(Cause.PROTOCOL, f"its compressed body cannot be read: {exc}") from None

    def _failure(self, cause: Cause, detail: str) -> TransportFailed:
        return TransportFailed(self._connection.phase, cause, self._connection.host, detail)

    def bytes(self) -> AsyncIterator[bytes]:  # the last of all: below it the name means this method
        """Give the body, each time all that has come; raises `TransportFailed` when it was cut."""
        return self
