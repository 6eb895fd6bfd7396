"""The gateway: one continuous, valid stream for an unmodified client, whatever happens behind it."""

import pytest
from msgspec.structs import replace

from headway.events import Stop, StreamCut, StreamEnded
from headway.sim.catalog import read_fault
from headway.sim.script import Final, Pace, Say, Script, Think, WriteFile
from support.gate import at_gate
from support.grammar import problems

WIRES = ["chat", "responses", "anthropic"]
CLIENTS = pytest.mark.parametrize("client", WIRES)
UPSTREAMS = pytest.mark.parametrize("upstream", WIRES)
KEYS = {
    "chat": {"authorization": "Bearer k"},
    "responses": {"authorization": "Bearer k"},
    "anthropic": {"x-api-key": "k", "anthropic-version": "2023-06-01"},
}
TEXT = " ".join(f"word{number}" for number in range(300))
PAGE = "".join(f'<p id="p{number}">“Line” {number} — é 😀 \\ "quoted"</p>\n' for number in range(200))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
WRITE = Script(prompt="Go.", steps=(Say("I write it."), WriteFile("page.html", PAGE), Final("Done.")))


def broken(script: Script, *faults: str) -> Script:
    return replace(script, faults=tuple(read_fault(fault) for fault in faults))


def whole(reply) -> None:
    assert reply.status == 200, reply.data
    assert problems(reply.wire, reply.data) == []


@CLIENTS
@UPSTREAMS
def test_text_reaches_a_client_of_any_wire(tmp_path, client, upstream):
    async def work(gate):
        await gate.provider(TALK, upstream)
        await gate.open()
        reply = await gate.ask(client)
        whole(reply)
        assert reply.received.text == TEXT
        assert reply.received.end.stop is Stop.END
        assert reply.received.usage.output_tokens > 0
        flat = await gate.ask(client, stream=False)
        assert flat.status == 200
        assert TEXT in flat.data.decode()
        assert [trace.outcome for trace in gate.traces] == ["answered", "answered"]

    at_gate(tmp_path, work)


@CLIENTS
def test_a_healthy_stream_of_the_same_wire_passes_byte_for_byte(tmp_path, client):
    script = replace(WRITE, steps=(Think("Hm."), *WRITE.steps))

    async def work(gate):
        await gate.provider(script, client)
        twin = await gate.provider(script, client)
        await gate.open(chain=["p1/any"])
        reply = await gate.ask(client, tools=True)
        whole(reply)
        gate.url = twin.url
        direct = await gate.ask(client, tools=True, headers=KEYS[client])
        assert reply.data == direct.data, "the same bytes as without the gateway"

    at_gate(tmp_path, work)


@CLIENTS
@UPSTREAMS
@pytest.mark.parametrize(
    "fault", ["rst at=900 first=2", "stall at=900 first=2", "fin at=900 first=2", "stream_error at=900 first=1"]
)
def test_a_text_that_breaks_is_gone_on_with_unseen(tmp_path, client, upstream, fault):
    async def work(gate):
        await gate.provider(broken(TALK, fault), upstream)
        await gate.open()
        reply = await gate.ask(client)
        whole(reply)
        assert reply.received.text == TEXT, "every word, exactly once"
        assert isinstance(reply.received.end, StreamEnded)
        assert gate.traces[0].seams >= 1

    at_gate(tmp_path, work)


@CLIENTS
@UPSTREAMS
@pytest.mark.parametrize("fault", ["rst at=8000 first=3", "output_limit at=8000 first=2", "stall at=8000 first=1"])
def test_a_call_that_breaks_reaches_the_client_whole(tmp_path, client, upstream, fault):
    async def work(gate):
        await gate.provider(broken(WRITE, fault), upstream)
        await gate.open()
        reply = await gate.ask(client, tools=True)
        whole(reply)
        (call,) = reply.received.calls
        assert call.name == "write_file"
        assert reply.received.text == "I write it."
        from headway.wire.json_text import strict_object

        assert strict_object(call.arguments) == {"path": "page.html", "content": PAGE}
        assert reply.received.end.stop is Stop.CALLS

    at_gate(tmp_path, work)


@CLIENTS
def test_nothing_helps_is_an_error_in_the_clients_wire(tmp_path, client):
    async def work(gate):
        await gate.provider(broken(TALK, "wrong_status status=500"), "chat")
        await gate.open()
        reply = await gate.ask(client)
        assert reply.status == 502
        assert reply.json()["error"]["source"] == "headway"

    at_gate(tmp_path, work)


@CLIENTS
def test_a_text_that_cannot_be_finished_ends_in_an_error_event(tmp_path, client):
    async def work(gate):
        await gate.provider(broken(TALK, "rst at=900 first=1", "wrong_status status=500 after=1"), "chat")
        await gate.open()
        reply = await gate.ask(client)
        assert reply.status == 200
        assert isinstance(reply.received.end, StreamCut) or reply.received.end.stop is Stop.FAILED
        assert reply.received.text
        assert TEXT.startswith(reply.received.text)

    at_gate(tmp_path, work)
