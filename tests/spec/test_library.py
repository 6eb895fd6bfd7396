"""`import headway`, through whatever its providers do: every word once, every effect once, on every wire."""

import asyncio
import pickle
import threading

import pytest

import headway
from headway import Headway, Kind, Limits, SyncHeadway, TextDelta, TurnFailed, messages, notices, tool
from headway.sim import Call, Final, Pace, Say, WriteFile, serving
from headway.sim.exchange import Ending
from support.embedding import KEY, WORDS, in_program, provider_at, script

WIRES = pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
CUTS = pytest.mark.parametrize(
    "fault", ["rst at=900", "fin at=900", "truncated_chunk at=900", "stall at=900", "cut_utf8 at=900"]
)
PATIENT = Limits(silence_seconds=20, dead_seconds=20)


@WIRES
@CUTS
def test_text_that_is_cut_in_the_middle_comes_exactly_once(wire, fault):
    async def work(program):
        hw = await program.client(wire, script(faults=(f"{fault} first=1",)), limits=PATIENT)
        assert await hw.text("Tell me.") == WORDS
        assert len(program.sims[0].log) == 2, "it was cut and gone on with"

    in_program(work)


@WIRES
def test_words_that_stream_come_exactly_once_through_several_cuts(wire):
    async def work(program):
        hw = await program.client(wire, script(faults=("rst at=400 first=3",)))
        pieces = [piece async for piece in hw.stream_text("Tell me.")]
        assert "".join(pieces) == WORDS
        assert len(pieces) > 20, "they come as they are said"
        assert len(program.sims[0].log) == 4

    in_program(work)


@WIRES
def test_a_turn_shows_what_happens_apart_from_what_is_said_and_has_its_reply_at_the_end(wire):
    async def work(program):
        hw = await program.client(wire, script(faults=("rst at=900 first=1",)))
        turn = hw.turn("Tell me.")
        items = [item async for item in turn]
        assert "".join(item.text for item in items if isinstance(item, TextDelta)) == WORDS
        assert [one.upstream for one in items if isinstance(one, notices.Broke)] == ["p1/model-1"]
        assert any(line for item in items if (line := headway.status_line(item)))
        assert turn.reply.text == str(turn.reply) == turn.text == WORDS
        assert (turn.reply.upstream, turn.reply.requests) == ("p1/model-1", 2)
        assert turn.reply.usage.output_tokens > 0

    in_program(work)


@WIRES
@pytest.mark.parametrize("other", ["chat", "responses", "anthropic"])
def test_the_next_provider_of_the_chain_goes_on_with_the_same_words(wire, other):
    async def work(program):
        filtering = script(faults=("content_filter pattern=12 shows=error",))
        first, second = await program.provider(wire, filtering), await program.provider(other, script())
        async with Headway(first, second) as hw:
            assert hw.chain == ("p1/model-1", "p2/model-1")
            turn = hw.turn("Tell me.")
            assert (await turn).text == WORDS
            assert turn.reply.upstream == "p2/model-1"

    in_program(work)


@WIRES
def test_an_answer_that_cannot_be_had_raises_with_the_failure_and_the_words_that_had_come(wire):
    async def work(program):
        hw = await program.client(wire, script(faults=("rst at=900 first=1", "wrong_status status=503 after=1")))
        with pytest.raises(TurnFailed) as caught:
            await hw.text("Tell me.")
        failed = caught.value
        assert failed.failure.kind is headway.FailureKind.SERVER_FAULT
        assert failed.text
        assert WORDS.startswith(failed.text)
        assert failed.tried == ("p1/model-1",)
        assert failed.why in str(failed)
        assert KEY not in f"{failed!r}{failed}"
        again = pickle.loads(pickle.dumps(failed))
        assert (again.text, again.failure, str(again)) == (failed.text, failed.failure, str(failed))
        program.sims[0].use(script(Final("I am still here.")))
        assert await hw.text("Are you there?") == "I am still here."

    in_program(work)


@WIRES
def test_an_agents_own_tool_takes_effect_once_though_its_call_is_cut_again_and_again(wire):
    page = "".join(f"<p>Line {number} — é 😀</p>\n" for number in range(400))
    published = []

    @tool(kind=Kind.EDITS, drafts=True)
    async def publish(path: str, content: str) -> str:
        """Publish a page."""
        published.append((path, content))
        return "It is public."

    async def work(program):
        steps = (WriteFile("page.html", page, tool="publish"), Final("The page is public."))
        hw = await program.client(wire, script(*steps, faults=("rst at=call+3000",)))
        agent = hw.agent(tools=[publish], system="You publish pages.")
        turn = agent.turn("Publish it.")
        items = [item async for item in turn]
        assert turn.reply.text == "The page is public."
        assert published == [("page.html", page)]
        assert len([one for one in items if isinstance(one, notices.ToolBegan)]) == 1
        assert len([one for one in items if isinstance(one, notices.DraftHeld)]) >= 2
        generated = sum(one.generated for one in program.sims[0].log)
        assert generated / len(page) < 1.25, "what came is not written again"
        assert agent.history[-1].text == "The page is public."

    in_program(work)


@WIRES
def test_an_agent_that_gave_up_goes_on_with_the_next_task(wire):
    def double(number: int) -> int:
        """Double a number."""
        return 2 * number

    async def work(program):
        hw = await program.client(wire, script(faults=("rst at=900 first=1", "wrong_status status=503 after=1")))
        agent = hw.agent(tools=[double])
        with pytest.raises(TurnFailed) as caught:
            await agent.ask("Tell me.")
        assert caught.value.text
        assert WORDS.startswith(caught.value.text)
        program.sims[0].use(script(Call("double", {"number": 21}), Final("It is 42.")))
        assert str(await agent.ask("Double 21.")) == "It is 42."
        assert not [one.refusal for one in program.sims[0].log if one.refusal]

    in_program(work)


@WIRES
def test_a_cut_call_of_a_turn_is_gone_on_with_by_the_turn_after_it(wire):
    """The program runs the calls itself; what was cut behind a whole call is not lost between two turns."""
    page = "".join(f"<p>Line {number}</p>\n" for number in range(300))

    @tool(drafts=True)
    def write_file(path: str, content: str) -> str:
        """Write a file."""
        raise AssertionError(f"nobody runs {path} but the program")

    @tool
    def look(path: str) -> str:
        """Look at something."""
        raise AssertionError(f"nobody runs {path} but the program")

    async def work(program):
        steps = (Call("look", {"path": "."}), WriteFile("page.html", page, parallel=True), Final("Ready."))
        hw = await program.client(wire, script(*steps, faults=("rst at=call+3000 first=1",)))
        history = [headway.user("Write the page.")]
        turn, written, replies = None, [], []
        for _ in range(5):
            turn = hw.turn(history, tools=[look, write_file], after=turn)
            reply = await turn
            replies.append(reply)
            if not reply.calls:
                break
            written += [call for call in reply.calls if call.name == "write_file"]
            results = (messages.ToolResult(call.id, (messages.Text("Done."),)) for call in reply.calls)
            history += [reply.message, messages.Message("user", tuple(results))]
        assert str(replies[-1]) == "Ready."
        assert [headway_json(call)["content"] for call in written] == [page]
        assert sum(one.generated for one in program.sims[0].log) / len(page) < 1.3

    in_program(work)


def headway_json(call):
    import msgspec

    return msgspec.json.decode(call.arguments)


@WIRES
def test_many_turns_at_once_share_a_client_and_do_not_disturb_each_other(wire):
    async def work(program):
        hw = await program.client(wire, script(faults=("rst at=500 first=6",), pace=Pace(seconds=0.5)))
        leaving = hw.turn("I leave early.")
        async for item in leaving:
            if isinstance(item, TextDelta):
                break
        texts = await asyncio.gather(*(hw.text(f"Question {number}.") for number in range(20)))
        assert texts == [WORDS] * 20
        assert program.endings.count(Ending.CLIENT_LEFT) == 1

    in_program(work)


@WIRES
def test_a_limit_on_output_that_a_program_sets_ends_the_answer(wire):
    async def work(program):
        hw = await program.client(wire, script())
        cut_short = await hw.text("Tell me.", max_output_tokens=100)
        assert 0 < len(cut_short) < 500
        assert WORDS.startswith(cut_short)
        assert len(program.sims[0].log) == 1

    in_program(work)


@WIRES
def test_what_a_program_takes_its_time_with_is_neither_lost_nor_taken_for_a_stall(wire):
    async def work(program):
        hw = await program.client(wire, script(), limits=PATIENT)
        pieces = []
        async for piece in hw.stream_text("Tell me."):
            pieces.append(piece)
            await asyncio.sleep(10)
        assert "".join(pieces) == WORDS
        assert len(program.sims[0].log) == 1

    in_program(work)


@WIRES
def test_without_async_it_is_the_same(wire):
    called = []

    @tool
    def add(first: int, second: int) -> int:
        """Add two numbers."""
        called.append((first, second))
        return first + second

    before = threading.active_count()
    with serving(script(faults=("rst at=900 first=1",))) as sim, SyncHeadway(provider_at(sim, wire)) as hw:
        assert hw.text("Tell me.") == WORDS
        sim.use(script(faults=("fin at=900 first=1",)))
        assert "".join(hw.stream_text("Tell me.")) == WORDS
        turn = hw.turn("Tell me.")
        assert "".join(item.text for item in turn if isinstance(item, TextDelta)) == WORDS
        assert turn.reply.text == WORDS
        sim.use(
            script(
                Say("I add. "),
                Call("add", {"first": 2, "second": 3}),
                Final("It is 5."),
                faults=("rst at=call+5 first=1",),
            )
        )
        agent = hw.agent(tools=[add])
        assert str(agent.ask("Add 2 and 3.")) == "It is 5."
        assert called == [(2, 3)]
        sim.use(script(faults=("wrong_status status=400",)))
        with pytest.raises(TurnFailed):
            hw.text("Tell me.")
    assert threading.active_count() == before
    assert sim.open_connections == 0
