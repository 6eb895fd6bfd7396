"""One connection of a client, over real sockets in virtual time: what is answered, in which order, and when it ends."""

import asyncio
import socket
from contextlib import suppress

import pytest
from msgspec.structs import replace

from headway.gateway.connection import PIPELINED
from headway.gateway.message import Limits
from support.desk_clerk import Clerk, clerk
from support.peers import virtual_time
from support.raw_http import request_bytes

LIMITS = Limits(
    head_bytes=2000, body_bytes=5000, request_seconds=10, idle_seconds=30, write_seconds=5, buffer_bytes=1000
)


def post(body: bytes, path: str = "/echo", **options) -> bytes:
    return request_bytes(body, path=path, **options)


def reading_little(desk: Clerk) -> socket.socket:
    """Connect with a socket that nobody reads from unasked, and that holds little."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    sock.connect(("127.0.0.1", int(desk.url.rpartition(":")[2])))
    return sock


@virtual_time
async def test_one_connection_serves_one_request_after_another():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        for number in (b"one", b"two", b"three"):
            await client.send(post(number))
            await client.read(len(client.answers) + 1)
        assert [answer.body for answer in client.answers] == [b"one", b"two", b"three"]
        assert len(desk.server.connections) == 1


@pytest.mark.parametrize("size", [1, 2, 7, 64])
@virtual_time
async def test_a_request_may_come_in_pieces_of_any_size(size):
    async with clerk(LIMITS) as desk:
        data = post(b"sized") + post(b"in chunks of any size", chunks=[3, 1, 8])
        data += request_bytes(method="GET", path="/x?a=%20b")
        client = await desk.client()
        await client.send(*(data[at : at + size] for at in range(0, len(data), size)))
        await client.read(3)
        assert [answer.body for answer in client.answers] == [b"sized", b"in chunks of any size", b""]
        assert (desk.asked[2].path, desk.asked[2].query) == ("/x", {"a": " b"})


@virtual_time
async def test_pipelined_requests_are_answered_one_at_a_time_and_in_order():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/wait") + b"".join(post(b"%d" % n) for n in range(PIPELINED)))
        await asyncio.sleep(1)
        assert len(desk.asked) == 1, "the first is not answered yet"
        desk.release.set()
        await client.read(1 + PIPELINED)
        assert [answer.body for answer in client.answers] == [b"waiting released", b"0", b"1", b"2", b"3"]


@virtual_time
async def test_more_pipelined_requests_than_may_wait_are_refused_behind_those_that_do():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/wait") + post(b"again") * (PIPELINED + 3))
        await asyncio.sleep(1)
        desk.release.set()
        await client.read(2 + PIPELINED)
        assert client.statuses == [200] * (1 + PIPELINED) + [429]
        assert client.answers[-1].headers["connection"] == "close"


@virtual_time
async def test_pipelined_bodies_together_are_no_larger_than_one_may_be():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/wait") + post(b"x" * 3000) + post(b"y" * 3000))
        await asyncio.sleep(1)
        desk.release.set()
        await client.read(3)
        assert client.statuses == [200, 200, 429]


@pytest.mark.parametrize("chunks", [(), (900, 900)])
@virtual_time
async def test_the_body_of_a_stranger_is_read_and_not_kept(chunks):
    """It is refused whatever it says; until then it would be memory for the asking."""
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        body = b"x" * 1800
        await client.send(post(body, chunks=chunks, **{"x-key": "wrong"})[:-1])
        await asyncio.sleep(1)
        (connection,) = desk.server.connections
        assert not connection._reader._body
        await client.send(b"\n" if chunks else b"x")
        await client.send(post(body))
        await client.read(2)
        assert [request.body for request in desk.asked] == [b"", body], "and whoever comes next is read again"


@virtual_time
async def test_a_stranger_too_cannot_send_more_than_anybody_may():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"x" * 6000, chunks=[3000, 3000], **{"x-key": "wrong"}))
        await client.read(1)
        assert client.statuses == [413]


@virtual_time
async def test_garbage_behind_a_request_does_not_take_its_answer_away():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/wait") + b"\x16\x03\x01 not http\r\n\r\n")
        await asyncio.sleep(1)
        desk.release.set()
        await client.read(2)
        assert client.statuses == [200, 400]
        assert client.answers[0].body == b"waiting released"


@virtual_time
async def test_a_client_that_waits_to_be_asked_for_its_body_is():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        head, _, body = post(b"the body", expect="100-continue").partition(b"\r\n\r\n")
        await client.send(head + b"\r\n\r\n")
        await asyncio.sleep(1)
        assert desk.asked == []
        await client.send(body)
        await client.read(1)
        assert client.got.interim == 1
        assert client.answers[0].body == b"the body"


@virtual_time
async def test_a_body_that_would_be_too_large_is_not_asked_for():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"x" * 6000, expect="100-continue").partition(b"\r\n\r\n")[0] + b"\r\n\r\n")
        await client.read(1)
        assert (client.statuses, client.got.interim) == ([413], 0)


@virtual_time
async def test_an_answer_to_head_has_no_body():
    async with clerk(LIMITS) as desk:
        client = await desk.client(head_only=True)
        for _ in range(2):
            await client.send(post(b"12345", method="HEAD"))
            await asyncio.sleep(0.1)
        client.say_no_more()
        await client.read()
        assert [answer.headers["content-length"] for answer in client.answers] == ["5", "5"]


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@virtual_time
async def test_a_client_that_wants_the_connection_closed_gets_that(version):
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(f"GET /echo HTTP/{version}\r\nconnection: close\r\n\r\n".encode())
        await client.read()
        assert client.statuses == [200]
        assert client.answers[0].headers["connection"] == "close"
        assert client.closed


@virtual_time
async def test_a_client_of_http_1_0_gets_a_stream_without_chunks():
    async with clerk(LIMITS) as desk:
        desk.release.set()
        reader, writer = await asyncio.open_connection("127.0.0.1", int(desk.url.rpartition(":")[2]))
        writer.write(b"GET /wait HTTP/1.0\r\nconnection: keep-alive\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert b"transfer-encoding" not in head
        assert body == b"waiting released", "it is ended by the close"
        writer.close()


@pytest.mark.parametrize("body", [b"", b"the body"])
@virtual_time
async def test_an_offer_to_speak_http_2_is_not_taken_and_the_request_is_answered(body):
    """Java's own client makes this offer with its first request to every `http://` address."""
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        more = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2_settings": "AAEAAEAAAAIAAAAB"}
        await client.send(post(body, x_kept="yes", **more) + post(b"next"))
        await client.read(2)
        assert [answer.body for answer in client.answers] == [body, b"next"]
        assert desk.asked[0].headers["x-kept"] == "yes"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400),
        (b"POST /echo HTTP/1.1\r\ncontent-length: -1\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\ncontent-length: 99999999999999999999999\r\n\r\n", 400),
        (b"POST /echo HTTP/1.1\r\ncontent-length: 5001\r\n\r\n", 413),
        (b"POST /echo HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n" + (b"400\r\n" + b"x" * 1024 + b"\r\n") * 6, 413),
        (b"GET /" + b"x" * 3000 + b" HTTP/1.1\r\n\r\n", 431),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1500 + b"\r\n", 431),
    ],
)
@virtual_time
async def test_what_cannot_be_read_is_answered_once_and_closed(data, status):
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(data)
        await client.read(1)
        await client.send(post(b"more"))
        client.say_no_more()
        await client.read()
        assert client.statuses == [status]
        assert client.answers[0].headers["connection"] == "close"
        assert desk.asked == []
        assert desk.mistakes == []


@virtual_time
async def test_a_client_that_still_sends_is_told_that_its_body_is_too_large():
    """Closed at once, it would see a reset, take that for an accident, and send everything again."""
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        data = post(b"x" * 20_000_000)
        await client.send(*(data[at : at + 1_000_000] for at in range(0, len(data), 1_000_000)), gap_seconds=0.01)
        await client.read(1)
        assert (client.statuses, client.reset) == ([413], False)


@virtual_time
async def test_a_client_that_sends_for_ever_is_not_listened_to_for_ever():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        began = asyncio.get_running_loop().time()
        await client.send(post(b"", content_length_="1").replace(b"content-length: 0", b"content-length: 900000"))
        while desk.server.connections:
            await client.send(b"x" * 100, gap_seconds=1)
        assert asyncio.get_running_loop().time() - began <= 1 + LIMITS.request_seconds


@pytest.mark.parametrize("sent", [b"", b"\r\n\r\n", b"POS", post(b"12345")[:-1], post(b"12345", chunks=[2])[:-3]])
@virtual_time
async def test_a_request_that_does_not_come_is_not_waited_for(sent):
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        began = asyncio.get_running_loop().time()
        await client.send(sent)
        await client.read()
        assert client.statuses == ([408] if sent.strip() else [])
        assert asyncio.get_running_loop().time() - began == pytest.approx(LIMITS.request_seconds, abs=0.5)


@virtual_time
async def test_a_dripping_sender_and_one_of_blank_lines_have_no_more_time_than_others():
    async with clerk(LIMITS) as desk:
        began = asyncio.get_running_loop().time()
        for drip in (post(b"x" * 4000), b"\r\n" * 4000):
            client = await desk.client()
            pieces = (drip[at : at + 2] for at in range(0, 4000, 2))
            sending = asyncio.ensure_future(client.send(*pieces, gap_seconds=4))
            await client.read()
            sending.cancel()
            await client.close()
        assert asyncio.get_running_loop().time() - began <= 2 * LIMITS.request_seconds + 1
        assert desk.asked == []


@virtual_time
async def test_a_connection_on_which_nothing_is_asked_any_more_is_closed():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"one"))
        await client.read(1)
        began = asyncio.get_running_loop().time()
        await client.read()
        assert client.closed
        assert not client.reset
        assert asyncio.get_running_loop().time() - began == pytest.approx(LIMITS.idle_seconds, abs=0.5)


@virtual_time
async def test_an_answer_that_takes_long_is_not_cut_by_the_clocks_for_requests():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/wait"))
        await asyncio.sleep(10_000)
        desk.release.set()
        await client.read(1)
        assert client.answers[0].body == b"waiting released"


@pytest.mark.parametrize("leaves", ["close", "half"])
@virtual_time
async def test_a_client_that_leaves_ends_what_is_done_for_it(leaves):
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/wait") + post(b"behind"))
        await asyncio.sleep(1)
        began = asyncio.get_running_loop().time()
        if leaves == "half":
            client.say_no_more()
        else:
            await client.close()
        await asyncio.sleep(0.1)
        assert desk.ends == ["CancelledError"]
        assert len(desk.asked) == 1, "nobody waits for the other one"
        assert asyncio.get_running_loop().time() - began <= 0.2


@virtual_time
async def test_a_client_that_reads_nothing_is_reset_after_its_deadline():
    async with clerk(LIMITS) as desk:
        with reading_little(desk) as sock:
            sock.sendall(post(b"", "/flood"))
            await asyncio.sleep(LIMITS.write_seconds + 1)
            assert desk.ends == ["ClientGone"]
            assert not desk.server.connections


@virtual_time
async def test_a_client_that_reads_slowly_but_steadily_is_not_reset():
    async with clerk(replace(LIMITS, buffer_bytes=20_000_000)) as desk:
        with reading_little(desk) as sock:
            sock.sendall(post(b"", "/flood"))
            sock.setblocking(False)
            await asyncio.sleep(1)
            for _ in range(10):  # 15 MB must go before there is room, which takes many times the limit
                got = 0
                while got < 1_000_000:
                    with suppress(BlockingIOError):
                        got += len(sock.recv(65_536))
                    await asyncio.sleep(0)
                await asyncio.sleep(LIMITS.write_seconds - 1)
            assert desk.ends == []


@virtual_time
async def test_a_whole_answer_that_nobody_takes_is_not_kept_for_ever():
    async with clerk(LIMITS) as desk:
        with reading_little(desk) as sock:
            sock.sendall(post(b"", "/large"))
            await asyncio.sleep(LIMITS.idle_seconds + LIMITS.write_seconds + 1)
            assert not desk.server.connections


@virtual_time
async def test_half_an_answer_ends_in_a_reset_and_never_as_a_whole_one():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/half"))
        await client.read()
        assert client.reset
        assert not any(one.complete for one in client.answers)


@virtual_time
async def test_a_mistake_is_one_requests_trouble_and_is_told_to_who_runs_it():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(post(b"", "/bad"))
        await client.read(1)
        assert client.statuses == [500]
        assert "ZeroDivisionError" not in client.answers[0].body.decode()
        assert [type(one["exception"]) for one in desk.mistakes] == [ZeroDivisionError]
        other = await desk.client()
        await other.send(post(b"fine"))
        await other.read(1)
        assert other.statuses == [200]
        await other.close()


@virtual_time
async def test_more_connections_than_allowed_are_reset():
    async with clerk(Limits(connections=2)) as desk:
        clients = [await desk.client() for _ in range(3)]
        for client in clients:
            await client.send(post(b"hello"))
            await client.read(1)
        assert [client.statuses for client in clients] == [[200], [200], []]
        assert clients[2].reset
        await clients[0].close()
        await asyncio.sleep(0.1)
        again = await desk.client()
        await again.send(post(b"hello"))
        await again.read(1)
        assert again.statuses == [200], "there is room again"


@virtual_time
async def test_a_header_that_comes_twice_is_joined():
    async with clerk(LIMITS) as desk:
        client = await desk.client()
        await client.send(b"GET /echo HTTP/1.1\r\nAnthropic-Beta: a\r\nanthropic-beta: b\r\n\r\n")
        await client.read(1)
        assert desk.asked[0].headers["anthropic-beta"] == "a, b"
        await client.close()
