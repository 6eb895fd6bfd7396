"""What must hold for every body and every stream of the Chat Completions wire."""

import json
import os
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from headway.events import CallClosed, Event, KeepAlive, Stop, StreamCut, StreamEnded
from headway.failure import InvalidInput
from headway.messages import ModelRequest
from headway.wire.assembly import assemble
from headway.wire.openai_chat import WIRE
from support.streams import arguments, event_streams, json_values, names, without_words, words

EXAMPLES = settings(max_examples=int(os.environ.get("HEADWAY_EXAMPLES", "60")), deadline=None)

maybe = st.none() | words
unknown = st.sampled_from([{}, {"x_new": 1}, {"x_new": {"deep": [None, "é"]}, "x_null": None}])


def objects(required: dict[str, Any], optional: dict[str, Any] | None = None) -> st.SearchStrategy[dict[str, Any]]:
    """Objects of known fields, some of them optional, with unknown ones beside them."""
    known = st.fixed_dictionaries(required, optional=optional or {})
    return st.builds(lambda more, value: {**more, **value}, unknown, known)


text_parts = objects({"type": st.just("text"), "text": words})
data_urls = st.builds("data:{};base64,{}".format, st.sampled_from(["image/png", "application/pdf"]), names)
urls = data_urls | names.map("https://pictures.example/{}".format)
image_parts = objects({"type": st.just("image_url"), "image_url": objects({"url": urls}, {"detail": names})})
file_fields = objects({}, {"file_id": names, "filename": words, "file_data": data_urls | names})
file_parts = objects({"type": st.just("file"), "file": file_fields})
audio_parts = objects({"type": st.just("input_audio"), "input_audio": objects({"data": names, "format": names})})
refusal_parts = objects({"type": st.just("refusal"), "refusal": words})
string_or_texts = words | st.lists(text_parts, min_size=1, max_size=2)
user_parts = st.lists(text_parts | image_parts | file_parts | audio_parts, min_size=1, max_size=3)

function_calls = objects(
    {
        "id": names,
        "type": st.just("function"),
        "function": objects({"name": names, "arguments": arguments}),
    },
    {"extra_content": json_values},
)
custom_calls = objects({"id": names, "type": st.just("custom"), "custom": objects({"name": names, "input": words})})
details = (
    objects({"type": st.just("reasoning.text"), "text": words}, {"signature": maybe, "format": names})
    | objects({"type": st.just("reasoning.summary"), "summary": words})
    | objects({"type": st.just("reasoning.encrypted"), "data": names}, {"id": names})
    | objects({"type": st.just("reasoning.new")})
)
assistant_messages = objects(
    {"role": st.just("assistant")},
    {
        "content": st.none() | words | st.lists(text_parts | refusal_parts, max_size=3),
        "refusal": maybe,
        "name": names,
        "audio": st.none() | objects({"id": names}),
        "function_call": st.none() | objects({"name": names, "arguments": words}),
        "tool_calls": st.none() | st.lists(function_calls | custom_calls, min_size=1, max_size=3),
        "reasoning_content": maybe,
        "reasoning": maybe,
        "reasoning_details": st.none() | st.lists(details, max_size=3),
    },
)
messages = (
    objects({"role": st.sampled_from(["system", "developer"]), "content": string_or_texts}, {"name": names})
    | objects({"role": st.just("user"), "content": words | user_parts}, {"name": names})
    | assistant_messages
    | objects({"role": st.just("tool"), "tool_call_id": names, "content": string_or_texts})
    | objects({"role": st.just("function"), "name": names, "content": words})
)
tools = objects(
    {"type": st.just("function"), "function": objects({"name": names}, {"description": maybe, "parameters": unknown})}
) | objects({"type": st.just("custom"), "custom": objects({"name": names}, {"description": maybe, "format": unknown})})
server_tools = objects({"type": st.just("web_search")})
choices = (
    st.none()
    | st.sampled_from(["auto", "none", "required"])
    | st.builds(lambda name: {"type": "function", "function": {"name": name}}, names)
    | st.builds(lambda name: {"type": "custom", "custom": {"name": name}}, names)
    | st.builds(lambda name: {"type": "allowed_tools", "allowed_tools": {"mode": name}}, names)
)
with_tools = st.fixed_dictionaries(
    {"tools": st.lists(tools | server_tools, min_size=1, max_size=3)},
    optional={"tool_choice": choices, "parallel_tool_calls": st.none() | st.booleans()},
)
numbers = st.none() | st.integers(0, 2) | st.floats(0, 2)
counts = st.none() | st.integers(1, 10**6)
streaming = st.builds(
    lambda usage, more: {"stream": True, "stream_options": {**more, "include_usage": usage}}, st.booleans(), unknown
) | st.sampled_from([{}, {"stream": False}, {"stream": None, "stream_options": None}])
bodies = st.builds(
    lambda body, tooling, stream: {**body, **tooling, **stream},
    objects(
        {"model": names, "messages": st.lists(messages, min_size=1, max_size=3)},
        {
            "max_tokens": counts,
            "max_completion_tokens": counts,
            "temperature": numbers,
            "top_p": numbers,
            "stop": maybe | st.lists(words, min_size=1, max_size=4),
            "reasoning_effort": st.none() | st.sampled_from(["none", "low", "xhigh"]),
            "response_format": json_values,
            "n": counts,
        },
    ),
    with_tools | st.sampled_from([{}, {"tools": None, "tool_choice": None}]),
    streaming,
)


@EXAMPLES
@given(bodies)
def test_a_body_survives_parsing_and_rendering_without_loss(body: dict[str, Any]) -> None:
    before = json.dumps(body)
    assert WIRE.render_request(WIRE.parse_request(body)) == body
    assert json.dumps(body) == before  # and what was read is never edited


@EXAMPLES
@given(st.lists(messages, max_size=3))
def test_a_list_of_messages_survives_without_loss(values: list[Any]) -> None:
    assert WIRE.render_messages(WIRE.parse_messages(values)) == values


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a JSON value with each of its keys."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(item, dict | list):
            yield from places(item)


def parsed(body: dict[str, Any]) -> ModelRequest | InvalidInput:
    try:
        return WIRE.parse_request(body)
    except InvalidInput as refusal:
        return refusal


@EXAMPLES
@given(bodies, st.integers(0, 10**6), json_values)
def test_a_body_with_a_stranger_in_it_is_read_or_refused_in_words(body: dict[str, Any], place: int, odd: Any) -> None:
    everywhere = list(places(body))
    container, key = everywhere[place % len(everywhere)]
    container[key] = odd
    request = parsed(body)
    if isinstance(request, InvalidInput):
        assert request.what
        assert request.why
        return
    rendered = WIRE.render_request(request)
    again = parsed(rendered)
    assert isinstance(again, InvalidInput) or WIRE.render_request(again) == rendered


@EXAMPLES
@given(json_values)
def test_a_reply_of_any_shape_has_exactly_one_end_and_it_is_last(value: Any) -> None:
    for body in (
        {"choices": [{"delta": value, "message": value}]},
        {"choices": value},
        {"usage": value, "error": value},
    ):
        events = WIRE.parse_reply(body)
        assert [event for event in events if isinstance(event, StreamEnded | StreamCut)] == events[-1:]


def as_this_wire_shows(events: list[Event]) -> list[Event]:
    """A call is closed by what follows it; a keep-alive right behind its close is therefore seen before it."""
    shown: list[Event] = []
    closes: list[Event] = []
    for event in events:
        if isinstance(event, CallClosed):
            closes.append(event)
            continue
        if not isinstance(event, KeepAlive):
            shown += closes
            closes = []
        shown.append(event)
    return shown


def encoded(events: list[Event]) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


def decoded(data: bytes, size: int) -> list[Event]:
    decoder = WIRE.decoder()
    events = [event for i in range(0, len(data), size) for event in decoder.feed(data[i : i + size])]
    return [*events, *decoder.close()]


@EXAMPLES
@given(event_streams(vouches_per_call=False))
def test_events_survive_encoding_and_decoding_whole_and_byte_by_byte(events: list[Event]) -> None:
    data = encoded(events)
    whole = decoded(data, max(1, len(data)))
    assert without_words(whole) == as_this_wire_shows(events)
    assert decoded(data, 1) == whole


@EXAMPLES
@given(event_streams(vouches_per_call=False), st.data())
def test_a_cut_stream_has_one_end_and_no_call_that_the_whole_one_did_not_have(events: list[Event], data: Any) -> None:
    wire = encoded(events)
    cut = data.draw(st.integers(0, len(wire)))
    received = decoded(wire[:cut], max(1, cut))
    assert [event for event in received if isinstance(event, StreamEnded | StreamCut)] == received[-1:]
    assert set(map(repr, assemble(received).calls)) <= set(map(repr, assemble(decoded(wire, max(1, len(wire)))).calls))


@EXAMPLES
@given(st.binary(max_size=200), event_streams(vouches_per_call=False), st.data())
def test_garbage_anywhere_never_raises(garbage: bytes, events: list[Event], data: Any) -> None:
    wire = encoded(events)
    place = data.draw(st.integers(0, len(wire)))
    received = decoded(wire[:place] + garbage + wire[place:], 64)
    assert [event for event in received if isinstance(event, StreamEnded | StreamCut)] == received[-1:]


@EXAMPLES
@given(event_streams())
def test_a_whole_reply_brings_what_the_stream_brought(events: list[Event]) -> None:
    sent = assemble(events, "chat")
    reply = WIRE.render_reply(events)
    if not isinstance(sent.end, StreamEnded):
        assert reply["error"]
        return
    got = assemble(WIRE.parse_reply(reply), "chat")
    assert (got.text, got.refusal) == (sent.text, sent.refusal)
    vouched = len(got.calls) if sent.end.stop is Stop.LENGTH else None  # nobody says that the last call is whole
    assert got.calls == sent.calls[:vouched]
    assert "".join(part.text for part in got.thinking) == "".join(part.text for part in sent.thinking)
    assert got.usage == sent.usage
    assert isinstance(got.end, StreamEnded)
    assert got.end.stop is sent.end.stop
