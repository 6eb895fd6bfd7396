"""Pieces that are taken where the loop brings them: the same bytes, the same ends, and failures for the owner."""

import asyncio

import pytest

from headway.transport import HttpClient, HttpRequest, Limits, run_virtual
from headway.transport.errors import Stalled, TransportFailed

PIECES = [b"one ", b"two ", b"three ", b"four "]
HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def spoken(work, *, ends: bytes = b"0\r\n\r\n", then_seconds: float = 0.0, **limits: float):
    """Have `work` read an answer whose pieces come one second apart."""

    async def serve(_, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for piece in PIECES:
            await asyncio.sleep(1)
            writer.write(chunk(piece))
        await asyncio.sleep(then_seconds)
        writer.write(ends)
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with HttpClient() as client, server:
            request = HttpRequest("POST", f"http://127.0.0.1:{port}/")
            async with client.stream(request, Limits(**limits)) as response:
                return await work(response)

    return run_virtual(main())


def test_each_piece_is_taken_as_it_comes_and_no_task_is_woken_for_it():
    async def work(response):
        task, got, steps = asyncio.current_task(), [], []

        def take(data: bytes) -> bool:
            got.append(data)
            steps.append(asyncio.current_task() is task)
            return True

        assert not await response.each(take)
        assert response.complete
        assert got == PIECES
        assert not any(steps), "the loop brought them, not the task that waits"

    spoken(work)


def test_who_says_no_goes_on_where_it_was():
    async def work(response):
        got = []

        def take(data: bytes) -> bool:
            got.append(data)
            return len(got) % 2 == 0

        rounds = 0
        while await response.each(take):
            rounds += 1
            await asyncio.sleep(0.3)
        assert b"".join(got) == b"".join(PIECES)
        assert rounds == 2

    spoken(work)


def test_what_comes_while_its_owner_is_busy_is_not_lost():
    async def work(response):
        got = []

        def take(data: bytes) -> bool:
            got.append(data)
            return len(got) > 1

        assert await response.each(take)
        await asyncio.sleep(60)
        assert not await response.each(take)
        assert b"".join(got) == b"".join(PIECES)

    spoken(work, dead_seconds=5)


def test_a_failure_of_the_taker_is_its_owners():
    async def work(response):
        def take(_: bytes) -> bool:
            raise LookupError("of the taker")

        with pytest.raises(LookupError, match="of the taker"):
            await response.each(take)

    spoken(work)


def test_a_body_that_is_cut_raises_after_its_last_piece():
    async def work(response):
        got = []
        with pytest.raises(TransportFailed):
            await response.each(lambda data: got.append(data) is None)
        assert b"".join(got) == b"".join(PIECES) + b"hal"

    spoken(work, ends=b"5\r\nhal")


def test_silence_is_still_noticed():
    async def work(response):
        with pytest.raises(Stalled):
            await response.each(lambda _: True)

    spoken(work, then_seconds=3600, dead_seconds=7)


def test_frames_that_come_apart_from_what_they_frame_do_not_add_up_to_a_pause():
    """A connection that reads on their account would be paused by them, and nobody would ever let it go on."""
    count = 40

    async def serve(_, writer: asyncio.StreamWriter) -> None:
        writer.write(HEAD)
        for _number in range(count):
            for piece in (b"1;" + b"x" * 4000 + b"\r\n", b"y\r\n"):
                await asyncio.sleep(1)
                writer.write(piece)
        writer.write(b"0\r\n\r\n")
        writer.close()

    async def main():
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        got = []
        async with HttpClient() as client, server:
            request = HttpRequest("POST", f"http://127.0.0.1:{port}/")
            async with client.stream(request, Limits(first_content_seconds=1000, dead_seconds=10)) as response:

                def take(data: bytes) -> bool:
                    got.append(data)
                    response.watchdog.saw_bytes()
                    return True

                assert not await response.each(take)
        assert b"".join(got) == b"y" * count

    run_virtual(main())
