"""Requests that are turned away: waited for as told, never longer than is sane, and never once more than helps."""

import asyncio
from typing import ClassVar

import pytest

from headway.agent.happenings import Done, GaveUp
from headway.failure import FailureKind
from headway.messages import Message, Text, ToolCall, ToolResult, assistant, user
from headway.recovery.ledger import Policy
from headway.sim.fault import Fault
from headway.sim.play import Play, answer
from headway.sim.scene import Scene
from headway.store.records import Imported
from headway.store.rows import entries_of
from headway.turn import notices
from support.lab import asked, in_lab
from support.rows import row
from support.turns import (
    TALK,
    WIRES,
    WORDS,
    broken,
    heard,
    kinds,
    next_turn_works,
    refusals,
    requests,
    strategies,
    waits,
    with_history,
)


class _RetryAfter(Fault, frozen=True, kw_only=True):
    """Turn the request away with a status and headers that say for how long."""

    answers: ClassVar[bool] = True
    status: int = 429
    headers: tuple[tuple[str, str], ...] = ()

    def strike(self, scene: Scene) -> Play | None:
        return answer(self.status, {"error": {"message": "Not now.", "type": "x"}}, self.headers)


DATE = ("date", "Mon, 16 Nov 2026 10:00:00 GMT")
WAITS = {
    "seconds": (30.0, (("retry-after", "30"),)),
    "a_fraction": (2.5, (("retry-after", "2.5"),)),
    "milliseconds": (1.5, (("retry-after-ms", "1500"),)),
    "a_date": (45.0, (DATE, ("retry-after", "Mon, 16 Nov 2026 10:00:45 GMT"))),
    "the_reset_of_a_spent_limit": (6.0, (("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "6s"))),
}


@row(30)
@WIRES
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("form", WAITS)
def test_retry_after_is_waited_for_to_the_second(tmp_path, wire, status, form):
    seconds, headers = WAITS[form]

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, _RetryAfter(status=status, headers=headers, first=1)), wire)
        assert await asked(lab, TALK, endpoint) == Done(WORDS)
        assert waits(lab.sims[0].log) == [pytest.approx(seconds, abs=0.05)]
        assert [one.wait_seconds for one in lab.told(notices.TryingAgain)] == [seconds], "and the wait is told before"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(30)
@WIRES
@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("seconds", [121, 900, 86_400])
def test_a_wait_longer_than_sane_is_not_waited_for(tmp_path, wire, status, seconds):
    """The next provider answers now; without one the turn ends now, and the reason says what was asked for."""

    async def work(lab):
        fault = _RetryAfter(status=status, headers=(("retry-after", str(seconds)),))
        endpoint, healthy = await lab.provider(broken(TALK, fault), wire), await lab.provider(TALK, wire)
        now = asyncio.get_running_loop().time
        began = now()
        assert await asked(lab, TALK, endpoint, healthy) == Done(WORDS)
        assert isinstance(await lab.again(endpoint).ask("And again?"), GaveUp)
        assert now() - began < 1.0
        assert requests(lab) == [2, 1]
        await next_turn_works(lab, endpoint, healthy)

    in_lab(tmp_path, work)


@row(30)
@WIRES
def test_no_wait_goes_beyond_the_end_of_the_turn(tmp_path, wire):
    async def work(lab):
        fault = _RetryAfter(headers=(("retry-after", "50"),))
        endpoint = await lab.provider(broken(TALK, fault), wire)
        now = asyncio.get_running_loop().time
        began = now()
        ending = await asked(lab, TALK, endpoint, policy=Policy(turn_seconds=60))
        assert isinstance(ending, GaveUp)
        assert now() - began <= 60.5
        assert requests(lab) == [2], "a second wait of 50 s would not fit"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(30, 41)
@WIRES
@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_can_be_interrupted_at_once(tmp_path, wire, status):
    async def work(lab):
        fault = _RetryAfter(status=status, headers=(("retry-after", "100"),))
        endpoint = await lab.provider(broken(TALK, fault), wire)
        turn = asyncio.create_task(asked(lab, TALK, endpoint))
        await asyncio.sleep(40)
        assert [one.wait_seconds for one in lab.told(notices.TryingAgain)] == [100]
        now = asyncio.get_running_loop().time
        began = now()
        turn.cancel()
        with pytest.raises(asyncio.CancelledError):
            await turn
        assert now() - began < 0.5
        assert requests(lab) == [1]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(31)
@WIRES
@pytest.mark.parametrize(
    ("status", "kind", "done", "keys"),
    [
        (401, "bad_key", ["rotate_key", "rotate_key", "fail_over"], ["one", "two", "three"]),
        (402, "billing", ["rotate_key", "rotate_key", "fail_over"], ["one", "two", "three"]),
        (403, "forbidden", ["rotate_key", "rotate_key", "fail_over"], ["one", "two", "three"]),
        (404, "model_unavailable", ["fail_over"], ["one"]),
        (500, "server_fault", ["retry_now", "retry_soon", "fail_over"], ["one"] * 3),
        (502, "server_fault", ["retry_now", "retry_soon", "fail_over"], ["one"] * 3),
    ],
)
def test_each_status_is_met_by_its_policy_and_not_by_one_request_more(tmp_path, wire, status, kind, done, keys):
    """Three keys and a fallback: a status of the key costs one request a key, one of the model a single one."""

    async def work(lab):
        script = broken(TALK, f"wrong_status status={status} message='It is not to be.'")
        refusing = await lab.provider(script, wire, keys=("one", "two", "three"))
        healthy = await lab.provider(TALK, wire)
        assert await asked(lab, TALK, refusing, healthy) == Done(WORDS)
        assert set(kinds(lab)) == {kind}
        assert strategies(lab) == done
        assert [one.key for one in lab.sims[0].log] == keys
        assert requests(lab) == [len(keys), 1]
        await next_turn_works(lab, refusing, healthy)

    in_lab(tmp_path, work)


@row(31)
@WIRES
@pytest.mark.parametrize("status", [500, 501, 502, 503, 504, 520, 522, 524, 529])
def test_a_failing_server_is_asked_three_times_and_then_the_next_one(tmp_path, wire, status):
    async def work(lab):
        failing = await lab.provider(broken(TALK, f"wrong_status status={status}"), wire)
        healthy = await lab.provider(TALK, wire)
        assert await asked(lab, TALK, failing, healthy) == Done(WORDS)
        assert requests(lab) == [3, 1]
        await next_turn_works(lab, failing, healthy)

    in_lab(tmp_path, work)


@row(31)
@WIRES
@pytest.mark.parametrize(
    ("status", "kind", "count"),
    [
        (401, FailureKind.BAD_KEY, 1),
        (402, FailureKind.BILLING, 1),
        (403, FailureKind.FORBIDDEN, 1),
        (404, FailureKind.MODEL_UNAVAILABLE, 1),
        (500, FailureKind.SERVER_FAULT, 3),
        (502, FailureKind.SERVER_FAULT, 3),
    ],
)
def test_alone_each_status_ends_the_turn_with_its_kind_after_so_many_requests(tmp_path, wire, status, kind, count):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, f"wrong_status status={status} message='It is not to be.'"), wire)
        ending = await asked(lab, TALK, endpoint)
        assert isinstance(ending, GaveUp)
        assert ending.failure.kind is kind
        assert ending.failure.status == status
        assert "It is not to be." in ending.failure.reason
        assert requests(lab) == [count]
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


def a_long_conversation(turns: int = 30) -> tuple[Message, ...]:
    """Return a valid history in which the beginning, the middle and the end can be told apart."""
    messages = [user("THE TASK: look at all the files.")]
    for number in range(turns):
        call = ToolCall(f"call_{number}", "read_file", f'{{"path":"file_{number}.txt"}}')
        messages += [
            Message("assistant", (Text(f"I look at file {number}."), call)),
            Message("user", (ToolResult(call.id, (Text(f"RESULT {number}: " + "data " * 400),)),)),
            assistant(f"File {number} is read."),
            user(f"QUESTION {number}: what next?"),
        ]
    return (*messages, assistant("All is read."))


def journal_keeps(lab, history) -> bool:
    """Say whether the whole history still stands in the journal, whatever is sent of it."""
    records = (entry.record for entry in entries_of(lab.sessions.store.read(lab.session.id)))
    return Imported(history) in records


@row(31, 46)
@WIRES
def test_a_body_that_is_too_large_is_sent_shorter_and_the_stored_history_stays(tmp_path, wire):
    history = a_long_conversation()

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "wrong_status like=nginx_413 first=1"), wire)
        agent = await with_history(lab, history, endpoint)
        assert await agent.ask("NEWEST: tell me.") == Done(WORDS)
        assert kinds(lab) == ["context_full"]
        assert strategies(lab) == ["compact"]
        first, *_, last = (str(one.body) for one in lab.sims[0].log)
        assert len(last) < len(first) * 0.75
        assert refusals(lab) == []
        assert journal_keeps(lab, history)
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(46)
@WIRES
@pytest.mark.parametrize("share", [0.9, 0.6, 0.3, 0.1])
def test_a_context_overflow_is_compacted_until_it_fits_and_keeps_the_task_and_the_newest_words(tmp_path, wire, share):
    history = a_long_conversation()
    size = sum(len(message.text) + sum(len(result.text) for result in message.results) for message in history)

    async def work(lab):
        script = broken(TALK, f"context_overflow characters={int(size * share)}")
        endpoint = await lab.provider(script, wire)
        agent = await with_history(lab, history, endpoint)
        assert await agent.ask("NEWEST: tell me.") == Done(WORDS)
        assert set(kinds(lab)) == {"context_full"}
        assert refusals(lab) == [], "what is left is a valid history"
        sent = str(lab.sims[0].log[-1].body)
        assert "THE TASK" in sent
        assert "NEWEST" in sent
        assert journal_keeps(lab, history), "what is stored is not shortened"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(46)
@WIRES
@pytest.mark.parametrize("fault", ["rst at=headers", "rst", "fin at=headers framing=open", "stall", "no_headers"])
def test_a_plain_disconnect_on_a_large_session_does_not_compact(tmp_path, wire, fault):
    """A large request that dies without a word says nothing about its size; shortening it would lose the work."""
    history = a_long_conversation()

    async def work(lab):
        endpoint = await lab.provider(broken(TALK, f"{fault} first=2"), wire)
        agent = await with_history(lab, history, endpoint)
        assert await agent.ask("NEWEST: tell me.") == Done(WORDS)
        assert heard(lab) == WORDS
        assert kinds(lab)
        assert "compact" not in strategies(lab)
        for one in lab.sims[0].log:
            assert all(f"RESULT {number}:" in str(one.body) for number in range(30)), "everything is sent every time"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)
