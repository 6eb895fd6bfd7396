"""A name becomes a socket: addresses take turns, the first that answers wins, and the others are closed."""

import asyncio
import socket
import threading
import time

import pytest

from headway.transport import Cause, HttpClient, HttpRequest, Phase, TransportFailed
from headway.transport.connection import tuned
from headway.transport.dial import _Detached, connect, known_addresses, resolve
from support.peers import Leftovers, answer, full_backlog, peer, real_time, virtual_time


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("127.0.0.1", [(socket.AF_INET, ("127.0.0.1", 80))]),
        ("::1", [(socket.AF_INET6, ("::1", 80, 0, 0))]),
        ("localhost", [(socket.AF_INET, ("127.0.0.1", 80)), (socket.AF_INET6, ("::1", 80, 0, 0))]),
        ("example.com", []),
    ],
)
def test_numbers_and_localhost_need_no_resolver(host, addresses):
    assert known_addresses(host, 80) == addresses


@real_time
async def test_a_name_that_nobody_knows_is_named():
    async with HttpClient() as client:
        with pytest.raises(TransportFailed) as failed:
            async with client.stream(HttpRequest("GET", "http://no-such-host.invalid/")):
                pass
    assert (failed.value.phase, failed.value.cause, failed.value.host) == (
        Phase.DNS,
        Cause.NAME_UNKNOWN,
        "no-such-host.invalid",
    )


@pytest.mark.parametrize("host", ["a" * 70 + ".example", "a..example"])
@real_time
async def test_what_cannot_be_a_name_is_not_known_either(host):
    async with HttpClient() as client:
        with pytest.raises(TransportFailed) as failed:
            async with client.stream(HttpRequest("GET", f"http://{host}/")):
                pass
    assert failed.value.cause is Cause.NAME_UNKNOWN


@virtual_time
async def test_the_system_resolves_names_and_virtual_time_waits_for_it():
    addresses = await resolve("localhost", 80)
    assert (socket.AF_INET, ("127.0.0.1", 80)) in addresses
    assert asyncio.get_running_loop().time() < 60


def test_a_resolver_that_hangs_holds_neither_the_loop_nor_the_process():
    hung = threading.Event()

    async def give_up() -> None:
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(0.05):
            await loop.run_in_executor(_Detached(), hung.wait)

    began = time.monotonic()
    with pytest.raises(TimeoutError):
        asyncio.run(give_up())
    assert time.monotonic() - began < 1
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "headway-resolver")
    hung.set()


def here(port: int) -> tuple:
    return (socket.AF_INET, ("127.0.0.1", port))


@real_time
async def test_an_address_that_refuses_is_passed_over_at_once():
    loop = asyncio.get_running_loop()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        refusing = unused.getsockname()[1]
        async with peer(answer) as one:
            left, began = Leftovers(one), loop.time()
            sock = await connect(loop, [here(refusing), here(refusing), here(one.port)])
            assert sock.getpeername()[1] == one.port
            assert loop.time() - began < 0.2
            sock.close()
            await left.none_within()


@real_time
async def test_an_address_that_does_not_answer_is_overtaken_after_a_quarter_second():
    loop = asyncio.get_running_loop()
    with full_backlog() as silent:
        async with peer(answer) as one:
            left, began = Leftovers(one), loop.time()
            sock = await connect(loop, [here(silent), here(one.port)])
            assert sock.getpeername()[1] == one.port
            assert 0.2 < loop.time() - began < 0.6
            sock.close()
            await left.none_within()


@real_time
async def test_when_no_address_answers_the_last_reason_is_given():
    loop = asyncio.get_running_loop()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        left, refusing = Leftovers(), unused.getsockname()[1]
        with pytest.raises(ConnectionRefusedError):
            await connect(loop, [here(refusing), here(refusing)])
        await left.none_within()


def test_sockets_are_set_to_notice_a_dead_peer():
    with socket.socket() as sock:
        tuned(sock, 42.0)
        assert sock.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 42_000
            tuned(sock, 1e12)
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) > 42_000
