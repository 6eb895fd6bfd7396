import json

import pytest

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    OpaqueBlock,
    RefusalDelta,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
    Unread,
    Usage,
)
from headway.messages import CallFragment, Raw, ToolCall
from headway.wire.anthropic import WIRE
from headway.wire.assembly import assemble


def message(*content, stop_reason="end_turn", **fields):
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "output_tokens": 4},
        **fields,
    }


def use(given, call_id="t"):
    return {"type": "tool_use", "id": call_id, "name": "go", "input": given}


SEALED = {"type": "redacted_thinking", "data": "xyz"}
SEARCH = {"type": "server_tool_use", "id": "s", "name": "web", "input": {}}


def test_a_message_is_told_as_its_stream_would_be():
    body = message(
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        SEALED,
        {"type": "text", "text": "hi", "citations": [{"cited_text": "x"}]},
        SEARCH,
        use({"a": 1}),
        use({}, "u"),
        stop_reason="tool_use",
    )
    assert WIRE.parse_reply(body) == [
        StreamOpened("m1", "m"),
        ThinkingDelta("hm"),
        ThinkingSigned("sig"),
        ThinkingSealed("xyz", Raw("anthropic", SEALED)),
        TextDelta("hi"),
        Unread("a citation", '{"cited_text":"x"}'),
        OpaqueBlock(Raw("anthropic", SEARCH)),
        CallOpened(0, "t", "go"),
        CallArguments(0, '{"a":1}'),
        CallClosed(0),
        CallOpened(1, "u", "go"),
        CallClosed(1),
        Usage(3, 4),
        StreamEnded(Stop.CALLS, "tool_use"),
    ]


@pytest.mark.parametrize("given", [{}, {"path": "a"}])
@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal", "odd"])
def test_a_call_at_the_end_of_a_reply_that_was_cut_is_not_vouched_for(given, reason):
    got = assemble(WIRE.parse_reply(message(use({"a": 1}), use(given, "u"), stop_reason=reason)))
    assert [call.id for call in got.calls] == ["t"]
    assert got.fragments == (CallFragment("u", "go", json.dumps(given, separators=(",", ":")) if given else ""),)


def test_the_end_carries_its_detail():
    (*_, end) = WIRE.parse_reply(message(stop_reason="stop_sequence", stop_sequence="END"))
    assert end == StreamEnded(Stop.SEQUENCE, "stop_sequence", "END")


def test_a_whole_body_without_a_reason_is_an_answer_only_if_it_says_something():
    assert WIRE.parse_reply(message({"type": "text", "text": "x"}, stop_reason=None))[-1].stop is Stop.END
    assert WIRE.parse_reply(message(stop_reason=None))[-1] == StreamCut(Cut.EOF)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
        {"error": {"message": "x"}},
        {"base_resp": {"status_code": 1002, "status_msg": "x"}},
    ],
)
def test_an_error_body_is_a_cut_with_its_evidence(body):
    (cut,) = WIRE.parse_reply(body)
    assert cut.cause is Cut.ERROR
    assert json.loads(cut.body) == body


@pytest.mark.parametrize("body", [{}, {"content": "hi"}, {"content": [1]}, {"object": "list", "data": []}])
def test_what_is_no_message_is_said_to_be_none(body):
    assert [end.cause for end in WIRE.parse_reply(body)] == [Cut.NOT_EVENTS]


def test_a_block_that_cannot_be_read_ends_the_reply():
    assert WIRE.parse_reply(message({"type": "text", "text": 5}))[-1].cause is Cut.UNREADABLE


def test_evidence_that_cannot_be_written_does_not_raise():
    assert WIRE.parse_reply({"error": object()})[-1].cause is Cut.ERROR


def test_a_reply_is_written_whole():
    events = [
        StreamOpened("m1", "m"),
        ThinkingDelta("unsigned"),
        TextDelta("hi "),
        RefusalDelta("no"),
        ThinkingSealed("xyz"),
        ThinkingSealed("foreign", Raw("responses", {})),
        OpaqueBlock(Raw("anthropic", SEARCH)),
        CallOpened(0, "t", "go"),
        CallArguments(0, '{"a":1}'),
        CallClosed(0),
        Usage(3, 4),
        StreamEnded(Stop.CALLS),
    ]
    assert WIRE.render_reply(events) == message(
        {"type": "thinking", "thinking": "unsigned", "signature": ""},
        {"type": "text", "text": "hi "},
        {"type": "text", "text": "no"},
        SEALED,
        SEARCH,
        use({"a": 1}),
        stop_reason="tool_use",
    )


def test_half_a_call_is_left_out_where_the_end_says_why_and_is_an_error_where_it_does_not():
    half = [StreamOpened(), CallOpened(0, "t", "go"), CallArguments(0, '{"a"')]
    assert WIRE.render_reply([*half, StreamEnded(Stop.LENGTH)])["content"] == []
    assert WIRE.render_reply([*half, StreamEnded(Stop.CALLS)])["type"] == "error"


@pytest.mark.parametrize(
    ("events", "message_"),
    [
        ([], "the reply never ended"),
        ([StreamCut(Cut.EOF)], "the reply was cut: end_of_bytes"),
        ([StreamCut(Cut.NOT_EVENTS, "<html>")], "<html>"),
        ([StreamEnded(Stop.FAILED, "boom")], "the reply ended without success: boom"),
    ],
)
def test_where_there_is_no_reply_there_is_an_error(events, message_):
    assert WIRE.render_reply(events) == {"type": "error", "error": {"type": "api_error", "message": message_}}


def test_a_written_reply_reads_the_same():
    events = WIRE.parse_reply(message({"type": "text", "text": "hi"}, use({"a": [1, 2.5]}), stop_reason="tool_use"))
    assert WIRE.parse_reply(WIRE.render_reply(events)) == events
    assert assemble(events).calls == (ToolCall("t", "go", '{"a":[1,2.5]}'),)


def test_thoughts_that_another_wire_sealed_are_told_as_a_stream_tells_them():
    sealed = ThinkingSealed("abc", Raw("responses", {"type": "reasoning", "encrypted_content": "abc"}))
    reply = WIRE.render_reply([StreamOpened(), ThinkingDelta("Hm."), sealed, TextDelta("Yes."), StreamEnded(Stop.END)])
    assert reply["content"] == [
        {"type": "thinking", "thinking": "Hm.", "signature": ""},
        {"type": "text", "text": "Yes."},
    ]
