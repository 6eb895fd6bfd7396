"""The bytes that say events on this wire."""

import json
from typing import Any

import pytest

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    KeepAlive,
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
from headway.messages import Raw
from headway.wire.openai_chat import WIRE
from headway.wire.openai_chat.encoder import ChatEncoder

OPENED = StreamOpened("c1", "m1")


def written(*events: Event) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


def frames(*events: Event) -> list[Any]:
    blocks = [block.removeprefix(b"data: ") for block in written(*events).split(b"\n\n") if block]
    return [block.decode() if block[:1] in (b"[", b":") else json.loads(block) for block in blocks]


def deltas(*events: Event) -> list[Any]:
    """The deltas behind the opening chunk."""
    return [frame["choices"][0]["delta"] for frame in frames(OPENED, *events)[1:]]


def test_a_stream_reads_as_the_vendor_writes_it() -> None:
    assert frames(OPENED, TextDelta("hé"), Usage(3, 2, 1), StreamEnded(Stop.END)) == [
        envelope({"role": "assistant", "content": ""}),
        envelope({"content": "hé"}),
        envelope({}, "stop"),
        {
            "id": "c1",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m1",
            "choices": [],
            "usage": {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "total_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 0},
            },
        },
        "[DONE]",
    ]


def envelope(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "m1", "choices": [choice]}


def test_the_time_of_creation_is_given_from_outside() -> None:
    assert b'"created":1741569952,' in ChatEncoder(created=1741569952).write(OPENED)


def test_every_kind_of_content_has_its_delta() -> None:
    extra = {"google": {"thought_signature": "s"}}
    assert deltas(
        ThinkingDelta("hm"),
        RefusalDelta("no"),
        CallOpened(0, "x", "f", raw=Raw("chat", {"extra_content": extra})),
        CallArguments(0, "{}"),
        CallClosed(0),
        CallOpened(1, "y", "g", freeform=True),
        CallArguments(1, "words"),
    ) == [
        {"reasoning_content": "hm"},
        {"refusal": "no"},
        {
            "tool_calls": [
                {
                    "index": 0,
                    "id": "x",
                    "type": "function",
                    "function": {"name": "f", "arguments": ""},
                    "extra_content": extra,
                }
            ]
        },
        {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]},
        {"tool_calls": [{"index": 1, "id": "y", "type": "custom", "custom": {"name": "g", "input": ""}}]},
        {"tool_calls": [{"index": 1, "custom": {"input": "words"}}]},
    ]


def test_a_signature_goes_out_with_the_block_it_signs() -> None:
    assert deltas(ThinkingDelta("a"), TextDelta("b"), ThinkingDelta("c"), ThinkingDelta("d"), ThinkingSigned("s"))[
        -1
    ] == {"reasoning_details": [{"index": 0, "type": "reasoning.text", "text": "cd", "signature": "s"}]}


def test_a_sealed_block_goes_out_as_it_came_or_as_a_detail() -> None:
    detail = {"type": "reasoning.encrypted", "data": "gA", "id": "rs_1", "index": 0}
    own = ThinkingSealed("gA", Raw("chat", {"reasoning_details": [detail]}))
    foreign = ThinkingSealed("gB", Raw("anthropic", {"type": "redacted_thinking", "data": "gB"}))
    assert deltas(own, foreign) == [
        {"reasoning_details": [detail]},
        {"reasoning_details": [{"index": 1, "type": "reasoning.encrypted", "data": "gB"}]},
    ]


def test_keep_alives_are_comments() -> None:
    assert written(KeepAlive(), OPENED, KeepAlive()).count(b": keep-alive\n\n") == 2


def test_what_the_wire_has_no_word_for_is_not_written() -> None:
    assert written(CallClosed(0), Unread("", ""), OpaqueBlock(Raw("anthropic", {})), Usage(1)) == b""


def test_arguments_of_a_call_that_never_opened_are_not_written() -> None:
    assert deltas(CallArguments(4, "{}")) == []


def test_content_without_an_opening_opens_the_stream() -> None:
    assert [frame["choices"][0]["delta"] for frame in frames(TextDelta("a"), TextDelta("b"))] == [
        {"role": "assistant", "content": ""},
        {"content": "a"},
        {"content": "b"},
    ]


def test_a_second_opening_goes_on_under_the_first_name() -> None:
    ids = {frame["id"] for frame in frames(OPENED, TextDelta("a"), StreamOpened("c2", "m2"), TextDelta("b"))}
    assert ids == {"c1"}


def test_half_a_character_is_replaced() -> None:
    assert deltas(TextDelta("a\ud800b")) == [{"content": "a\ufffdb"}]


def test_nothing_follows_the_end() -> None:
    encoder = WIRE.encoder()
    assert encoder.write(StreamEnded(Stop.END)).endswith(b"data: [DONE]\n\n")
    assert [encoder.write(event) for event in (TextDelta("a"), KeepAlive(), StreamEnded(Stop.END))] == [b"", b"", b""]


@pytest.mark.parametrize(
    ("stop", "word"),
    [
        (Stop.END, "stop"),
        (Stop.CALLS, "tool_calls"),
        (Stop.SEQUENCE, "stop"),
        (Stop.PAUSE, "length"),
        (Stop.LENGTH, "length"),
        (Stop.FILTERED, "content_filter"),
        (Stop.REFUSED, "content_filter"),
        (Stop.WINDOW, "length"),
        (Stop.FAILED, "error"),
        (Stop.UNKNOWN, "error"),
    ],
)
def test_each_stop_has_an_honest_word(stop: Stop, word: str) -> None:
    assert frames(OPENED, StreamEnded(stop))[1]["choices"][0]["finish_reason"] == word


class TestACut:
    @pytest.mark.parametrize("cause", [cause for cause in Cut if cause is not Cut.ERROR])
    def test_that_is_no_error_is_never_made_into_an_end(self, cause: Cut) -> None:
        encoder = WIRE.encoder()
        assert encoder.write(OPENED)
        assert encoder.write(StreamCut(cause, "evidence")) == b""
        assert encoder.write(StreamEnded(Stop.END)) == b""

    def test_by_an_error_of_this_wire_forwards_it(self) -> None:
        body = '{\n"error": {"message": "boom", "code": 500},\n"status_code": 500}'
        assert frames(OPENED, StreamCut(Cut.ERROR, body, "boom"))[1:] == [json.loads(body)]

    @pytest.mark.parametrize("body", ["", "boom", '{"type":"overloaded"}', '{"error":null}', "[]"])
    def test_by_another_error_wraps_its_words(self, body: str) -> None:
        error = {"message": "boom", "type": "upstream_error", "code": "error_in_stream"}
        assert frames(OPENED, StreamCut(Cut.ERROR, body, "boom"))[1:] == [{"error": error}]

    def test_before_anything_was_said_is_only_the_error(self) -> None:
        assert [list(frame) for frame in frames(StreamCut(Cut.ERROR, "", ""))] == [["error"]]
