"""The agents people use, unmodified, through `headway exec`: the file is whole and the turn done, whatever breaks."""

from contextlib import ExitStack

import pytest
from msgspec.structs import replace

from clients.agents import (
    AGENTS,
    AIDER,
    CLAUDE,
    CODEX,
    CODEX_SCRIPTS,
    DONE,
    HERMES,
    LLM,
    OPENCODE,
    PAGE,
    PI,
    QWEN,
    Agent,
)
from clients.running import Outcome, Stage

EVERY = pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
MAIN_AGENTS = (CLAUDE, CODEX, OPENCODE, PI, QWEN, HERMES, AIDER)
FREE_TEXT = (CODEX, CODEX_SCRIPTS, AIDER)
"""Their file is not in JSON: free text that claims to be complete cannot be told from text that is."""
MAIN = pytest.mark.parametrize("agent", MAIN_AGENTS, ids=lambda agent: agent.name)
FAULTS = ("rst", "stall", "fin", "pings_only", "false_finish")
CUTS = [
    (agent, fault)
    for agent in AGENTS
    for fault in FAULTS
    # The same program by another tool, or on another wire: two faults are enough.
    if agent in MAIN_AGENTS or fault in ("rst", "false_finish")
    if agent not in FREE_TEXT or fault != "false_finish"
]
OTHER_WIRES = [
    *((agent, wire) for agent in (CLAUDE, CODEX) for wire in ("chat", "responses", "anthropic")),
    *(
        (agent, "chat" if agent.wire != "chat" else "anthropic")
        for agent in MAIN_AGENTS
        if agent not in (CLAUDE, CODEX)
    ),
]
KEY = "sk-from-the-environment"


@pytest.fixture
def stage(tmp_path):
    with ExitStack() as stack:
        yield Stage(tmp_path, stack)


def is_done(outcome: Outcome) -> None:
    assert outcome.file == PAGE, f"{outcome.output[-1500:]}\n{outcome.errors[-3000:]}"
    assert outcome.status == 0, outcome.errors[-3000:]
    assert DONE in outcome.output


@EVERY
def test_a_healthy_run_writes_the_file_and_says_what_went_through(stage, agent: Agent):
    outcome = stage.run_at(agent, stage.provider(agent, keys=(KEY,)))
    is_done(outcome)
    assert "0 faults survived" in outcome.summary
    replies = [exchange for exchange in outcome.log if exchange.method == "POST" and exchange.path.count("/v1/")]
    assert {exchange.key for exchange in replies} == {KEY}, "its own key is used upstream, and no other"


@pytest.mark.parametrize(("agent", "fault"), CUTS, ids=lambda one: getattr(one, "name", one))
def test_a_stream_that_breaks_in_the_middle_of_the_file_does_not_stop_the_work(stage, agent: Agent, fault: str):
    outcome = stage.run_at(agent, stage.provider(agent, f"{fault} at=8000 first=1"))
    is_done(outcome)
    assert len(outcome.struck()) == 1
    assert " survived (" in outcome.summary


@MAIN
def test_a_file_longer_than_the_output_limit_is_written_whole(stage, agent: Agent):
    """Aider's file is in its text, which a reached limit ends for good, unless the route says otherwise."""
    sim = stage.provider(agent, "output_limit at=8000 first=2")
    settings = stage.settings(
        f'[providers.p]\nwire = "{agent.wire}"\nbase_url = "{sim.url}"\nkeys = ["env:{agent.key}"]\n'
        '[routes.default]\nchain = ["p/*"]\ncontinue_limits = true\n'
    )
    outcome = stage.run(agent, "--config", settings, **{agent.key: KEY})
    is_done(outcome)
    assert outcome.struck() == ["output_limit"] * 2


@pytest.mark.parametrize(("agent", "other"), OTHER_WIRES, ids=lambda one: getattr(one, "name", one))
def test_a_content_filter_goes_to_the_next_provider_of_another_wire(stage, agent: Agent, other: str):
    first = stage.provider(agent, "content_filter pattern=p200 shows=finish")
    second = stage.provider(agent)
    settings = stage.settings(
        f'[providers.first]\nwire = "{agent.wire}"\nbase_url = "{first.url}"\nkeys = ["env:{agent.key}"]\n'
        f'[providers.second]\nwire = "{other}"\nbase_url = "{second.url}"\nkeys = ["env:SECOND_KEY"]\n'
        '[routes.default]\nchain = ["first/*", "second/second-model"]\n'
    )
    outcome = stage.run(agent, "--config", settings, **{agent.key: KEY, "SECOND_KEY": "sk-second"})
    is_done(outcome)
    assert "content filtered" in outcome.summary or "refused" in outcome.summary
    assert {exchange.key for exchange in second.log if exchange.status} >= {"sk-second"}


def test_a_client_that_only_speaks_says_every_word_once(stage):
    outcome = stage.run_at(LLM, stage.provider(LLM, "rst at=8000 first=1"))
    assert (outcome.status, outcome.output) == (0, f"{PAGE}{DONE}\n")
    assert " survived (" in outcome.summary


def test_codex_waits_through_a_silence_that_its_own_clock_would_not(stage):
    """Its clock counts events from the head of the answer on: heartbeats are events, from the first one on."""
    sim = stage.provider(CODEX, "slow_headers seconds=9 first=1")
    clock = ("-c", "model_providers.headway.stream_idle_timeout_ms=3000")
    patient = replace(CODEX, arguments=(*CODEX.arguments[:-1], *clock, CODEX.arguments[-1]))
    outcome = stage.run_at(patient, sim, HEADWAY_GATEWAY_HEARTBEAT_SECONDS="1")
    is_done(outcome)
    assert len([exchange for exchange in outcome.log if exchange.path.endswith("/responses")]) == 2, "asked once each"
