"""A laptop sleeps, a process is stopped, somebody sets the clock: nothing healthy is killed, nothing dead lives on."""

import asyncio

import pytest

from headway.agent.happenings import Done, GaveUp
from headway.agent.tools.define import tool
from headway.recovery.decisions import Why
from headway.recovery.ledger import Policy
from headway.sim.script import Call, Final, Script
from headway.store.memory import MemoryStore
from headway.store.sessions import Sessions
from headway.turn import notices
from support.lab import LIMITS, TOOLS, asked, in_lab
from support.listening import agent_of, with_limits
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken, heard, kinds, next_turn_works, requests, until, with_history

HOUR = 3600.0
SLOW = "slow_steady seconds=2"


def now() -> float:
    return asyncio.get_running_loop().time()


def sleep_of_the_machine(seconds: float) -> None:
    """Let the clock jump while nobody listened: every timer that fell due comes late."""
    asyncio.get_running_loop().skip(seconds)


@row(50)
@WIRES
@pytest.mark.parametrize("seconds", [5, 25, 100, HOUR, 100 * HOUR])
def test_a_healthy_stream_outlives_the_sleep_of_the_machine(tmp_path, wire, seconds):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, SLOW), wire)
        turn = asyncio.create_task(asked(lab, TALK, endpoint))
        for _ in range(4):
            await asyncio.sleep(21)
            sleep_of_the_machine(seconds)
        assert await turn == Done(WORDS)
        assert heard(lab) == WORDS
        assert not lab.told(notices.Broke), "not one false kill"
        assert requests(lab) == [1]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
@pytest.mark.parametrize(
    ("fault", "limit"),
    [
        ("no_headers first=1", LIMITS.dead_seconds * 4),
        ("stall at=headers first=1", LIMITS.dead_seconds * 4),
        ("stall at=50% first=1", LIMITS.dead_seconds),
        ("pings_only at=50% first=1", LIMITS.silence_seconds),
    ],
)
@pytest.mark.parametrize("seconds", [25, HOUR, 100 * HOUR])
def test_a_stream_that_died_in_the_sleep_is_noticed_after_it(tmp_path, wire, fault, limit, seconds):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        turn = asyncio.create_task(asked(lab, TALK, endpoint, policy=Policy(turn_seconds=200 * HOUR)))
        await asyncio.sleep(5)
        sleep_of_the_machine(seconds)
        awake = now()
        await until(lambda: lab.told(notices.Broke), 0.5)
        assert 5 < now() - awake <= limit + 1, "not at once, and no later than a whole limit after it woke up"
        assert await turn == Done(WORDS)
        assert kinds(lab) == ["stalled"]
        assert lab.sims[0].log[0].client_left_at is not None
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
def test_a_sleep_that_ends_before_a_limit_does_not_pass_for_silence(tmp_path, wire):
    """The stream is quiet for 70 s by the clock, but for 30 s only while somebody listened; the limit is 60 s."""

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "stall at=50% seconds=70"), wire)
        patient = with_limits(endpoint, dead_seconds=60, silence_seconds=60)
        turn = asyncio.create_task(asked(lab, TALK, patient))
        await asyncio.sleep(20)
        sleep_of_the_machine(39.5)
        assert await turn == Done(WORDS)
        assert not lab.told(notices.Broke)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
def test_a_machine_that_dozes_off_again_and_again_does_not_keep_a_dead_stream_alive(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "stall at=50% first=1"), wire)
        turn = asyncio.create_task(asked(lab, TALK, endpoint, policy=Policy(turn_seconds=200 * HOUR)))
        awake = 0
        while not turn.done() and awake < 100:
            await asyncio.sleep(1)
            awake += 1
            sleep_of_the_machine(30)
        assert await turn == Done(WORDS)
        assert kinds(lab) == ["stalled"]
        assert awake < 40
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
def test_the_time_of_a_turn_does_not_run_out_while_the_machine_sleeps(tmp_path, wire):
    """The stream breaks after the sleep: the turn has used seconds of its half hour, not the whole night."""

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, SLOW, "rst at=60% first=1"), wire)
        turn = asyncio.create_task(asked(lab, TALK, endpoint))
        await asyncio.sleep(21)
        sleep_of_the_machine(8 * HOUR)
        assert await turn == Done(WORDS)
        assert kinds(lab) == ["stream_cut"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
def test_the_time_of_a_turn_does_run_out_while_the_machine_is_awake(tmp_path, wire):
    """A sleep in between lends a turn no time: one that never ends is still ended."""

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "drip characters=1 seconds=10"), wire)
        turn = asyncio.create_task(asked(lab, TALK, endpoint, policy=Policy(turn_seconds=300)))
        await asyncio.sleep(100)
        sleep_of_the_machine(8 * HOUR)
        awake = now()
        ending = await turn
        assert isinstance(ending, GaveUp)
        assert ending.why is Why.DEADLINE
        assert now() - awake < 230
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
@pytest.mark.parametrize("fault", ["rate_limit seconds=100 first=1", "overloaded first=1"])
def test_a_wait_that_passed_in_the_sleep_is_over(tmp_path, wire, fault):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, fault), wire)
        turn = asyncio.create_task(asked(lab, TALK, endpoint))
        await until(lambda: lab.told(notices.TryingAgain), 0.01)
        sleep_of_the_machine(8 * HOUR)
        awake = now()
        assert await turn == Done(WORDS)
        assert now() - awake < 5
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
def test_a_tool_is_not_stopped_because_the_machine_slept(tmp_path, wire):
    finished = []

    @tool
    async def build() -> str:
        """Build it, in two steps."""
        await asyncio.sleep(60)
        finished.append("one")
        await asyncio.sleep(60)
        finished.append("two")
        return "built"

    async def work(lab):
        endpoint = await lab.provider(Script(prompt="Build.", steps=(Call("build"), Final("It is built."))), wire)
        agent = await agent_of(lab, endpoint, tools=(*TOOLS, build))
        turn = asyncio.create_task(agent.ask("Build."))
        await asyncio.sleep(30)
        sleep_of_the_machine(8 * HOUR)
        assert await turn == Done("It is built.")
        assert finished == ["one", "two"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(50)
@WIRES
def test_a_connection_that_rested_through_the_sleep_does_not_spoil_the_next_turn(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(TALK, wire)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        sleep_of_the_machine(8 * HOUR)
        await next_turn_works(lab, endpoint)
        assert not lab.told(notices.Broke)

    in_lab(tmp_path, work)


@row(50)
@WIRES
@pytest.mark.parametrize("jump", [-10 * HOUR, 10 * HOUR, 24 * 365 * HOUR])
def test_setting_the_clock_of_the_wall_moves_nothing(tmp_path, wire, jump):
    """Limits know only the monotonic clock; the time of day stands in the records and decides nothing."""

    async def work(lab):
        wall = [1.7e9]
        lab.sessions = Sessions(MemoryStore(), wall=lambda: wall[0])
        endpoint = await lab.provider(broken(TALK, SLOW, "stall at=60% first=1"), wire)
        agent = await with_history(lab, (), endpoint)
        turn = asyncio.create_task(agent.ask(TALK.prompt))
        await asyncio.sleep(21)
        wall[0] += jump
        assert await turn == Done(WORDS)
        assert kinds(lab) == ["stalled"], "the stall is noticed, and nothing else is killed"
        again = lab.sessions.state(lab.session.id)
        assert again == lab.session.state, "and the journal reads as it was written"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
