"""Replies that did not stream."""

from typing import Any

import pytest

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    RefusalDelta,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
    Usage,
)
from headway.messages import Raw, Thinking
from headway.wire.assembly import assemble
from headway.wire.openai_chat import WIRE

OPENED = StreamOpened("c1", "m1")


def reply(message: Any, finish: Any = "stop", **extra: Any) -> dict[str, Any]:
    return {"id": "c1", "model": "m1", "choices": [{"index": 0, "message": message, "finish_reason": finish}], **extra}


def end_of(body: dict[str, Any]) -> Event:
    return WIRE.parse_reply(body)[-1]


def test_a_reply_reads_as_a_stream_would() -> None:
    message = {
        "role": "assistant",
        "content": "So:",
        "refusal": None,
        "reasoning_content": "hm",
        "tool_calls": [
            {"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
            {"id": "y", "type": "function", "function": {"name": "g", "arguments": ""}},
        ],
    }
    assert WIRE.parse_reply(reply(message, "tool_calls", usage={"prompt_tokens": 3, "completion_tokens": 4})) == [
        OPENED,
        ThinkingDelta("hm"),
        TextDelta("So:"),
        CallOpened(0, "x", "f"),
        CallArguments(0, '{"a":1}'),
        CallClosed(0),
        CallOpened(1, "y", "g"),
        CallClosed(1),
        Usage(3, 4),
        StreamEnded(Stop.CALLS, "tool_calls"),
    ]


def test_a_refusal_is_marked_as_one() -> None:
    assert WIRE.parse_reply(reply({"content": None, "refusal": "no"})) == [
        OPENED,
        RefusalDelta("no"),
        StreamEnded(Stop.END, "stop"),
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": "boom"}},
        {"error": "boom"},
        {"object": "error", "message": "boom"},
        {"message": "boom"},
        {"detail": "boom"},
        {"base_resp": {"status_code": 1008, "status_msg": "boom"}},
        reply({"content": "half"}, base_resp={"status_code": "1027", "status_msg": "boom"}),
        {"id": "c1", "choices": [{"index": 0, "error": {"code": 502, "message": "boom"}}]},
        reply({"content": "half"}, error={"message": "boom"}),
    ],
)
def test_a_failure_inside_a_200_is_a_cut(body: dict[str, Any]) -> None:
    end = end_of(body)
    assert isinstance(end, StreamCut)
    assert (end.cause, end.said) == (Cut.ERROR, "boom")
    assert "boom" in end.body


def test_a_sensitive_flag_is_a_cut() -> None:
    assert end_of(reply({"content": "x"}, output_sensitive=True)).cause is Cut.ERROR


def test_a_call_that_does_not_parse_is_a_fragment() -> None:
    message = {"tool_calls": [{"id": "x", "function": {"name": "f", "arguments": '{"a":'}}]}
    received = assemble(WIRE.parse_reply(reply(message, "tool_calls")))
    assert (len(received.calls), len(received.fragments)) == (0, 1)


@pytest.mark.parametrize(
    ("message", "stop"),
    [
        ({"content": "done"}, Stop.END),
        ({"tool_calls": [{"id": "x", "function": {"name": "f", "arguments": "{}"}}]}, Stop.CALLS),
    ],
)
def test_without_a_finish_word_a_reply_that_proves_itself_is_whole(message: dict[str, Any], stop: Stop) -> None:
    assert end_of(reply(message, None)) == StreamEnded(stop)


@pytest.mark.parametrize("choices", [[], None, [{"index": 0, "message": {"content": ""}}]])
def test_a_reply_that_says_nothing_is_a_cut(choices: Any) -> None:
    assert end_of({"id": "c1", "choices": choices}).cause is Cut.EOF


def test_a_body_that_is_no_reply_says_so() -> None:
    assert end_of({"hello": "world"}).cause is Cut.NOT_EVENTS


@pytest.mark.parametrize("body", [{"choices": 5}, {"choices": [{"message": []}]}, {"choices": [{"message": "x"}]}])
def test_a_reply_that_cannot_be_read_is_a_cut(body: dict[str, Any]) -> None:
    assert end_of(body).cause is Cut.UNREADABLE


def test_a_body_instead_of_a_stream_is_read_as_the_reply_it_is() -> None:
    decoder = WIRE.decoder()
    body = b'\n\n{"id":"c1","model":"m1","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
    assert [*decoder.feed(body), *decoder.close()] == [OPENED, TextDelta("hi"), StreamEnded(Stop.END, "stop")]


class TestWriting:
    def test_a_whole_reply(self) -> None:
        events = [
            OPENED,
            ThinkingDelta("hm"),
            TextDelta("So"),
            CallOpened(0, "x", "f", raw=Raw("chat", {"extra_content": {"k": 1}})),
            CallArguments(0, "{}"),
            CallClosed(0),
            Usage(1, 2),
            StreamEnded(Stop.CALLS),
        ]
        call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}, "extra_content": {"k": 1}}
        written = WIRE.render_reply(events)
        assert (written["id"], written["object"], written["model"]) == ("c1", "chat.completion", "m1")
        assert written["usage"]["total_tokens"] == 3
        assert written["choices"] == [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "So",
                    "refusal": None,
                    "reasoning_content": "hm",
                    "tool_calls": [call],
                },
                "finish_reason": "tool_calls",
            }
        ]

    def test_a_cut_is_an_error_object(self) -> None:
        assert WIRE.render_reply([OPENED, TextDelta("a"), StreamCut(Cut.EOF)])["error"]["code"] == "end_of_bytes"
        assert WIRE.render_reply([OPENED, TextDelta("a")])["error"]["type"] == "upstream_error"

    def test_a_call_that_is_not_whole_is_left_out_and_not_called_a_success(self) -> None:
        broken = [OPENED, CallOpened(0, "x", "f"), CallArguments(0, "{"), CallClosed(0), StreamEnded(Stop.CALLS)]
        choice = WIRE.render_reply(broken)["choices"][0]
        assert "tool_calls" not in choice["message"]
        assert choice["finish_reason"] == "error"

    def test_signed_sealed_and_plain_thinking_come_back_block_by_block(self) -> None:
        events = [
            OPENED,
            ThinkingDelta("a"),
            ThinkingSigned("s"),
            ThinkingDelta("b"),
            ThinkingSealed("gA"),
            ThinkingDelta("c"),
            TextDelta("."),
            StreamEnded(Stop.END),
        ]
        message = WIRE.render_reply(events)["choices"][0]["message"]
        assert message["reasoning_content"] == "abc"
        again = assemble(WIRE.parse_reply(reply(message)), "chat").thinking
        raw = Raw("chat", {"reasoning_details": [{"type": "reasoning.encrypted", "data": "gA"}]})
        assert again == (Thinking("a", "chat", "s"), Thinking("b", "chat", sealed="gA", raw=raw), Thinking("c", "chat"))
