"""Connections are used again when that is safe, and only then; a dead one costs the request nothing."""

import asyncio

import pytest

from headway.transport import Cause, HttpClient, HttpRequest, TransportFailed, Trust
from support.peers import (
    CERTIFICATE,
    CHUNKED,
    EVENTS,
    LAST_CHUNK,
    Leftovers,
    Talk,
    answer,
    chunk,
    eventually,
    peer,
    real_time,
    says,
    sized,
    virtual_time,
)

both = pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])


def client_of(**kwargs) -> HttpClient:
    return HttpClient(trust=Trust(ca_file=CERTIFICATE), **kwargs)


async def ask(client: HttpClient, url: str) -> bytes:
    async with client.stream(HttpRequest("POST", url, body=b"{}")) as response:
        return b"".join([data async for data in response.bytes()])


@both
@real_time
async def test_one_connection_serves_one_request_after_another(tls):
    async with peer(answer, tls=tls) as one, client_of() as client:
        for _ in range(5):
            assert await ask(client, one.url) == b"hello"
        assert (one.accepted, len(one.requests), len(client.idle)) == (1, 5, 1)


@real_time
async def test_requests_at_the_same_time_have_connections_of_their_own():
    async with peer(answer) as one, client_of() as client:
        assert await asyncio.gather(*(ask(client, one.url) for _ in range(4))) == [b"hello"] * 4
        assert (one.accepted, len(client.idle)) == (4, 4)


@both
@real_time
async def test_a_connection_that_the_peer_closed_meanwhile_is_dropped_at_once(tls):
    async with peer(says(sized(b"hello")), tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        assert await ask(client, one.url) == b"hello"
        await eventually(lambda: not len(client.idle))
        await left.none_within()
        assert await ask(client, one.url) == b"hello"
        assert one.accepted == 2


@pytest.mark.parametrize("how", ["reset", "close"])
@both
@real_time
async def test_a_connection_that_dies_under_the_next_request_costs_it_nothing(tls, how):
    async def answer_once(talk: Talk) -> None:
        await talk.request()
        await talk.send(sized(b"hello"))
        await talk.request()
        if talk.number == 0 and how == "reset":
            talk.reset()
        elif talk.number > 0:
            await talk.send(sized(b"again"))

    async with peer(answer_once, tls=tls) as one, client_of() as client:
        left = Leftovers(one)
        assert await ask(client, one.url) == b"hello"
        assert await ask(client, one.url) == b"hello"
        assert (one.accepted, len(one.requests)) == (2, 3)
        client.close()
        await left.none_within()


@real_time
async def test_a_fresh_connection_that_dies_is_not_tried_again():
    async def die(talk: Talk) -> None:
        await talk.request()
        talk.reset()

    async with peer(die) as one, client_of() as client:
        with pytest.raises(TransportFailed) as failed:
            await ask(client, one.url)
        assert (failed.value.cause, one.accepted) == (Cause.RESET, 1)


@real_time
async def test_a_request_whose_answer_had_begun_is_not_sent_again():
    async def half(talk: Talk) -> None:
        await talk.request()
        await talk.send(sized(b"hello"))
        await talk.request()
        await talk.send(b"HTTP/1.1 200")

    async with peer(half) as one, client_of() as client:
        assert await ask(client, one.url) == b"hello"
        with pytest.raises(TransportFailed):
            await ask(client, one.url)
        assert (one.accepted, len(one.requests)) == (1, 2)


@pytest.mark.parametrize(
    "said",
    [
        sized(b"hello", "200 OK", "connection: close"),
        b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        sized(b"hello") + b"surplus",
        sized(b"hello") + sized(b"a second answer"),
    ],
    ids=["close", "http/1.0", "surplus", "a second answer"],
)
@real_time
async def test_a_connection_that_cannot_be_trusted_is_not_used_again(said):
    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.send(said)
        await talk.gone()

    async with peer(script) as one, client_of() as client:
        assert await ask(client, one.url) == b"hello"
        await eventually(lambda: not len(client.idle))
        await one.saw_farewells(1)
        assert await ask(client, one.url) == b"hello"
        assert one.accepted == 2


@real_time
async def test_a_connection_on_which_something_comes_unasked_is_dropped():
    async def time_out(talk: Talk) -> None:
        await talk.request()
        await talk.send(sized(b"hello"))
        await asyncio.sleep(0.02)
        await talk.send(sized(b"", "408 Request Timeout"))
        await talk.gone()

    async with peer(time_out) as one, client_of() as client:
        assert await ask(client, one.url) == b"hello"
        assert len(client.idle) == 1
        await one.saw_farewells(1)
        assert len(client.idle) == 0
        assert await ask(client, one.url) == b"hello"


@real_time
async def test_a_body_left_in_the_middle_closes_its_connection():
    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.send(CHUNKED + chunk(EVENTS))
        await talk.gone()

    async with peer(script) as one, client_of() as client:
        async with client.stream(HttpRequest("GET", one.url)) as response:
            await anext(response.bytes())
        await one.saw_farewells(1)
        assert len(client.idle) == 0


@real_time
async def test_a_stream_that_has_said_its_last_can_wait_for_https_own_end():
    async def script(talk: Talk) -> None:
        while True:
            await talk.request()
            await talk.send(CHUNKED + chunk(b"data: [DONE]\n\n"))
            await asyncio.sleep(0.02)
            await talk.send(chunk(b": bye\n\n") + LAST_CHUNK)

    async with peer(script) as one, client_of() as client:
        for _ in range(2):
            async with client.stream(HttpRequest("GET", one.url)) as response:
                assert await anext(response.bytes()) == b"data: [DONE]\n\n"
                assert await response.settle()
        assert one.accepted == 1


@virtual_time
async def test_waiting_for_https_own_end_is_short():
    async def script(talk: Talk) -> None:
        await talk.request()
        await talk.send(CHUNKED + chunk(b"data: [DONE]\n\n"))
        await talk.gone()

    loop = asyncio.get_running_loop()
    async with peer(script) as one, client_of() as client:
        async with client.stream(HttpRequest("GET", one.url)) as response:
            await anext(response.bytes())
            assert not await response.settle()
        assert loop.time() < 0.5
        await one.saw_farewells(1)


@virtual_time
async def test_idle_connections_are_closed_after_a_minute():
    async with peer(answer) as one, client_of() as client:
        left = Leftovers(one)
        await ask(client, one.url)
        await asyncio.sleep(59)
        assert len(client.idle) == 1
        await asyncio.sleep(2)
        assert len(client.idle) == 0
        await left.none_within()


@real_time
async def test_only_so_many_connections_are_kept_and_the_oldest_goes_first():
    async with peer(answer) as one, peer(answer) as two, client_of(max_idle=2) as client:
        await ask(client, one.url)
        await asyncio.gather(*(ask(client, two.url) for _ in range(3)))
        assert len(client.idle) == 2
        await ask(client, two.url)
        assert two.accepted == 3
        await ask(client, one.url)
        assert one.accepted == 2


@real_time
async def test_connections_to_different_places_are_not_mixed_up():
    async with peer(answer) as one, peer(answer) as two, client_of() as client:
        for _ in range(2):
            await ask(client, one.url)
            await ask(client, two.url)
        assert (one.accepted, two.accepted) == (1, 1)
        await ask(client, one.url.replace("127.0.0.1", "localhost"))
        assert one.accepted == 2


def test_a_client_that_outlives_its_loop_opens_new_connections():
    async def twice(client: HttpClient) -> None:
        async with peer(answer) as one:
            assert await ask(client, one.url) == b"hello"
            client.close()

    client = client_of()
    asyncio.run(twice(client))
    asyncio.run(twice(client))
