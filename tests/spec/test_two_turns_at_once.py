"""Two turns of one session at the same time: one after the other, or refused, and never mixed."""

import asyncio

import pytest

from headway.agent.happenings import Done
from headway.sim.script import Final, Pace, Say, Script, WriteFile
from headway.store.errors import StoreFailed
from headway.store.fold import fold
from headway.store.rows import entries_of
from headway.store.sessions import Sessions, open_store
from support.lab import in_lab
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken, next_turn_works, refusals

PAGE = "".join(f"<p>Line {number}: “quoted” \\ é 😀</p>\n" for number in range(200))


@row(43)
@WIRES
@pytest.mark.parametrize("agents", [1, 2], ids=["one_agent", "two_agents"])
def test_two_turns_of_one_session_at_once_come_one_after_the_other(tmp_path, wire, agents):
    first = Script(
        prompt="First?",
        steps=(Say("One moment. "), WriteFile("page.html", PAGE), Final("The first answer.")),
        pace=Pace(seconds=0.05),
    )

    async def work(lab):
        endpoint = await lab.provider(first, wire)
        one = await lab.agent(endpoint)
        other = one if agents == 1 else lab.again(endpoint)
        began = asyncio.create_task(one.ask("First?"))
        await asyncio.sleep(1)
        assert not began.done()
        meanwhile = asyncio.create_task(other.ask("Second?"))
        assert await began == Done("The first answer.")
        assert not meanwhile.done()
        assert await meanwhile == Done(first.afterwards)
        assert refusals(lab) == []
        said = [(one.role, one.text) for one in lab.session.state.history if one.text]
        assert said == [
            ("user", "First?"),
            ("assistant", "One moment. "),
            ("assistant", "The first answer."),
            ("user", "Second?"),
            ("assistant", first.afterwards),
        ], "no word of one stands in the other"
        assert "Second?" not in "".join(str(one.body) for one in lab.sims[0].log[:2])
        assert lab.session.state == fold(entries_of(lab.sessions.store.read(lab.session.id)))
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(43)
@WIRES
def test_a_turn_that_waits_for_another_can_be_stopped_and_leaves_no_trace(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "slow_steady seconds=1"), wire)
        agent = await lab.agent(endpoint)
        began = asyncio.create_task(agent.ask("First?"))
        await asyncio.sleep(5)
        waiting = asyncio.create_task(agent.ask("Second?"))
        await asyncio.sleep(5)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await began == Done(WORDS)
        assert "Second?" not in str(lab.session.state.history)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(43)
@WIRES
@pytest.mark.parametrize("store", ["memory", "sqlite"])
def test_a_second_writer_of_a_session_is_refused_and_the_first_is_not_disturbed(tmp_path, wire, store):
    async def work(lab):
        if store == "sqlite":
            lab.sessions = Sessions(open_store(f"sqlite:{tmp_path / 'sessions.db'}"))
        endpoint = await lab.provider(broken(TALK, "slow_steady seconds=1"), wire)
        agent = await lab.agent(endpoint)
        began = asyncio.create_task(agent.ask("First?"))
        await asyncio.sleep(5)
        with pytest.raises(StoreFailed, match=lab.session.id):
            await lab.sessions.resume(lab.session.id)
        assert await began == Done(WORDS)
        await next_turn_works(lab, endpoint)
        assert lab.session.state == fold(entries_of(lab.sessions.store.read(lab.session.id)))
        await lab.session.close()
        lab.sessions.close()

    in_lab(tmp_path, work)
