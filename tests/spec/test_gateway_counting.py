"""Clients count a request's tokens before they send it: by the provider's own count, or by an estimate that says so."""

import pytest

from headway.sim.script import Final, Script
from support.gate import at_gate, body_of

TALK = Script(prompt="Go.", steps=(Final("Here."),))
PATH = "/v1/messages/count_tokens"
LONG = "A question of some length. " * 40


def ask(gate):
    body = body_of("anthropic", prompt=LONG)
    return gate.send(PATH, {name: body[name] for name in ("model", "messages")})


def test_a_provider_that_counts_is_asked_for_its_own_model(tmp_path):
    async def work(gate):
        sim = await gate.provider(TALK, "anthropic")
        await gate.open()
        counted = await ask(gate)
        assert counted.status == 200
        assert counted.json() == {"input_tokens": -(-len(LONG) // 4)}, "what the simulator counts, to the token"
        assert "x-headway-estimate" not in counted.headers
        assert [exchange.path for exchange in sim.log] == [PATH]

    at_gate(tmp_path, work)


@pytest.mark.parametrize("wire", ["chat", "responses"])
def test_where_nobody_counts_it_is_estimated(tmp_path, wire):
    async def work(gate):
        sim = await gate.provider(TALK, wire)
        await gate.open()
        counted = await ask(gate)
        assert counted.headers["x-headway-estimate"] == "true"
        assert len(LONG) // 4 <= counted.json()["input_tokens"] <= len(LONG) // 2
        assert not sim.log

    at_gate(tmp_path, work)


def test_a_provider_that_is_down_does_not_keep_a_client_from_counting(tmp_path):
    async def work(gate):
        sim = await gate.provider(TALK, "anthropic")
        await gate.open()
        await sim.close()
        counted = await ask(gate)
        assert (counted.status, counted.headers["x-headway-estimate"]) == (200, "true")
        assert not gate.traces, "a count is no request to a model"

    at_gate(tmp_path, work)


def test_counting_is_a_request_like_any_other(tmp_path):
    async def work(gate):
        sim = await gate.provider(TALK, "anthropic")
        await gate.open(extra="[gateway]\nrequests_per_minute = 2")
        assert [(await ask(gate)).status for _ in range(4)] == [200, 200, 429, 429]
        assert len(sim.log) == 2

    at_gate(tmp_path, work)
