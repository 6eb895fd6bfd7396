"""A Messages stream that was forwarded as it came is gone on with block by block."""

from typing import Any

import pytest

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    Usage,
)
from headway.wire.anthropic import WIRE
from headway.wire.base import Encoder, Follower
from support.grammar import problems
from support.takeovers import following, values_of

NEXT = StreamOpened("another", "another-model")
ENDED = StreamEnded(Stop.END)
MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": None}
START = {"type": "message_start", "message": {**MESSAGE, "usage": {"input_tokens": 25, "output_tokens": 1}}}
PING = {"type": "ping"}


def start(index: int | None, kind: str, **fields: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"type": "content_block_start", **place, "content_block": {"type": kind, **fields}}


def delta(index: int | None, kind: str, **fields: Any) -> dict[str, Any]:
    place = {} if index is None else {"index": index}
    return {"type": "content_block_delta", **place, "delta": {"type": kind, **fields}}


def stop(index: int | None) -> dict[str, Any]:
    return {"type": "content_block_stop", **({} if index is None else {"index": index})}


TEXT = (start(0, "text", text=""), delta(0, "text_delta", text="Hel"))
CALL = (start(0, "tool_use", id="t1", name="wipe", input={}), delta(0, "input_json_delta", partial_json='{"a":'))


def short(values: list[Any]) -> list[object]:
    """Tell frames in short: starts and stops by index, deltas by their words, the rest by type."""
    told: list[object] = []
    for value in values:
        match value:
            case {"type": "content_block_start", "index": index, "content_block": {"type": kind}}:
                told.append((index, kind))
            case {"type": "content_block_delta", "index": index, "delta": {"type": _, **words}}:
                told.append((index, *words.values()))
            case {"type": "content_block_stop", "index": index}:
                told.append(index)
            case {"type": kind}:
                told.append(kind)
    return told


def gone_on(source: Follower | Encoder, *events: Event, keeping: int | None = None) -> list[Any]:
    encoder = source.encoder() if hasattr(source, "encoder") else source
    return values_of(b"".join((encoder.seam(keeping), *map(encoder.write, (NEXT, *events)))))


END = ["message_delta", "message_stop"]


def test_text_goes_on_in_the_block_that_is_open():
    told = short(gone_on(following(WIRE, START, *TEXT), TextDelta("lo"), ENDED))
    assert told == [(0, "lo"), 0, *END]


def test_blocks_go_on_after_the_last_index_wherever_the_server_began():
    follower = following(WIRE, START, start(3, "text", text=""), delta(3, "text_delta", text="Hi"), stop(3))
    assert short(gone_on(follower, TextDelta("!"), ENDED))[0] == (4, "text")


def test_indexes_that_are_missing_or_used_again_are_counted():
    nameless = (start(None, "text", text=""), delta(None, "text_delta", text="a"), stop(None))
    again = (start(0, "text", text=""), delta(0, "text_delta", text="a"), stop(0))
    assert short(gone_on(following(WIRE, START, *nameless, *nameless), TextDelta("b")))[0] == (2, "text")
    assert short(gone_on(following(WIRE, START, *again, *again), TextDelta("b")))[0] == (2, "text")
    assert short(gone_on(following(WIRE, START, *nameless[:2]), TextDelta("b"))) == [(0, "b")]


def test_thinking_that_is_not_signed_is_closed_at_the_seam_and_the_next_has_its_own_block_and_signature():
    follower = following(
        WIRE,
        START,
        start(0, "thinking", thinking="", signature=""),
        delta(0, "thinking_delta", thinking="Hm"),
    )
    assert short(values_of(follower.encoder().seam())) == [0]
    told = short(gone_on(follower, ThinkingDelta("So"), ThinkingSigned("c2ln"), TextDelta("Yes"), ENDED))
    assert told == [0, (1, "thinking"), (1, "So"), (1, "c2ln"), 1, (2, "text"), (2, "Yes"), 2, *END]


def test_thinking_that_is_signed_is_only_stopped():
    thought = (start(0, "thinking", thinking="", signature=""), delta(0, "signature_delta", signature="c2ln"))
    follower = following(WIRE, START, *thought)
    assert values_of(follower.heartbeat()) == [PING]
    assert short(gone_on(follower, ThinkingDelta("So"))) == [0, (1, "thinking"), (1, "So")]


@pytest.mark.parametrize("kind", ["server_tool_use", "compaction", "redacted_thinking", "hologram"])
def test_a_block_that_only_this_wire_has_is_closed_at_the_seam(kind):
    follower = following(WIRE, START, start(0, kind, name="x", id="y"))
    assert short(gone_on(follower, TextDelta("b"))) == [0, (1, "text"), (1, "b")]


def test_the_kept_call_goes_on_in_its_block_and_what_comes_meanwhile_waits():
    follower = following(WIRE, START, *CALL)
    told = short(
        gone_on(
            follower,
            CallArguments(0, "1"),
            TextDelta("meanwhile"),
            CallArguments(0, "}"),
            CallClosed(0),
            CallOpened(0, "t2", "go"),
            CallArguments(0, "{}"),
            CallClosed(0),
            StreamEnded(Stop.CALLS),
            keeping=0,
        )
    )
    assert told == [(0, "1"), (0, "}"), 0, (1, "text"), (1, "meanwhile"), 1, (2, "tool_use"), (2, "{}"), 2, *END]


def test_a_kept_call_without_input_so_far_is_closed_as_one_without_arguments():
    follower = following(WIRE, START, CALL[0], delta(0, "input_json_delta", partial_json=""))
    assert short(gone_on(follower, CallClosed(0), keeping=0)) == [(0, "{}"), 0]


@pytest.mark.parametrize("end", [ENDED, StreamEnded(Stop.CALLS), StreamEnded(Stop.LENGTH)])
def test_after_a_call_that_nobody_goes_on_with_nothing_is_said_but_an_error(end):
    events = (TextDelta("well"), CallOpened(0, "t2", "go"), CallArguments(0, "{}"), CallClosed(0), end)
    (error,) = gone_on(following(WIRE, START, *CALL), *events)
    assert error["type"] == "error"
    assert "'wipe' never arrived whole" in error["error"]["message"]


def test_a_stopped_call_without_input_is_whole_once_somebody_vouches_for_it():
    follower = following(WIRE, START, CALL[0], stop(0))
    assert short(gone_on(follower, CallClosed(0), ENDED, keeping=0)) == END
    assert short(gone_on(follower, ENDED)) == ["error"]
    missed = gone_on(follower, CallArguments(0, '{"late":1}'), CallClosed(0), ENDED, keeping=0)
    assert short(missed) == ["error"]


def test_an_earlier_attempts_call_makes_a_plain_end_one_with_calls():
    follower = following(WIRE, START, *CALL, delta(0, "input_json_delta", partial_json="1}"), stop(0))
    assert gone_on(follower, TextDelta("so"), ENDED)[-2]["delta"]["stop_reason"] == "tool_use"


def test_usage_that_was_seen_is_told_at_the_end_if_nobody_knows_better():
    follower = following(WIRE, START, *TEXT)
    assert gone_on(follower, ENDED)[-2]["usage"] == {"input_tokens": 25, "output_tokens": 1}
    assert gone_on(follower, Usage(70, 10), ENDED)[-2]["usage"] == {"input_tokens": 70, "output_tokens": 10}


def test_after_the_stop_reason_only_the_last_mark_is_written():
    concluded = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}
    follower = following(WIRE, START, *TEXT, stop(0), concluded)
    assert short(gone_on(follower, TextDelta("more"), Usage(1, 1), ENDED)) == ["message_stop"]
    assert short(gone_on(follower, StreamCut(Cut.ERROR, "", "gone"))) == ["error"]
    assert gone_on(following(WIRE, START, *TEXT, stop(0), concluded, {"type": "message_stop"}), ENDED) == []


def test_usage_alone_is_no_stop_reason():
    counted = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3}}
    assert short(gone_on(following(WIRE, START, *TEXT, counted), TextDelta("lo"))) == [(0, "lo")]


@pytest.mark.parametrize(
    ("frames", "beat"),
    [
        ((), [PING]),
        ((START,), [PING]),
        ((START, *TEXT), [delta(0, "text_delta", text="")]),
        ((START, *CALL), [delta(0, "input_json_delta", partial_json="")]),
        ((START, start(0, "thinking", thinking="")), [delta(0, "thinking_delta", thinking="")]),
        ((START, start(0, "server_tool_use", id="a", name="b")), [PING]),
        ((START, *TEXT, stop(0)), [PING]),
        ((START, *TEXT, {"type": "error", "error": {"type": "api_error", "message": "x"}}), []),
    ],
)
def test_a_heartbeat_is_an_empty_delta_of_the_open_block_and_else_a_ping(frames, beat):
    follower = following(WIRE, *frames)
    assert values_of(follower.heartbeat()) == beat == values_of(follower.encoder().heartbeat())


# What waits in an encoder when a seam comes: calls of another wire interleave

INTERLEAVED = (
    StreamOpened("msg_1", "m"),
    CallOpened(0, "t0", "zero"),
    CallArguments(0, '{"a":'),
    CallOpened(1, "t1", "one"),
    CallArguments(1, "{}"),
    CallClosed(1),
    CallOpened(2, "t2", "two"),
    CallArguments(2, '{"half'),
    ThinkingDelta("old thought"),
)


def interrupted() -> Encoder:
    encoder = WIRE.encoder()
    for event in INTERLEAVED:
        encoder.write(event)
    return encoder


def test_whole_calls_that_waited_are_said_and_halves_that_nobody_saw_are_forgotten():
    told = short(
        gone_on(
            interrupted(),
            CallOpened(1, "n1", "next"),
            CallArguments(1, "[]"),
            ThinkingDelta("new thought"),
            CallArguments(0, "1}"),
            CallClosed(0),
            CallClosed(1),
            StreamEnded(Stop.CALLS),
            keeping=0,
        )
    )
    assert told == [
        *((0, "1}"), 0),
        *((1, "tool_use"), (1, "{}"), 1),
        *((2, "thinking"), (2, "old thought"), 2),
        *((3, "tool_use"), (3, "[]"), 3),
        *((4, "thinking"), (4, "new thought"), 4),
        *END,
    ]


def test_a_kept_call_that_waits_goes_on_while_it_waits():
    encoder = WIRE.encoder()
    events = (*INTERLEAVED[:3], CallOpened(1, "t1", "one"), CallArguments(1, '{"b":'))
    head = b"".join(map(encoder.write, events))
    assert short(values_of(head)) == ["message_start", (0, "tool_use"), (0, '{"a":')]
    # The one on the stream is not kept, so nothing more can be said: only an error.
    assert short(gone_on(encoder, CallArguments(1, "2}"), CallClosed(1), ENDED, keeping=1)) == ["error"]


def test_the_seam_of_two_attempts_keeps_their_thoughts_apart():
    encoder = WIRE.encoder()
    before = b"".join(map(encoder.write, (StreamOpened("m", "m"), ThinkingDelta("one"))))
    after = b"".join((encoder.seam(), encoder.write(NEXT), encoder.write(ThinkingDelta("two")), encoder.write(ENDED)))
    assert short(values_of(after)) == [0, (1, "thinking"), (1, "two"), 1, *END]
    assert problems("anthropic", before + after) == []


def test_a_seam_before_anything_was_said_changes_nothing():
    assert short(gone_on(WIRE.encoder(), TextDelta("Hi"), ENDED)) == [
        *("message_start", (0, "text"), (0, "Hi"), 0),
        *END,
    ]


def test_thoughts_that_waited_are_kept_apart_from_those_of_the_next_attempt():
    encoder = WIRE.encoder()
    for event in (*INTERLEAVED[:3], ThinkingDelta("old")):
        encoder.write(event)
    told = short(gone_on(encoder, ThinkingDelta("new"), CallArguments(0, "1}"), CallClosed(0), keeping=0))
    assert told == [(0, "1}"), 0, (1, "thinking"), (1, "old"), 1, (2, "thinking"), (2, "new")]
