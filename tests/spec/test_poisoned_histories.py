"""Histories that would wedge every later request: sent healed, accepted by the strictest server, stored untouched."""

import json

import pytest

from headway.agent.happenings import Done
from headway.messages import CallFragment, Text, ToolCall, assistant, user
from headway.store.records import Imported, TurnBegan, UserSaid
from headway.store.sessions import Sessions, open_store
from headway.turn import notices
from headway.wire.table import wire_named
from support.lab import in_lab
from support.past import TRUNCATED, call, is_accepted, result, said, told
from support.rows import row
from support.turns import OTHERS, TALK, WIRES, WORDS, kinds, refusals

CUT_CALLS = {
    "a_call_that_claims_to_be_whole": ToolCall("call_bad", "write_file", TRUNCATED),
    "a_fragment": CallFragment("call_bad", "write_file", TRUNCATED),
    "arguments_that_are_no_object": ToolCall("call_bad", "write_file", '["TRUNCATED"]'),
    "arguments_with_a_key_twice": ToolCall("call_bad", "write_file", '{"path":"TRUNCATED","path":"b"}'),
    "two_objects": ToolCall("call_bad", "write_file", '{"path":"TRUNCATED"}{"path":"b"}'),
    "no_name": ToolCall("call_bad", "", '{"path":"TRUNCATED"}'),
}


@row(35)
@WIRES
@pytest.mark.parametrize("cut", CUT_CALLS)
@pytest.mark.parametrize("answered", [True, False], ids=["answered", "unanswered"])
def test_a_truncated_call_in_the_history_goes_with_its_result_and_the_others_stay(tmp_path, wire, cut, answered):
    results = (result(1, "GOOD 1"), *((result("bad", "BAD RESULT"),) if answered else ()), result(2, "GOOD 2"))
    history = (
        user("Do it."),
        said(Text("I do it."), call(1), CUT_CALLS[cut], call(2, "b.txt")),
        told(*results),
        assistant("It is half done."),
    )

    async def work(lab):
        body = await is_accepted(lab, wire, history)
        assert "TRUNCATED" not in body, "never sent, neither as it was nor as something else"
        assert "BAD RESULT" not in body
        for kept in ("GOOD 1", "GOOD 2", "call_1", "call_2", "b.txt", "I do it.", "It is half done."):
            assert kept in body

    in_lab(tmp_path, work)


BODIES = {
    "chat": {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Do it."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"a"}'}},
                    {"id": "c2", "type": "function", "function": {"name": "write_file", "arguments": TRUNCATED}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "GOOD 1"},
            {"role": "tool", "tool_call_id": "c2", "content": "BAD RESULT"},
        ],
    },
    "responses": {
        "model": "m",
        "input": [
            {"type": "message", "role": "user", "content": "Do it."},
            {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": '{"path":"a"}'},
            {"type": "function_call", "call_id": "c2", "name": "write_file", "arguments": TRUNCATED},
            {"type": "function_call_output", "call_id": "c1", "output": "GOOD 1"},
            {"type": "function_call_output", "call_id": "c2", "output": "BAD RESULT"},
        ],
    },
    "anthropic": {
        "model": "m",
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": "Do it."},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "c1", "name": "read_file", "input": {"path": "a"}},
                    {"type": "tool_use", "id": "c2", "name": "write_file", "input": TRUNCATED},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "GOOD 1"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "BAD RESULT"},
                ],
            },
        ],
    },
}


@row(35)
@WIRES
@OTHERS
def test_the_wedged_body_of_another_agent_is_healed_for_every_wire(tmp_path, wire, other):
    """The history of #14443, as each wire's clients keep it, taken over and sent to each wire."""
    history = wire_named(wire).parse_request(BODIES[wire]).messages

    async def work(lab):
        body = await is_accepted(lab, other, history)
        assert "TRUNCATED" not in body
        assert "BAD RESULT" not in body
        assert "GOOD 1" in body

    in_lab(tmp_path, work)


def rows_of(store, session):
    return [(one.seq, one.at, one.kind, one.body) for one in store.read(session)]


POISON = (
    user("Do it."),
    said(Text("I write."), call(1), ToolCall("call_bad", "write_file", TRUNCATED)),
    told(result(1, "GOOD 1"), result("bad", "BAD RESULT")),
    assistant(""),
    told(result(9, "REAL 9")),
    user("half a character: \ud83d"),
    said(call(1, "again.txt")),
)


@row(40)
@WIRES
def test_a_poisoned_session_from_the_disk_works_at_once_tells_its_repair_once_and_stays_as_it_was(tmp_path, wire):
    """It was left by a process that died, and would be refused by every strict provider."""
    url = f"sqlite:{tmp_path / 'sessions.db'}"

    async def work(lab):
        endpoint = await lab.provider(TALK, wire)
        before = await poisoned(url)
        for number in range(3):  # each time as a new process: the store is opened again
            lab.sessions = Sessions(open_store(url))
            lab.session = await lab.sessions.resume(before["id"])
            lab.items.clear()
            assert await lab.again(endpoint).ask(f"Turn {number}?") in (Done(WORDS), Done(TALK.afterwards))
            assert await lab.again(endpoint).ask("And again?") == Done(TALK.afterwards)
            healed = [repair for one in lab.told(notices.Healed) for repair in one.repairs]
            assert len(healed) == len(set(healed))
            assert bool(healed) is (number == 0), "told in the first turn, and never again"
            rows = rows_of(lab.sessions.store, before["id"])
            assert rows[: len(before["rows"])] == before["rows"], "not a byte of what was stored has changed"
            await lab.session.close()
            lab.sessions.close()
        assert refusals(lab) == []
        assert kinds(lab) == []
        body = json.dumps(lab.sims[0].log[-1].body)
        assert "GOOD 1" in body
        assert "REAL 9" in body
        assert "TRUNCATED" not in body
        lab.sessions = Sessions(open_store("memory:"))

    in_lab(tmp_path, work)


async def poisoned(url):
    """Write a session to the disk as a dead process leaves it: in the middle of a turn, with a past that is broken."""
    sessions = Sessions(open_store(url))
    session = await sessions.create("/work")
    await session.commit(Imported(POISON), UserSaid(user("Go on.")), TurnBegan(1, "default"))
    name = session.id
    await session.close()
    rows = rows_of(sessions.store, name)
    sessions.close()
    return {"id": name, "rows": rows}
