"""Whole Response objects as events."""

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
    Usage,
)
from headway.messages import Raw
from headway.wire.assembly import assemble
from headway.wire.decoding import EVIDENCE
from headway.wire.openai_responses import WIRE

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Hm"}]}
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
CALL = {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}", "status": "completed"}


def message(*content: dict) -> dict:
    return {"type": "message", "role": "assistant", "content": list(content)}


def words(text: str) -> dict:
    return {"type": "output_text", "text": text, "annotations": []}


def response(*output: dict, status: str = "completed", **fields) -> dict:
    return {"id": "resp_1", "object": "response", "model": "m", "status": status, "output": list(output), **fields}


def test_a_completed_response_says_everything_in_order():
    usage = {"input_tokens": 7, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 2}}
    refusal = {"type": "refusal", "refusal": "No"}
    body = response({**REASONING, "encrypted_content": "g"}, message(words("A"), refusal), SEARCH, CALL, usage=usage)
    assert WIRE.parse_reply(body) == [
        StreamOpened("resp_1", "m"),
        ThinkingDelta("Hm"),
        ThinkingSealed("g", Raw("responses", {**REASONING, "encrypted_content": "g"})),
        TextDelta("A"),
        RefusalDelta("No"),
        OpaqueBlock(Raw("responses", SEARCH)),
        CallOpened(0, "call_1", "f"),
        CallArguments(0, "{}"),
        CallClosed(0),
        Usage(7, 3, 2),
        StreamEnded(Stop.CALLS, "completed"),
    ]


def test_a_reply_without_a_status_is_complete_when_it_has_output():
    body = response(message(words("A")), {**CALL, "status": None, "arguments": ""})
    del body["status"]
    received = assemble(WIRE.parse_reply(body))
    assert received.end == StreamEnded(Stop.CALLS, "completed")
    assert [call.arguments for call in received.calls] == ["{}"]


@pytest.mark.parametrize(
    ("details", "end"),
    [
        ({"reason": "max_output_tokens"}, StreamEnded(Stop.LENGTH, "incomplete:max_output_tokens")),
        ({"reason": "content_filter"}, StreamEnded(Stop.FILTERED, "incomplete:content_filter")),
        ({"reason": "steered"}, StreamEnded(Stop.UNKNOWN, "incomplete:steered")),
        (None, StreamEnded(Stop.UNKNOWN, "incomplete")),
    ],
)
def test_an_incomplete_response_says_why(details, end):
    body = response(message(words("Half")), status="incomplete", incomplete_details=details)
    assert WIRE.parse_reply(body)[-1] == end


def test_a_call_that_was_cut_stays_a_fragment():
    half = {**CALL, "arguments": '{"a', "status": "incomplete"}
    blank = {**CALL, "call_id": "call_2", "arguments": "", "status": None}
    freeform = {"type": "custom_tool_call", "call_id": "call_3", "name": "patch", "input": "*** Be"}
    received = assemble(WIRE.parse_reply(response(CALL, half, blank, freeform, status="incomplete")))
    assert len(received.calls) == 1
    assert [fragment.arguments for fragment in received.fragments] == ['{"a', "", "*** Be"]


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_failed_response_is_cut_by_its_error_and_keeps_what_it_said(status):
    body = response(message(words("Half")), status=status, error={"code": "server_error", "message": "Oops"})
    received = assemble(WIRE.parse_reply(body))
    assert received.text == "Half"
    assert received.end == StreamCut(Cut.ERROR, received.end.body, "response.failed")
    assert json.loads(received.end.body)["error"]["code"] == "server_error"


def test_a_failed_response_of_any_size_leaves_evidence_that_parses():
    body = response(message(words("x" * EVIDENCE)), status="failed", error={"code": "server_error", "message": "Oops"})
    end = WIRE.parse_reply(body)[-1]
    assert isinstance(end, StreamCut)
    assert len(end.body) < EVIDENCE
    assert json.loads(end.body)["error"] == {"code": "server_error", "message": "Oops"}


@pytest.mark.parametrize("status", ["queued", "in_progress"])
def test_a_background_response_is_not_over(status):
    assert WIRE.parse_reply(response(status=status)) == [
        StreamOpened("resp_1", "m"),
        StreamCut(Cut.EOF, said=status),
    ]


def test_a_word_nobody_knows_is_no_success():
    assert WIRE.parse_reply(response(status="paused"))[-1] == StreamEnded(Stop.UNKNOWN, "paused")


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "No such model", "code": "model_not_found"}},
        {"type": "error", "code": "server_error", "message": "Oops"},
    ],
)
def test_a_body_with_only_an_error_is_an_error(body):
    (end,) = WIRE.parse_reply(body)
    assert isinstance(end, StreamCut)
    assert end.cause is Cut.ERROR
    assert json.loads(end.body) == body


def test_another_body_is_no_reply():
    (end,) = WIRE.parse_reply({"detail": "Not Found"})
    assert end == StreamCut(Cut.NOT_EVENTS, '{"detail":"Not Found"}', "the body is no reply")


def test_a_body_that_cannot_be_written_again_leaves_no_evidence_but_an_end():
    unwritable = {"message": "\ud800"}
    assert WIRE.parse_reply({"error": unwritable}) == [StreamCut(Cut.ERROR, "", "error")]
    assert WIRE.parse_reply(unwritable) == [StreamCut(Cut.NOT_EVENTS, "", "the body is no reply")]


def test_a_reply_for_a_cut_stream_is_a_failed_response_with_what_came():
    reply = WIRE.render_reply([StreamOpened("resp_1", "m"), TextDelta("Half"), CallOpened(0, "call_1", "f")])
    assert reply["status"] == "failed"
    assert [item["status"] for item in reply["output"]] == ["completed", "incomplete"]
    received = assemble(WIRE.parse_reply(reply))
    assert received.text == "Half"
    assert received.is_cut
    assert not received.calls
    assert "error" in WIRE.render_reply([])


def test_a_json_body_where_a_stream_was_promised_is_read_as_a_reply():
    decoder = WIRE.decoder()
    assert decoder.feed(json.dumps(response(message(words("A")))).encode()) == []
    assert assemble(decoder.close()).text == "A"
