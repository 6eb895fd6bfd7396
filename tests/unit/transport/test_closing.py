"""The contract: whatever ends an exchange, its socket is closed within 200 ms, once, and no task is left.

Real sockets, plain and TLS; the peers are on the same loop and count what they see.
"""

import asyncio
import socket
import time

import pytest

from headway.transport import Cause, HttpClient, HttpRequest, Limits, Patience, Phase, Stalled, TransportFailed, Trust
from support.peers import (
    CERTIFICATE,
    EVENTS,
    Leftovers,
    Peer,
    black_hole,
    eventually,
    full_backlog,
    never_answer,
    peer,
    real_time,
    stall,
    stall_unreading,
    virtual_time,
)

MORE_THAN_KERNELS_HOLD = 32_000_000
TRUST = Trust(ca_file=CERTIFICATE)
both = pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])


def client_of(**kwargs) -> HttpClient:
    return HttpClient(trust=TRUST, **kwargs)


def post(url: str, body: bytes = b"{}") -> HttpRequest:
    return HttpRequest("POST", f"{url}/v1/messages", body=body)


async def read_on(client: HttpClient, request: HttpRequest, limits: Limits, heard: asyncio.Event) -> bytes:
    """Read a stream to its end, and say when the first bytes came."""
    got = b""
    async with client.stream(request, limits) as response:
        async for data in response.bytes():
            got += data
            response.watchdog.saw_content(len(data))
            heard.set()
    return got


async def ticks(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def settled(task: asyncio.Task) -> BaseException | None:
    await asyncio.wait([task])
    return None if task.cancelled() else task.exception()


async def seen_once(one: Peer) -> None:
    """The peer saw exactly one client, and saw it leave exactly once, by a reset."""
    await one.saw_farewells(1)
    assert (one.accepted, one.farewells) == (1, ["reset"])


@both
@real_time
async def test_cancelling_the_task_closes_the_socket(tls):
    async with peer(stall, tls=tls) as one, client_of() as client:
        left, heard = Leftovers(one), asyncio.Event()
        task = asyncio.create_task(read_on(client, post(one.url), Limits(), heard))
        await heard.wait()
        task.cancel()
        await settled(task)
        assert task.cancelled()
        await seen_once(one)
        await left.none_within()


@both
@real_time
async def test_cancelling_while_nothing_has_been_answered_closes_the_socket(tls):
    async with peer(never_answer, tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        task = asyncio.create_task(read_on(client, post(one.url), Limits(), asyncio.Event()))
        await eventually(lambda: bool(one.requests))
        task.cancel()
        await settled(task)
        assert task.cancelled()
        await one.saw_farewells(1)
        await left.none_within()


@both
@real_time
async def test_another_task_can_close_the_stream_and_the_reader_gets_what_came_and_then_a_failure(tls):
    async with peer(stall, tls=tls) as one, client_of() as client:
        left, got = Leftovers(one), b""
        async with client.stream(post(one.url)) as response:
            closer = asyncio.create_task(asyncio.sleep(0.02))
            closer.add_done_callback(lambda _: response.close())
            with pytest.raises(TransportFailed) as failed:
                async for data in response.bytes():
                    got += data
        assert got == EVENTS
        assert (failed.value.phase, failed.value.cause) == (Phase.BODY, Cause.ABORTED)
        await seen_once(one)
        await left.none_within()


@both
@real_time
async def test_closing_the_client_ends_every_stream_whatever_it_waits_for(tls):
    async with peer(stall, tls=tls) as talking, peer(black_hole) as silent, client_of() as client:
        left = Leftovers(talking, silent)
        urls = [talking.url, talking.url, silent.url, silent.url.replace("http:", "https:")]
        tasks = [asyncio.create_task(read_on(client, post(url), Limits(), asyncio.Event())) for url in urls]
        await asyncio.sleep(0.05)
        client.close()
        failures = [await settled(task) for task in tasks]
        assert [failure.cause for failure in failures] == [Cause.ABORTED] * 4
        await left.none_within()


@virtual_time
async def test_a_stream_that_stalls_and_is_closed_at_the_same_moment_ends_once():
    with full_backlog() as port:
        async with client_of() as client:
            left = Leftovers()
            task = asyncio.create_task(read_on(client, post(f"http://127.0.0.1:{port}"), Limits(), asyncio.Event()))
            for delay in (10, 10, 10 + 1e-7):
                asyncio.get_running_loop().call_later(delay, client.close)
            assert isinstance(await settled(task), TransportFailed)
            await left.none_within()


@both
@real_time
async def test_the_watchdog_closes_a_stalled_stream_on_time(tls):
    async with peer(stall, tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        began = time.monotonic()
        with pytest.raises(Stalled) as stalled:
            await read_on(client, post(one.url), Limits(silence_seconds=0.3), asyncio.Event())
        assert 0.3 <= time.monotonic() - began < 0.6
        assert stalled.value.stall.patience is Patience.SILENCE
        await seen_once(one)
        await left.none_within()


@both
@virtual_time
async def test_ninety_seconds_of_silence_take_no_time_in_a_test(tls):
    loop, began = asyncio.get_running_loop(), time.monotonic()
    async with peer(stall, tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        with pytest.raises(Stalled) as stalled:
            await read_on(client, post(one.url), Limits(dead_seconds=1000), asyncio.Event())
        assert 90 <= loop.time() < 90.5
        assert str(stalled.value) == "127.0.0.1 is connected but said nothing more for 90 s (silence_seconds is 90)"
        await seen_once(one)
        await left.none_within()
    assert time.monotonic() - began < 2


@both
@virtual_time
async def test_an_answer_that_never_begins_is_given_up_after_a_minute(tls):
    async with peer(never_answer, tls=tls) as one, client_of() as client:
        with pytest.raises(Stalled) as stalled:
            await read_on(client, post(one.url), Limits(), asyncio.Event())
        assert (stalled.value.phase, stalled.value.stall.patience) == (Phase.FIRST_BYTE, Patience.FIRST_BYTE)
        assert 60 <= asyncio.get_running_loop().time() < 60.5
        await seen_once(one)


@pytest.mark.parametrize("pause", [0, 1, 2, 3])
@both
@real_time
async def test_cancelling_twice_leaves_none_of_twenty_streams_open(tls, pause):
    async with peer(stall, tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        heard = [asyncio.Event() for _ in range(20)]
        tasks = [asyncio.create_task(read_on(client, post(one.url), Limits(), event)) for event in heard]
        await asyncio.gather(*(event.wait() for event in heard))
        for _ in range(2):
            for task in tasks:
                task.cancel()
            await ticks(pause)
        await asyncio.wait(tasks)
        assert all(task.cancelled() for task in tasks)
        await left.none_within()
        await one.saw_farewells(20)
        assert (one.accepted, one.farewells) == (20, ["reset"] * 20)
        assert not client.streams


@both
@real_time
async def test_a_peer_that_neither_reads_nor_answers_cannot_hold_the_socket(tls):
    async with peer(stall_unreading, tls=tls) as one, client_of() as client:
        left, heard = Leftovers(one), asyncio.Event()
        task = asyncio.create_task(read_on(client, post(one.url), Limits(), heard))
        await heard.wait()
        task.cancel()
        await settled(task)
        await left.none_within()


@both
@real_time
async def test_an_upload_that_nobody_reads_cannot_hold_the_socket(tls):
    async with peer(black_hole, tls=tls) as one, client_of() as client:
        left, body = Leftovers(one), bytes(MORE_THAN_KERNELS_HOLD)
        task = asyncio.create_task(read_on(client, post(one.url, body), Limits(), asyncio.Event()))
        await one.arrived.wait()
        await asyncio.sleep(0.1)
        assert not task.done()
        task.cancel()
        await settled(task)
        assert task.cancelled()
        await left.none_within()


@both
@real_time
async def test_an_upload_that_nobody_reads_is_a_stall_of_sending(tls):
    async with peer(black_hole, tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        limits = Limits(first_byte_seconds=0.3)
        with pytest.raises(Stalled) as stalled:
            await read_on(client, post(one.url, bytes(MORE_THAN_KERNELS_HOLD)), limits, asyncio.Event())
        assert stalled.value.phase is Phase.SEND
        await left.none_within()


@real_time
async def test_cancelling_in_the_tls_handshake_leaves_nothing_five_times():
    async with peer(black_hole) as one, client_of() as client:
        left = Leftovers(one)
        for number in range(5):
            task = asyncio.create_task(
                read_on(client, post(f"https://localhost:{one.port}"), Limits(), asyncio.Event())
            )
            await eventually(lambda number=number: one.accepted > number)
            await ticks(number * 3)
            task.cancel()
            await settled(task)
            assert task.cancelled()
            await left.none_within()


@virtual_time
async def test_a_tls_handshake_that_is_not_answered_is_given_up_by_the_limit_for_connecting():
    async with peer(black_hole) as one, client_of() as client:
        left = Leftovers(one)
        with pytest.raises(Stalled) as stalled:
            await read_on(client, post(f"https://127.0.0.1:{one.port}"), Limits(), asyncio.Event())
        assert (stalled.value.phase, stalled.value.stall.patience) == (Phase.TLS, Patience.CONNECT)
        assert 10 <= asyncio.get_running_loop().time() < 10.5
        await left.none_within()


@real_time
async def test_cancelling_while_connecting_leaves_nothing():
    with full_backlog() as port:
        async with client_of() as client:
            left = Leftovers()
            for _ in range(5):
                task = asyncio.create_task(read_on(client, post(f"http://127.0.0.1:{port}"), Limits(), asyncio.Event()))
                await asyncio.sleep(0.01)
                assert not task.done()
                task.cancel()
                await settled(task)
                assert task.cancelled()
                await left.none_within()


@virtual_time
async def test_a_connection_that_is_never_accepted_is_given_up_by_the_limit_for_connecting():
    with full_backlog() as port:
        async with client_of() as client:
            left = Leftovers()
            with pytest.raises(Stalled) as stalled:
                await read_on(client, post(f"http://127.0.0.1:{port}"), Limits(), asyncio.Event())
            assert (stalled.value.phase, stalled.value.stall.patience) == (Phase.CONNECT, Patience.CONNECT)
            assert str(stalled.value) == "no connection to 127.0.0.1 after 10 s (connect_seconds is 10)"
            await left.none_within()


@real_time
async def test_cancelling_while_addresses_race_leaves_nothing():
    async def two_doors(host: str, port: int) -> list:
        return [(socket.AF_INET, ("127.0.0.1", port))] * 3

    with full_backlog() as port:
        async with client_of(resolve=two_doors) as client:
            left = Leftovers()
            task = asyncio.create_task(read_on(client, post(f"http://peer.test:{port}"), Limits(), asyncio.Event()))
            await asyncio.sleep(0.3)
            task.cancel()
            await settled(task)
            assert task.cancelled()
            await left.none_within()


@virtual_time
async def test_a_resolver_that_hangs_is_left_behind():
    async def hang(host: str, port: int) -> list:
        await asyncio.Event().wait()
        return []

    async with client_of(resolve=hang) as client:
        left = Leftovers()
        with pytest.raises(Stalled) as stalled:
            await read_on(client, post("http://peer.test"), Limits(), asyncio.Event())
        assert (stalled.value.phase, stalled.value.host) == (Phase.DNS, "peer.test")
        await left.none_within()


@pytest.mark.parametrize("kind", ["plain", "tls", "handshake", "upload"])
@real_time
async def test_a_cancel_at_any_step_of_an_exchange_leaves_nothing(kind):
    script = black_hole if kind in {"handshake", "upload"} else stall
    body = bytes(3_000_000) if kind == "upload" else b"{}"
    async with peer(script, tls=kind == "tls") as one, client_of() as client:
        url = f"https://localhost:{one.port}" if kind == "handshake" else one.url
        left = Leftovers(one)
        for step in range(40):
            task = asyncio.create_task(read_on(client, post(url, body), Limits(), asyncio.Event()))
            await ticks(step)
            task.cancel()
            await settled(task)
            assert task.cancelled()
        await left.none_within()


@pytest.mark.parametrize("kind", ["plain", "tls"])
@real_time
async def test_somebody_elses_timeout_is_not_renamed(kind):
    async with peer(stall, tls=kind == "tls") as one, client_of() as client:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await read_on(client, post(one.url), Limits(), asyncio.Event())
        await seen_once(one)


@real_time
async def test_a_cancel_at_the_moment_of_a_stall_stays_a_cancel():
    async with peer(never_answer) as one, client_of() as client:
        limits = Limits(first_byte_seconds=0.05)
        task = asyncio.create_task(read_on(client, post(one.url), limits, asyncio.Event()))
        asyncio.get_running_loop().call_later(0.05, task.cancel)
        failure = await settled(task)
        assert task.cancelled() or isinstance(failure, Stalled)
        await seen_once(one)


@real_time
async def test_an_error_of_the_reader_closes_the_socket_and_stays_what_it_was():
    async with peer(stall) as one, client_of() as client:
        left = Leftovers(one)
        with pytest.raises(ZeroDivisionError):
            async with client.stream(post(one.url)) as response:
                async for data in response.bytes():
                    len(data) / 0
        await seen_once(one)
        await left.none_within()
