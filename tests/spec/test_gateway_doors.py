"""Who gets in, and with what: pages of the web do not, and the gateway's own key goes no further."""

import tracemalloc

import pytest

from headway.sim.script import Final, Script
from support.gate import UPSTREAM_KEY, at_gate, body_of

TALK = Script(prompt="Go.", steps=(Final("Here."),))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8320"}, 200),
        ({"host": "[::1]:8320", "origin": "http://127.0.0.1:3000"}, 200),
        ({"host": "evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "127.0.0.1.evil.example:8320"}, 403),
    ],
)
def test_without_keys_no_page_of_the_web_can_use_it(tmp_path, headers, status):
    """A browser sends a page's requests to loopback without asking; by a name that leads here it even reads answers."""

    async def work(gate):
        sim = await gate.provider(TALK, "chat")
        await gate.open()
        assert (await gate.ask("chat", headers=headers)).status == status
        assert (await gate.send("/v1/models", b"", method="GET", headers=headers)).status == status
        assert len(sim.log) == (status == 200)

    at_gate(tmp_path, work)


def test_with_keys_it_does_not_matter_by_what_name_it_is_called(tmp_path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open(extra='[gateway]\nkeys = ["env:GATE_KEY"]')
        named = {"host": "llm.example.com", "origin": "https://app.example.com", "authorization": "Bearer open"}
        assert (await gate.ask("chat", headers=named)).status == 200

    at_gate(tmp_path, work)


def test_a_large_body_without_a_key_is_refused_unkept_and_noted(tmp_path):
    async def work(gate):
        await gate.provider(TALK, "chat")
        await gate.open(extra='[gateway]\nkeys = ["env:GATE_KEY"]')
        tracemalloc.start()
        try:
            reply = await gate.send("/v1/messages", b"x" * 20_000_000, headers={"x-api-key": "no"}, wire="anthropic")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert reply.status == 401
        assert reply.json()["error"]["type"] == "authentication_error"
        assert gate.traces[-1].outcome == "refused"
        assert peak < 60_000_000, "the client's own copies are two of them"

    at_gate(tmp_path, work)


@pytest.mark.parametrize(
    ("shown", "sent"),
    [
        ({"authorization": "Bearer open"}, UPSTREAM_KEY),
        ({"x-api-key": "open"}, UPSTREAM_KEY),
        ({"x-api-key": "open", "authorization": "Bearer sk-clients-own"}, "sk-clients-own"),
        ({"x-api-key": "sk-clients-own", "authorization": "Bearer open"}, "sk-clients-own"),
    ],
)
def test_the_key_that_opens_the_gateway_is_never_sent_on(tmp_path, shown, sent):
    async def work(gate):
        sim = await gate.provider(TALK, "anthropic")
        await gate.open(extra='[gateway]\nkeys = ["env:GATE_KEY"]', client_key=True)
        reply = await gate.send("/v1/messages", body_of("anthropic"), headers=shown, wire="anthropic")
        assert reply.status == 200
        assert [exchange.key for exchange in sim.log] == [sent]

    at_gate(tmp_path, work)
