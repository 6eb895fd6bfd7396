"""Anything at all, sent to the gateway: it is answered or closed, nothing of ours breaks, the next one is served."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.sim.script import Final, Pace, Say, Script, WriteFile
from headway.wire.table import WIRES
from support.gate import Gate, at_gate, body_of
from support.gate_bodies import body_texts, mutated_bodies
from support.grammar import problems
from support.raw_http import RawClient, raw_client, request_bytes

SCRIPT = Script(prompt="Go.", steps=(Say("I write it."), WriteFile("a.txt", "words"), Final("Done.")), pace=Pace(10))
HONEST = {200, 400, 401, 403, 404, 405, 408, 413, 429, 431, 502, 504, 529}
"""What a client may be told; 500 would be a mistake of ours."""
PATHS = [*(f"/v1{wire.path}" for wire in WIRES.values()), "/v1/messages/count_tokens", "/v1/models", "/metrics", "/"]
each_wire = pytest.mark.parametrize("wire", WIRES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("gate")


def at_a_gate(folder: Path, work: Callable[[Gate], Awaitable[None]], upstream: str = "chat") -> None:
    """Run something at a gateway; afterwards nothing has gone wrong there, and an ordinary request is answered."""

    async def watched(gate: Gate) -> None:
        mistakes = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: mistakes.append(context))
        await gate.provider(SCRIPT, upstream)
        await gate.open(extra="[gateway]\nbody_mb = 1\nheader_kb = 8")
        await work(gate)
        assert not mistakes, mistakes
        assert all(trace.status != 500 for trace in gate.traces)
        reply = await gate.ask("chat", tools=True)
        assert (reply.status, reply.received.text) == (200, "I write it.")
        assert [call.name for call in reply.received.calls] == ["write_file"]

    at_gate(folder, watched)


async def answered_or_closed(client: RawClient) -> None:
    """Say that nothing more comes, and see that everything ends."""
    await client.read()  # until the server closes; it does so by its own clocks
    assert client.closed
    assert set(client.statuses) <= HONEST, client.statuses


def is_sound(answer) -> None:
    """Judge an answer of a path of ours: an error in the wire's own form, or a reply that can be read."""
    if not answer.complete:
        return
    if answer.status != 200:
        assert json.loads(answer.body)["error"]["message"]


# What is sent instead of HTTP

PIECES_OF_HTTP = (
    *(b"POST ", b"GET ", b"/v1/chat/completions", b" HTTP/1.1", b"\r\n", b"\r\n\r\n", b"host: x\r\n", b"\x00", b"\xff"),
    *(b"content-length: 5\r\n", b"content-length: 99999999999\r\n", b"transfer-encoding: chunked\r\n", b"0\r\n\r\n"),
    *(b"5\r\nhello\r\n", b"connection: close\r\n", b"connection: upgrade\r\nupgrade: websocket\r\n", b"hello", b"{}"),
    *(
        b"expect: 100-continue\r\n",
        b": \r\n",
        b"a" * 9000,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT x:1 HTTP/1.1",
    ),
)


@given(
    data=st.one_of(st.binary(max_size=300), st.lists(st.sampled_from(PIECES_OF_HTTP), max_size=12).map(b"".join)),
    half=st.booleans(),
)
def test_any_bytes(folder, data, half):
    async def work(gate):
        async with raw_client(gate.url) as client:
            await client.send(data)
            if half:
                client.say_no_more()
            await answered_or_closed(client)

    at_a_gate(folder, work)


@given(data=st.data())
def test_a_request_with_bytes_changed(folder, data):
    valid = request_bytes(json.dumps(body_of("chat")).encode())
    spoilt = bytearray(valid)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(spoilt) - 1))
        spoilt[at : at + data.draw(st.integers(0, 2))] = data.draw(st.binary(max_size=3))

    async def work(gate):
        async with raw_client(gate.url) as client:
            await client.send(bytes(spoilt))
            await answered_or_closed(client)

    at_a_gate(folder, work)


# What is sent instead of a request


@each_wire
@given(data=st.data())
def test_any_body(folder, wire, data):
    body = data.draw(body_texts(wire))
    upstream = data.draw(st.sampled_from(list(WIRES)))
    kind = data.draw(
        st.sampled_from(["application/json", "application/json", "text/plain", "multipart/form-data; boundary=x", ""])
    )

    async def work(gate):
        reply = await gate.send(f"/v1{WIRES[wire].path}", body, headers={"content-type": kind}, wire=wire)
        assert reply.status in HONEST
        if reply.status != 200:
            assert reply.json()["error"]["message"]
        elif reply.headers["content-type"].startswith("text/event-stream"):
            assert problems(wire, reply.data) == []
        else:
            assert isinstance(reply.json(), dict)

    at_a_gate(folder, work, upstream)


@given(body=mutated_bodies("anthropic"))
def test_any_body_is_counted_or_refused(folder, body):
    async def work(gate):
        try:
            data = json.dumps(body).encode()
        except ValueError:
            return
        reply = await gate.send("/v1/messages/count_tokens", data)
        assert reply.status in {200, 400}
        assert reply.status != 200 or reply.json()["input_tokens"] >= 0

    at_a_gate(folder, work)


header_values = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=30)


@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "PROPFIND"]),
    path=st.one_of(
        st.sampled_from(PATHS),
        st.sampled_from(PATHS).flatmap(
            lambda path: st.sampled_from([f"{path}/", f"/{path}", f"{path}/x", f"{path}?a=%zz&b"])
        ),
        st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=20).map(lambda text: f"/{text}"),
        st.sampled_from(
            ["*", "//", "/%00", "/%ff%fe", "/v1/%2e%2e/metrics", "http://[::1", "http://x/v1/models", "/v1" * 9]
        ),
    ),
    headers=st.dictionaries(
        st.sampled_from(
            ["authorization", "x-api-key", "anthropic-beta", "accept", "content-type", "expect", "openai-beta"]
        )
        | st.from_regex(r"[a-z][a-z-]{0,10}", fullmatch=True).filter(
            lambda name: name not in {"connection", "upgrade"}
        ),
        header_values,
        max_size=4,
    ),
)
def test_any_method_on_any_path_with_any_headers(folder, method, path, headers):
    headers = {name: value for name, value in headers.items() if name not in {"content-length", "transfer-encoding"}}

    async def work(gate):
        body = json.dumps(body_of("chat", stream=False)).encode()
        async with raw_client(gate.url, head_only=method == "HEAD") as client:
            await client.send(request_bytes(body, method=method, path=path, **headers))
            await answered_or_closed(client)
            assert len(client.answers) == 1
            if method != "HEAD" and path not in PATHS:
                is_sound(client.answers[0])

    at_a_gate(folder, work)


# How it is sent


@given(data=st.data())
def test_any_number_of_requests_in_any_pieces_at_any_pace(folder, data):
    wires = data.draw(st.lists(st.sampled_from(list(WIRES)), min_size=1, max_size=4))
    requests = b""
    for wire in wires:
        body = json.dumps(body_of(wire, stream=data.draw(st.booleans()))).encode()
        chunks = data.draw(st.lists(st.integers(1, 50), max_size=4))
        requests += request_bytes(body, path=f"/v1{WIRES[wire].path}", chunks=chunks)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(requests)), max_size=20)))
    pieces = [requests[a:b] for a, b in pairwise([0, *cuts, len(requests)])]
    gap = data.draw(st.sampled_from([0.0, 0.0, 0.3]))

    async def work(gate):
        async with raw_client(gate.url) as client:
            await client.send(*pieces, gap_seconds=gap)
            await client.read(len(wires))
            assert client.statuses == [200] * len(wires)
            assert all(answer.complete for answer in client.answers)

    at_a_gate(folder, work)


@given(data=st.data())
def test_a_client_that_leaves_at_any_moment(folder, data):
    request = request_bytes(json.dumps(body_of("chat", tools=True)).encode())
    sent = data.draw(st.integers(0, len(request)))
    reads = data.draw(st.integers(0, 3))
    how = data.draw(st.sampled_from(["close", "half", "reset"]))

    async def work(gate):
        async with raw_client(gate.url) as client:
            await client.send(request[:sent])
            for _ in range(reads):
                await asyncio.sleep(0.001)
            if how == "half":
                client.say_no_more()
                await answered_or_closed(client)
            elif how == "reset":
                client.tear()
        await asyncio.sleep(1)
        assert not gate.server.connections, "nothing is kept for who has left"

    at_a_gate(folder, work)
