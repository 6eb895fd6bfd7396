"""What is happening is told while it happens; who does not answer is left for who does, within the turn."""

import pytest

from headway.agent.happenings import Done
from headway.events import TextDelta
from headway.messages import assistant, user
from headway.recovery.ledger import Policy
from headway.turn import notices
from support.lab import in_lab
from support.listening import Listener, agent_of, now
from support.rows import row
from support.turns import OTHERS, TALK, WIRES, WORDS, broken, heard, next_turn_works, requests


@row(10)
@WIRES
@OTHERS
def test_stalls_retries_and_fallback_are_told_as_they_happen_and_not_in_the_reply(tmp_path, wire, other):
    async def work(lab):
        stalling = await lab.provider(broken(TALK, "no_headers"), wire)
        healthy = await lab.provider(TALK, other)
        listener = Listener(lab)
        agent = await agent_of(lab, stalling, healthy, hear=listener)
        ending = await agent.ask("Tell me.")
        left = [one.client_left_at for one in lab.sims[0].log]
        asked_again = [one.started_at for one in (*lab.sims[0].log[1:], lab.sims[1].log[0])]

        told = listener.of(notices.Broke, notices.TryingAgain, notices.FailedOver)
        assert [type(item) for _, item in told] == [
            *(notices.Broke, notices.TryingAgain) * 2,
            *(notices.Broke, notices.FailedOver),
        ]
        for at, gone, then in zip(
            [at for at, item in told if isinstance(item, notices.Broke)], left, asked_again, strict=True
        ):
            assert at == pytest.approx(gone, abs=0.1), "when it happens, not when all is over"
            assert at <= then
        assert [at for at, _ in told][::2] == [at for at, _ in told][1::2], "what is done about it comes with it"
        words_at = [at for at, _ in listener.of(TextDelta)]
        assert told[-1][0] <= words_at[0], "before the first word of the answer"

        assert ending == Done(WORDS)
        assert heard(lab) == WORDS
        assert lab.session.state.history == (user("Tell me."), assistant(WORDS)), "nothing of it stands in the reply"
        await next_turn_works(lab, stalling, healthy)

    in_lab(tmp_path, work)


@row(10)
@WIRES
def test_a_stall_in_mid_reply_is_told_before_the_reply_goes_on(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "stall at=50% first=1"), wire)
        listener = Listener(lab)
        agent = await agent_of(lab, endpoint, hear=listener)
        assert await agent.ask("Tell me.") == Done(WORDS)
        kinds = [type(item) for _, item in listener.of(TextDelta, notices.Broke, notices.TryingAgain)]
        broke = kinds.index(notices.Broke)
        assert set(kinds[:broke]) == {TextDelta}
        assert kinds[broke + 1] is notices.TryingAgain
        assert set(kinds[broke + 2 :]) == {TextDelta}
        [(at, told)] = listener.of(notices.Broke)
        assert at == pytest.approx(lab.sims[0].log[0].client_left_at, abs=0.1)
        assert told.received == len(WORDS) // 2, "and says how much is kept"
        assert "15" in told.failure.reason
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(11)
@WIRES
@OTHERS
@pytest.mark.parametrize("fault", ["no_headers", "pings_only at=opened", "stall at=50%", "empty_deltas at=50%"])
def test_repeated_stalls_reach_the_fallback_within_the_turn(tmp_path, wire, other, fault):
    async def work(lab):
        stalling = await lab.provider(broken(TALK, fault), wire)
        healthy = await lab.provider(TALK, other)
        agent = await agent_of(lab, stalling, healthy, policy=Policy(turn_seconds=120))
        assert await agent.ask("Tell me.") == Done(WORDS)
        assert heard(lab) == WORDS
        assert now() < 120
        assert len(lab.sims[1].log) == 1
        await next_turn_works(lab, stalling, healthy)

    in_lab(tmp_path, work)


@row(11)
@WIRES
@pytest.mark.parametrize("turn_seconds", [10.0, 20.0, 35.0, 50.0])
@pytest.mark.parametrize("fallbacks", [1, 2])
def test_patience_with_the_first_leaves_time_for_those_behind_it(tmp_path, wire, turn_seconds, fallbacks):
    """Three stalls of fifteen seconds would take longer than the turn has; even one of them may."""

    async def work(lab):
        stalling = [await lab.provider(broken(TALK, "no_headers"), wire) for _ in range(fallbacks)]
        healthy = await lab.provider(TALK, wire)
        agent = await agent_of(lab, *stalling, healthy, policy=Policy(turn_seconds=turn_seconds))
        assert await agent.ask("Tell me.") == Done(WORDS)
        assert now() < turn_seconds
        await next_turn_works(lab, healthy)

    in_lab(tmp_path, work)


@row(11)
@WIRES
def test_a_healthy_stream_is_not_hurried_because_there_is_a_fallback(tmp_path, wire):
    async def work(lab):
        slow = await lab.provider(broken(TALK, "slow_steady seconds=10"), wire)
        healthy = await lab.provider(TALK, wire)
        agent = await agent_of(lab, slow, healthy, policy=Policy(turn_seconds=1500))
        assert await agent.ask("Tell me.") == Done(WORDS)
        assert now() > 750
        assert requests(lab) == [1, 0]
        await next_turn_works(lab, slow, healthy)

    in_lab(tmp_path, work)
