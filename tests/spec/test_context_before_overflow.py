"""A conversation is summed up before its model has no room for it: no request is refused, no work and no draft lost."""

import asyncio
from itertools import pairwise

import pytest
from msgspec.structs import replace

from headway.agent.context.room import room_before_overflow
from headway.agent.happenings import Done, GaveUp, NotSummedUp, SummedUp, SummingUp
from headway.history.exchanges import cuts, size_of
from headway.messages import user
from headway.recovery.ledger import Policy
from headway.sim.filler import text_of
from headway.sim.script import Call, Final, Script, WriteFile
from headway.store.records import Compacted, ReplyReceived, ToolFinished
from headway.store.rows import entries_of
from support.lab import asked, in_lab
from support.turns import WIRES, broken, effects, kinds, next_turn_works, refusals

PARTS = 12
WINDOW = 24_000
"""Characters that the model has room for; the simulator counts four for a token."""
READING = Script(
    prompt="Read all parts and say what they have in common.",
    steps=(*(Call("read_file", {"path": f"part{i}.txt"}) for i in range(PARTS)), Final("They are all about meadows.")),
)
REFUSES = f"context_overflow characters={WINDOW}"
PAGE = text_of(6_000, "page.html")


def small(endpoint, characters=WINDOW):
    """Return an endpoint whose window is known."""
    return replace(endpoint, context=characters // 4, output_limit=200)


def prepared(lab):
    for i in range(PARTS):
        (lab.folder / f"part{i}.txt").write_text(text_of(3_000, f"part{i}.txt"), encoding="utf-8")


def records(lab, kind):
    return [one.record for one in entries_of(lab.sessions.store.read(lab.session.id)) if isinstance(one.record, kind)]


def summaries(lab):
    return [one for sim in lab.sims for one in sim.log if "must be summed up" in str(one.body)]


@WIRES
def test_a_long_session_is_summed_up_before_the_provider_refuses_it(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(broken(READING, REFUSES), wire))
        assert await asked(lab, READING, endpoint) == Done("They are all about meadows.")
        assert kinds(lab) == refusals(lab) == [], "nobody had to refuse anything"
        assert effects(lab) == ["read_file"] * PARTS, "no step is done twice"
        assert lab.told(SummedUp)
        assert len(lab.told(SummingUp)) == len(records(lab, Compacted)) == len(summaries(lab))
        assert all(one.after < one.before for one in lab.told(SummedUp))
        assert lab.session.state.messages[0] == user(READING.prompt), "the task stays word for word"
        assert len(records(lab, ToolFinished)) == PARTS, "the journal keeps what the summary stands for"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_a_conversation_that_fits_is_left_alone(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(READING, wire), 400_000)
        assert isinstance(await asked(lab, READING, endpoint), Done)
        assert summaries(lab) == records(lab, Compacted) == []

    in_lab(tmp_path, work)


def test_a_smaller_window_counts_only_once_it_is_asked(tmp_path):
    async def work(lab):
        prepared(lab)
        large = small(await lab.provider(READING, "chat"), 400_000)
        tight = small(await lab.provider(broken(READING, REFUSES), "anthropic"))
        agent = await lab.agent(large, tight)
        assert isinstance(await agent.ask(READING.prompt), Done)
        assert not records(lab, Compacted), "the first has room, and answers"
        lab.sims[0].provider.use(broken(Script(steps=(Final("x"),)), "wrong_status status=401"))
        lab.sims[1].provider.use(broken(Script(steps=(Final("Here I am."),)), REFUSES))
        assert await lab.again(large, tight).ask("Go on.") == Done("Here I am.")
        assert len(records(lab, Compacted)) == 1, "the second says that it has less, and goes on from a summary"

    in_lab(tmp_path, work)


@WIRES
def test_a_draft_that_is_open_survives_it_and_is_gone_on_from(tmp_path, wire):
    writing = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))

    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(READING, wire), 400_000)
        assert isinstance(await asked(lab, READING, endpoint), Done)
        lab.sims[0].provider.use(broken(writing, "rst at=3000"))
        ending = await lab.again(endpoint, policy=Policy(attempts=1, continuations=0)).ask(writing.prompt)
        assert isinstance(ending, GaveUp)
        draft = lab.session.state.salvage.draft
        assert draft is not None
        lab.items.clear()
        lab.sims[0].provider.use(broken(writing, REFUSES))
        assert await lab.again(small(endpoint)).ask("continue") == Done("The page is ready.")
        assert len(lab.told(SummedUp)) == 1
        assert kinds(lab) == []
        assert lab.file("page.html") == PAGE
        assert lab.sims[0].log[-2].generated < len(PAGE), "only the rest was written"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


def test_an_open_draft_counts_too_for_it_is_shown_to_the_model(tmp_path):
    writing = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))

    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(READING, "chat"), 400_000)
        assert isinstance(await asked(lab, READING, endpoint), Done)
        lab.sims[0].provider.use(broken(writing, "rst at=3000"))
        agent = lab.again(endpoint, policy=Policy(attempts=1, continuations=0))
        assert isinstance(await agent.ask(writing.prompt), GaveUp)
        lab.sims[0].provider.use(writing)
        size, gauge = agent.size, lab.session.state.gauge
        windows = (small(endpoint, characters) for characters in range(size, 10 * size, 100))
        tight = next(one for one in windows if room_before_overflow(one, gauge) > size + 1_000)
        assert await lab.again(tight).ask("continue") == Done("The page is ready.")
        assert len(lab.told(SummedUp)) == 1, "without the draft there would have been room"

    in_lab(tmp_path, work)


@WIRES
def test_no_call_is_parted_from_its_result(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(broken(READING, REFUSES), wire))
        await asked(lab, READING, endpoint)
        (first, *_) = records(lab, Compacted)
        entries = entries_of(lab.sessions.store.read(lab.session.id))
        after = [one.record for one in entries if one.seq > first.upto]
        answered = [one.result.call_id for one in after if isinstance(one, ToolFinished)]
        called = [call.id for one in after if isinstance(one, ReplyReceived) for call in one.message.calls]
        assert answered == called
        assert len(cuts(lab.session.state.messages)) > 1

    in_lab(tmp_path, work)


@WIRES
@pytest.mark.parametrize("fault", ["wrong_status status=500", "stall at=start", "empty_reply"])
def test_when_no_summary_can_be_had_the_work_goes_on_and_it_is_not_asked_for_at_every_step(tmp_path, wire, fault):
    async def work(lab):
        prepared(lab)
        script = broken(READING, f"{fault} matching=must.be.summed.up")
        endpoint = small(await lab.provider(script, wire))
        assert await asked(lab, READING, endpoint) == Done("They are all about meadows.")
        failed = lab.told(NotSummedUp)
        assert failed
        assert all(not one.left_out for one in failed), "nothing had to be left out"
        assert records(lab, Compacted) == []
        assert len(lab.told(SummingUp)) < PARTS - 4, "what did not help is not repeated until there is much more"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_what_cannot_become_shorter_is_not_tried_again_and_again(tmp_path, wire):
    """One result alone is larger than the room: there is nothing old to sum up."""
    reading = Script(
        prompt="Read it.", steps=(*(Call("list_files", {"path": "."}) for _ in range(2)), Final("It is long."))
    )

    async def work(lab):
        endpoint = small(await lab.provider(reading, wire), 16_000)
        agent = await lab.agent(endpoint)
        assert await agent.ask(reading.prompt + " " + "word " * 4_000) == Done("It is long.")
        assert lab.told(SummingUp) == lab.told(NotSummedUp) == []
        assert summaries(lab) == []

    in_lab(tmp_path, work)


@WIRES
def test_an_interrupt_while_it_is_summed_up_leaves_everything_as_it_was(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(broken(READING, "stall at=start matching=must.be.summed.up"), wire))
        agent = await lab.agent(endpoint)
        asking = asyncio.ensure_future(agent.ask(READING.prompt))
        await asyncio.sleep(5)
        assert lab.told(SummingUp)
        assert agent.quiet().content_seconds > 1, "the summary can be watched like a reply"
        before = lab.session.state.messages
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert records(lab, Compacted) == []
        assert lab.session.state.messages == before
        assert lab.session.state.ended.how.value == "cancelled"
        lab.sims[0].provider.use(broken(READING, REFUSES))
        lab.items.clear()
        assert isinstance(await agent.ask("Go on."), Done)
        assert lab.told(SummedUp), "the next turn tries it again"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@WIRES
def test_how_long_a_token_is_is_learnt_from_the_provider_and_known_again_after_a_restart(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(READING, wire), 400_000)
        await asked(lab, READING, endpoint)
        replies = records(lab, ReplyReceived)
        assert all(one.asked > 0 for one in replies)
        assert all(later.asked > earlier.asked for earlier, later in pairwise(replies))
        gauge = lab.session.state.gauge
        last = replies[-1]
        assert last.usage.input_tokens * 0.8 < gauge.tokens(endpoint.model, last.asked) < last.usage.input_tokens * 1.3
        name = lab.session.id
        await lab.session.close()
        lab.session = await lab.sessions.resume(name)
        assert lab.session.state.gauge == gauge
        assert size_of(lab.session.state.messages) > PARTS * 3_000

    in_lab(tmp_path, work)


@WIRES
def test_a_window_that_is_smaller_than_was_known_is_learnt_from_the_first_refusal(tmp_path, wire):
    async def work(lab):
        prepared(lab)
        endpoint = small(await lab.provider(broken(READING, "context_overflow characters=14000"), wire), 400_000)
        assert await asked(lab, READING, endpoint) == Done("They are all about meadows.")
        assert kinds(lab) == ["context_full"], "it is refused once"
        assert len(lab.told(SummedUp)) > 1
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
