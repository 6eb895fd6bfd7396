"""A stream that says nothing more is left within its limit and asked for again, and nothing else is touched by it."""

import asyncio
import threading

import pytest
from msgspec.structs import replace

from headway.agent.happenings import Done
from headway.events import CallArguments, TextDelta
from headway.messages import assistant, user
from headway.sim.exchange import Ending
from headway.sim.script import Final, Script, Think, WriteFile
from headway.turn import notices
from support.lab import LIMITS, asked, in_lab
from support.listening import Listener, agent_by_settings, agent_of, now, settings
from support.peers import eventually, open_files
from support.rows import row
from support.turns import OTHERS, TALK, WIRES, WORDS, broken, effects, heard, kinds, next_turn_works
from support.writing import PAGE, WRITING

DEAD, SILENCE, FIRST = LIMITS.dead_seconds, LIMITS.silence_seconds, LIMITS.first_content_seconds


def quiet_until_left(lab, listener, *said: type) -> float:
    """Return how long the first exchange was quiet before the client left it."""
    exchange = lab.sims[0].log[0]
    assert exchange.ending is Ending.CLIENT_LEFT
    spoke = [at for at, _ in listener.of(*said) if at < exchange.ended_at] if said else []
    return exchange.ended_at - max(spoke, default=exchange.started_at)


@row(1)
@WIRES
@pytest.mark.parametrize("place", ["start", "headers", "opened"])
def test_a_stall_before_the_first_byte_is_left_in_time_and_asked_again(tmp_path, wire, place):
    script = broken(TALK, f"stall at={place} first=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener)
        assert await agent.ask("Tell me.") == Done(WORDS)
        assert DEAD <= quiet_until_left(lab, listener) <= DEAD + 1
        again = lab.sims[0].log[1]
        assert again.started_at - lab.sims[0].log[0].ended_at <= 1, "it asks again at once"
        assert again.status == 200
        assert kinds(lab) == ["stalled"]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(2)
@WIRES
def test_a_stall_in_the_middle_of_a_text_keeps_what_came_exactly_once(tmp_path, wire):
    script = broken(TALK, "stall at=50% first=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener)
        assert await agent.ask("Tell me.") == Done(WORDS)
        assert DEAD <= quiet_until_left(lab, listener, TextDelta) <= DEAD + 1
        assert heard(lab) == WORDS, "and so it was on the screen"
        assert lab.session.state.history == (user("Tell me."), assistant(WORDS)), "and in the journal"
        assert sum(one.generated for one in lab.sims[0].log) == len(WORDS), "nothing was written twice"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


IDLE = {
    3: ("pings_only", "comments_only"),
    4: ("empty_deltas", "role_only"),
}
PLACES = pytest.mark.parametrize(("place", "limit"), [("opened", FIRST), ("text+400", SILENCE)])


async def under_idle_frames(lab, wire, fault, place, limit):
    endpoint = await lab.provider(broken(TALK, f"{fault} at={place} interval=1 first=1"), wire)
    listener = Listener(lab)
    agent = await agent_of(lab, endpoint, hear=listener)
    assert await agent.ask("Tell me.") == Done(WORDS)
    assert limit <= quiet_until_left(lab, listener, TextDelta) <= limit + 1, "bytes came all the time"
    assert kinds(lab) == ["stalled"]
    assert heard(lab) == WORDS
    await next_turn_works(lab, endpoint)


@row(3)
@WIRES
@PLACES
@pytest.mark.parametrize("fault", IDLE[3])
def test_pings_and_comments_alone_are_a_stall(tmp_path, wire, fault, place, limit):
    in_lab(tmp_path, lambda lab: under_idle_frames(lab, wire, fault, place, limit))


@row(4)
@WIRES
@PLACES
@pytest.mark.parametrize("fault", IDLE[4])
def test_deltas_without_words_are_a_stall(tmp_path, wire, fault, place, limit):
    """Pings on the chat wire are chunks with empty choices; they are in the test above."""
    in_lab(tmp_path, lambda lab: under_idle_frames(lab, wire, fault, place, limit))


@row(4)
@WIRES
def test_deltas_without_arguments_are_a_stall_of_the_call(tmp_path, wire):
    script = broken(WRITING, "empty_deltas at=call+4000 interval=1 first=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener)
        assert isinstance(await agent.ask("Write page.html."), Done)
        assert SILENCE <= quiet_until_left(lab, listener, CallArguments) <= SILENCE + 1
        assert effects(lab) == ["write_file"]
        assert lab.file("page.html") == PAGE
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(5)
@WIRES
@pytest.mark.parametrize(
    "steps",
    [
        (Final(WORDS[:1000]),),
        (Think(WORDS[:1000]), Final("So be it.")),
        (WriteFile("a.txt", PAGE[:1000]), Final("Ok.")),
    ],
    ids=["text", "thinking", "call"],
)
def test_slow_but_steady_is_never_left(tmp_path, wire, steps):
    """Each word comes a second before the patience would end, for a quarter of an hour."""
    script = broken(Script(steps=steps), f"slow_steady seconds={DEAD - 1}")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        ending = await asked(lab, script, endpoint)
        assert isinstance(ending, Done), ending
        assert now() > 600
        assert not lab.told(notices.Broke)
        assert {one.ending for one in lab.sims[0].log} == {Ending.ANSWERED}
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(8)
@WIRES
def test_each_kill_closes_the_stalled_connection_once_and_leaves_nothing(tmp_path, wire):
    script = broken(TALK, "stall at=50% first=1", "pings_only at=50% after=1 first=1", "no_headers after=2 first=1")

    async def work(lab):
        endpoint = await lab.provider(script, wire)
        files, threads = open_files(), threading.active_count()
        assert await asked(lab, script, endpoint) == Done(WORDS)
        log = lab.sims[0].log
        assert [one.ending for one in log] == [Ending.CLIENT_LEFT] * 3 + [Ending.ANSWERED]
        assert len({one.connection for one in log}) == lab.sims[0].connections_made == 4, "one connection a request"
        assert lab.sims[0].open_connections == 1, "only the healthy one is kept"
        await next_turn_works(lab, endpoint)
        assert lab.sims[0].connections_made == 4, "and used again"
        lab.client.close()
        await eventually(lambda: lab.sims[0].open_connections == 0)
        assert (open_files(), threading.active_count()) == (files, threads)

    in_lab(tmp_path, work)


@row(8)
@WIRES
def test_a_kill_does_not_touch_a_healthy_stream_beside_it(tmp_path, wire):
    """Both streams go to the same server, by the same client, at the same time."""

    async def work(lab):
        stalling = await lab.provider(
            broken(TALK, "stall at=50% first=1 model=model-1", "slow_steady model=slow"), wire
        )
        first, second = await agent_of(lab, stalling), await agent_of(lab, replace(stalling, model="slow"))
        endings = await asyncio.gather(first.ask("Tell me."), second.ask("Tell me."))
        assert endings == [Done(WORDS), Done(WORDS)]
        log = lab.sims[0].log
        assert {one.model: one.ending for one in log} == {"model-1": Ending.ANSWERED, "slow": Ending.ANSWERED}
        assert [one.model for one in log if one.ending is Ending.CLIENT_LEFT] == ["model-1"]
        assert max(one.seconds for one in log if one.model == "slow") > DEAD, "the kill fell into its time"
        await next_turn_works(lab, stalling)

    in_lab(tmp_path, work)


@row(9)
@WIRES
@OTHERS
def test_a_stall_rebuilds_only_its_own_connection(tmp_path, wire, other):
    """The other provider's connection is the same before and after."""

    async def work(lab):
        stalling = await lab.provider(broken(TALK, "stall at=50% first=1"), wire)
        healthy = await lab.provider(TALK, other)
        assert await (await agent_of(lab, healthy)).ask("Tell me.") == Done(WORDS)
        assert await (await agent_of(lab, stalling)).ask("Tell me.") == Done(WORDS)
        assert await (await agent_of(lab, healthy)).ask("Tell me.") == Done(WORDS)
        assert [sim.connections_made for sim in lab.sims] == [2, 1]
        left, built = lab.sims[0].log
        assert (left.headers, left.key) == ({**built.headers, "content-length": left.headers["content-length"]}, "k")
        await next_turn_works(lab, stalling)

    in_lab(tmp_path, work)


ONLY_ANTHROPIC = """
[providers.anthropic]
base_url = "{url}"
[routes.default]
chain = ["anthropic/claude-sim"]
[limits]
dead_seconds = 15
"""


@row(9)
def test_an_anthropic_stall_needs_no_openai_key_to_be_rebuilt(tmp_path):
    """What was once closed and rebuilt by the OpenAI client, whoever had stalled: here there is no such key at all."""

    async def work(lab):
        await lab.provider(broken(TALK, "stall at=50% first=1"), "anthropic")
        loaded = settings(tmp_path, ONLY_ANTHROPIC.format(url=lab.sims[0].url), ANTHROPIC_API_KEY="sk-ant-only")
        agent = await agent_by_settings(lab, loaded, betas=("interleaved-thinking-2025-05-14",))
        assert await agent.ask("Tell me.") == Done(WORDS)
        left, built = lab.sims[0].log
        assert (left.ending, built.ending) == (Ending.CLIENT_LEFT, Ending.ANSWERED)
        for name in ("x-api-key", "anthropic-version", "anthropic-beta"):
            assert left.headers[name] == built.headers[name], "the credentials' settings are kept"
        assert built.headers["x-api-key"] == "sk-ant-only"
        assert not lab.told(notices.GaveUp)
        lab.sims[0].provider.use(Script(steps=(Final("I am still here."),)))
        assert await agent.ask("Are you there?") == Done("I am still here."), "the next turn works"

    in_lab(tmp_path, work)
