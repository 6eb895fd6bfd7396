"""A model that goes round in circles: it is told once, stopped if it goes on, and what changes is no circle."""

import pytest

from headway.agent.approval import Kind
from headway.agent.happenings import Done, LoopNoticed, Stopped
from headway.agent.tools.define import tool
from headway.sim.script import Call, Final, Loop, Script
from support.lab import TOOLS, in_lab
from support.listening import agent_of
from support.rows import row
from support.turns import WIRES, effects, next_turn_works, refusals, requests

A = Call("read_file", {"path": "a.txt"})
B = Call("list_files", {"path": "."})
C = Call("read_file", {"path": "nowhere.txt"})
CYCLES = {
    "the_same_call": (A,),
    "a_call_that_fails_in_the_same_way": (C,),
    "a_b_a_b": (A, B),
    "a_b_c_a_b_c": (A, B, C),
    "a_a_b_a_a_b": (A, A, B),
}
EACH_CYCLE = pytest.mark.parametrize("cycle", CYCLES)


async def agent_in_circles(lab, wire, calls, until=""):
    (lab.folder / "a.txt").write_text("hello\n")
    script = Script(prompt="Look.", steps=(Loop(calls, until), Final("I have looked.")))
    endpoint = await lab.provider(script, wire)
    return await lab.agent(endpoint), endpoint


@row(45)
@WIRES
@EACH_CYCLE
def test_a_circle_that_goes_on_after_it_was_told_is_stopped_by_default(tmp_path, wire, cycle):
    calls = CYCLES[cycle]

    async def work(lab):
        agent, endpoint = await agent_in_circles(lab, wire, calls)
        ending = await agent.ask("Look.")
        assert isinstance(ending, Stopped)
        assert "circles" in ending.words
        assert len(lab.told(LoopNoticed)) == 1, "the model was told first, once"
        rounds = len(effects(lab)) / len(calls)
        assert 3 <= rounds <= 6, "not before it is a circle, and not for long after"
        assert requests(lab) == [len(effects(lab))]
        assert refusals(lab) == []
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(45)
@WIRES
@EACH_CYCLE
def test_a_model_that_listens_comes_to_its_end(tmp_path, wire, cycle):
    async def work(lab):
        agent, endpoint = await agent_in_circles(lab, wire, CYCLES[cycle], until="going round in circles")
        assert await agent.ask("Look.") == Done("I have looked.")
        (notice,) = lab.told(LoopNoticed)
        assert refusals(lab) == [], "what the model is told stands where a strict server takes it"
        await next_turn_works(lab, endpoint)
        state = lab.session.state
        said = [message.text for message in state.history if state.is_said_by_user(message)]
        assert said == ["Look.", "Are you there?"], "what Headway told the model is not the user's"
        assert [message.text for message in state.nudges] == [notice.words]

    in_lab(tmp_path, work)


@row(45)
@WIRES
def test_the_same_calls_side_by_side_again_and_again_are_a_circle_too(tmp_path, wire):
    pair = (A, Call(B.tool, B.arguments, parallel=True))

    async def work(lab):
        (lab.folder / "a.txt").write_text("hello\n")
        endpoint = await lab.provider(Script(prompt="Look.", steps=pair * 20), wire)
        agent = await lab.agent(endpoint)
        assert isinstance(await agent.ask("Look."), Stopped)
        assert len(lab.told(LoopNoticed)) == 1
        assert 6 <= len(effects(lab)) <= 12
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(45)
@WIRES
def test_the_same_call_with_other_results_each_time_is_work_and_no_circle(tmp_path, wire):
    """Polling something that changes, until it is ready."""
    polls = []

    @tool(kind=Kind.READS)
    async def progress() -> str:
        """Say how far it is."""
        polls.append(len(polls))
        return "it is ready" if len(polls) == 25 else f"{len(polls)} of 25"

    async def work(lab):
        script = Script(prompt="Wait.", steps=(Loop((Call("progress"),), until="it is ready"), Final("Ready.")))
        endpoint = await lab.provider(script, wire)
        agent = await agent_of(lab, endpoint, tools=(*TOOLS, progress))
        assert await agent.ask("Wait.") == Done("Ready.")
        assert len(polls) == 25
        assert not lab.told(LoopNoticed)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(45)
@WIRES
def test_a_circle_is_forgotten_when_the_user_speaks(tmp_path, wire):
    async def work(lab):
        agent, endpoint = await agent_in_circles(lab, wire, (A,))
        assert isinstance(await agent.ask("Look."), Stopped)
        before = len(effects(lab))
        assert isinstance(await agent.ask("Look again."), Stopped)
        assert len(effects(lab)) == 2 * before, "the same patience again"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
