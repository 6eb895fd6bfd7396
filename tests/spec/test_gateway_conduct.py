"""How the gateway behaves towards its clients: keys, limits, heartbeats, leaving, and stopping in order."""

import asyncio
import json
import socket

import pytest
from msgspec.structs import replace

from headway.events import KeepAlive, Stop
from headway.sim.catalog import read_fault
from headway.sim.exchange import Ending
from headway.sim.script import Final, Pace, Say, Script, WriteFile
from headway.wire.json_text import strict_object
from headway.wire.table import WIRES as TABLE
from support.gate import at_gate, body_of
from support.grammar import problems

WIRES = ["chat", "responses", "anthropic"]
CLIENTS = pytest.mark.parametrize("client", WIRES)
TEXT = " ".join(f"word{number}" for number in range(300))
PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ "quoted"</p>\n' for number in range(200))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
WRITE = Script(prompt="Go.", steps=(Say("I write it."), WriteFile("page.html", PAGE), Final("Done.")))


def broken(script, *faults):
    return replace(script, faults=tuple(read_fault(fault) for fault in faults))


async def until(happened):
    for _ in range(10_000):
        if happened():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it never happened")


@CLIENTS
def test_a_client_that_waits_gets_signs_of_life_that_change_nothing(tmp_path, client):
    async def work(gate):
        await gate.provider(broken(TALK, "silent_thinking seconds=25 interval=5", "stall at=900 first=1"), client)
        await gate.open(extra="[gateway]\nheartbeat_seconds = 5")
        reply = await gate.ask(client)
        assert reply.received.text == TEXT
        assert problems(client, reply.data) == []
        gaps = [later - earlier for earlier, later in zip(reply.times, reply.times[1:], strict=False)]
        assert max(gaps) <= 6, "never quiet for longer than a heartbeat"
        assert any(isinstance(event, KeepAlive) for event in reply.events)
        assert gate.traces[0].heartbeats >= 2

    at_gate(tmp_path, work)


@CLIENTS
@pytest.mark.parametrize("upstream", WIRES)
@pytest.mark.parametrize("fault", ["rst at=8000 first=2", "output_limit at=8000 first=2", "stall at=8000 first=1"])
def test_a_live_call_that_breaks_is_finished_inside_the_same_json(tmp_path, client, upstream, fault):
    async def work(gate):
        await gate.provider(broken(WRITE, fault), upstream)
        await gate.open(route='calls = "live"')
        reply = await gate.ask(client, tools=True)
        assert problems(client, reply.data) == []
        (call,) = reply.received.calls
        assert strict_object(call.arguments) == {"path": "page.html", "content": PAGE}
        assert reply.received.end.stop is Stop.CALLS
        shown_early = reply.data[: len(reply.data) // 4]
        assert b"Line" in shown_early, "it is shown as it grows"

    at_gate(tmp_path, work)


@CLIENTS
def test_a_live_call_that_cannot_be_finished_ends_in_an_error_and_never_as_a_call(tmp_path, client):
    async def work(gate):
        await gate.provider(broken(WRITE, "rst at=8000 first=1", "wrong_status status=500 after=1"), client)
        await gate.open(route='calls = "live"')
        reply = await gate.ask(client, tools=True)
        assert reply.received.calls == ()
        assert not reply.received.is_complete or reply.received.end.stop is Stop.FAILED

    at_gate(tmp_path, work)


@CLIENTS
def test_a_client_that_leaves_takes_its_upstream_along(tmp_path, client):
    async def work(gate):
        sim = await gate.provider(broken(TALK, "stall at=900"), client)
        await gate.open()
        asking = asyncio.ensure_future(gate.ask(client))
        await until(lambda: sim.log and sim.log[0].generated >= 900)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        left_at = asyncio.get_running_loop().time()
        await sim.quiet()
        assert sim.log[0].ending is Ending.CLIENT_LEFT
        assert sim.log[0].client_left_at - left_at <= 0.2
        assert gate.traces[0].outcome == "client_left"

    at_gate(tmp_path, work)


@CLIENTS
def test_a_filter_goes_to_the_next_provider_at_first_sight(tmp_path, client):
    async def work(gate):
        await gate.provider(broken(TALK, "content_filter pattern=word150"), client)
        await gate.provider(TALK, "anthropic" if client == "chat" else "chat")
        await gate.open()
        reply = await gate.ask(client)
        assert problems(client, reply.data) == []
        assert reply.received.text == TEXT
        assert reply.received.end.stop is Stop.END
        assert [len(sim.log) for sim in gate.sims] == [1, 1]

    at_gate(tmp_path, work)


def test_a_filter_and_nobody_else_is_the_providers_own_word(tmp_path):
    async def work(gate):
        await gate.provider(broken(TALK, "content_filter pattern=word150"), "chat")
        await gate.open()
        reply = await gate.ask("chat")
        assert problems("chat", reply.data) == []
        assert reply.received.end.stop is Stop.FILTERED

    at_gate(tmp_path, work)


@CLIENTS
def test_a_clients_own_limit_on_output_ends_its_text(tmp_path, client):
    async def work(gate):
        await gate.provider(TALK, client)
        await gate.open()
        word = {"chat": "max_completion_tokens", "responses": "max_output_tokens"}.get(client, "max_tokens")
        reply = await gate.ask(client, **{word: 50})
        assert problems(client, reply.data) == []
        assert reply.received.end.stop is Stop.LENGTH
        assert TEXT.startswith(reply.received.text)
        assert len(gate.sims[0].log) == 1

    at_gate(tmp_path, work)


@pytest.mark.parametrize("header", [{"authorization": "Bearer open"}, {"x-api-key": "open"}])
def test_a_key_is_wanted_where_one_is_set(tmp_path, header):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open(extra='[gateway]\nkeys = ["env:GATE_KEY"]')
        for wrong in ({}, {"authorization": "Bearer wrong"}, {"x-api-key": "opem"}, {"authorization": "Basic open"}):
            reply = await gate.ask("anthropic", headers=wrong)
            assert reply.status == 401
            assert reply.json()["error"]["type"] == "authentication_error"
            assert "open" not in reply.data.decode().replace("openai", "")
        assert (await gate.ask("chat", headers=header)).status == 200
        assert gate.traces[-1].key == "env:GATE_KEY"

    at_gate(tmp_path, work)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"\xff\xfe", "not JSON"),
        (b'{"model": "m"}', ""),
        (json.dumps({"model": "m", "messages": "hello"}).encode(), ""),
        (json.dumps({"model": 7, "messages": []}).encode(), ""),
        (b'{"a":' * 3000, "not JSON"),
    ],
)
@CLIENTS
def test_a_bad_body_is_a_400_in_the_clients_wire(tmp_path, client, body, words):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open()
        reply = await gate.send(f"/v1{TABLE[client].path}", body)
        assert reply.status == 400, reply.data
        error = reply.json()["error"]
        assert words in error["message"]
        assert error["source"] == "headway"
        assert gate.sims[0].log == []

    at_gate(tmp_path, work)


def test_too_much_is_refused_and_said_so(tmp_path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open(extra="[gateway]\nbody_mb = 1\nheader_kb = 4\nrequests_per_minute = 2")
        reply = await gate.send("/v1/messages", b" " * (2**20 + 1))
        assert (reply.status, reply.json()["error"]["type"]) == (413, "request_too_large")
        reply = await gate.send("/v1/messages", b"{}", headers={"x-long": "x" * 5000})
        assert reply.status == 431
        assert [(await gate.ask("chat")).status for _ in range(3)] == [200, 200, 429]
        reply = await gate.ask("chat")
        assert 1 <= int(reply.headers["retry-after"]) <= 60

    at_gate(tmp_path, work)


def test_busy_is_busy(tmp_path):
    async def work(gate):
        await gate.provider(broken(TALK, "stall at=900 seconds=5"), "chat")
        await gate.open(extra="[gateway]\nstreams = 1")
        first = asyncio.ensure_future(gate.ask("chat"))
        await asyncio.sleep(1)
        assert (await gate.ask("anthropic")).status == 529
        assert (await first).received.text == TEXT
        assert (await gate.ask("chat")).status == 200

    at_gate(tmp_path, work)


def test_a_client_that_does_not_read_is_waited_for_and_then_dropped(tmp_path):
    async def work(gate):
        long = replace(TALK, steps=(Final("word " * 4_000_000),), pace=Pace(characters=50_000))
        sim = await gate.provider(long, "chat")
        await gate.open(extra="[gateway]\nwrite_seconds = 5")
        body = json.dumps(body_of("chat")).encode()
        port = int(gate.url.rpartition(":")[2])
        with socket.socket() as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", port))
            head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: {len(body)}\r\n\r\n"
            sock.sendall(head.encode() + body)
            await until(lambda: gate.traces)
        assert gate.traces[0].outcome == "client_left"
        assert gate.traces[0].seconds < 10
        await sim.quiet()
        assert sim.log[0].ending is Ending.CLIENT_LEFT

    at_gate(tmp_path, work)


def test_the_other_pages(tmp_path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open()
        models = (await gate.send("/v1/models", b"", method="GET")).json()
        assert [one["id"] for one in models["data"]] == ["default", "p1/model-1"]
        for path in ("/health/live", "/health/ready", "/", "/metrics", "/v1/"):
            assert (await gate.send(path, b"", method="GET")).status == 200, path
        assert (await gate.send("/v1/nothing", b"{}")).status == 404
        assert (await gate.send("/v1/messages", b"", method="GET")).status == 405
        count = await gate.send("/v1/messages/count_tokens", body_of("anthropic"))
        assert count.json()["input_tokens"] > 0
        await gate.ask("chat")
        text = (await gate.send("/metrics", b"", method="GET")).data.decode()
        assert 'headway_requests_total{wire="chat",outcome="answered"} 1' in text

    at_gate(tmp_path, work)


def test_stopping_lets_open_streams_finish_and_takes_nothing_new(tmp_path):
    async def work(gate):
        await gate.provider(broken(TALK, "stall at=900 seconds=5"), "chat")
        await gate.open()
        asking = asyncio.ensure_future(gate.ask("chat"))
        await asyncio.sleep(1)
        assert await gate.server.drain(30) == 0
        assert (await asking).received.text == TEXT
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.1", int(gate.url.rpartition(":")[2])))

    at_gate(tmp_path, work)
