"""Exchanges over real sockets: what is read is what was sent, and every way it can break has a name."""

import asyncio
import gzip
import socket
import zlib

import pytest

from headway.transport import Cause, HttpClient, HttpRequest, Limits, Phase, Stalled, TransportFailed, Trust
from headway.transport.response import UNREAD_LIMIT
from support.peers import (
    CERTIFICATE,
    CHUNKED,
    EVENTS,
    LAST_CHUNK,
    Leftovers,
    Talk,
    answer,
    chunk,
    peer,
    real_time,
    says,
    sized,
    stall,
    virtual_time,
)

LOOP_READ = 256 * 1024
both = pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])


def client_of(**kwargs) -> HttpClient:
    return HttpClient(trust=Trust(ca_file=CERTIFICATE), **kwargs)


def get(url: str) -> HttpRequest:
    return HttpRequest("GET", f"{url}/")


async def fetched(*pieces: bytes, tls: bool = False, method: str = "GET") -> tuple[int, bytes, bool]:
    """Return status, body and completeness of what a peer says before it closes."""
    limits = Limits(first_byte_seconds=2, dead_seconds=2)
    async with peer(says(*pieces), tls=tls) as one, client_of() as client:
        request = HttpRequest(method, one.url)
        async with client.stream(request, limits) as response:
            body = b"".join([data async for data in response.bytes()])
            return response.status, body, response.complete


@both
@real_time
async def test_a_stream_is_read_to_its_end(tls):
    assert await fetched(CHUNKED, chunk(EVENTS[:7]), chunk(EVENTS[7:]), LAST_CHUNK, tls=tls) == (200, EVENTS, True)


@both
@real_time
async def test_a_body_that_the_close_ends_just_ends_and_is_not_called_complete(tls):
    assert await fetched(b"HTTP/1.0 200 OK\r\n\r\n", EVENTS, tls=tls) == (200, EVENTS, False)


@real_time
async def test_interim_answers_are_passed_over():
    assert await fetched(b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 100 Go\r\n\r\n", sized(b"ok")) == (200, b"ok", True)


@real_time
async def test_a_redirect_is_an_answer_and_is_not_followed():
    assert await fetched(sized(b"", "307 Elsewhere", "location: http://other/")) == (307, b"", True)


@real_time
async def test_the_answer_to_head_needs_no_body():
    assert await fetched(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n", method="HEAD") == (200, b"", True)


async def failure_after(*pieces: bytes, tls: bool = False, reset: bool = False) -> tuple[bytes, TransportFailed]:
    """Return what came, and how it broke."""

    async def script(talk: Talk) -> None:
        await says(*pieces)(talk)
        if reset:
            await asyncio.sleep(0.02)
            talk.reset()

    got = b""
    async with peer(script, tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        with pytest.raises(TransportFailed) as failed:
            async with client.stream(get(one.url), Limits(first_byte_seconds=2, dead_seconds=2)) as response:
                async for data in response.bytes():
                    got += data
        assert one.accepted == 1
        await left.none_within()
    return got, failed.value


@both
@pytest.mark.parametrize(
    ("pieces", "reset", "phase", "cause", "got"),
    [
        ((CHUNKED, chunk(EVENTS)), False, Phase.BODY, Cause.CLOSED_EARLY, EVENTS),
        ((CHUNKED, chunk(EVENTS) + b"1"), False, Phase.BODY, Cause.CLOSED_EARLY, EVENTS),
        ((CHUNKED, chunk(EVENTS) + b"5\r\nab"), False, Phase.BODY, Cause.CLOSED_EARLY, EVENTS + b"ab"),
        ((CHUNKED, chunk(EVENTS) + b"0\r\n"), False, Phase.BODY, Cause.CLOSED_EARLY, EVENTS),
        ((sized(EVENTS)[:-1],), False, Phase.BODY, Cause.CLOSED_EARLY, EVENTS[:-1]),
        ((CHUNKED, chunk(EVENTS)), True, Phase.BODY, Cause.RESET, EVENTS),
        ((CHUNKED, chunk(EVENTS) + b"nonsense\r\n"), False, Phase.BODY, Cause.PROTOCOL, EVENTS),
        ((b"HTTP/1.1 200 OK\r\n",), False, Phase.FIRST_BYTE, Cause.CLOSED_EARLY, b""),
        ((), False, Phase.FIRST_BYTE, Cause.CLOSED_EARLY, b""),
        ((), True, Phase.FIRST_BYTE, Cause.RESET, b""),
        ((b"220 mail.example.com ESMTP\r\n",), False, Phase.FIRST_BYTE, Cause.PROTOCOL, b""),
        ((b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 20_000,), False, Phase.FIRST_BYTE, Cause.PROTOCOL, b""),
        ((sized(b"?", "200 OK", "content-encoding: br"),), False, Phase.BODY, Cause.PROTOCOL, b""),
        ((sized(b"not gzip at all", "200 OK", "content-encoding: gzip"),), False, Phase.BODY, Cause.PROTOCOL, b""),
    ],
)
@real_time
async def test_what_arrived_is_handed_out_before_the_break_is_named(pieces, reset, phase, cause, got, tls):
    received, failed = await failure_after(*pieces, tls=tls, reset=reset)
    assert (received, failed.phase) == (got, phase)
    assert failed.cause is cause or (tls and {failed.cause, cause} == {Cause.RESET, Cause.CLOSED_EARLY})
    assert str(failed)


@real_time
async def test_nobody_listening_is_a_refusal():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        async with client_of() as client:
            with pytest.raises(TransportFailed) as failed:
                async with client.stream(get(f"http://127.0.0.1:{port}")):
                    pass
    assert (failed.value.phase, failed.value.cause) == (Phase.CONNECT, Cause.REFUSED)


@pytest.mark.parametrize("url", ["ftp://h", "http://", "http://h:x"])
@real_time
async def test_a_request_that_cannot_be_sent_fails_before_anything_happens(url):
    async with client_of() as client:
        with pytest.raises(TransportFailed) as failed:
            async with client.stream(HttpRequest("GET", url)):
                pass
    assert failed.value.cause is Cause.INVALID


@both
@real_time
async def test_a_large_body_is_sent_whole(tls):
    body = bytes(range(256)) * 20_000
    async with peer(answer, tls=tls) as one, client_of() as client:
        async with client.stream(HttpRequest("POST", one.url, body=body)) as response:
            assert await response.read(100) == b"hello"
        assert one.requests[0].endswith(b"\r\n\r\n" + body)


@both
@real_time
async def test_a_peer_that_answers_before_it_has_read_everything_is_heard(tls):
    async def too_large(talk: Talk) -> None:
        await talk.reader.readuntil(b"\r\n\r\n")
        await talk.send(sized(b"too large", "413 No"))
        await talk.black_hole()

    async with peer(too_large, tls=tls) as one, client_of() as client:
        request = HttpRequest("POST", one.url, body=bytes(32_000_000))
        async with client.stream(request) as response:
            assert (response.status, await response.read(100)) == (413, b"too large")
            assert not response.reusable


@both
@real_time
async def test_an_interim_answer_during_an_upload_does_not_stop_it(tls):
    async def hint_first(talk: Talk) -> None:
        await talk.reader.readexactly(10)
        await talk.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await answer(talk)

    async with peer(hint_first, tls=tls) as one, client_of() as client:
        request = HttpRequest("POST", one.url, body=bytes(8_000_000))
        async with client.stream(request) as response:
            assert (response.status, await response.read(100)) == (200, b"hello")


@both
@real_time
async def test_a_slow_reader_slows_the_peer_down_and_memory_stays_bounded(tls):
    total, sent = 40_000_000, 0
    bound = UNREAD_LIMIT + LOOP_READ * (2 if tls else 1)

    async def flood(talk: Talk) -> None:
        nonlocal sent
        await talk.request()
        await talk.send(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % total)
        while sent < total:
            await talk.send(bytes(200_000))
            sent += 200_000

    async with peer(flood, tls=tls) as one, client_of() as client:
        async with client.stream(get(one.url)) as response:
            await asyncio.sleep(0.2)
            assert sent < total / 2
            held = sum(map(len, response._reader.pieces))
            assert held <= bound
            sizes = [len(data) async for data in response.bytes()]
        assert sum(sizes) == total
        assert max(sizes) <= bound
        assert len(sizes) < total / 10_000


@pytest.mark.parametrize(("encoding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
@real_time
async def test_a_body_that_came_compressed_unasked_is_read(encoding, pack):
    packed = pack(EVENTS)
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {encoding}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    pieces = [chunk(packed[at : at + 1]) for at in range(len(packed))]
    assert await fetched(head, *pieces, LAST_CHUNK) == (200, EVENTS, True)
    assert await fetched(head, *pieces[:-4], LAST_CHUNK) == (200, EVENTS, False)


@real_time
async def test_a_decompression_bomb_comes_in_bounded_pieces():
    bomb = zlib.compress(bytes(50_000_000), 9)
    packed = says(sized(bomb, "200 OK", "content-encoding: gzip"))
    async with peer(packed) as one, client_of() as client, client.stream(get(one.url)) as response:
        sizes = [len(data) async for data in response.bytes()]
    assert sum(sizes) == 50_000_000
    assert max(sizes) <= 256 * 1024


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
@real_time
async def test_a_flood_keeps_neither_timers_nor_a_cancellation_waiting(encoding):
    """The reader never waits by itself here: what lets the loop go on is the stream alone."""
    body = bytes(30_000_000)
    packed = zlib.compress(body, 9) if encoding == "gzip" else body
    pieces = 0

    async def read(response) -> None:
        nonlocal pieces
        async for _ in response.bytes():
            pieces += 1
            if pieces == 2:
                asyncio.get_running_loop().call_soon(reading.cancel)

    flood = says(sized(packed, "200 OK", f"content-encoding: {encoding}"))
    async with peer(flood) as one, client_of() as client, client.stream(get(one.url)) as response:
        reading = asyncio.create_task(read(response))
        with pytest.raises(asyncio.CancelledError):
            await reading
    assert pieces <= 3


@real_time
async def test_a_whole_body_can_be_read_up_to_a_limit():
    long = says(sized(b"x" * 1000, "500 Oh"))
    async with peer(long) as one, client_of() as client, client.stream(get(one.url)) as response:
        assert await response.read(10) == b"x" * 10


@virtual_time
async def test_a_reader_that_was_away_for_an_hour_finds_its_stream_alive():
    async def talk_slowly(talk: Talk) -> None:
        await talk.request()
        await talk.send(CHUNKED)
        for number in range(8):
            await talk.send(chunk(b"%d" % number))
            await asyncio.sleep(50)
        await talk.send(LAST_CHUNK)

    async with peer(talk_slowly) as one, client_of() as client:
        got = b""
        async with client.stream(get(one.url), Limits(turn_seconds=50_000)) as response:
            async for data in response.bytes():
                got += data
                response.watchdog.saw_content(len(data))
                if data == b"2":
                    await asyncio.sleep(3600)
            assert (got, response.complete) == (b"01234567", True)


@virtual_time
async def test_pings_keep_a_stream_from_being_dead_but_not_from_being_stuck():
    async def ping(talk: Talk) -> None:
        await talk.request()
        await talk.send(CHUNKED + chunk(b"data: hi\n\n"))
        while True:
            await asyncio.sleep(15)
            await talk.send(chunk(b": ping\n\n"))

    loop = asyncio.get_running_loop()
    async with peer(ping) as one, client_of() as client:
        with pytest.raises(Stalled, match="said nothing more for 90 s"):
            async with client.stream(get(one.url)) as response:
                async for data in response.bytes():
                    if b"data" in data:
                        response.watchdog.saw_content(2)
        assert 90 <= loop.time() < 90.5


@virtual_time
async def test_a_head_that_comes_line_by_line_is_slow_and_not_dead():
    async def dawdle(talk: Talk) -> None:
        await talk.request()
        for line in (b"HTTP/1.1 200 OK\r\n", b"x-a: 1\r\n", b"content-length: 5\r\n", b"\r\nhello"):
            await asyncio.sleep(40)
            await talk.send(line)

    async with peer(dawdle) as one, client_of() as client, client.stream(get(one.url)) as response:
        assert await response.read(100) == b"hello"
        assert asyncio.get_running_loop().time() == pytest.approx(160)


@virtual_time
async def test_the_turns_deadline_ends_a_stream_that_goes_on_and_on():
    async def chatter(talk: Talk) -> None:
        await talk.request()
        await talk.send(CHUNKED)
        while True:
            await asyncio.sleep(1)
            await talk.send(chunk(b"word "))

    loop = asyncio.get_running_loop()
    async with peer(chatter) as one, client_of() as client:
        with pytest.raises(Stalled, match="the turn's time ran out"):
            async with client.stream(get(one.url), turn_ends_at=77.0) as response:
                async for data in response.bytes():
                    response.watchdog.saw_content(len(data))
        assert 77 <= loop.time() < 77.5


@virtual_time
async def test_a_turn_that_is_already_over_ends_even_the_connecting():
    await asyncio.sleep(100)
    async with peer(stall) as one, client_of() as client:
        with pytest.raises(Stalled, match="the turn's time ran out"):
            async with client.stream(get(one.url), turn_ends_at=50.0) as response:
                await response.read(1000)


@both
@real_time
async def test_when_each_phase_began_is_noted_in_order(tls):
    async with peer(answer, tls=tls) as one, client_of() as client:
        stream = client.stream(get(one.url))
        async with stream as response:
            await response.read(100)
    phases = [Phase.DNS, Phase.CONNECT, *([Phase.TLS] if tls else []), Phase.SEND, Phase.FIRST_BYTE, Phase.BODY]
    assert list(stream.reached) == phases
    assert sorted(stream.reached.values()) == list(stream.reached.values())


@real_time
async def test_an_exchange_that_fails_has_noted_how_far_it_came():
    async with peer(answer, tls=True) as one, HttpClient() as client:
        stream = client.stream(get(one.url))
        with pytest.raises(TransportFailed):
            await stream.__aenter__()
    assert list(stream.reached) == [Phase.DNS, Phase.CONNECT, Phase.TLS]
