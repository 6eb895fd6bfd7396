"""The clients of a gateway, all in one process: a line of JSON in (what to do), a line of JSON out (what was seen).

As bare as a client can be, because its own time is part of every latency: it looks for marks in the bytes and counts.
"""

import asyncio
import json
import re
import statistics
import sys
import time

import uvloop
from httptools import HttpResponseParser

from benchmarks.gateway_parts.upstream import WORD

REQUEST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk-bench\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
)
MARK = b'"%b' % WORD.encode()
TIME = re.compile(rb'"t(\d{19})"')


class Client(asyncio.Protocol):
    """One connection, one request at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._line = b""
        self._pieces: list[bytes] = []
        self.on_body = self._pieces.append
        self.ended = self.heard = self._loop.create_future()
        self.words = 0
        self.late_ns: list[int] = []
        self.first_seconds: list[float] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, _exc: Exception | None) -> None:
        for waits in (self.heard, self.ended):
            if not waits.done():
                waits.cancel("the gateway closed the connection")

    def ask(self, what: str) -> None:
        """Send a request; `heard` is done at its first word, `ended` at the end of the answer."""
        message = {"role": "user", "content": f"bench: {what}"}
        body = json.dumps({"model": "bench", "stream": True, "messages": [message]}).encode()
        self._line, self._parser = b"", HttpResponseParser(self)
        self.heard, self.ended = self._loop.create_future(), self._loop.create_future()
        self._asked_at = time.perf_counter()
        self.transport.write(REQUEST % (len(body), body))

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        self._parser.feed_data(data)
        data = self._line + b"".join(self._pieces)
        self._pieces.clear()
        lines, _, self._line = data.rpartition(b"\n")
        found = lines.count(MARK)
        if times := TIME.findall(lines):
            found += len(times)
            self.late_ns += [now - int(said) for said in times]
        if found:
            self.words += found
            if not self.heard.done():
                self.first_seconds.append(time.perf_counter() - self._asked_at)
                self.heard.set_result(None)

    def on_message_complete(self) -> None:
        self.ended.set_result(None)


class Load:
    """Does what it is told to one port after the other."""

    def __init__(self) -> None:
        self._held: list[Client] = []

    async def do(self, asked: dict) -> dict:
        try:
            return await getattr(self, asked.pop("do"))(**asked)
        except asyncio.CancelledError as exc:
            raise SystemExit(f"the load cannot go on: {exc}") from exc

    async def first(self, port: int, times: int) -> dict:
        """Ask for one word at a time."""
        [client] = await connected(port, 1)
        for _ in range(times):
            client.ask("flood 1")
            await client.ended
        client.transport.abort()
        return {"words": client.words, "seconds": client.first_seconds}

    async def flood(self, port: int, streams: int, words: int) -> dict:
        """Ask for as many words at once as can be had."""
        clients = await connected(port, streams)
        began = time.perf_counter()
        for client in clients:
            client.ask(f"flood {words}")
        await asyncio.gather(*(client.ended for client in clients))
        took = time.perf_counter() - began
        await closed(clients)
        return {"words": sum(client.words for client in clients), "seconds": took}

    async def paced(self, port: int, streams: int, words: int, every_ms: int) -> dict:
        """Read streams of a steady pace, for half as long again as they should take; say how late their words came."""
        clients = await connected(port, streams)
        for client in clients:
            client.ask(f"paced {words} every {every_ms}")
        await asyncio.wait([client.ended for client in clients], timeout=words * every_ms / 1000 * 1.5)
        await closed(clients)
        late = [
            each / 1e6 for client in clients for each in client.late_ns[len(client.late_ns) // 3 :]
        ]  # all are open by then
        cuts = statistics.quantiles(late, n=1000) if len(late) > 1 else [float("inf")] * 999
        return {"words": sum(client.words for client in clients), "p50": cuts[499], "p99": cuts[989]}

    async def hold(self, port: int, streams: int, limit_seconds: float) -> dict:
        """Open streams, and hold them open until told otherwise; say how many could be had."""
        self._held = await connected(port, streams)
        for client in self._held:
            client.ask("hold 0")
            await asyncio.sleep(0.001)
        heard, _ = await asyncio.wait([client.heard for client in self._held], timeout=limit_seconds)
        return {"open": len(heard)}

    async def release(self) -> dict:
        held, self._held = self._held, []
        await closed(held)
        return {}


async def connected(port: int, streams: int) -> list[Client]:
    loop = asyncio.get_running_loop()
    return [(await loop.create_connection(Client, "127.0.0.1", port))[1] for _ in range(streams)]


async def closed(clients: list[Client]) -> None:
    for client in clients:
        client.transport.abort()
    await asyncio.sleep(0.2)  # for the gateway to notice


async def main() -> None:
    loop, load = asyncio.get_running_loop(), Load()
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        print(json.dumps(await load.do(json.loads(line))), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
