"""What the Responses encoder writes, its decoder reads back; what a request says survives the trip."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.events import Event, KeepAlive, OpaqueBlock, Stop, StreamCut, StreamEnded, ThinkingSealed, Usage
from headway.failure import InvalidInput
from headway.messages import Raw
from headway.wire.assembly import assemble
from headway.wire.openai_responses import WIRE
from support.streams import event_streams, json_values, names, without_words, words


def encode(events: list[Event]) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


def decode(*pieces: bytes) -> list[Event]:
    decoder = WIRE.decoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def spoken(events: list[Event]) -> list[Event]:
    """Leave out keep-alives: the envelopes of items are some too."""
    return [event for event in without_words(events) if not isinstance(event, KeepAlive)]


@st.composite
def richer_streams(draw: st.DrawFn) -> list[Event]:
    """Draw a stream that also has sealed reasoning and items that only this wire has, at random places."""
    events = draw(event_streams())
    for _ in range(draw(st.integers(0, 2))):
        number = draw(st.integers(0, 9))
        block = draw(
            st.sampled_from(
                [
                    ThinkingSealed(f"gAAAA{number}"),
                    OpaqueBlock(
                        Raw("responses", {"type": "web_search_call", "id": f"ws_{number}", "status": "completed"})
                    ),
                ]
            )
        )
        content_ends = len(events) - (2 if isinstance(events[-2], Usage) else 1)
        events.insert(draw(st.integers(1, content_ends)), block)
    return events


def without_made_objects(events: list[Event]) -> list[Event]:
    return [replace(event, raw=None) if isinstance(event, ThinkingSealed) else event for event in events]


@given(event_streams())
def test_what_is_encoded_is_decoded(events):
    assert spoken(decode(encode(events))) == spoken(events)


@given(richer_streams())
def test_byte_by_byte_and_on_a_second_trip_it_is_the_same(events):
    data = encode(events)
    once = decode(*(data[i : i + 1] for i in range(len(data))))
    assert without_made_objects(spoken(once)) == spoken(events)
    assert spoken(decode(encode(once))) == spoken(once)


@given(event_streams())
def test_a_whole_reply_says_the_same_as_the_stream(events):
    end = events[-1]
    streamed = assemble(decode(encode(events)))
    replied = assemble(WIRE.parse_reply(WIRE.render_reply(events)))
    assert [part for part in replied.parts if hasattr(part, "text")] == [
        part for part in streamed.parts if hasattr(part, "text")
    ]
    assert replied.calls == streamed.calls
    assert replied.usage == (streamed.usage if isinstance(end, StreamEnded) else replied.usage)
    assert isinstance(replied.end, StreamEnded) == isinstance(end, StreamEnded)


@given(event_streams(), st.data())
def test_cut_anywhere_no_call_is_invented(events, data):
    written = encode(events)
    cut = data.draw(st.integers(0, len(written)))
    received = assemble(decode(written[:cut]))
    assert isinstance(received.end, StreamEnded | StreamCut)
    assert set(map(repr, received.calls)) <= set(map(repr, assemble(events).calls))


extras = st.dictionaries(names.map("x_{}".format), words | st.integers() | st.just({"deep": [None]}), max_size=2)


def item(**fields: st.SearchStrategy) -> st.SearchStrategy:
    return st.builds(lambda known, extra: {**extra, **known}, st.fixed_dictionaries(fields), extras)


input_parts = st.one_of(
    item(type=st.just("input_text"), text=words),
    item(type=st.just("input_image"), image_url=st.just("data:image/png;base64,AAAA"), detail=st.just("low")),
    item(type=st.just("input_image"), file_id=names),
    item(type=st.just("input_file"), file_data=st.just("data:application/pdf;base64,AA"), filename=names),
    item(type=st.just("input_file"), file_url=names),
    item(type=st.just("input_audio"), input_audio=extras),
)
output_parts = st.one_of(
    item(type=st.just("output_text"), text=words, annotations=st.lists(extras, max_size=1)),
    item(type=st.just("refusal"), refusal=words),
)
objects = extras.map(lambda value: json.dumps(value, ensure_ascii=False))
items = st.one_of(
    item(role=st.sampled_from(["user", "system", "developer", "assistant"]), content=words),
    item(
        type=st.just("message"),
        role=st.sampled_from(["user", "system", "developer"]),
        content=st.lists(input_parts, max_size=3),
    ),
    item(type=st.just("message"), role=st.just("assistant"), id=names, content=st.lists(output_parts, max_size=2)),
    item(
        type=st.just("function_call"),
        call_id=names,
        name=names,
        arguments=objects,
        id=names,
        status=st.just("completed"),
    ),
    item(type=st.just("function_call_output"), call_id=names, output=words | st.lists(input_parts, max_size=2)),
    item(type=st.just("function_call_output"), call_id=st.none(), output=words),
    item(type=st.just("custom_tool_call"), call_id=names, name=names, input=words | st.just("")),
    item(type=st.just("custom_tool_call_output"), call_id=names, output=words),
    item(
        type=st.just("reasoning"),
        id=names,
        summary=st.lists(item(type=st.just("summary_text"), text=words), max_size=2),
        encrypted_content=names | st.none(),
    ),
    item(type=st.sampled_from(["web_search_call", "shell_call_output", "compaction", "additional_tools"]), id=names),
    item(id=names),
)
tools = st.one_of(
    item(type=st.just("function"), name=names, parameters=extras | st.none(), strict=st.booleans() | st.none()),
    item(type=st.just("custom"), name=names, description=words, format=extras),
    item(type=st.just("web_search"), filters=extras),
)
bodies = st.builds(
    lambda known, optional, extra: {**extra, **optional, **known},
    st.fixed_dictionaries({"model": names, "input": words | st.lists(items, max_size=5)}),
    st.fixed_dictionaries(
        {},
        optional={
            "instructions": words | st.none() | st.just(""),
            "tools": st.lists(tools, max_size=3),
            "tool_choice": st.sampled_from(
                ["auto", "none", {"type": "function", "name": "f"}, {"type": "allowed_tools", "tools": []}]
            ),
            "reasoning": st.sampled_from([None, {"effort": "high", "summary": "auto"}, {"summary": "auto"}]),
            "stream": st.booleans() | st.none(),
            "parallel_tool_calls": st.booleans() | st.none(),
            "max_output_tokens": st.integers(1, 10**6) | st.none(),
            "temperature": st.integers(0, 2) | st.floats(0, 2) | st.none(),
            "top_p": st.floats(0, 1),
            "previous_response_id": names,
            "conversation": extras,
            "background": st.booleans(),
            "store": st.booleans(),
            "include": st.lists(names, max_size=2),
            "text": extras,
            "metadata": extras,
            "stop": st.lists(words, max_size=1),
        },
    ),
    extras,
)


@given(bodies)
def test_a_request_survives_the_trip_with_everything_in_it(body):
    before = json.dumps(body)
    request = WIRE.parse_request(body)
    assert WIRE.render_request(request) == body
    if isinstance(body["input"], list):
        assert WIRE.render_messages(WIRE.parse_messages(body["input"])) == body["input"]
    assert json.dumps(body) == before, "the body that was read is never edited"
    anew = WIRE.parse_request({"input": [], **WIRE.render_request(replace(request, raw=None))})
    assert (anew.model, anew.system, anew.tools) == (request.model, request.system, request.tools)
    assert [message.text for message in anew.messages] == [message.text for message in request.messages]


KEYS = ("type", "role", "content", "text", "arguments", "input", "output", "call_id", "name", "summary", "status", "id")
nonsense = st.recursive(
    json_values | st.sampled_from(["message", "function_call", "reasoning", "user", "input_text", "input_image"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | words, inner, max_size=4),
    max_leaves=12,
)


@given(nonsense)
def test_a_body_of_any_shape_is_read_or_refused_in_words(value):
    for body in ({"model": value, "input": value, "tools": value, "reasoning": value, "tool_choice": value}, value):
        with suppress(InvalidInput):  # nothing else may come out
            WIRE.render_request(WIRE.parse_request(body))


@given(nonsense)
def test_a_reply_or_event_of_any_shape_gives_exactly_one_end(value):
    reply = {"object": "response", "output": value, "status": value, "error": None, "usage": value}
    for body in (reply, {**reply, "status": "completed", "output": [value, {"type": "message", "content": [value]}]}):
        events = WIRE.parse_reply(body)
        assert isinstance(events[-1], StreamEnded | StreamCut)
    kinds = ["output_item.added", "output_item.done", "completed", "output_text.delta", "function_call_arguments.done"]
    frames = [
        {
            "type": f"response.{kind}",
            "item": value,
            "response": value,
            "delta": value,
            "arguments": value,
            "text": value,
        }
        for kind in kinds
    ]
    events = decode("".join(f"data: {json.dumps(frame)}\n\n" for frame in frames).encode())
    assert [event for event in events if isinstance(event, StreamEnded | StreamCut)] == events[-1:]


@pytest.mark.parametrize("stop", Stop)
def test_every_stop_has_an_honest_word(stop):
    (*_, end) = decode(encode([StreamEnded(stop)]))
    answers = {Stop.END: Stop.END, Stop.CALLS: Stop.END, Stop.SEQUENCE: Stop.END}  # nothing was called
    same = {Stop.LENGTH: Stop.LENGTH, Stop.FILTERED: Stop.FILTERED, Stop.PAUSE: Stop.PAUSE}
    expected = (answers | same).get(stop)
    assert (end.stop if isinstance(end, StreamEnded) else None) is expected
