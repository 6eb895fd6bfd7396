"""The listening side: where it listens, and how it ends."""

import asyncio
import socket

import pytest

from headway.failure import InvalidInput
from headway.gateway.message import Limits
from headway.gateway.server import Server
from support.desk_clerk import Clerk, clerk
from support.peers import virtual_time
from support.raw_http import request_bytes


@virtual_time
async def test_a_port_that_is_taken_is_one_clear_error():
    async with clerk() as desk:
        port = int(desk.url.rpartition(":")[2])
        other = Server(desk)
        with pytest.raises(InvalidInput, match=rf"127.0.0.1:{port}: cannot listen there: .*--listen"):
            await other.start("127.0.0.1", port)


@pytest.mark.parametrize("host", ["203.0.113.1", "no.such.host.invalid"])
@virtual_time
async def test_an_address_that_is_not_ours_is_one_clear_error(host):
    with pytest.raises(InvalidInput, match="cannot listen there"):
        await Server(None).start(host, 0)


@virtual_time
async def test_idle_connections_are_closed_at_once_and_nobody_new_gets_in():
    async with clerk() as desk:
        client = await desk.client()
        await client.send(request_bytes(b"x", path="/echo"))
        await client.read(1)
        began = asyncio.get_running_loop().time()
        assert await desk.server.drain(60) == 0
        assert asyncio.get_running_loop().time() - began <= 0.1
        await client.read()
        assert client.closed
        assert not client.reset
        with pytest.raises(ConnectionRefusedError):
            await desk.client()


@virtual_time
async def test_what_is_being_answered_may_finish_and_takes_nothing_new_with_it():
    async with clerk() as desk:
        client = await desk.client()
        await client.send(request_bytes(path="/wait") + request_bytes(b"behind", path="/echo"))
        await asyncio.sleep(1)
        draining = asyncio.ensure_future(desk.server.drain(60))
        await asyncio.sleep(20)
        assert not draining.done()
        desk.release.set()
        assert await draining == 0
        await client.read()
        assert [(one.status, one.body) for one in client.answers] == [(200, b"waiting released")]
        assert [request.path for request in desk.asked] == ["/wait"]


@virtual_time
async def test_what_does_not_finish_in_time_is_dropped_and_counted():
    async with clerk() as desk:
        clients = [await desk.client() for _ in range(3)]
        for client in clients[:2]:
            await client.send(request_bytes(path="/wait"))
        await clients[2].send(b"POST /half of a request")
        await asyncio.sleep(1)
        began = asyncio.get_running_loop().time()
        assert await desk.server.drain(30) == 2
        assert asyncio.get_running_loop().time() - began == pytest.approx(30, abs=0.5)
        for client in clients[:2]:
            await client.read()
            assert client.reset
            assert not any(one.complete for one in client.answers), "half an answer is not ended as a whole one"
        assert desk.ends == ["CancelledError"] * 2


@virtual_time
async def test_a_client_that_does_not_take_its_last_answer_does_not_hold_up_the_end():
    async with clerk(Limits(write_seconds=5)) as desk:
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", int(desk.url.rpartition(":")[2])))
            sock.sendall(request_bytes(path="/large"))
            await asyncio.sleep(1)
            began = asyncio.get_running_loop().time()
            await desk.server.drain(600)
            assert asyncio.get_running_loop().time() - began <= 6


def test_every_connection_inherits_a_limit_on_unacknowledged_bytes():
    async def look():
        server = Server(Clerk(Limits()), Limits(write_seconds=7))
        _, port = await server.start("127.0.0.1", 0)
        with socket.create_connection(("127.0.0.1", port)):
            await asyncio.sleep(0.01)
            (connection,) = server.connections
            sock = connection._transport.get_extra_info("socket")
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7000
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        await server.drain(1)

    if not hasattr(socket, "TCP_USER_TIMEOUT"):
        pytest.skip("this system has no such limit")
    asyncio.run(look())
