"""Turns of the lab that the tests by row share: scripts with faults, what the user saw, and the turn after it all."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done, ToolBegan
from headway.agent.loop import Agent
from headway.events import TextDelta
from headway.messages import Message
from headway.sim.catalog import read_fault
from headway.sim.exchange import Exchange
from headway.sim.fault import Fault
from headway.sim.script import Final, Script
from headway.store.records import Imported
from headway.turn import notices
from headway.turn.endpoint import Endpoint
from support.lab import Lab

WIRES = pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
OTHERS = pytest.mark.parametrize("other", ["chat", "responses", "anthropic"])
WORDS = " ".join(f"Sentence {number} of the answer, with “quotes”, é and 😀." for number in range(40))
TALK = Script(prompt="Tell me.", steps=(Final(WORDS),))


def broken(script: Script, *faults: str | Fault, **changes: object) -> Script:
    made = tuple(read_fault(fault) if isinstance(fault, str) else fault for fault in faults)
    return replace(script, faults=made, **changes)


async def with_history(lab: Lab, history: Sequence[Message], *endpoints: Endpoint, **given: Any) -> Agent:
    """Begin a session that has a past, taken over as it was, broken or not."""
    agent = await lab.agent(*endpoints, **given)
    await lab.session.commit(Imported(tuple(history)))
    return agent


async def next_turn_works(lab: Lab, *endpoints: Endpoint) -> None:
    """Let everybody be healthy and strict again, and ask once more in the same session."""
    for sim in lab.sims:
        sim.provider.use(Script(steps=(Final("I am still here."),)))
    ending = await lab.again(*endpoints).ask("Are you there?")
    assert isinstance(ending, Done), ending
    assert ending.text.endswith("I am still here.")


async def until(condition: Callable[[], object], every_seconds: float = 0.05, most: int = 20_000) -> None:
    """Wait until something is so, looking every so often."""
    for _ in range(most):
        if condition():
            return
        await asyncio.sleep(every_seconds)
    raise AssertionError("it never happened")


def heard(lab: Lab) -> str:
    """Return the words of the reply as the user saw them arrive; what was withdrawn does not count."""
    begin = max((at for at, one in enumerate(lab.items, 1) if isinstance(one, notices.Withdrawn)), default=0)
    return "".join(one.text for one in lab.items[begin:] if isinstance(one, TextDelta))


def effects(lab: Lab) -> list[str]:
    return [happening.call.name for happening in lab.told(ToolBegan)]


def kinds(lab: Lab) -> list[str]:
    """Return how the attempts broke."""
    return [one.failure.kind.value for one in lab.told(notices.Broke)]


def strategies(lab: Lab) -> list[str]:
    """Return what was done about it: strategies, and `fail_over`."""
    told = (one for one in lab.items if isinstance(one, notices.TryingAgain | notices.FailedOver))
    return [one.strategy.value if isinstance(one, notices.TryingAgain) else "fail_over" for one in told]


def requests(lab: Lab) -> list[int]:
    """Return how many requests each provider got."""
    return [len(sim.log) for sim in lab.sims]


def refusals(lab: Lab) -> list[str]:
    """Return the words in which a strict provider refused what it was sent."""
    return [one.refusal for sim in lab.sims for one in sim.log if one.refusal]


def waits(log: Sequence[Exchange]) -> list[float]:
    """Return how long it took from the end of each exchange to the beginning of the next."""
    return [after.started_at - (before.ended_at or 0.0) for before, after in pairwise(log)]
