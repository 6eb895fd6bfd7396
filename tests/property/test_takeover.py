"""A forwarded stream is taken over after any of its frames, and the client never sees the seam.

Whatever was forwarded, an encoder goes on with it as another attempt: its own opening, its own numbers of calls. The
wire's own decoder reads one stream with every word once and every call whole, and a strict grammar finds no fault.
"""

import json
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.events import CallOpened, Cut, Event, Stop, StreamCut, StreamEnded, StreamOpened, TextDelta
from headway.wire.assembly import assemble
from headway.wire.base import Wire
from headway.wire.json_text import is_whole_object
from headway.wire.sse import Frame
from headway.wire.table import WIRES
from support.grammar import problems
from support.streams import event_streams
from support.takeovers import (
    NEXT,
    Step,
    as_next_attempt,
    decoded,
    encoded,
    forwarded,
    joined,
    open_calls,
    steps_of,
    sum_of,
    wire_bytes,
)

CORPUS = {
    (wire, path.stem): path.read_bytes()
    for wire in WIRES
    for path in sorted((Path(__file__).parents[1] / "corpus" / wire).glob("*.sse"))
    if path.stem != "a_reply_that_did_not_stream"
}
BEYOND_REPAIR = {
    # The old form of a call has no index, so nobody can go on with one.
    ("chat", "legacy_function_call"),
    # Two calls at once are open, and only one can be kept.
    ("chat", "index_gap_and_interleaving"),
}
each_wire = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES)


def rest_of(steps: list[Step], cut: int, end: list[Event]) -> list[Event]:
    return [event for step in steps[cut:] for event in step.events] + end


def told(steps: list[Step]) -> list[Event]:
    return [event for step in steps for event in step.events]


@pytest.mark.parametrize(("name", "case"), CORPUS)
def test_a_stream_of_the_corpus_is_gone_on_with_after_every_frame(name: str, case: str) -> None:
    wire, data = WIRES[name], CORPUS[name, case]
    steps, end = steps_of(wire, data)
    everything = told(steps) + end
    expected = [sum_of(everything), sum_of(decoded(wire, encoded(wire, everything)))]
    is_clean = not problems(name, data)
    for cut in range(len(steps)):
        kept = (open_calls(told(steps[:cut])) or [None])[-1]
        follower, sent = forwarded(wire, steps[:cut])
        stream = joined(follower, sent, as_next_attempt(rest_of(steps, cut, end), kept), kept)
        got = sum_of(decoded(wire, stream))
        if (name, case) in BEYOND_REPAIR:
            assert got.end in (Cut.ERROR, expected[0].end), cut
            assert set(got.calls) <= set(expected[0].calls), cut
            continue
        assert got in expected, cut
        if is_clean:
            assert problems(name, stream) == [], cut


@each_wire
@given(events=event_streams(), data=st.data())
def test_the_rest_of_any_stream_goes_on_after_any_frame(wire: Wire, events: list[Event], data: st.DataObject) -> None:
    steps, end = steps_of(wire, encoded(wire, events))
    cut = data.draw(st.integers(0, len(steps)))
    kept = (open_calls(told(steps[:cut])) or [None])[-1]
    follower, sent = forwarded(wire, steps[:cut], data.draw(st.integers(1, 5)))
    stream = joined(follower, sent, as_next_attempt(rest_of(steps, cut, end), kept), kept)
    assert sum_of(decoded(wire, stream)) == sum_of(told(steps) + end)
    if isinstance(events[-1], StreamEnded):
        assert problems(wire.name, stream) == []


def another(events: list[Event]) -> list[Event]:
    """Give the calls of another attempt ids of their own: whoever joins attempts sees to that."""
    renamed = [replace(e, id=f"again_{e.id}") if isinstance(e, CallOpened) else e for e in events]
    return [NEXT, *renamed[1:]]


def assert_joined(wire: Wire, before: list[Event], attempt: list[Event], stream: bytes) -> None:
    """Judge a stream whose first attempt was cut after `before`, with nobody to go on with an open call."""
    first, second, got = assemble(before), assemble(attempt), assemble(decoded(wire, stream))
    calls = [call.id for call in first.calls + second.calls]
    if isinstance(second.end, StreamEnded):
        assert problems(wire.name, stream) == []
        assert isinstance(got.end, StreamCut if open_calls(before) else StreamEnded)
    if not open_calls(before):
        assert got.text == first.text + second.text
        vouched = isinstance(second.end, StreamEnded) and second.end.stop in (Stop.END, Stop.CALLS)
        # On the chat wire only the finish word vouches for a call after which nothing came.
        assert [call.id for call in got.calls] == calls[: None if vouched or wire.name != "chat" else len(got.calls)]
        assert "".join(part.text for part in got.thinking).replace("\n\n", "") == "".join(
            part.text for part in first.thinking + second.thinking
        ).replace("\n\n", "")
        # A signature that was forwarded counts as soon as its block is closed, and the seam closes it.
        proofs = iter([part.signature for part in got.thinking if part.signature])
        assert all(part.signature in proofs for part in first.thinking + second.thinking if part.signature)
    else:
        whole = {call.id for call in first.fragments if is_whole_object(call.arguments)}
        assert {call.id for call in got.calls} <= set(calls) | whole


@each_wire
@given(first=event_streams(refusals=False), second=event_streams(refusals=False), data=st.data())
def test_quite_another_attempt_goes_on_after_any_frame(
    wire: Wire, first: list[Event], second: list[Event], data: st.DataObject
) -> None:
    steps, _ = steps_of(wire, encoded(wire, first))
    cut = data.draw(st.integers(0, len(steps)))
    follower, sent = forwarded(wire, steps[:cut], data.draw(st.integers(1, 3)))
    assume(isinstance(decoded(wire, sent)[-1], StreamCut))  # else the finish was forwarded, and nothing can follow it
    before, attempt = told(steps[:cut]), another(second)
    # Whoever forwards the end of a call has seen that it is whole; at an output limit some wires end half of one.
    assume(len(assemble(before).fragments) == len(open_calls(before)))
    assert_joined(wire, before, attempt, joined(follower, sent, attempt))


@each_wire
@given(first=event_streams(refusals=False), second=event_streams(refusals=False), data=st.data())
def test_an_encoder_goes_on_with_another_attempt_after_any_event(
    wire: Wire, first: list[Event], second: list[Event], data: st.DataObject
) -> None:
    before = first[: data.draw(st.integers(0, len(first) - 1))]
    encoder, attempt = wire.encoder(), another(second)
    stream = b"".join((*map(encoder.write, before), encoder.seam(), *map(encoder.write, attempt)))
    assert_joined(wire, before, attempt, stream)


@each_wire
@given(events=event_streams(), data=st.data())
def test_heartbeats_in_every_place_say_nothing(wire: Wire, events: list[Event], data: st.DataObject) -> None:
    steps, end = steps_of(wire, encoded(wire, events))
    cut = data.draw(st.integers(0, len(steps)))
    kept = (open_calls(told(steps[:cut])) or [None])[-1]
    follower = wire.follower()
    parts = [follower.heartbeat()]
    for step in steps[:cut]:
        follower.passed([step.frame], step.events)
        parts += [wire_bytes(step.frame), follower.heartbeat()]
    encoder = follower.encoder()
    parts += [encoder.seam(kept), encoder.heartbeat()]
    for event in as_next_attempt(rest_of(steps, cut, end), kept):
        parts += [encoder.write(event), encoder.heartbeat()]
    stream = b"".join(parts)
    assert sum_of(decoded(wire, stream)) == sum_of(told(steps) + end)
    if isinstance(events[-1], StreamEnded):
        assert problems(wire.name, stream) == []


@each_wire
@given(first=event_streams(), second=event_streams(), data=st.data())
def test_how_frames_were_counted_off_changes_nothing(
    wire: Wire, first: list[Event], second: list[Event], data: st.DataObject
) -> None:
    steps, _ = steps_of(wire, encoded(wire, first))
    steps = steps[: data.draw(st.integers(0, len(steps)))]
    kept = (open_calls(told(steps)) or [None])[-1]
    one_by_one, in_batches = (forwarded(wire, steps, size)[0] for size in (1, data.draw(st.integers(2, 9))))
    assert joined(one_by_one, b"", another(second), kept) == joined(in_batches, b"", another(second), kept)
    assert joined(one_by_one, b"", another(second), kept) == joined(one_by_one, b"", another(second), kept)


NAMES = {
    "chat": [""],
    "anthropic": ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta"],
    "responses": [
        f"response.{name}"
        for name in (
            *("created", "output_item.added", "output_item.done", "content_part.added", "content_part.done"),
            *("output_text.delta", "output_text.done", "output_text.annotation.added", "reasoning_text.delta"),
            *("function_call_arguments.delta", "function_call_arguments.done", "reasoning_summary_part.added"),
        )
    ],
}
FIELDS = [
    *("index", "content_block", "delta", "message", "id", "model", "choices", "tool_calls", "function", "name"),
    *("item", "part", "response", "output_index", "content_index", "item_id", "sequence_number", "annotation"),
    *("arguments", "text", "content", "summary", "call_id", "stop_reason", "finish_reason", "reasoning_details"),
]
KINDS = ["text", "tool_use", "thinking", "function_call", "message", "reasoning", "output_text", "web_search_call"]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.sampled_from(["", "a", *KINDS]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", *FIELDS]), inner | st.sampled_from(KINDS), max_size=5)
    ),
    max_leaves=12,
)


@each_wire
@given(data=st.data(), attempt=event_streams())
def test_whatever_was_forwarded_an_encoder_can_be_asked_for(
    wire: Wire, data: st.DataObject, attempt: list[Event]
) -> None:
    follower, decoder = wire.follower(), wire.decoder()
    for _ in range(data.draw(st.integers(0, 6))):
        name = data.draw(st.sampled_from(NAMES[wire.name]))
        body = data.draw(st.dictionaries(st.sampled_from(FIELDS), values, max_size=6))
        frame = Frame(json.dumps({"type": name, **body} if data.draw(st.booleans()) else body).encode(), name.encode())
        follower.passed([frame], decoder.feed(frame.wire_bytes))
        assert isinstance(follower.heartbeat(), bytes)
    encoder = follower.encoder()
    written = encoder.seam(data.draw(st.none() | st.integers(0, 2)))
    assert isinstance(written + b"".join(map(encoder.write, another(attempt))) + encoder.heartbeat(), bytes)


@each_wire
def test_the_end_of_the_bytes_is_no_part_of_what_the_client_has(wire: Wire) -> None:
    steps, _ = steps_of(wire, encoded(wire, [StreamOpened("a", "b"), TextDelta("Hel")]))
    follower, sent = forwarded(wire, steps)
    follower.passed([], [StreamCut(Cut.EOF)])
    stream = joined(follower, sent, [NEXT, TextDelta("lo"), StreamEnded(Stop.END)])
    assert sum_of(decoded(wire, stream)).text == "Hello"
    assert problems(wire.name, stream) == []
