import json

import pytest

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    KeepAlive,
    OpaqueBlock,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    Unread,
    Usage,
)
from headway.messages import Raw
from headway.wire.anthropic import WIRE
from headway.wire.assembly import assemble


def frame(kind: str, **fields) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def start(index: int | None = 0, **block) -> bytes:
    return frame("content_block_start", content_block=block, **({} if index is None else {"index": index}))


def delta(index: int | None = 0, **fields) -> bytes:
    return frame("content_block_delta", delta=fields, **({} if index is None else {"index": index}))


def piece(text: str, index: int | None = 0) -> bytes:
    return delta(index, type="input_json_delta", partial_json=text)


def stop(index: int | None = 0) -> bytes:
    return frame("content_block_stop", **({} if index is None else {"index": index}))


def end(reason: str | None, **fields) -> bytes:
    return frame("message_delta", delta={"stop_reason": reason, **fields}) + frame("message_stop")


def tool(index: int | None = 0, **fields) -> bytes:
    return start(index, type="tool_use", **{"id": "t", "name": "go", "input": {}, **fields})


def decode(*data: bytes) -> list[Event]:
    decoder = WIRE.decoder()
    return [event for one in data for event in decoder.feed(one)] + decoder.close()


OPENED = frame("message_start", message={"id": "m1", "model": "m"})
HI = delta(type="text_delta", text="hi")


# Content


def test_the_start_of_a_block_may_already_say_something():
    assert decode(OPENED, start(type="text", text="hi"), stop(), end("end_turn")) == [
        StreamOpened("m1", "m"),
        TextDelta("hi"),
        StreamEnded(Stop.END, "end_turn"),
    ]
    thinking = start(type="thinking", thinking="hm", signature="sig")
    assert decode(thinking, stop())[:2] == [ThinkingDelta("hm"), ThinkingSigned("sig")]


def test_empty_deltas_pings_and_the_unknown_keep_the_connection_alive_and_say_nothing():
    said = decode(
        tool(),
        piece(""),
        delta(type="text_delta", text=""),
        delta(type="thinking_delta", thinking=""),
        delta(type="text_delta", text=None),
        delta(type="glow_delta", glow=1),
        frame("ping"),
        frame("weather_report", sky="blue"),
        b": comment\n\n",
        b"data:\n\n",
        frame("message_start", message={}),
        frame("message_start", message={}),
    )
    assert said == [CallOpened(0, "t", "go"), *[KeepAlive()] * 9, StreamOpened(), KeepAlive(), StreamCut(Cut.EOF)]


def test_a_signature_counts_once_its_block_stops():
    thought = start(type="thinking", thinking="", signature="") + delta(type="thinking_delta", thinking="hm")
    signed = thought + delta(type="signature_delta", signature="ab") + delta(type="signature_delta", signature="cd")
    assert decode(signed) == [ThinkingDelta("hm"), StreamCut(Cut.EOF)]
    assert decode(signed, stop())[:-1] == [ThinkingDelta("hm"), ThinkingSigned("abcd")]
    assert decode(thought, stop())[:-1] == [ThinkingDelta("hm")]


def test_fields_of_a_call_beyond_the_plain_ones_are_kept():
    (opened, *_) = decode(tool(caller={"type": "direct"}))
    assert opened.raw.value["caller"] == {"type": "direct"}
    assert decode(tool())[0].raw is None


def test_input_given_with_the_start_counts_only_when_no_delta_follows():
    given = {"a": 1}
    assert decode(tool(input=given), stop())[1:3] == [CallArguments(0, '{"a":1}'), CallClosed(0)]
    assert decode(tool(input=given), piece('{"b":2}'), stop())[1:3] == [CallArguments(0, '{"b":2}'), CallClosed(0)]


def test_a_string_given_as_input_is_no_whole_call():
    (part,) = assemble(decode(tool(input='{"a":1}'), stop(), end("tool_use"))).parts
    assert part == assemble([CallOpened(0, "t", "go"), CallArguments(0, '"{\\"a\\":1}"')]).parts[0]


def test_a_block_of_no_kind_lets_its_deltas_speak():
    slow = delta("0", type="thinking_delta", thinking="hm")
    assert decode(frame("content_block_start"), slow, HI, stop())[:-1] == [ThinkingDelta("hm"), TextDelta("hi")]


def test_a_citation_is_unread():
    (unread, _) = decode(delta(type="citations_delta", citation={"cited_text": "x"}))
    assert unread == Unread("a citation", '{"type":"citations_delta","citation":{"cited_text":"x"}}')
    assert isinstance(decode(start(type="text", text="", citations=[{"cited_text": "x"}]))[0], Unread)


def test_words_inside_a_block_of_an_unknown_kind_are_no_words_of_the_answer():
    said = decode(
        start(type="diary", text="dear "),
        delta(type="text_delta", text="diary"),
        delta(type="diary_delta", page=3, ink=None),
        stop(),
        HI,
    )
    block = {"type": "diary", "text": "dear diary", "page": 3}
    assert said == [KeepAlive(), KeepAlive(), OpaqueBlock(Raw("anthropic", block)), TextDelta("hi"), StreamCut(Cut.EOF)]


def test_a_server_tools_input_that_does_not_parse_is_reported_and_left_out():
    said = decode(start(type="server_tool_use", id="s", input={}), piece('{"query": "wea'), stop(), end("max_tokens"))
    assert [type(event) for event in said] == [KeepAlive, Unread, StreamEnded]


def test_a_block_that_never_stops_is_not_given():
    assert decode(start(type="compaction", content="x")) == [StreamCut(Cut.EOF)]


# Calls without input


@pytest.mark.parametrize("reason", ["tool_use", "end_turn", "pause_turn", "stop_sequence"])
def test_a_call_without_input_is_whole_when_the_reply_was_not_cut(reason):
    assert decode(tool(), piece(" "), stop(), end(reason))[1:-1] == [CallArguments(0, " "), CallClosed(0)]


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal", "odd", None])
def test_a_call_without_input_is_a_fragment_when_the_reply_may_have_been_cut_there(reason):
    said = decode(tool(), stop(), frame("message_delta", delta={"stop_reason": reason}))
    assert CallClosed(0) not in said
    assert assemble(said).calls == ()


def test_a_call_without_input_is_whole_when_the_reply_goes_on():
    assert decode(tool(), stop(), start(1, type="text", text=""), end("max_tokens"))[1] == CallClosed(0)


def test_a_call_that_stops_after_the_reason_was_given_is_judged_at_once():
    assert decode(tool(), frame("message_delta", delta={"stop_reason": "tool_use"}), stop())[1] == CallClosed(0)
    assert CallClosed(0) not in decode(tool(), frame("message_delta", delta={"stop_reason": "max_tokens"}), stop())


# Indexes


def test_indexes_may_be_missing():
    said = decode(tool(None), piece("{}", None), stop(None), tool(None, id="u"), piece('{"a":1}', None), stop(None))
    assert [(call.id, call.arguments) for call in assemble(said).calls] == [("t", "{}"), ("u", '{"a":1}')]


def test_indexes_may_be_used_again():
    said = decode(tool(0), piece("{}"), stop(), tool(0, id="u"), piece('{"a":1}'), stop())
    assert [(call.id, call.arguments) for call in assemble(said).calls] == [("t", "{}"), ("u", '{"a":1}')]


def test_blocks_may_interleave():
    said = decode(
        tool(0), tool(1, id="u"), piece('{"a":', 0), piece("{", 1), piece("1}", 0), piece("}", 1), stop(0), stop(1)
    )
    assert [(call.id, call.arguments) for call in assemble(said).calls] == [("t", '{"a":1}'), ("u", "{}")]


def test_an_index_nobody_knows_means_the_open_block():
    said = decode(tool(3), piece('{"a":1}', 0), stop(7))
    assert [call.arguments for call in assemble(said).calls] == ['{"a":1}']


def test_a_second_stop_of_one_block_closes_no_other():
    said = decode(tool(0), piece("{}"), stop(0), tool(1, id="u"), stop(0), piece('{"a":1}', 1), stop(1))
    assert [call.arguments for call in assemble(said).calls] == ["{}", '{"a":1}']


def test_a_block_that_is_replaced_before_it_stops_stays_open():
    said = decode(start(0, type="memo"), tool(0), piece("{}"), tool(0, id="u"), piece("{}"), stop(0), end("tool_use"))
    assert [call.id for call in assemble(said).calls] == ["u"]
    assert [call.id for call in assemble(said).fragments] == ["t"]


@pytest.mark.parametrize("before", [b"", tool() + stop(), start(type="text", text="")])
def test_input_for_no_call_ends_the_stream_rather_than_being_lost(before):
    (*_, last) = decode(before, piece('{"a":1}'), end("tool_use"))
    assert last.cause is Cut.UNREADABLE


# Usage


def test_counts_are_totals_and_a_zero_takes_nothing_back():
    said = decode(
        frame(
            "message_start", message={"usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 0}}
        ),
        frame("message_delta", delta={}, usage={"input_tokens": 0, "output_tokens": 3}),
        frame("message_delta", delta={}, usage={"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}),
        frame("message_delta", delta={}, usage={"output_tokens": True, "input_tokens": "7"}),
        frame("message_delta", delta={}, usage=[]),
    )
    assert said[1:-1] == [
        Usage(input_tokens=15, cache_read_tokens=5),
        Usage(input_tokens=15, cache_read_tokens=5, output_tokens=3),
        Usage(input_tokens=15, cache_read_tokens=5, output_tokens=9, reasoning_tokens=4),
    ]


# Ends


@pytest.mark.parametrize(
    ("reason", "stop_"),
    [
        ("end_turn", Stop.END),
        ("stop_sequence", Stop.SEQUENCE),
        ("tool_use", Stop.CALLS),
        ("max_tokens", Stop.LENGTH),
        ("pause_turn", Stop.PAUSE),
        ("compaction", Stop.PAUSE),
        ("refusal", Stop.REFUSED),
        ("model_context_window_exceeded", Stop.WINDOW),
        ("success!", Stop.UNKNOWN),
    ],
)
def test_every_stop_reason_has_a_meaning_with_or_without_the_last_mark(reason, stop_):
    assert decode(HI, end(reason))[-1] == StreamEnded(stop_, reason)
    assert decode(HI, frame("message_delta", delta={"stop_reason": reason}))[-1] == StreamEnded(stop_, reason)


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"stop_sequence": "END"}, "END"),
        ({"stop_details": {"category": "bio", "explanation": "No."}}, "bio: No."),
        ({"stop_details": {"category": None, "explanation": "No."}}, "No."),
        ({"stop_details": "no"}, ""),
    ],
)
def test_what_the_end_adds_is_its_detail(fields, detail):
    assert decode(HI, end("refusal", **fields))[-1].detail == detail


def test_the_mark_alone_ends_a_reply_that_said_something_and_left_nothing_open():
    mark = frame("message_stop")
    assert decode(start(type="text", text=""), HI, stop(), mark)[-1] == StreamEnded(Stop.END, "message_stop")
    assert decode(tool(), stop(), mark)[1:] == [CallClosed(0), StreamEnded(Stop.CALLS, "message_stop")]
    assert decode(start(type="text", text=""), HI, mark)[-1] == StreamCut(Cut.EOF)
    assert decode(OPENED, mark)[-1] == StreamCut(Cut.EOF)


def test_the_end_of_the_bytes_alone_is_a_cut():
    assert decode(OPENED, HI, b"data: [DONE]\n\n")[-1] == StreamCut(Cut.EOF)
    assert decode() == [StreamCut(Cut.EOF)]


@pytest.mark.parametrize(
    "data",
    [
        b'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"x"}}\n\n',
        b'data: {"type":"error","error":{"type":"api_error","message":"x"}}\n\n',
        b"event: error\ndata: the upstream hung up\n\n",
        b'data: {"error":{"message":"x","code":429}}\n\n',
        b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"},"error":"gone"}\n\n',
        b'data: {"type":"ping","base_resp":{"status_code":1002,"status_msg":"x"}}\n\n',
    ],
)
def test_an_error_in_any_form_ends_the_stream_with_its_frame_as_evidence(data):
    (*_, last) = decode(HI, data, end("end_turn"))
    assert last.cause is Cut.ERROR
    assert last.body == data.decode().split("data: ")[1].strip()


def test_a_status_of_zero_beside_a_delta_is_no_error():
    words = {"type": "text_delta", "text": "x"}
    data = frame("content_block_delta", delta=words, base_resp={"status_code": 0})
    assert decode(data)[0] == TextDelta("x")


@pytest.mark.parametrize(
    "data",
    [
        b"data: {half\n\n",
        b'data: "words"\n\n',
        b"data: \xff\xfe\n\n",
        b"data: " + b"[" * 5000 + b"\n\n",
        frame("content_block_start", content_block=[1]),
        frame("content_block_delta", delta="x"),
        delta(type="input_json_delta", partial_json={"a": 1}),
        delta(type="text_delta", text=["x"]),
    ],
)
def test_a_frame_that_cannot_be_read_ends_the_stream(data):
    assert decode(tool(), data, end("tool_use"))[-1].cause is Cut.UNREADABLE
