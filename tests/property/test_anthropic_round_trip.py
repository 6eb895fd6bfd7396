"""What the Messages wire writes it reads back: streams, whole replies and requests. And it reads anything safely."""

import json
from collections.abc import Iterable
from itertools import dropwhile, pairwise

from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.events import CallOpened, Event, Stop, StreamCut, StreamEnded
from headway.failure import InvalidInput
from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    ModelRequest,
    Opaque,
    Raw,
    Reasoning,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolChoice,
    ToolResult,
    ToolSpec,
)
from headway.wire.anthropic import WIRE
from headway.wire.assembly import assemble
from support.streams import arguments, event_streams, json_values, names, without_words, words

streams = event_streams(refusals=False)


def encode(events: list[Event]) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


def decode(data: bytes, size: int | None = None) -> list[Event]:
    decoder = WIRE.decoder()
    size = size or max(1, len(data))
    events = [event for at in range(0, len(data), size) for event in decoder.feed(data[at : at + size])]
    return events + decoder.close()


def as_this_wire_says(events: list[Event]) -> list[Event]:
    """This wire has one word for a filter and a refusal."""
    return [replace(e, stop=Stop.REFUSED) if e == StreamEnded(Stop.FILTERED) else e for e in events]


def ends_inside_a_call(events: list[Event]) -> bool:
    opened = sum(isinstance(event, CallOpened) for event in events)
    return isinstance(events[-1], StreamEnded) and opened > len(assemble(events).calls)


def arguments_of(calls: tuple[ToolCall | CallFragment, ...]) -> list[object]:
    return [json.loads(call.arguments or "{}") for call in calls]


# Streams


@given(streams)
def test_an_encoded_stream_decodes_to_its_events(events):
    data = encode(events)
    decoded = without_words(decode(data))
    if ends_inside_a_call(events):
        # The grammar closes the block of a cut call; what counts is that it is still no call.
        assert replace(assemble(decoded), end=None) == replace(assemble(events), end=None)
        assert decoded[-1] == events[-1]
    else:
        assert decoded == as_this_wire_says(events)
    assert without_words(decode(data, 1)) == decoded


@given(streams, st.data())
def test_a_cut_encoded_stream_holds_no_call_that_was_not_said(events, data):
    encoded = encode(events)
    cut = data.draw(st.integers(0, len(encoded)))
    part = decode(encoded[:cut])
    assert sum(isinstance(event, StreamEnded | StreamCut) for event in part) == 1
    assert isinstance(part[-1], StreamEnded | StreamCut)
    assert set(assemble(part).calls) <= set(assemble(events).calls)


@given(streams)
def test_a_whole_reply_says_what_the_stream_said(events):
    assume(isinstance(events[-1], StreamEnded))
    before, after = assemble(events), assemble(WIRE.parse_reply(WIRE.render_reply(events)))
    assert after.text == before.text
    assert arguments_of(after.calls + after.fragments) == arguments_of(before.calls)
    if before.end.stop is not Stop.LENGTH:
        assert after.fragments == ()
    assert after.usage == before.usage
    assert without_words([after.end]) == without_words(as_this_wire_says([before.end]))


frames = st.fixed_dictionaries(
    {"type": st.sampled_from([*("content_block_" + w for w in ("start", "delta", "stop")), "message_delta", "ping"])},
    optional={
        "index": st.integers(-1, 3) | json_values,
        "content_block": st.fixed_dictionaries(
            {"type": st.sampled_from(["text", "thinking", "tool_use", "server_tool_use", "redacted_thinking"])},
            optional={
                "text": words | json_values,
                "citations": json_values,
                "id": names,
                "name": names,
                "input": json_values,
            },
        )
        | json_values,
        "delta": st.fixed_dictionaries(
            {"type": st.sampled_from(["text_delta", "input_json_delta", "thinking_delta", "signature_delta", "odd"])},
            optional={"text": words, "partial_json": words | arguments | json_values, "stop_reason": words},
        )
        | json_values,
        "usage": json_values,
        "message": json_values,
    },
)


@given(st.lists(frames | json_values, max_size=8), st.booleans())
def test_any_frames_give_exactly_one_end_and_never_an_exception(values, mark):
    data = b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)
    events = decode(data + (b'data: {"type":"message_stop"}\n\n' if mark else b""), 64)
    assert [isinstance(event, StreamEnded | StreamCut) for event in events] == [False] * (len(events) - 1) + [True]


# Requests

extra = st.sampled_from([{}, {"cache_control": {"type": "ephemeral"}}, {"citations": None, "x_later": [1, {"y": "z"}]}])


def blocks_of(kind: str, **fields: st.SearchStrategy) -> st.SearchStrategy:
    own = st.fixed_dictionaries({name: value for name, value in fields.items() if not name.startswith("maybe_")})
    maybe = {name.removeprefix("maybe_"): value for name, value in fields.items() if name.startswith("maybe_")}
    return st.builds(
        lambda beside, some, all_: {**beside, **some, **all_, "type": kind},
        extra,
        st.fixed_dictionaries({}, optional=maybe),
        own,
    )


sources = st.sampled_from(
    [
        {"type": "base64", "media_type": "image/png", "data": "aGk="},
        {"type": "url", "url": "https://example.test/x"},
        {"type": "file", "file_id": "file_1"},
        {"type": "content", "content": "inside"},
        {"type": "later", "kind": 1},
    ]
)
text_blocks = blocks_of("text", text=words)
file_blocks = blocks_of("image", source=sources) | blocks_of("document", source=sources, maybe_title=words | st.none())
result_content = words | st.lists(text_blocks | file_blocks | blocks_of("tool_reference", tool_name=names), max_size=3)
objects = st.dictionaries(words, json_values, max_size=3)
user_blocks = text_blocks | file_blocks | blocks_of("search_result", content=json_values)
result_blocks = blocks_of("tool_result", tool_use_id=names, maybe_content=result_content, maybe_is_error=st.booleans())
assistant_blocks = (
    text_blocks
    | blocks_of("thinking", thinking=words | st.just(""), signature=names)
    | blocks_of("redacted_thinking", data=words)
    | blocks_of("tool_use", id=names, name=names, input=objects)
    | blocks_of("server_tool_use", id=names, name=names, input=objects)
    | blocks_of("fallback", to=objects)
)


@st.composite
def histories(draw: st.DrawFn) -> list[dict]:
    messages = []
    for _ in range(draw(st.integers(1, 3))):
        results = draw(st.lists(result_blocks, max_size=2))
        content = results + draw(st.lists(user_blocks, min_size=0 if results else 1, max_size=2))
        messages.append({**draw(extra), "role": "user", "content": draw(words) if draw(st.booleans()) else content})
        if draw(st.booleans()):
            messages.append({"role": "system", "content": draw(words | st.lists(text_blocks, min_size=1, max_size=2))})
        said = draw(words | st.lists(assistant_blocks, min_size=1, max_size=4))
        messages.append({**draw(extra), "role": "assistant", "content": said})
    return messages


tools = st.builds(
    lambda name, beside, some: {**beside, **some, "name": name, "input_schema": {"type": "object"}},
    names,
    extra,
    st.fixed_dictionaries({}, optional={"description": words, "type": st.sampled_from(["custom", None])}),
) | st.just({"type": "web_search_20250305", "name": "web_search", "max_uses": 3})
choices = st.sampled_from(
    [
        {"type": "auto"},
        {"type": "any", "disable_parallel_tool_use": True},
        {"type": "auto", "disable_parallel_tool_use": False},
        {"type": "tool", "name": "x", "later": 1},
        {"type": "none"},
        {"type": "clairvoyant"},
    ]
)
thoughts = st.sampled_from(
    [
        {"type": "enabled", "budget_tokens": 2048},
        {"type": "enabled", "budget_tokens": 2048, "display": "omitted"},
        {"type": "adaptive", "display": "summarized"},
        {"type": "disabled"},
    ]
)
bodies = st.builds(
    lambda history, beside, some: {**beside, **some, "model": "m", "max_tokens": 100, "messages": history},
    histories(),
    extra,
    st.fixed_dictionaries(
        {},
        optional={
            "system": words | st.lists(text_blocks, max_size=2),
            "tools": st.lists(tools, max_size=3),
            "tool_choice": choices,
            "thinking": thoughts,
            "output_config": st.sampled_from([{"effort": "max"}, {"effort": None}, {"format": {"type": "json"}}]),
            "temperature": st.sampled_from([0, 0.5, 1.0, None]),
            "top_p": st.sampled_from([0.9, 1]),
            "top_k": st.just(5),
            "stop_sequences": st.lists(words, max_size=2),
            "stream": st.booleans(),
            "metadata": st.just({"user_id": "u"}),
            "betas": st.just(["a-2025-01-01"]),
        },
    ),
)


@given(bodies)
def test_a_request_is_written_as_it_was_read(body):
    written = json.dumps(body)
    assert WIRE.render_request(WIRE.parse_request(body)) == body
    assert WIRE.render_messages(WIRE.parse_messages(body["messages"])) == body["messages"]
    assert json.dumps(body) == written  # and nobody edited it


FIELDS = ["role", "content", "type", "text", "input", "source", "tool_use_id", "is_error", "name", "id"]
KINDS = ["user", "assistant", "text", "tool_use", "tool_result", "image", "document", "thinking"]
SETTINGS = ["model", "system", "tools", "tool_choice", "max_tokens", "stop_sequences", "thinking", "output_config"]
anything = st.recursive(
    json_values,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELDS), inner | st.sampled_from(KINDS), max_size=4)
    ),
    max_leaves=6,
)
loose_messages = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "system"])}, optional={"content": anything}),
    max_size=4,
)


@given(st.fixed_dictionaries({"messages": loose_messages | anything}, optional=dict.fromkeys(SETTINGS, anything)))
def test_any_body_is_read_or_refused_and_what_was_read_has_the_strict_shape(body):
    try:
        request = WIRE.parse_request(body)
    except InvalidInput:
        return  # its reason is tested where each one is raised
    assert_strict(WIRE.render_request(request))


# What other wires' requests become

raws = st.none() | st.builds(Raw, st.sampled_from(["chat", "responses"]), st.just({"type": "foreign"}))
images = st.builds(
    Image, st.none() | st.just("image/png"), st.none() | st.just("aGk="), st.just("https://x.test"), raw=raws
)
documents = st.builds(Document, text=st.none() | words, file_id=names, name=st.none() | words, raw=raws)
opaques = st.builds(Opaque, st.just(Raw("responses", {"type": "item"})))
results = st.builds(
    ToolResult,
    names,
    st.lists(st.builds(Text, words, raws) | images | documents | opaques, max_size=2).map(tuple),
    st.booleans(),
    raw=raws,
)
parts = (
    st.builds(Text, words, raws)
    | st.builds(Refusal, words)
    | st.builds(Thinking, words, names, st.none() | names, st.none() | names, raws)
    | st.builds(ToolCall, names, names, arguments, raw=raws)
    | st.builds(ToolCall, names, names, words, freeform=st.just(True))
    | st.builds(CallFragment, names, names, words)
    | images
    | documents
    | opaques
)
messages = st.builds(
    Message, st.sampled_from(["user", "assistant", "system"]), st.lists(parts | results, max_size=3).map(tuple), raws
)
requests = st.builds(
    ModelRequest,
    model=names,
    messages=st.lists(messages, max_size=5).map(tuple),
    system=st.lists(st.builds(Text, words), max_size=2).map(tuple),
    tools=st.lists(
        st.builds(ToolSpec, names, st.none() | words, st.none() | st.just({"properties": {}}), st.booleans()),
        max_size=2,
    ).map(tuple),
    tool_choice=st.none()
    | st.builds(ToolChoice, st.sampled_from(["auto", "none", "required", "tool"]), st.none() | names),
    parallel_calls=st.none() | st.booleans(),
    max_output_tokens=st.none() | st.integers(1, 9999),
    temperature=st.none() | st.floats(0, 2),
    stop=st.lists(words, max_size=2).map(tuple),
    reasoning=st.none()
    | st.builds(Reasoning, st.none() | st.sampled_from(["minimal", "high", "odd"]), st.none() | st.just(2048)),
    raw=raws,
)


def assert_strict(body: dict) -> None:
    """Hold a body to the shape rules that are the codec's own."""
    said = [message["role"] for message in body["messages"]]
    assert all(a != b or a == "system" for a, b in pairwise(said))
    for message in body["messages"]:
        content = message["content"]
        assert content or isinstance(content, str)
        blocks = content if isinstance(content, list) else []
        if message["role"] == "user":
            kinds = [block.get("type") for block in blocks]
            assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result")
        for block in blocks:
            assert block.get("type") != "thinking" or block["signature"]
            assert block.get("type") != "tool_use" or isinstance(block["input"], dict)


def called(history: Iterable[Message]) -> list[str]:
    return [call.id for message in history for call in message.calls]


@given(requests)
def test_any_neutral_request_gets_the_strict_shape(request):
    body = WIRE.render_request(request)
    assert_strict(body)
    assert body["max_tokens"] > 0
    assert ("tool_choice" in body) <= bool(body.get("tools"))
    assert body.get("temperature", 0) <= 1
    read = WIRE.parse_request(body)
    kept = dropwhile(lambda message: message.role == "system", request.messages)
    assert called(read.messages) == called(kept)
    assert WIRE.render_request(read) == body
