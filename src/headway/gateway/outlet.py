"""The client's end of a stream: it begins when there is something to say, and stays awake while there is not."""

import asyncio
from collections.abc import Callable, Mapping

from headway.gateway.connection import Answer, ClientGone

STREAM_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
}


class Outlet:
    """Writes a stream of events to a client, and a heartbeat whenever it has been quiet for so long."""

    def __init__(
        self, answer: Answer, headers: Mapping[str, str], heartbeat: Callable[[], bytes], every_seconds: float
    ) -> None:
        """Begin with `headers`, when the time comes."""
        self._answer, self._headers, self._heartbeat, self._every = answer, headers, heartbeat, every_seconds
        self._loop = asyncio.get_running_loop()
        self._wrote_at = self._loop.time()
        self._timer: asyncio.TimerHandle | None = self._loop.call_later(every_seconds, self._beat)
        self._waits = False
        self.heartbeats = 0

    @property
    def begun(self) -> bool:
        """Say whether the client has got the head of its answer."""
        return self._answer.begun

    def write_at_once(self, data: bytes) -> None:
        """Write bytes of the stream; for whoever looks before whether the answer `is_ahead`."""
        if not self._answer.begun:
            self._begin()
        self._wrote_at = self._loop.time()
        self._answer.write_now(data)

    async def write(self, data: bytes) -> None:
        """Write bytes of the stream, as fast as the client takes them."""
        self.write_at_once(data)
        if self._answer.is_ahead:
            self._waits = True
            try:
                await self._answer.taken()
            finally:
                self._waits = False

    async def finish(self, data: bytes) -> None:
        """Write the last bytes of the stream, and that they are the last."""
        if not self._answer.begun:
            self._begin()
        self.close()
        await self._answer.finish(data)

    def close(self) -> None:
        """Stop the heartbeats."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self) -> None:
        self._answer.begin(200, {**STREAM_HEADERS, **self._headers})

    def _beat(self) -> None:
        """Write a heartbeat if one is due, and look again when the next may be."""
        now = self._loop.time()
        due = self._wrote_at + self._every
        if now < due:
            self._timer = self._loop.call_at(due, self._beat)
            return
        self._timer = self._loop.call_later(self._every, self._beat)
        if self._waits:  # it is being waited for: the client is the quiet one
            return
        self._wrote_at = now
        try:
            if not self._answer.begun:
                self._begin()
            self._answer.write_now(self._heartbeat())
        except ClientGone:
            self.close()
        else:
            self.heartbeats += 1
