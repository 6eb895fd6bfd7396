"""A turn's life: begun late, left early, closed by others, used in the wrong way."""

import asyncio

import pytest

import headway
from headway import Headway, InvalidInput, Misused, Provider, TextDelta, notices
from headway.sim import Final, Pace
from headway.sim.exchange import Ending
from support.embedding import WORDS, in_program, script

SLOW = script(pace=Pace(seconds=1))


def test_nothing_is_asked_before_somebody_awaits_or_iterates():
    async def work(program):
        hw = await program.client("chat", script())
        turn = hw.turn("Tell me.")
        with pytest.raises(Misused, match="not over"):
            _ = turn.reply
        await turn.aclose()
        assert program.sims[0].log == []
        with pytest.raises(Misused, match="closed before it began"):
            await turn

    in_program(work)


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
def test_leaving_an_iteration_closes_the_connection_at_once(wire):
    async def work(program):
        hw = await program.client(wire, SLOW)
        began = asyncio.get_running_loop().time()
        async for piece in hw.stream_text("Tell me."):
            assert WORDS.startswith(piece)
            break
        async for item in hw.turn("Tell me."):
            if isinstance(item, TextDelta):
                break
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT, Ending.CLIENT_LEFT]
        assert asyncio.get_running_loop().time() - began < 5

    in_program(work)


def test_a_generator_that_is_closed_early_closes_the_connection():
    async def work(program):
        hw = await program.client("chat", SLOW)
        words = hw.stream_text("Tell me.")
        await anext(words)
        await words.aclose()
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT]

    in_program(work)


@pytest.mark.parametrize("how", ["text", "iterate", "await", "agent"])
def test_a_cancelled_task_closes_its_connection(how):
    async def work(program):
        hw = await program.client("chat", SLOW)
        turn = hw.turn("Tell me.")

        async def iterate():
            async for _ in turn:
                pass

        async def wait():
            await turn

        work = {"text": lambda: hw.text("x"), "iterate": iterate, "await": wait, "agent": lambda: hw.agent().ask("x")}
        task = asyncio.create_task(work[how]())
        await asyncio.sleep(3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT]
        if how in {"iterate", "await"}:
            assert turn.text
            assert WORDS.startswith(turn.text)
        program.sims[0].use(script(Final("I am still here.")))
        assert await hw.text("Are you there?") == "I am still here."

    in_program(work)


def test_a_timeout_around_it_works_as_around_anything():
    async def work(program):
        hw = await program.client("chat", SLOW)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await hw.text("Tell me.")
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT]

    in_program(work)


def test_leaving_its_block_ends_it():
    async def work(program):
        hw = await program.client("chat", SLOW)
        async with hw.turn("Tell me.") as turn:
            items = aiter(turn)
            while not isinstance(await anext(items), TextDelta):
                pass
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT]
        with pytest.raises(Misused, match="closed before it was over"):
            await anext(items)

    in_program(work)


def test_closing_the_client_ends_everything_and_tells_whoever_waits():
    async def work(program):
        hw = await program.client("chat", SLOW)
        agent = hw.agent()
        waiting = [asyncio.create_task(one) for one in (hw.text("One."), agent.ask("Two."), _all(hw.turn("Three.")))]
        await asyncio.sleep(3)
        await hw.aclose()
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(one) for one in outcomes] == [Misused] * 3, "an end that is none is never silent"
        await program.all_left()
        assert program.endings == [Ending.CLIENT_LEFT] * 3
        await hw.aclose()
        await agent.aclose()

    in_program(work)


async def _all(turn):
    return [item async for item in turn]


def test_a_client_that_is_closed_says_so():
    async def work(program):
        hw = await program.client("chat", script())
        turn, agent = hw.turn("Tell me."), hw.agent()
        await hw.aclose()
        for used in (hw.text("x"), _all(hw.stream_text("x")), _all(turn), agent.ask("x"), hw.__aenter__()):
            with pytest.raises(Misused, match="it is closed"):
                await used
        assert "closed" in repr(hw)
        assert program.sims[0].log == []

    in_program(work)


def test_a_client_belongs_to_one_loop():
    hw = Headway(Provider("own", wire="chat", base_url="http://127.0.0.1:9/v1", model="m"))
    asyncio.run(hw.__aenter__())
    for use in (hw.text("x"), hw.aclose(), hw.text("still open")):
        with pytest.raises(Misused, match="another event loop"):
            asyncio.run(use)


def test_without_a_loop_it_says_what_to_use_instead():
    hw = Headway(Provider("own", wire="chat", base_url="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(Misused, match="SyncHeadway"):
        hw.text("x").send(None)


def test_it_can_be_iterated_once_and_awaited_as_often_as_one_likes():
    async def work(program):
        hw = await program.client("chat", script())
        turn = hw.turn("Tell me.")
        assert await _all(turn)
        assert (await turn).text == (await turn).text == turn.reply.text == WORDS
        with pytest.raises(Misused, match="already"):
            await _all(turn)
        assert len(program.sims[0].log) == 1

    in_program(work)


def test_awaiting_it_in_the_middle_of_an_iteration_skips_to_its_end():
    async def work(program):
        hw = await program.client("chat", SLOW)
        turn, seen = hw.turn("Tell me."), []
        async for item in turn:
            seen.append(item)
            if isinstance(item, TextDelta):
                assert (await turn).text == WORDS
        assert len([item for item in seen if isinstance(item, TextDelta)]) == 1

    in_program(work)


def test_a_conversation_may_be_messages_of_either_kind():
    async def work(program):
        hw = await program.client("anthropic", script(Final("Hello.")))
        first = await hw.turn("Hi.")
        await hw.turn([headway.user("Hi."), first.message, {"role": "user", "content": "And?"}], system="Be brief.")
        body = program.sims[0].log[1].body
        assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
        assert "Be brief." in str(body["system"])
        request = headway.messages.ModelRequest("", (headway.user("Hi."),), temperature=0.5)
        await hw.turn(request, max_output_tokens=50)
        assert (program.sims[0].log[2].body["temperature"], program.sims[0].log[2].body["max_tokens"]) == (0.5, 50)

    in_program(work)


@pytest.mark.parametrize("prompt", ["", "  ", [], 7, [7], None, [{"role": "nobody", "content": "x"}]])
def test_a_prompt_that_is_none_is_refused(prompt):
    hw = Headway(Provider("own", wire="chat", base_url="http://127.0.0.1:9/v1", model="m"))
    with pytest.raises(InvalidInput):
        hw.turn(prompt)


def test_what_a_provider_takes_back_is_not_in_the_reply_but_words_that_were_given_are_gone_on_from():
    async def work(program):
        refusing = script(faults=("content_filter pattern=12 shows=finish",))
        first, second = await program.provider("anthropic", refusing), await program.provider("chat", script())
        async with Headway(first, second) as hw:
            turn = hw.turn("Tell me.")
            items = await _all(turn)
            assert any(isinstance(item, notices.Withdrawn) for item in items)
            assert turn.reply.text == turn.text == WORDS
            assert len("".join(item.text for item in items if isinstance(item, TextDelta))) > len(WORDS)
            assert "".join([piece async for piece in hw.stream_text("Tell me.")]) == WORDS
            kept = hw.turn("Tell me.", shown_stays=True)
            items = await _all(kept)
            assert "".join(item.text for item in items if isinstance(item, TextDelta)) == kept.text == WORDS
            assert not any(isinstance(item, notices.Withdrawn) for item in items), "nothing was taken back"

    in_program(work)
