"""CPU for each streamed chunk in the transport, watchdog on and off, against the barest reads asyncio has.

A server process sends 5,000 SSE chunks at once (a flood), then 1,000 one by one (paced). The client's own CPU time is
counted, the server's is not. The two `asyncio` rows only take bytes off the socket, by callback and by a task that
awaits them: no HTTP, no limits, the floor of the loop. Goal: the watchdog costs at most 10 %.
"""

import asyncio
import multiprocessing
import statistics
import time
from unittest import mock

from headway.transport import HttpClient, HttpRequest, Watchdog
from headway.transport import http as client_module

FLOOD, PACED = 5_000, 1_000
ROUNDS = 9
EVENT = b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":" word"}}]}\n\n'
CHUNK = b"%x\r\n%s\r\n" % (len(EVENT), EVENT)
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"
COUNTS = {"flood": FLOOD, "paced": PACED}


class Unwatched(Watchdog):
    """The stream without its clocks."""

    def hand_over(self): ...

    def wait(self): ...

    def saw_content(self, chars): ...


def serve(pipe) -> None:
    async def answer(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(HEAD)
        if b" /flood " in head:
            writer.write(CHUNK * FLOOD)
        else:
            for _ in range(PACED):
                writer.write(CHUNK)
                await asyncio.sleep(0.0005)
        writer.write(END)
        await writer.drain()
        writer.close()

    async def main():
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(main())


class RawRead(asyncio.Protocol):
    """Takes bytes until the last chunk, and does nothing with them."""

    def __init__(self, done):
        self._done, self._tail = done, b""

    def data_received(self, data):
        self._tail = (self._tail + data)[-len(END) :] if len(data) < len(END) else data[-len(END) :]
        if self._tail == END:
            self._done.set_result(None)


async def raw(port, kind) -> float:
    loop = asyncio.get_running_loop()
    done = loop.create_future()
    transport, _ = await loop.create_connection(lambda: RawRead(done), "127.0.0.1", port)
    began = time.process_time()
    transport.write(b"GET /%s HTTP/1.1\r\n\r\n" % kind.encode())
    await done
    used = time.process_time() - began
    transport.abort()
    return used


async def awaited(port, kind) -> float:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.process_time()
    writer.write(b"GET /%s HTTP/1.1\r\n\r\n" % kind.encode())
    while await reader.read(65536):
        pass
    used = time.process_time() - began
    writer.close()
    return used


async def ours(port, kind) -> float:
    async with HttpClient() as client:
        request = HttpRequest("GET", f"http://127.0.0.1:{port}/{kind}")
        size = 0
        began = time.process_time()
        async with client.stream(request) as response:
            async for data in response.bytes():
                size += len(data)
                response.watchdog.saw_content(5)
            assert response.complete
        used = time.process_time() - began
    assert size == len(EVENT) * COUNTS[kind], "a benchmark that reads something else measures nothing"
    return used


async def unwatched(port, kind) -> float:
    with mock.patch.object(client_module, "Watchdog", Unwatched):
        return await ours(port, kind)


CLIENTS = {
    "asyncio, by callback": raw,
    "asyncio, awaited": awaited,
    "headway, watchdog off": unwatched,
    "headway, watchdog on": ours,
}


def main() -> dict:
    """Print and return microseconds of CPU for each chunk."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    process.start()
    port = here.recv()
    results: dict = {}
    try:
        for kind, chunks in COUNTS.items():
            times: dict[str, list[float]] = {name: [] for name in CLIENTS}
            for _ in range(ROUNDS):  # in turns, so that a busy machine disturbs all of them alike
                for name, client in CLIENTS.items():
                    times[name].append(asyncio.run(client(port, kind)))
            for name, seconds in times.items():
                best = results[f"{kind}, {name}"] = round(min(seconds) / chunks * 1e6, 2)
                middle = statistics.median(seconds) / chunks * 1e6
                print(f"  {kind:6} {name:24} {best:7.2f} µs/chunk (median {middle:.2f})")
    finally:
        process.terminate()
        process.join()
    for kind in COUNTS:
        on, off = results[f"{kind}, headway, watchdog on"], results[f"{kind}, headway, watchdog off"]
        results[f"{kind}, watchdog costs"] = ratio = round(on / off - 1, 3)
        print(f"  {kind:6} the watchdog costs {ratio:+.1%} (goal: at most +10 %)")
    return results


if __name__ == "__main__":
    main()
