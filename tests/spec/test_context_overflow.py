"""A conversation that outgrows its model is summed up by the model and goes on; nothing else makes it forget."""

import asyncio

import pytest

from headway.agent.happenings import Done, GaveUp, NotSummedUp, SummedUp, SummingUp
from headway.history.exchanges import size_of
from headway.messages import user
from headway.recovery.ledger import Policy
from headway.sim.filler import text_of
from headway.sim.script import Call, Final, Script, WriteFile
from headway.store.records import Compacted, ToolFinished
from headway.store.rows import entries_of
from support.lab import asked, in_lab
from support.rows import row
from support.turns import WIRES, broken, effects, heard, kinds, next_turn_works, refusals, strategies

PARTS = 8
READING = Script(
    prompt="Read all parts and say what they have in common.",
    steps=(*(Call("read_file", {"path": f"part{i}.txt"}) for i in range(PARTS)), Final("They are all about meadows.")),
)
PAGE = text_of(6_000, "page.html")
OVERFLOW = "context_overflow characters=12000"


def prepared(lab):
    for i in range(PARTS):
        (lab.folder / f"part{i}.txt").write_text(text_of(3_000, f"part{i}.txt"), encoding="utf-8")


def records(lab, kind):
    return [one.record for one in entries_of(lab.sessions.store.read(lab.session.id)) if isinstance(one.record, kind)]


@row(46)
@WIRES
def test_an_overflow_in_the_middle_of_the_work_is_summed_up_and_the_work_goes_on(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = await lab.provider(broken(READING, OVERFLOW), wire)
        assert await asked(lab, READING, endpoint) == Done("They are all about meadows.")
        assert effects(lab) == ["read_file"] * PARTS, "no step is done twice, for all that was forgotten"
        assert set(kinds(lab)) == {"context_full"}
        assert set(strategies(lab)) == {"compact"}
        assert lab.told(SummedUp)
        assert len(lab.told(SummedUp)) == len(lab.told(SummingUp)) == len(records(lab, Compacted))
        assert all(one.after < one.before for one in lab.told(SummedUp))
        assert refusals(lab) == []
        state = lab.session.state
        assert state.messages[0] == user(READING.prompt), "the task stays word for word"
        assert "part0.txt" in state.messages[state.summary_at].text
        assert len(records(lab, ToolFinished)) == PARTS, "the journal keeps what the summary stands for"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(46)
@WIRES
def test_the_summary_is_asked_for_once_without_tools_and_is_no_part_of_the_reply(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = await lab.provider(broken(READING, OVERFLOW + " first=1"), wire)
        await asked(lab, READING, endpoint)
        summaries = [one for one in lab.sims[0].log if "must be summed up" in str(one.body)]
        assert len(summaries) == len(lab.told(SummingUp)) >= 1
        assert not any(one.body.get("tools") for one in summaries)
        assert heard(lab) == "They are all about meadows.", "the user hears the answer alone"
        said = [message.text for message in lab.session.state.history if message.role == "assistant"]
        assert said[-1] == "They are all about meadows."

    in_lab(tmp_path, work)


@row(46)
@WIRES
@pytest.mark.parametrize("fault", ["rst at=10", "fin at=10", "stall at=10", "truncated_chunk at=10", "no_headers"])
def test_a_plain_disconnect_on_a_large_session_does_not_make_it_forget(tmp_path, wire, fault):
    async def work(lab):
        prepared(lab)
        endpoint = await lab.provider(broken(READING, f"{fault} first=1 after={PARTS - 2}"), wire)
        assert isinstance(await asked(lab, READING, endpoint), Done)
        assert kinds(lab)
        assert "context_full" not in kinds(lab)
        assert not {"compact", "shorten"} & set(strategies(lab))
        assert lab.told(SummingUp) == records(lab, Compacted) == []
        assert size_of(lab.session.state.messages) > PARTS * 3_000
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
@pytest.mark.parametrize("fault", ["wrong_status status=500", "stall at=start", "empty_reply"])
def test_when_no_summary_can_be_had_the_oldest_is_left_out_and_the_conversation_goes_on(tmp_path, wire, fault):
    answers = tuple(text_of(3_000, f"answer{i}") for i in range(5))
    talking = Script(prompt="Tell me more.", steps=tuple(map(Final, answers)))

    async def work(lab):
        endpoint = await lab.provider(broken(talking, OVERFLOW, f"{fault} matching=must.be.summed.up"), wire)
        agent = await lab.agent(endpoint)
        for answer in answers:
            assert await agent.ask(talking.prompt) == Done(answer)
        assert lab.told(NotSummedUp)
        assert records(lab, Compacted) == []
        assert len(lab.session.state.messages) == 2 * len(answers), "the session has forgotten nothing"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_a_draft_that_is_open_survives_the_summary(tmp_path, wire):
    """The call is cut and the turn given up; "continue" overflows, is summed up, and goes on from the draft."""
    writing = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))

    async def work(lab):
        prepared(lab)
        endpoint = await lab.provider(READING, wire)
        assert isinstance(await asked(lab, READING, endpoint), Done)
        lab.sims[0].provider.use(broken(writing, "rst at=3000"))
        ending = await lab.again(endpoint, policy=Policy(attempts=1, continuations=0)).ask(writing.prompt)
        assert isinstance(ending, GaveUp)
        draft = lab.session.state.salvage.draft
        assert draft is not None
        lab.items.clear()
        lab.sims[0].provider.use(broken(writing, "context_overflow characters=20000"))
        assert await lab.again(endpoint).ask("continue") == Done("The page is ready.")
        assert len(lab.told(SummedUp)) == 1
        assert lab.file("page.html") == PAGE
        assert lab.sims[0].log[-2].generated < len(PAGE), "only the rest was written"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_an_interrupt_while_it_is_summed_up_leaves_everything_as_it_was(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        faults = (OVERFLOW, "stall at=start matching=must.be.summed.up")
        endpoint = await lab.provider(broken(READING, *faults), wire)
        agent = await lab.agent(endpoint)
        asking = asyncio.ensure_future(agent.ask(READING.prompt))
        await asyncio.sleep(5)
        assert lab.told(SummingUp)
        assert agent.quiet().content_seconds > 4, "the summary can be watched like a reply"
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert records(lab, Compacted) == []
        assert lab.session.state.ended.how.value == "cancelled"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_a_window_that_nothing_fits_into_is_a_clear_end_after_a_few_requests(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(READING, "context_overflow characters=20"), wire)
        ending = await asked(lab, READING, endpoint)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind.value == "context_full"
        assert len(lab.sims[0].log) <= 3
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_the_second_summary_takes_in_the_first(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = await lab.provider(broken(READING, "context_overflow characters=9000"), wire)
        assert isinstance(await asked(lab, READING, endpoint), Done)
        assert len(lab.told(SummedUp)) >= 2
        state = lab.session.state
        notes = [message.text for message in state.messages if "your own summary" in message.text]
        assert len(notes) == 1, "a summary of a summary, not one after the other"
        assert "part0.txt" in notes[0]

    in_lab(tmp_path, work)
