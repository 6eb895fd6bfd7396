"""Scripted peers on loopback, on the test's own loop: raw TCP or TLS, so that they can do what no HTTP server would.

A script is an async function of a `Talk`; every accepted connection plays it. A `Peer` keeps what it was sent and
counts what it saw: connections, and how each client left (`eof` or `reset`).
"""

import asyncio
import gc
import os
import socket
import ssl
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import wraps
from pathlib import Path
from typing import Any

from headway.transport import run_virtual

CERTIFICATE = str(Path(__file__).parents[1] / "data" / "localhost.pem")
EVENTS = b"".join(b"data: %d\n\n" % number for number in range(3))
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"


def real_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test on an ordinary loop."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def virtual_time(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test on a loop that jumps over waits."""

    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        run_virtual(test(*args, **kwargs))

    return run


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def sized(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in (*headers, f"content-length: {len(body)}"))
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode() + body


def server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


class Talk:
    """One accepted connection, as a script sees it."""

    def __init__(self, peer: "Peer", reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.peer, self.reader, self.writer = peer, reader, writer
        self.number = number
        """0 for the peer's first connection."""

    async def request(self) -> bytes:
        """Read one request, head and body, and keep it."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = [line.split(b":")[1] for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        body = await self.reader.readexactly(int(length[0])) if length else b""
        self.peer.requests.append(head + body)
        return head + body

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def gone(self) -> None:
        """Wait until the client leaves, and note how and when."""
        try:
            while await self.reader.read(65536):
                pass
            how = "eof"
        except (ConnectionError, ssl.SSLError):
            how = "reset"
        async with self.peer.farewell:
            self.peer.farewells.append(how)
            self.peer.farewell.notify_all()

    async def black_hole(self) -> None:
        """Neither read nor answer, ever; what the client does is not seen."""
        self.writer.transport.pause_reading()
        await asyncio.Event().wait()

    def reset(self) -> None:
        """Close by RST."""
        sock = self.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


Script = Callable[[Talk], Awaitable[None]]


class Peer:
    """What a peer has seen."""

    def __init__(self) -> None:
        self.port = 0
        self.url = ""
        self.accepted = 0
        self.requests: list[bytes] = []
        self.farewells: list[str] = []
        self.farewell = asyncio.Condition()
        self.arrived = asyncio.Event()
        self.tasks: set[asyncio.Task[None]] = set()
        self.writers: list[asyncio.StreamWriter] = []
        self.ends: list[socket.socket] = []

    @property
    def sockets(self) -> int:
        """How many file descriptors its open connections take."""
        return sum(end.fileno() >= 0 for end in self.ends)

    async def saw_farewells(self, count: int, seconds: float = 0.2) -> None:
        """Wait until so many clients have been seen to leave; fails when it takes longer than `seconds`."""
        async with asyncio.timeout(seconds), self.farewell:
            await self.farewell.wait_for(lambda: len(self.farewells) >= count)


@asynccontextmanager
async def peer(script: Script, *, tls: bool = False, host: str = "127.0.0.1") -> AsyncIterator[Peer]:
    """Play the script to everybody who connects, until the block ends."""
    made = Peer()

    async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        made.tasks.add(task)
        task.add_done_callback(made.tasks.discard)
        made.writers.append(writer)
        made.ends.append(writer.get_extra_info("socket"))
        made.accepted += 1
        made.arrived.set()
        with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
            await script(Talk(made, reader, writer, made.accepted - 1))
        writer.close()

    server = await asyncio.start_server(play, host, 0, ssl=server_context() if tls else None)
    made.port = server.sockets[0].getsockname()[1]
    made.url = f"{'https' if tls else 'http'}://{host}:{made.port}"
    try:
        yield made
    finally:
        server.close()
        for writer, end in zip(made.writers, made.ends, strict=True):
            if end.fileno() >= 0:
                writer.transport.abort()
        tasks = tuple(made.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


async def stall(talk: Talk) -> None:
    """Answer, say three events, and then nothing more."""
    await talk.request()
    await talk.send(CHUNKED + chunk(EVENTS))
    await talk.gone()


async def never_answer(talk: Talk) -> None:
    await talk.request()
    await talk.gone()


async def black_hole(talk: Talk) -> None:
    await talk.black_hole()


async def stall_unreading(talk: Talk) -> None:
    """Answer and say three events; from then on neither read nor answer."""
    await talk.request()
    await talk.send(CHUNKED + chunk(EVENTS))
    await talk.black_hole()


async def answer(talk: Talk) -> None:
    """Answer every request on the connection with a short body."""
    while True:
        await talk.request()
        await talk.send(sized(b"hello"))


def says(*pieces: bytes) -> Script:
    """Make a script that reads a request, sends the pieces, and closes."""

    async def script(talk: Talk) -> None:
        await talk.request()
        for piece in pieces:
            await talk.send(piece)

    return script


@contextmanager
def full_backlog() -> Iterator[int]:
    """Listen, never accept, and fill the queue: the port of somebody whose door is open and who never comes to it."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        callers = []
        for _ in range(4):
            caller = socket.socket()
            caller.setblocking(False)
            caller.connect_ex(listener.getsockname())
            callers.append(caller)
        try:
            yield listener.getsockname()[1]
        finally:
            for caller in callers:
                caller.close()


def open_files() -> int:
    """Count this process's file descriptors."""
    found = 0
    for number in range(512):
        with suppress(OSError):
            os.fstat(number)
            found += 1
    return found


async def eventually(condition: Callable[[], bool], seconds: float = 1.0) -> None:
    """Wait until something is so; fails when it takes longer than `seconds`."""
    async with asyncio.timeout(seconds):
        while True:
            if condition():
                return
            await asyncio.sleep(0)


class Leftovers:
    """What was open before, to be compared with what is open after. No collector helps: owners must close."""

    def __init__(self, *peers: Peer) -> None:
        self._peers = peers
        self._files = open_files() - self._peer_sockets()
        self._tasks = len(self._own_tasks())

    def _peer_sockets(self) -> int:
        return sum(one.sockets for one in self._peers)

    def _own_tasks(self) -> set[asyncio.Task]:
        return asyncio.all_tasks() - {task for one in self._peers for task in one.tasks}

    def found(self) -> tuple[int, int]:
        return open_files() - self._peer_sockets() - self._files, len(self._own_tasks()) - self._tasks

    async def none_within(self, seconds: float = 0.2) -> float:
        """Return how long it took until nothing was left; fails when it takes longer than `seconds`."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        gc.disable()
        try:
            while any(count > 0 for count in self.found()):  # fewer than before were somebody else's
                assert loop.time() - began < seconds, f"left behind (files, tasks): {self.found()}"
                await asyncio.sleep(0.002)
        finally:
            gc.enable()
        return loop.time() - began
