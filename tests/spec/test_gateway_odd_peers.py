"""What real clients and real providers do that the books do not have."""

import json

import pytest
from msgspec.structs import replace

from headway.events import Stop
from headway.sim.catalog import read_fault
from headway.sim.script import Final, Pace, Script
from headway.wire.table import WIRES
from support.gate import at_gate, body_of
from support.grammar import problems
from support.peers import CHUNKED, LAST_CHUNK, chunk, peer, says
from support.raw_http import raw_client, request_bytes

TEXT = " ".join(f"word{number}" for number in range(300))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
CLIENTS = pytest.mark.parametrize("client", WIRES)


def broken(script, *faults):
    return replace(script, faults=tuple(map(read_fault, faults)))


@CLIENTS
def test_a_finish_that_comes_with_the_last_words_is_not_forwarded_where_somebody_goes_on(tmp_path, client):
    """Some providers finish in the chunk that has the last words."""
    words = TEXT[: TEXT.index(" word150")]
    half = len(words) // 2

    def frame(text: str, finish: str | None) -> bytes:
        choices = [{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": finish}]
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices}
        return f"data: {json.dumps(head)}\n\n".encode()

    said = frame(words[:half], None) + frame(words[half:], "content_filter") + b"data: [DONE]\n\n"

    async def work(gate):
        await gate.provider(TALK, "anthropic")
        async with peer(says(CHUNKED, chunk(said), LAST_CHUNK)) as raw:
            own = f'[providers.raw]\nwire = "chat"\nbase_url = "{raw.url}"\nkeys = ["env:KEY"]'
            await gate.open(extra=own, chain=["raw/m", "p1/m"])
            reply = await gate.ask(client)
        assert problems(client, reply.data) == []
        assert (reply.received.text, reply.received.end.stop) == (TEXT, Stop.END)

    at_gate(tmp_path, work)


@CLIENTS
def test_signs_of_life_while_an_empty_reply_is_asked_for_again_do_not_end_it(tmp_path, client):
    async def work(gate):
        await gate.provider(broken(TALK, "empty_reply first=1", "slow_headers seconds=8 after=1"), client)
        await gate.open(extra="[gateway]\nheartbeat_seconds = 1")
        reply = await gate.ask(client)
        assert problems(client, reply.data) == []
        assert (reply.received.text, reply.received.end.stop) == (TEXT, Stop.END)
        assert gate.traces[0].heartbeats >= 3

    at_gate(tmp_path, work)


@CLIENTS
@pytest.mark.parametrize("half", [b"\\ud83d", b"\xf0\x9f\x98", b"\xff"])
def test_half_a_character_in_a_history_does_not_refuse_every_request_after_it(tmp_path, client, half):
    """JavaScript cuts texts between the halves of a character, and the text then stays in the history."""

    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open()
        body = json.dumps(body_of(client, prompt="Go CUT")).encode().replace(b"CUT", half)
        reply = await gate.send(f"/v1{WIRES[client].path}", body, wire=client)
        assert reply.received.text == TEXT
        assert any("U+FFFD" in one for one in gate.traces[0].repairs), "what was mended is told"
        assert "\N{REPLACEMENT CHARACTER}" in str(gate.sims[0].log[0].body)

    at_gate(tmp_path, work)


def test_a_client_that_offers_http_2_first_gets_its_stream(tmp_path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open()
        offer = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2_settings": "AAEAAEAAAAIAAAAB"}
        async with raw_client(gate.url) as client:
            await client.send(request_bytes(json.dumps(body_of("chat")).encode(), **offer))
            await client.read(1)
        assert client.statuses == [200]
        assert problems("chat", client.answers[0].body) == []

    at_gate(tmp_path, work)


@pytest.mark.parametrize(
    "path", ["/v1/messages/x/messages", "/v1/chat/completions/x", "/x/v1/messages", "/v1/v1/messages"]
)
def test_a_path_that_only_looks_like_one_is_nothing(tmp_path, path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open()
        assert (await gate.send(path, body_of("anthropic"))).status == 404
        assert gate.sims[0].log == []

    at_gate(tmp_path, work)


@CLIENTS
def test_a_client_may_leave_out_the_first_segment_of_the_path(tmp_path, client):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open()
        reply = await gate.send(WIRES[client].path, body_of(client), wire=client)
        assert reply.received.text == TEXT

    at_gate(tmp_path, work)
