"""Virtual time: hours pass at once, bytes on loopback are never overtaken, and what is real is waited for."""

import asyncio
import time

import pytest

from headway.transport import HttpClient, HttpRequest, Limits, Trust, VirtualLoop, run_virtual, sleep
from headway.transport.clock import PULSE_SECONDS, Awake
from support.peers import CERTIFICATE, CHUNKED, LAST_CHUNK, Talk, chunk, peer, real_time, virtual_time


def test_a_day_passes_at_once():
    async def day() -> float:
        await asyncio.sleep(86_400)
        return asyncio.get_running_loop().time()

    began = time.monotonic()
    assert run_virtual(day()) == 86_400
    assert time.monotonic() - began < 1


@virtual_time
async def test_timers_come_in_order_and_at_their_time():
    loop, seen = asyncio.get_running_loop(), []

    async def at(seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((seconds, loop.time()))

    await asyncio.gather(*(at(seconds) for seconds in (3.5, 0.1, 1e6, 2, 2)))
    assert seen == [(0.1, 0.1), (2, 2), (2, 2), (3.5, 3.5), (1e6, 1e6)]


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_five_hundred_exchanges_under_tight_limits_see_no_false_timeout(tls):
    limits = Limits(
        connect_seconds=1,
        first_byte_seconds=1,
        dead_seconds=1,
        first_content_seconds=1,
        silence_seconds=1,
        turn_seconds=30,
    )
    body = bytes(30_000)

    async def paced(talk: Talk) -> None:
        while True:
            await talk.request()
            await asyncio.sleep(0.9)
            await talk.send(CHUNKED)
            for _ in range(4):
                await talk.send(chunk(body))
                await asyncio.sleep(0.9)
            await talk.send(LAST_CHUNK)

    async def exchange(client: HttpClient, url: str) -> int:
        async with client.stream(HttpRequest("POST", url, body=body), limits) as response:
            size = 0
            async for data in response.bytes():
                size += len(data)
                response.watchdog.saw_content(len(data))
            assert response.complete
            return size

    async def everything() -> tuple[list[int], float]:
        sizes = []
        async with peer(paced, tls=tls) as one, HttpClient(trust=Trust(ca_file=CERTIFICATE)) as client:
            for _ in range(50):
                sizes += await asyncio.gather(*(exchange(client, one.url) for _ in range(10)))
        return sizes, asyncio.get_running_loop().time()

    sizes, virtual_seconds = run_virtual(everything())
    assert sizes == [4 * len(body)] * 500
    assert virtual_seconds == pytest.approx(50 * 4.5)


@virtual_time
async def test_a_thread_is_waited_for_at_its_own_pace_and_takes_no_time_of_the_world():
    loop, began = asyncio.get_running_loop(), time.monotonic()
    async with asyncio.timeout(30):
        await asyncio.to_thread(time.sleep, 0.05)
    assert time.monotonic() - began > 0.04
    assert loop.time() == 0, "so that the same world takes the same time on every machine"
    await asyncio.sleep(1000)
    assert loop.time() == 1000


@virtual_time
async def test_timers_that_fall_due_while_a_thread_works_come_in_their_time():
    loop, ticks = asyncio.get_running_loop(), list[float]()

    async def tick() -> None:
        for _ in range(3):
            await asyncio.sleep(0.02)
            ticks.append(loop.time())

    began = time.monotonic()
    await asyncio.gather(asyncio.to_thread(time.sleep, 0.2), tick())
    assert ticks == pytest.approx([0.02, 0.04, 0.06])
    assert time.monotonic() - began > 0.19


@virtual_time
async def test_a_timeout_over_a_thread_comes_at_the_real_time():
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await asyncio.to_thread(time.sleep, 0.2)
    assert 0.04 < time.monotonic() - began < 0.19


@virtual_time
async def test_time_stands_with_real_time_while_asked_to():
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualLoop)
    with loop.at_real_pace():
        began = time.monotonic()
        await asyncio.sleep(0.05)
        assert time.monotonic() - began > 0.04


@virtual_time
async def test_a_wait_ends_in_its_time_or_when_it_is_interrupted():
    loop, interrupt = asyncio.get_running_loop(), asyncio.Event()
    assert await sleep(3600, interrupt) is True
    assert loop.time() == 3600
    loop.call_later(5, interrupt.set)
    assert await sleep(3600, interrupt) is False
    assert loop.time() == 3605
    assert await sleep(3600, interrupt) is False
    assert loop.time() == 3605


@real_time
async def test_a_cancelled_wait_is_cancelled():
    task = asyncio.create_task(sleep(3600, asyncio.Event()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@virtual_time
async def test_awake_time_leaves_out_the_pauses_and_nothing_else():
    loop = asyncio.get_running_loop()
    with Awake() as awake:
        assert awake.time() == 0
        await asyncio.sleep(1_000)
        assert awake.time() == 1_000, "waiting is being awake"
        loop.skip(3_600)
        assert 1_000 <= awake.time() <= 1_000 + PULSE_SECONDS
        before = awake.time()
        await asyncio.sleep(100)
        assert awake.time() == before + 100
        loop.skip(3_600)
        await asyncio.sleep(0)
        loop.skip(3_600)
        assert awake.time() <= before + 100 + 2 * PULSE_SECONDS
    await asyncio.sleep(1_000_000)
