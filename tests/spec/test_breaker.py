"""Who stalls again and again is left alone for a while, by all turns, and comes back without anybody doing anything."""

import asyncio

from headway.agent.happenings import Done, GaveUp
from headway.providers.changes import Bypassed, ProbeStarted, Restored, WentUnwell
from headway.sim.script import Final, Script
from support.lab import in_lab
from support.listening import agent_by_settings, settings
from support.rows import row
from support.turns import OTHERS, TALK, WIRES, broken, requests

TWO = """
[providers.main]
wire = "{wire}"
base_url = "{main}"
[providers.backup]
wire = "{other}"
base_url = "{backup}"
[routes.default]
chain = ["main/one", "backup/two"]
[limits]
dead_seconds = 15
unwell_after = 3
unwell_seconds = 60
"""
BASES = {"chat": "/v1", "responses": "/v1", "anthropic": ""}


async def two_by_settings(lab, wire, other):
    """Return an agent whose first provider says nothing and whose second is well, as the commands would make it."""
    await lab.provider(broken(TALK, "no_headers"), wire)
    await lab.provider(TALK, other)
    urls = {name: sim.url + BASES[w] for name, sim, w in zip(("main", "backup"), lab.sims, (wire, other), strict=True)}
    loaded = settings(lab.folder, TWO.format(wire=wire, other=other, **urls))
    return await agent_by_settings(lab, loaded)


async def says(lab, agent, words, *, main_is_well=True):
    """Let everybody have one answer, ask for it, and return the requests that each got and what was told."""
    before = requests(lab)
    lab.items.clear()
    for sim in lab.sims:
        sim.use(Script(steps=(Final(words),)))
    if not main_is_well:
        lab.sims[0].use(broken(Script(steps=(Final(words),)), "no_headers"))
    assert await agent.ask("Say something.") == Done(words)
    changes = [one for one in lab.items if isinstance(one, Bypassed | ProbeStarted | Restored | WentUnwell)]
    return [now - then for now, then in zip(requests(lab), before, strict=True)], changes


@row(12)
@WIRES
@OTHERS
def test_who_stalls_is_left_alone_and_comes_back_by_one_probe_of_a_later_turn(tmp_path, wire, other):
    async def work(lab):
        agent = await two_by_settings(lab, wire, other)
        got, [unwell] = await says(lab, agent, "First.", main_is_well=False)
        assert got == [3, 1]
        assert (unwell.upstream, round(unwell.seconds)) == ("main/one", 60)

        got, [bypassed] = await says(lab, agent, "Second.", main_is_well=False)
        assert got == [0, 1], "the breaker is open: nobody waits for it"
        assert (bypassed.upstream, bypassed.instead) == ("main/one", "backup/two")

        await asyncio.sleep(60)
        got, [probe, restored] = await says(lab, agent, "Third.")
        assert got == [1, 0], "half-open: one request is the probe, and its answer is the answer"
        assert probe == ProbeStarted("main/one")
        assert restored == Restored("main/one", by_probe=True)

        got, changes = await says(lab, agent, "Fourth.")
        assert (got, changes) == ([1, 0], []), "closed again"

    in_lab(tmp_path, work)


@row(12)
@WIRES
def test_a_probe_that_fails_costs_one_wait_and_the_next_one_comes_later(tmp_path, wire):
    async def work(lab):
        agent = await two_by_settings(lab, wire, wire)
        await says(lab, agent, "First.", main_is_well=False)
        await asyncio.sleep(60)
        got, changes = await says(lab, agent, "Second.", main_is_well=False)
        assert [type(one) for one in changes] == [ProbeStarted, WentUnwell]
        assert round(changes[1].seconds) == 120, "twice as long"
        assert got == [1, 1], "the probe is one request, and the turn has its answer all the same"

        await asyncio.sleep(60)
        got, [bypassed] = await says(lab, agent, "Third.")
        assert (got, type(bypassed)) == ([0, 1], Bypassed)
        await asyncio.sleep(60)
        got, changes = await says(lab, agent, "Fourth.")
        assert got == [1, 0]
        assert changes[-1] == Restored("main/one", by_probe=True)

    in_lab(tmp_path, work)


@row(12)
@WIRES
def test_when_everybody_is_unwell_the_least_unwell_is_asked_all_the_same(tmp_path, wire):
    async def work(lab):
        agent = await two_by_settings(lab, wire, wire)
        lab.sims[1].use(broken(TALK, "no_headers"))
        assert isinstance(await agent.ask("Tell me."), GaveUp)
        got, changes = await says(lab, agent, "Here we are again.")
        assert sum(got) == 1
        assert any(isinstance(one, Restored) for one in changes)

    in_lab(tmp_path, work)
