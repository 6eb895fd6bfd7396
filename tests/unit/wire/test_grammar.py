"""The judge of streams is judged: it takes what our encoders write, and misses nothing that was taken out or put in."""

import json
from typing import Any

import pytest

from headway.events import CallArguments, CallClosed, CallOpened, Stop, StreamEnded
from headway.wire.sse import write_frame
from headway.wire.table import WIRES
from support.grammar import problems
from support.replies import OPENED, REPLIES
from support.takeovers import encoded, values_of

each_reply = pytest.mark.parametrize("reply", REPLIES)
each_wire = pytest.mark.parametrize("name", WIRES)


def written(name: str, values: list[Any]) -> bytes:
    """Write frames again, named by their types where the wire names them."""
    return b"".join(
        write_frame(
            value.encode() if isinstance(value, str) else json.dumps(value).encode(),
            value["type"] if name != "chat" else "",
        )
        for value in values
    )


def reply_of(name: str, reply: str = "calls") -> list[Any]:
    return values_of(encoded(WIRES[name], REPLIES[reply]()))


def is_only_itself(name: str, value: Any) -> bool:
    """Say whether a frame may be missing, or come twice, and nobody can tell: nothing else repeats what it says."""
    if name == "responses":
        return value["type"] == "response.in_progress"
    if name == "anthropic":
        return value["type"] in ("ping", "content_block_delta")
    if value == "[DONE]":
        return False
    delta = value["choices"][0]["delta"] if value["choices"] else {"usage": value["usage"]}
    opens_a_call = any("id" in call for call in delta.get("tool_calls", ()))
    return bool(delta) and "role" not in delta and not opens_a_call


@each_wire
@each_reply
def test_what_our_encoders_write_is_valid(name, reply):
    assert problems(name, encoded(WIRES[name], REPLIES[reply]())) == []


@each_wire
@each_reply
def test_a_frame_that_is_missing_is_missed(name, reply):
    values = reply_of(name, reply)
    for at, value in enumerate(values):
        is_late = name == "responses" and at == 1  # without it, only a number is missing
        if not is_only_itself(name, value) or is_late:
            assert problems(name, written(name, values[:at] + values[at + 1 :])), value


@each_wire
@each_reply
def test_a_frame_that_comes_twice_is_noticed(name, reply):
    values = reply_of(name, reply)
    for at, value in enumerate(values):
        is_role = name == "chat" and at == 0  # a role that is said again says nothing new
        if not is_only_itself(name, value) and not is_role:
            assert problems(name, written(name, values[: at + 1] + values[at:])), value


@each_wire
@each_reply
def test_a_stream_without_its_end_has_none(name, reply):
    values = reply_of(name, reply)
    assert "the stream has no end" in problems(name, written(name, values[:-1]))


CHANGES: dict[str, list[tuple[int, Any, str]]] = {
    "chat": [
        (3, {"id": "other"}, "frame 4: id changed from 'msg_abc' to 'other'"),
        (3, {"model": "other"}, "frame 4: model changed"),
        (3, {"choices": []}, "frame 4: a chunk has neither a choice nor usage"),
        (3, {"choices": [{"index": 1, "delta": {}}]}, "frame 4: a choice has the index 1"),
        (
            2,
            {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "id": "x", "function": {}}]}}]},
            "frame 3: call 1 came after 0 calls",
        ),
        (3, {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}, "a second finish"),
    ],
    "anthropic": [
        (0, {"message": {"id": "m"}}, "frame 1: the message starts with role None"),
        (1, {"index": 1}, "frame 2: block 1 is the one of the place 0"),
        (2, {"index": 1}, "frame 3: a delta for block 1, but 0 is open"),
        (2, {"delta": {"type": "thinking_delta", "thinking": "x"}}, "frame 3: a thinking_delta in a block of the type"),
        (3, {"index": 7}, "frame 4: block 7 stops, but 0 is open"),
        (-2, {"delta": {"stop_reason": "end_turn"}}, "'end_turn' with 2 calls"),
        (-2, {"usage": {}}, "a message_delta without usage"),
    ],
    "responses": [
        (4, {"sequence_number": 9}, "frame 5: the number 9 came after 3"),
        (4, {"item_id": "other"}, "frame 5: item 0 is 'msg_abc_0', not 'other'"),
        (4, {"content_index": 1}, "frame 5: words for part 1, but the open one is 0"),
        (4, {"delta": "other"}, "the words of part 0 are not what the deltas said"),
        (2, {"output_index": 1}, "frame 3: item 1 is the one of the place 0"),
        (0, {"response": {"id": "x", "status": "in_progress", "output": []}}, "id of the response changed"),
        (-1, {"type": "response.incomplete"}, "response.incomplete of one that is 'completed'"),
    ],
}


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, changes in CHANGES.items() for change in changes]
)
def test_what_was_changed_is_said_in_words(name, change):
    at, fields, complaint = change
    values = reply_of(name)
    values[at] = {**values[at], **fields}
    assert any(complaint in problem for problem in problems(name, written(name, values)))


@each_wire
def test_half_a_call_under_a_good_end_is_no_valid_stream(name):
    call = (CallOpened(0, "c", "go"), CallArguments(0, '{"a":'), CallClosed(0))
    found = problems(name, encoded(WIRES[name], [OPENED, *call, StreamEnded(Stop.CALLS)]))
    assert any("not whole" in problem for problem in found)


@each_wire
def test_bytes_that_end_inside_a_frame_are_noticed(name):
    assert "the bytes end inside a frame" in problems(name, encoded(WIRES[name], REPLIES["answer"]())[:-9])
