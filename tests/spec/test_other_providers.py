"""Going on with another provider: another wire, the same conversation, accepted by the strictest of each."""

import asyncio
from itertools import permutations

import pytest

from headway.agent.happenings import AnsweredBy, Done
from headway.messages import Thinking
from headway.providers.changes import Bypassed, KeyRested, ProbeStarted, Restored, WentUnwell
from headway.sim.script import Call, Final, Say, Script, Think, WriteFile
from headway.turn import notices
from support.lab import in_lab
from support.listening import agent_by_settings, settings
from support.rows import row
from support.turns import OTHERS, WIRES, broken, effects, kinds, next_turn_works, refusals, requests

ORDERS = pytest.mark.parametrize("wires", list(permutations(["chat", "anthropic", "responses"])), ids="-".join)
DEAD = broken(Script(), "overloaded")
CHAIN = """
[providers.main]
wire = "{wire}"
base_url = "{main}"
keys = ["env:MAIN_KEY"]
[providers.backup]
wire = "{other}"
base_url = "{backup}"
[routes.default]
chain = ["main/the-model", "backup/another-model"]
[limits]
unwell_after = 3
unwell_seconds = 60
"""
BASES = {"chat": "/v1", "responses": "/v1", "anthropic": ""}


def turn(number: int) -> Script:
    """Think, say something, write a file, think again, look at two things at once, and report."""
    return Script(
        prompt=f"Do part {number}.",
        steps=(
            Think(f"Part {number} needs a file."),
            Say(f"I write file {number}."),
            WriteFile(f"file_{number}.txt", f"content {number}\n" * 5),
            Think(f"Now I look at file {number}."),
            Call("read_file", {"path": f"file_{number}.txt"}),
            Call("list_files", {"path": "."}, parallel=True),
            Final(f"Part {number} is done."),
        ),
    )


def use(lab, *scripts):
    for sim, script in zip(lab.sims, scripts, strict=True):
        sim.provider.use(script)


@row(33)
@ORDERS
def test_a_conversation_with_tools_and_thinking_goes_from_wire_to_wire_and_back(tmp_path, wires):
    async def work(lab):
        endpoints = [await lab.provider(Script(), wire) for wire in wires]
        agent = await lab.agent(*endpoints)
        for number, healthy in enumerate((0, 1, 2, 0), 1):
            use(lab, *(turn(number) if at == healthy else DEAD for at in range(3)))
            before = len(lab.items)
            assert await agent.ask(f"Do part {number}.") == Done(f"Part {number} is done.")
            last = next(one for one in reversed(lab.items[before:]) if isinstance(one, notices.Answered))
            assert last.upstream == endpoints[healthy].name
        assert refusals(lab) == [], "every request was accepted by a strict server of its wire"
        assert set(kinds(lab)) == {"overloaded"}
        assert effects(lab) == ["write_file", "read_file", "list_files"] * 4, "each effect once, on whatever wire"
        thoughts = {
            part.issuer for message in lab.session.state.history for part in message.parts if isinstance(part, Thinking)
        }
        assert thoughts == set(wires), "all three have thought"
        for number in range(1, 5):
            assert lab.file(f"file_{number}.txt") == f"content {number}\n" * 5
            assert f"content {number}" in str(lab.sims[0].log[-1].body), "nothing of it was lost on the way"
        await next_turn_works(lab, *endpoints)

    in_lab(tmp_path, work)


@row(33)
@ORDERS
def test_the_provider_fails_between_a_call_and_the_answer_to_its_result_and_the_next_ones_go_on(tmp_path, wires):
    """The results of an open tool turn, with thinking before its calls, go to a provider that never saw the call."""
    script = turn(1)

    async def work(lab):
        first = await lab.provider(broken(script, "overloaded after=1"), wires[0])
        second = await lab.provider(broken(script, "overloaded after=1"), wires[1])
        third = await lab.provider(script, wires[2])
        agent = await lab.agent(first, second, third)
        assert await agent.ask(script.prompt) == Done("Part 1 is done.")
        assert refusals(lab) == []
        assert effects(lab) == ["write_file", "read_file", "list_files"]
        assert all(count >= 1 for count in requests(lab)), "all three had their part"
        await next_turn_works(lab, first, second, third)

    in_lab(tmp_path, work)


async def a_chain(lab, wire, other):
    """Return an agent with a first choice and a second one, as the commands make it."""
    for each in (wire, other):
        await lab.provider(Script(), each)
    main, backup = (sim.url + BASES[each] for sim, each in zip(lab.sims, (wire, other), strict=True))
    text = CHAIN.format(wire=wire, other=other, main=main, backup=backup)
    return await agent_by_settings(lab, settings(lab.folder, text, MAIN_KEY="key-of-main"))


async def said(lab, agent, words, *faults_of_main):
    """Ask for one answer; return the requests that each provider got for it, and what was told about providers."""
    healthy = Script(steps=(Final(words),))
    use(lab, broken(healthy, *faults_of_main), healthy)
    before = requests(lab)
    lab.items.clear()
    assert await agent.ask("Say something.") == Done(words)
    about = AnsweredBy | Bypassed | KeyRested | ProbeStarted | Restored | WentUnwell
    told = [one for one in lab.items if isinstance(one, about)]
    return [now - then for now, then in zip(requests(lab), before, strict=True)], told


@row(34)
@WIRES
@OTHERS
def test_the_first_choice_comes_back_by_a_probe_and_each_change_of_model_is_told_once(tmp_path, wire, other):
    async def work(lab):
        agent = await a_chain(lab, wire, other)
        got, told = await said(lab, agent, "One.")
        assert (got, told) == ([1, 0], []), "as expected, so nothing is told"

        got, told = await said(lab, agent, "Two.", "overloaded")
        assert got == [3, 1]
        assert AnsweredBy("backup/another-model", "another-model", "main/the-model") in told
        assert lab.sims[1].log[-1].body["model"] == "another-model"

        got, told = await said(lab, agent, "Three.", "overloaded")
        assert got == [0, 1], "nobody waits for it while it is unwell"
        assert [type(one) for one in told] == [Bypassed]

        await asyncio.sleep(61)
        got, told = await said(lab, agent, "Four.")
        assert got == [1, 0], "the next request goes to the first choice again"
        assert lab.sims[0].log[-1].body["model"] == "the-model"
        assert told == [
            ProbeStarted("main/the-model"),
            Restored("main/the-model", by_probe=True),
            AnsweredBy("main/the-model", "the-model", "backup/another-model"),
        ]
        got, told = await said(lab, agent, "Five.")
        assert (got, told) == ([1, 0], [])
        assert refusals(lab) == []

    in_lab(tmp_path, work)


@row(34)
@WIRES
@OTHERS
def test_the_first_choice_comes_back_when_its_key_has_rested(tmp_path, wire, other):
    async def work(lab):
        agent = await a_chain(lab, wire, other)
        got, told = await said(lab, agent, "One.", "rate_limit seconds=600")
        assert got == [1, 1], "longer than a turn can wait, so the other one answers"
        assert [type(one) for one in told] == [KeyRested, AnsweredBy]

        await asyncio.sleep(300)
        got, told = await said(lab, agent, "Two.")
        assert got == [0, 1]
        assert [(type(one), one.upstream) for one in told] == [(Bypassed, "main/the-model")]
        assert told[0].seconds == pytest.approx(300, abs=5)

        await asyncio.sleep(301)
        got, told = await said(lab, agent, "Three.")
        assert got == [1, 0]
        assert AnsweredBy("main/the-model", "the-model", "backup/another-model") in told

    in_lab(tmp_path, work)


@row(34)
@WIRES
def test_a_probe_that_fails_is_not_felt_by_the_user(tmp_path, wire):
    async def work(lab):
        agent = await a_chain(lab, wire, wire)
        await said(lab, agent, "One.", "overloaded")
        await asyncio.sleep(61)
        got, told = await said(lab, agent, "Two.", "overloaded")
        assert got == [1, 1], "one request, and the answer comes in the same turn"
        assert not any(isinstance(one, AnsweredBy | Restored) for one in told), "nothing has changed"
        await asyncio.sleep(121)
        got, told = await said(lab, agent, "Three.")
        assert got == [1, 0]
        assert any(isinstance(one, Restored) for one in told)

    in_lab(tmp_path, work)
