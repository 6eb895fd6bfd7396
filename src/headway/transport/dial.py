"""A name to a connected socket. Cancelled anywhere, it leaves nothing: every socket has an owner that closes it.

Numeric hosts and `localhost` need no resolver. All others are resolved in a thread of their own that nobody waits for:
a resolver cannot be interrupted, but it can be left behind. Several addresses are raced a quarter second apart.
"""

import asyncio
import socket
from asyncio import AbstractEventLoop
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack
from ipaddress import ip_address
from itertools import chain, zip_longest
from threading import Thread
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
STAGGER_SECONDS = 0.25
MOST_ADDRESSES = 8
Address: TypeAlias = tuple[socket.AddressFamily, tuple[Any, ...]]
Resolve: TypeAlias = Callable[[str, int], Awaitable[list[Address]]]


class _Detached(Executor):
    """Runs each job in a daemon thread: neither the loop nor the interpreter waits for it at their end."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = fn(*args, **kwargs)
            except (OSError, UnicodeError) as exc:
                future.set_exception(exc)
            else:
                future.set_result(result)

        Thread(target=work, name="headway-resolver", daemon=True).start()
        return future


def known_addresses(host: str, port: int) -> list[Address]:
    """Return the addresses of a host that needs no resolver; empty for one that does."""
    if host == "localhost" or host.endswith(".localhost"):
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port, 0, 0))]
    try:
        version = ip_address(host).version
    except ValueError:
        return []
    return [(socket.AF_INET, (host, port)) if version == 4 else (socket.AF_INET6, (host, port, 0, 0))]


async def resolve(host: str, port: int) -> list[Address]:
    """Ask the system for the addresses of a host, in the order to try them: the families take turns."""
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(_Detached(), _look_up, host, port)
    first = [address for address in found if address[0] == found[0][0]]
    other = [address for address in found if address[0] != found[0][0]]
    turns = chain.from_iterable(zip_longest(first, other))
    return [address for address in turns if address is not None][:MOST_ADDRESSES]


def _look_up(host: str, port: int) -> list[Address]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    except UnicodeError as exc:
        raise socket.gaierror(socket.EAI_NONAME, f"not a host name: {exc}") from None
    if not found:
        raise socket.gaierror(socket.EAI_NONAME, "no address associated with the name")
    return [(family, address) for family, _, _, _, address in found]


async def connect(loop: AbstractEventLoop, addresses: Sequence[Address]) -> socket.socket:
    """Return a socket that is connected to the first address that answers; raises the last `OSError` if none does."""
    if len(addresses) == 1:
        return await _connect_one(loop, addresses[0])
    return await _race(loop, addresses)


async def _connect_one(loop: AbstractEventLoop, address: Address) -> socket.socket:
    family, place = address
    with ExitStack() as undo:
        sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        undo.callback(sock.close)
        sock.setblocking(False)
        await loop.sock_connect(sock, place)
        undo.pop_all()
    return sock


async def _race(loop: AbstractEventLoop, addresses: Sequence[Address]) -> socket.socket:
    waiting = list(reversed(addresses))
    running: set[asyncio.Task[socket.socket]] = set()
    failed: OSError = ConnectionRefusedError("no address to try")
    try:
        while waiting or running:
            if waiting:
                running.add(loop.create_task(_connect_one(loop, waiting.pop())))
            pause = STAGGER_SECONDS if waiting else None
            done, running = await asyncio.wait(running, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                error = task.exception()
                if error is None:
                    running |= done - {task}
                    return task.result()
                assert isinstance(error, OSError), "connecting fails by OSError only"
                failed = error
    finally:
        for task in running:
            task.add_done_callback(_discard)
            task.cancel()
    raise failed


def _discard(task: asyncio.Task[socket.socket]) -> None:
    """Close the socket of a connection that came second."""
    if not task.cancelled() and task.exception() is None:
        task.result().close()
