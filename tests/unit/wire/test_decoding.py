"""What is wrong around the frames, on every wire: other bodies than events, no bounds, bytes after the end."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.events import Cut, KeepAlive, StreamCut, StreamEnded, TextDelta
from headway.wire.decoding import StreamDecoder
from headway.wire.table import WIRES
from support.replies import REPLIES

EVERY_WIRE = pytest.mark.parametrize("wire", WIRES.values(), ids=WIRES.keys())
HTML = b"<!doctype html>\n<title>502 Bad Gateway</title>\n\n<h1>502</h1>\n\n"
DEEP = b"[" * 3000
WORDS = (
    "stop error text {} tool_use thinking input_json_delta text_delta signature_delta message_start message_delta "
    "message_stop content_block_start content_block_delta content_block_stop response.created response.completed "
    "response.incomplete response.failed response.output_item.added response.output_item.done function_call message "
    "reasoning response.output_text.delta response.output_text.done response.function_call_arguments.delta "
    "response.function_call_arguments.done response.reasoning_summary_text.delta response.content_part.added"
).split()

KEYS = (
    "type error choices delta message content tool_calls function name arguments id index finish_reason usage response "
    "item output output_index item_id part content_block stop_reason base_resp status status_code code text summary "
    "input partial_json reasoning_details role"
).split()


def decode(wire, data, size=10**9):
    decoder = wire.decoder()
    events = [event for at in range(0, len(data), size) for event in decoder.feed(data[at : at + size])]
    return events + decoder.close()


def encode(wire, events):
    encoder = wire.encoder()
    return b"".join(encoder.write(event) for event in events)


def only_end(events):
    ends = [event for event in events if isinstance(event, StreamEnded | StreamCut)]
    assert ends == events[-1:], "exactly one end, and it is the last"
    return ends[0]


@EVERY_WIRE
@pytest.mark.parametrize("size", [1, 5, 10**9])
@pytest.mark.parametrize("start", [b"", b"\n\n", b"\xef\xbb\xbf", b" \r\n"])
def test_a_page_for_people_is_not_an_event_stream(wire, size, start):
    end = only_end(decode(wire, start + HTML, size))
    assert end.cause is Cut.NOT_EVENTS
    assert "502 Bad Gateway" in end.body


@EVERY_WIRE
@pytest.mark.parametrize(
    "body", [b"error code: 524", b"upstream connect error\n\nreset", b"Authentication Fails (governor)"]
)
def test_plain_text_is_kept_as_evidence(wire, body):
    end = only_end(decode(wire, body))
    assert end.cause is Cut.NOT_EVENTS
    assert body.split()[0].decode() in end.body


@EVERY_WIRE
@pytest.mark.parametrize("size", [1, 10**9])
@pytest.mark.parametrize("wrap", [lambda x: x, lambda x: [x]], ids=["object", "list of one"])
def test_an_error_object_instead_of_events_is_an_error(wire, size, wrap):
    body = json.dumps(wrap({"error": {"message": "no such model", "code": 404}}), indent=1).encode()
    end = only_end(decode(wire, body, size))
    assert end.cause is Cut.ERROR
    assert "no such model" in end.body


@EVERY_WIRE
@pytest.mark.parametrize("name", REPLIES)
def test_a_whole_reply_instead_of_events_is_the_reply(wire, name):
    events = decode(wire, json.dumps(wire.render_reply(REPLIES[name]())).encode())
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    assert text == "".join(event.text for event in REPLIES[name]() if isinstance(event, TextDelta))
    assert isinstance(only_end(events), StreamEnded)


@EVERY_WIRE
def test_nothing_at_all_is_a_cut(wire):
    assert decode(wire, b"") == [StreamCut(Cut.EOF)]


@EVERY_WIRE
def test_comments_alone_are_keep_alives_and_then_a_cut(wire):
    events = decode(wire, b": OPENROUTER PROCESSING\n\n" * 3)
    assert events[:3] == [KeepAlive()] * 3
    assert isinstance(only_end(events), StreamCut)


@EVERY_WIRE
@pytest.mark.parametrize(
    "garbage", [b"data: {not json}\n\n", b'data: {"a":"\xff"}\n\n', b"data: " + DEEP + b"\n\n", b'data: {"a":NaN}\n\n']
)
def test_a_frame_that_cannot_be_read_ends_the_stream_and_keeps_what_came_before(wire, garbage):
    data = encode(wire, REPLIES["answer"]())
    half = data[: data.index(b"w\xc3\xb6rld")]
    whole_frames = half[: half.rindex(b"\n\n") + 2]
    events = decode(wire, whole_frames + garbage + data[len(whole_frames) :])
    assert only_end(events).cause is Cut.UNREADABLE
    assert "".join(event.text for event in events if isinstance(event, TextDelta)) == "Hello, "


@EVERY_WIRE
def test_an_event_without_bounds_is_a_typed_end_in_bounded_memory(wire):
    decoder = wire.decoder()
    assert isinstance(decoder, StreamDecoder)
    events, piece = [], b"x" * 2**20
    for _ in range(1024):
        events += decoder.feed(b"data: " + piece if not events else piece)
        if events:
            break
    events += decoder.close()
    assert only_end(events).cause is Cut.TOO_LARGE


@EVERY_WIRE
def test_a_body_without_bounds_is_a_typed_end_too(wire):
    decoder = wire.decoder()
    events = decoder.feed(b"{")
    for _ in range(32):
        events += decoder.feed(b" " * 2**20)
    assert only_end(events + decoder.close()).cause is Cut.TOO_LARGE


@EVERY_WIRE
def test_bytes_after_the_end_change_nothing(wire):
    data = encode(wire, REPLIES["answer"]())
    assert decode(wire, data + data + HTML) == decode(wire, data)


@EVERY_WIRE
@given(st.binary(max_size=300))
def test_no_bytes_raise_and_every_stream_has_one_end(wire, data):
    only_end(decode(wire, data))
    only_end(decode(wire, b"data: " + data + b"\n\n"))


@EVERY_WIRE
@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(WORDS),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(KEYS),
                    inner,
                    max_size=5,
                )
            ),
            max_leaves=12,
        ),
        max_size=4,
    )
)
def test_no_json_raises_whatever_its_shape(wire, values):
    data = b"".join(b"data: " + json.dumps(value).encode() + b"\n\n" for value in values)
    only_end(decode(wire, data))
    for value in values:
        only_end(decode(wire, json.dumps(value).encode()))
