"""The user says stop, whatever is going on: it ends at once, nothing stays open, nothing is lost, and work goes on."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from msgspec.structs import replace

from headway.agent.approval import Mode
from headway.agent.happenings import Done
from headway.agent.loop import Agent
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.define import tool
from headway.events import CallArguments, TextDelta
from headway.sim.script import Call, Final, Pace, Say, Script, Think, WriteFile
from headway.store.fold import fold
from headway.store.records import How
from headway.store.rows import entries_of
from headway.turn import notices
from support.lab import TOOLS, Lab, in_lab
from support.listening import agent_of
from support.peers import full_backlog, peer
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken, effects, heard, next_turn_works, refusals, requests, until

WITHIN_SECONDS = 0.5
PAGE = "".join(f"<p>Line {number}: “quoted” \\ é 😀</p>\n" for number in range(200))
WRITES = Script(prompt="Write page.html.", steps=(WriteFile("page.html", PAGE), Final("The page is ready.")))


async def interrupted(lab, agent: Agent, words: str, when) -> None:
    """Ask, stop as soon as `when` says so, and see that it ends in time with every upstream closed."""
    turn = asyncio.create_task(agent.ask(words))
    async with asyncio.timeout(600):
        while not when():
            assert not turn.done(), turn
            await asyncio.sleep(0.05)
    now = asyncio.get_running_loop().time
    began = now()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert now() - began < WITHIN_SECONDS
    assert not lab.client.streams
    for sim in lab.sims:
        await sim.quiet()
        assert [one.connection for one in sim.log if one.ended_at is None] == []
    assert now() - began < WITHIN_SECONDS, "the provider sees it, too"
    assert lab.session.state.ended.how is How.CANCELLED
    assert not lab.session.state.is_open


@row(41)
@WIRES
@pytest.mark.parametrize("phase", ["tcp", "tls", "dns"])
def test_stop_while_connecting(tmp_path, wire, phase):
    async def work(lab):
        healthy = await lab.provider(TALK, wire)
        looked_up = asyncio.Event()

        async def never_resolved(_host, _port):
            looked_up.set()
            await asyncio.Event().wait()

        async def mute(talk):
            await talk.gone()

        async with AsyncExitStack() as stack:
            if phase == "tcp":
                address = f"http://127.0.0.1:{stack.enter_context(full_backlog())}"
            elif phase == "tls":
                server = await stack.enter_async_context(peer(mute))
                address = f"https://127.0.0.1:{server.port}"
            else:
                address = "http://provider.test"
                lab.client.resolve = never_resolved
            nowhere = replace(healthy, name="p2/nowhere", url=address + "/v1")
            agent = await lab.agent(nowhere)
            began = asyncio.get_running_loop().time()
            await interrupted(lab, agent, "Hello?", lambda: asyncio.get_running_loop().time() > began + 2)
            assert phase != "dns" or looked_up.is_set()
            assert lab.told(notices.Asking)
            assert not lab.told(notices.Broke)
            if phase == "tls":
                await server.saw_farewells(1)
        assert [one.text for one in lab.session.state.history] == ["Hello?"]
        await next_turn_works(lab, healthy)

    in_lab(tmp_path, work)


@row(41)
@WIRES
@pytest.mark.parametrize("fault", ["no_headers", "stall at=headers", "stall at=opened", "pings_only at=opened"])
def test_stop_while_waiting_for_the_first_word(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        agent = await lab.agent(endpoint)
        await interrupted(lab, agent, "Hello?", lambda: requests(lab) == [1])
        assert lab.sims[0].log[0].client_left_at is not None
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(41)
@WIRES
@pytest.mark.parametrize("fault", ["stall at=50%", "pings_only at=50%", "slow_steady seconds=1"])
def test_stop_while_it_speaks_keeps_the_words_that_came_once(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        agent = await lab.agent(endpoint)
        await interrupted(lab, agent, "Tell me.", lambda: len(lab.told(TextDelta)) >= 10)
        assert lab.sims[0].log[0].client_left_at is not None
        kept = lab.session.state.history[-1]
        assert kept.role == "assistant"
        assert kept.text == heard(lab)
        assert WORDS.startswith(kept.text)
        await next_turn_works(lab, endpoint)
        assert kept.text in str(lab.sims[0].log[-1].body).encode().decode("utf-8", "replace"), (
            "and the model is shown them"
        )
        assert refusals(lab) == []

    in_lab(tmp_path, work)


@row(41)
@WIRES
def test_stop_while_a_continuation_repeats_the_tail_keeps_the_words_that_came_once(tmp_path, wire):
    """The second stream says the last words again first; they are held back until it is clear what they are."""
    script = broken(TALK, "rst at=700 first=1", "stall at=150 after=1")

    async def work(lab):
        script_with_habit = replace(script, habits=replace(script.habits, overlap=100))
        endpoint = await lab.provider(script_with_habit, wire)
        agent = await lab.agent(endpoint)
        await interrupted(lab, agent, "Tell me.", lambda: requests(lab) == [2] and len(heard(lab)) > 720)
        assert lab.session.state.history[-1].text == heard(lab) == WORDS[: len(heard(lab))]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(41)
@WIRES
def test_stop_while_a_large_call_is_written_keeps_it_as_a_draft_and_runs_nothing(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(WRITES, "stall at=call+3000"), wire)
        agent = await lab.agent(endpoint)
        arrived = lambda: sum(len(one.text) for one in lab.told(CallArguments))  # noqa: E731
        await interrupted(lab, agent, WRITES.prompt, lambda: arrived() >= 3000)
        assert effects(lab) == []
        draft = lab.session.state.salvage.draft
        assert draft is not None
        assert len(draft.arguments) >= 2900
        lab.sims[0].provider.use(WRITES)
        assert await agent.ask("Go on.") == Done("The page is ready.")
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        assert lab.sims[0].log[1].generated < len(PAGE), "only the rest was written"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(41)
@WIRES
def test_stop_while_a_draft_is_gone_on_with_keeps_what_that_brought_too(tmp_path, wire):
    async def work(lab):
        script = broken(WRITES, "rst at=call+2000 first=1", "stall at=call+3000")
        endpoint = await lab.provider(script, wire)
        agent = await lab.agent(endpoint)
        generated = lambda: len(lab.sims[0].log) == 2 and lab.sims[0].log[1].sent_bytes > 3000  # noqa: E731
        await interrupted(lab, agent, WRITES.prompt, generated)
        draft = lab.session.state.salvage.draft
        assert draft is not None
        assert len(draft.arguments) > 3500, "what the second stream brought is kept, too"
        lab.sims[0].provider.use(WRITES)
        assert await agent.ask("Go on.") == Done("The page is ready.")
        assert lab.file("page.html") == PAGE
        assert effects(lab) == ["write_file"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(41)
@WIRES
@pytest.mark.parametrize("fault", ["rate_limit seconds=100", "overloaded", "wrong_status status=503 retry_after=60"])
def test_stop_while_waiting_to_ask_again(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        agent = await lab.agent(endpoint)
        await interrupted(lab, agent, "Hello?", lambda: len(lab.told(notices.TryingAgain)) == 1)
        assert requests(lab) == [1]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(41)
@WIRES
def test_stop_while_a_tool_runs_leaves_its_outcome_unknown_and_does_not_run_it_again(tmp_path, wire):
    began = []

    @tool
    async def ring(bell: str) -> str:
        """Ring a bell, for as long as it takes."""
        began.append(bell)
        await asyncio.Event().wait()
        return "never"

    script = Script(prompt="Ring.", steps=(Call("ring", {"bell": "one"}), Final("It rang.")))

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        agent = await agent_of(lab, endpoint, tools=(*TOOLS, ring))
        await interrupted(lab, agent, script.prompt, lambda: began == ["one"])
        result = lab.session.state.history[-1].results[0]
        assert result.is_error
        assert "unknown outcome" in result.text
        await next_turn_works(lab, endpoint)
        assert began == ["one"]
        assert refusals(lab) == []

    in_lab(tmp_path, work)


@row(41)
@WIRES
def test_stop_while_a_person_is_asked_runs_nothing(tmp_path, wire):
    questions = []

    async def never_answers(call, why):
        questions.append(call.name)
        await asyncio.Event().wait()

    async def work(lab):
        endpoint = await lab.provider(WRITES, wire)
        agent = await agent_of(lab, endpoint, mode=Mode.ASK, asker=never_answers)
        await interrupted(lab, agent, WRITES.prompt, lambda: questions == ["write_file"])
        assert effects(lab) == []
        assert not (lab.folder / "page.html").exists()
        await next_turn_works(lab, endpoint)
        assert refusals(lab) == [], "the call that was not run has a result that says so"

    in_lab(tmp_path, work)


@row(41)
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks at processes by /proc")
def test_stop_while_a_command_runs_ends_the_command_in_real_time(tmp_path):
    started = tmp_path / "started"
    command = "sleep 60 & echo $! > starting; mv starting started; wait"
    script = Script(prompt="Wait.", steps=(Call("shell", {"command": command}), Final("Waited.")))

    def is_alive(process: int) -> bool:
        status = Path(f"/proc/{process}/stat")
        return status.exists() and status.read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}

    async def run():
        async with AsyncExitStack() as stack:
            lab = Lab(tmp_path, stack)
            endpoint = await lab.provider(script, "chat")
            agent = await agent_of(lab, endpoint, tools=BUILTIN)
            turn = asyncio.create_task(agent.ask(script.prompt))
            await until(started.exists, 0.01, most=2_000)
            process = int(started.read_text())
            assert is_alive(process)
            began = time.monotonic()
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            assert time.monotonic() - began < WITHIN_SECONDS
            await until(lambda: not is_alive(process), 0.01, most=50)  # nothing of the command lives on
            await next_turn_works(lab, endpoint)
            lab.client.close()

    asyncio.run(run())


EVERYTHING = Script(
    prompt="Do it.",
    steps=(
        Think("I think about it."),
        Say("I begin with the page, as you wished."),
        WriteFile("page.html", "<p>short</p>\n" * 8),
        Call("read_file", {"path": "page.html"}),
        Call("list_files", {"path": "."}, parallel=True),
        Final("All of it is done, I believe."),
    ),
    pace=Pace(characters=6, seconds=0.1, first_seconds=0.2),
)


@row(41)
@WIRES
def test_stop_at_any_moment_of_a_turn_leaves_a_session_that_goes_on(tmp_path, wire):
    """Every tenth of a second of a turn that thinks, speaks, writes, reads and speaks again."""

    async def length(lab):
        endpoint = await lab.provider(EVERYTHING, wire)
        now = asyncio.get_running_loop().time
        began = now()
        assert isinstance(await (await lab.agent(endpoint)).ask(EVERYTHING.prompt), Done)
        lasted.append(now() - began)

    def stopped_after(seconds):
        async def work(lab):
            endpoint = await lab.provider(EVERYTHING, wire)
            agent = await lab.agent(endpoint)
            now = asyncio.get_running_loop().time
            began = now()
            await interrupted(lab, agent, EVERYTHING.prompt, lambda: now() - began >= seconds)
            ran = effects(lab)
            assert lab.session.state == fold(entries_of(lab.sessions.store.read(lab.session.id)))
            lab.sims[0].provider.use(replace(EVERYTHING, pace=Pace()))
            assert isinstance(await agent.ask("Go on."), Done)
            assert refusals(lab) == []
            assert lab.file("page.html") == "<p>short</p>\n" * 8
            assert effects(lab)[: len(ran)] == ran
            assert effects(lab).count("write_file") == 1
            await next_turn_works(lab, endpoint)

        return work

    lasted: list[float] = []
    in_lab(tmp_path, length)
    for tenth in range(1, int(lasted[0] * 10) - 1):
        (tmp_path / "page.html").unlink(missing_ok=True)
        in_lab(tmp_path, stopped_after(tenth / 10))
