"""How long a quiet stream is borne: what was promised for the request is what is measured on the wire, and it ends."""

import socket

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done, GaveUp
from headway.failure import FailureKind
from headway.messages import user
from headway.recovery.decisions import Why
from headway.recovery.ledger import Policy
from headway.sim.exchange import Ending
from headway.sim.script import Final, Script, WriteFile
from headway.transport.http import HttpClient
from headway.transport.limits import LOCAL_CEILING_SECONDS, Overrides, RequestFacts, effective
from support.lab import in_lab
from support.listening import Listener, agent_of, now
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken, heard, next_turn_works

HOST = "api.example.com"
SMALL, LARGE, HUGE = "Tell me.", "word " * 80_000, "word " * 200_000
"""Requests of a few tokens, of a hundred thousand, and of a quarter of a million."""
QUIETS = {
    "first_byte_seconds": "no_headers first=1",
    "first_content_seconds": "pings_only at=opened interval=5 first=1",
    "silence_seconds": "pings_only at=text+400 interval=5 first=1",
    "dead_seconds": "stall at=text+400 first=1",
}
"""One way to be quiet for each limit, and nothing else wrong."""
EXPLICIT = Overrides(first_byte_seconds=7, dead_seconds=11, first_content_seconds=13, silence_seconds=17)


async def loopback(host, port):
    return [(socket.AF_INET, ("127.0.0.1", port))]


def hosted(lab, endpoint, **changes):
    """Put an endpoint behind the name of somebody else's machine."""
    lab.client = HttpClient(resolve=loopback)
    return replace(endpoint, url=endpoint.url.replace("127.0.0.1", HOST), limits=Overrides(), **changes)


async def cut_off(lab, endpoint, words, **given):
    """Ask, and return after how much quiet the first exchange was left, and what was promised for it."""
    listener = Listener(lab)
    agent = await agent_of(lab, endpoint, hear=listener, **given)
    ending = await agent.ask(words)
    assert ending == Done(WORDS), ending
    assert heard(lab) == WORDS
    first, second = lab.sims[0].log
    assert (first.ending, second.ending) == (Ending.CLIENT_LEFT, Ending.ANSWERED)
    said = [at for at, item in listener.heard if hasattr(item, "text") and at < first.ended_at]
    tokens = int(first.headers["content-length"]) // 4
    host = first.headers["host"].partition(":")[0]
    promised = effective(endpoint.limits, RequestFacts(tokens, endpoint.reasoning, host))
    return first.ended_at - max(said, default=first.started_at), promised


@row(6)
@WIRES
@pytest.mark.parametrize("limit", QUIETS)
@pytest.mark.parametrize(
    ("words", "changes", "factor"),
    [
        pytest.param(SMALL, {}, 1, id="small"),
        pytest.param(LARGE, {}, 2, id="large"),
        pytest.param(SMALL, {"reasoning": True}, 2, id="reasoning"),
    ],
)
def test_patience_grows_with_the_request_and_for_models_that_think(tmp_path, wire, limit, words, changes, factor):
    usual = {"first_byte_seconds": 60, "first_content_seconds": 180, "silence_seconds": 90, "dead_seconds": 60}[limit]
    if changes and limit == "first_byte_seconds":
        usual = 180  # who thinks may send nothing at all until it speaks

    async def work(lab):
        endpoint = hosted(lab, await lab.provider(broken(TALK, QUIETS[limit]), wire), **changes)
        measured, promised = await cut_off(lab, endpoint, words)
        assert getattr(promised, limit) <= measured <= getattr(promised, limit) + 1
        assert measured == pytest.approx(usual * factor, rel=0.02)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(6)
@WIRES
def test_patience_does_not_grow_without_end(tmp_path, wire):
    async def work(lab):
        endpoint = hosted(lab, await lab.provider(broken(TALK, QUIETS["silence_seconds"]), wire))
        measured, _ = await cut_off(lab, endpoint, HUGE)
        assert 3 * 90 <= measured <= 3 * 90 + 1

    in_lab(tmp_path, work)


@row(6)
@WIRES
@pytest.mark.parametrize("limit", QUIETS)
def test_what_was_set_wins_over_size_and_thinking(tmp_path, wire, limit):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, QUIETS[limit].replace("interval=5", "interval=2")), wire)
        endpoint = replace(hosted(lab, endpoint, reasoning=True), limits=EXPLICIT)
        measured, _ = await cut_off(lab, endpoint, LARGE)
        assert getattr(EXPLICIT, limit) <= measured <= getattr(EXPLICIT, limit) + 1
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(7)
@WIRES
@pytest.mark.parametrize("limit", QUIETS)
def test_a_local_server_is_given_longer_but_not_for_ever(tmp_path, wire, limit):
    async def work(lab):
        endpoint = replace(await lab.provider(broken(TALK, QUIETS[limit]), wire), limits=Overrides())
        measured, promised = await cut_off(lab, endpoint, SMALL)
        assert getattr(promised, limit) <= measured <= getattr(promised, limit) + 1
        assert measured == pytest.approx(4 * getattr(effective(Overrides(), RequestFacts(host=HOST)), limit), rel=0.02)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(7)
@WIRES
@pytest.mark.parametrize(("set_seconds", "ceiling"), [(None, LOCAL_CEILING_SECONDS), (600.0, 600.0)])
def test_the_most_patient_local_wait_ends_at_its_ceiling(tmp_path, wire, set_seconds, ceiling):
    """A large request to a thinking model on this machine: all that lengthens a wait comes together."""

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "pings_only at=opened interval=20 first=1"), wire)
        endpoint = replace(endpoint, reasoning=True, limits=Overrides(first_content_seconds=set_seconds))
        measured, _ = await cut_off(lab, endpoint, LARGE, policy=Policy(turn_seconds=10_000))
        assert ceiling <= measured <= ceiling + 1
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


FOR_EVER = [
    "no_headers",
    "stall at=opened",
    "stall at=50%",
    "pings_only at=opened",
    "pings_only at=50%",
    "empty_deltas at=50%",
    "role_only",
    "drip characters=1 seconds=10",
    "slow_steady seconds=10",
    "slow_headers seconds=14",
    "rate_limit seconds=60",
    "overloaded",
    "rst at=50%",
    "garbage_frame at=50%",
    "output_limit characters=30",
    "empty_reply",
]
TURN = 100.0
LONG = Script(prompt="Tell me.", steps=(Final(WORDS * 4),))
BIG = Script(prompt="Write a.txt.", steps=(WriteFile("a.txt", WORDS * 4), Final("It is written.")))


@row(13)
@WIRES
@pytest.mark.parametrize("fault", FOR_EVER)
@pytest.mark.parametrize("script", [LONG, BIG], ids=["text", "call"])
def test_every_scenario_ends_by_the_deadline_with_a_typed_reason(tmp_path, wire, script, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(script, fault, "slow_steady seconds=1"), wire)
        agent = await agent_of(lab, endpoint, policy=Policy(turn_seconds=TURN, attempts=50, attempts_per_upstream=50))
        ending = await agent.ask(script.prompt)
        assert now() <= TURN + 1
        if isinstance(ending, GaveUp):
            assert isinstance(ending.failure.kind, FailureKind)
            assert ending.failure.kind is not FailureKind.UNKNOWN
            assert ending.failure.reason
            assert isinstance(ending.why, Why)
            assert (ending.why is Why.DEADLINE) is (now() > TURN - 1)
        assert not (tmp_path / "a.txt").exists() or isinstance(ending, Done), "nothing half-received was run"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(13)
@WIRES
def test_a_healthy_stream_that_outlasts_the_turn_is_ended_and_its_words_are_kept(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(LONG, "slow_steady seconds=5"), wire)
        agent = await agent_of(lab, endpoint, policy=Policy(turn_seconds=TURN))
        ending = await agent.ask("Tell me.")
        assert TURN <= now() <= TURN + 1
        assert (ending.why, ending.failure.kind) == (Why.DEADLINE, FailureKind.STALLED)
        assert "turn" in ending.failure.reason
        asked, kept = lab.session.state.history
        assert asked == user("Tell me.")
        assert kept.text == heard(lab)
        assert LONG.steps[0].text.startswith(kept.text)
        assert len(kept.text) >= 300
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
