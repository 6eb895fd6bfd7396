"""What chunks of the many dialects mean, beyond the streams of the corpus."""

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
from headway.wire.openai_chat.evidence import error_words

DONE = b"data: [DONE]\n\n"
OPENED = StreamOpened("c1", "m1")


def frame(value: Any) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def chunk(delta: Any = None, finish: Any = None, **extra: Any) -> bytes:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    return frame({"id": "c1", "model": "m1", "choices": [choice], **extra})


def decoded(*frames: bytes) -> list[Event]:
    decoder = WIRE.decoder()
    return [*decoder.feed(b"".join(frames)), *decoder.close()]


def said(*frames: bytes) -> list[Event]:
    """What follows the opening."""
    first, *rest = decoded(*frames)
    assert first == OPENED
    return rest


def test_chunks_that_say_nothing_are_keep_alives() -> None:
    azure = frame({"id": "", "model": "", "choices": [], "prompt_filter_results": [{}]})
    events = decoded(azure, chunk({"role": "assistant"}), chunk({"content": ""}), b"data:\n\n", frame({"type": "ping"}))
    assert events == [KeepAlive(), OPENED, KeepAlive(), KeepAlive(), KeepAlive(), StreamCut(Cut.EOF)]


def test_the_end_is_told_after_the_usage_that_follows_the_finish_word() -> None:
    events = said(
        chunk({"content": "a"}), chunk({}, "stop"), frame({"choices": [], "usage": {"prompt_tokens": 7}}), DONE
    )
    assert events == [TextDelta("a"), Usage(7), StreamEnded(Stop.END, "stop")]


def test_the_end_of_the_bytes_is_an_end_once_a_finish_word_was_said() -> None:
    assert said(chunk({"content": "a"}, "stop")) == [TextDelta("a"), StreamEnded(Stop.END, "stop")]


@pytest.mark.parametrize(
    ("word", "stop"),
    [
        ("stop", Stop.END),
        ("STOP", Stop.END),
        ("eos", Stop.END),
        ("tool_calls", Stop.CALLS),
        ("function_call", Stop.CALLS),
        ("length", Stop.LENGTH),
        ("content_filter", Stop.FILTERED),
        ("sensitive", Stop.FILTERED),
        ("model_length", Stop.WINDOW),
        ("model_context_window_exceeded", Stop.WINDOW),
        ("error", Stop.FAILED),
        ("network_error", Stop.FAILED),
        ("insufficient_system_resource", Stop.FAILED),
        ("aborted", Stop.FAILED),
        ("something_new", Stop.UNKNOWN),
        (7, Stop.UNKNOWN),
    ],
)
def test_a_finish_word_means(word: Any, stop: Stop) -> None:
    assert said(chunk({"content": "a"}), chunk({}, word), DONE)[-1] == StreamEnded(stop, str(word))


def test_a_second_finish_word_may_only_take_back_a_success() -> None:
    assert said(chunk({}, "stop"), chunk({}, "length"), DONE)[-1] == StreamEnded(Stop.LENGTH, "length")
    assert said(chunk({}, "length"), chunk({}, "stop"), DONE)[-1] == StreamEnded(Stop.LENGTH, "length")


def test_a_blank_finish_word_is_none() -> None:
    assert said(chunk({"content": "a"}, ""))[-1] == StreamCut(Cut.EOF)


def test_the_native_finish_word_is_kept_as_detail() -> None:
    choice = {"index": 0, "delta": {}, "finish_reason": "stop", "native_finish_reason": "MALFORMED_FUNCTION_CALL"}
    end = said(frame({"id": "c1", "model": "m1", "choices": [choice]}), DONE)[-1]
    assert end == StreamEnded(Stop.END, "stop", "MALFORMED_FUNCTION_CALL")


@pytest.mark.parametrize("word", ["length", "content_filter", "error", "new_word"])
def test_open_calls_stay_open_when_the_finish_word_does_not_vouch(word: str) -> None:
    call = {"index": 0, "id": "x", "function": {"name": "f", "arguments": '{"a":1}'}}
    events = said(chunk({"tool_calls": [call]}), chunk({}, word), DONE)
    assert not [event for event in events if isinstance(event, CallClosed)]


def test_stop_with_calls_is_an_end_for_calls() -> None:
    call = {"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}}
    events = said(chunk({"tool_calls": [call]}), chunk({}, "stop"), DONE)
    assert events == [CallOpened(0, "x", "f"), CallClosed(0), StreamEnded(Stop.CALLS, "stop")]


class TestWithoutAFinishWord:
    def test_nothing_said_is_a_cut(self) -> None:
        assert said(chunk({"role": "assistant"}), DONE) == [StreamCut(Cut.EOF, said="[DONE]")]

    def test_thinking_alone_is_no_answer(self) -> None:
        assert said(chunk({"reasoning_content": "hm"}), DONE)[-1] == StreamCut(Cut.EOF, said="[DONE]")

    def test_a_refusal_is_an_answer(self) -> None:
        assert said(chunk({"refusal": "no"}), DONE) == [RefusalDelta("no"), StreamEnded(Stop.END, "[DONE]")]

    def test_a_call_without_arguments_is_not_closed(self) -> None:
        call = {"index": 0, "id": "x", "function": {"name": "f", "arguments": ""}}
        assert said(chunk({"tool_calls": [call]}), DONE) == [
            CallOpened(0, "x", "f"),
            StreamCut(Cut.EOF, said="[DONE]"),
        ]

    def test_a_freeform_call_proves_nothing(self) -> None:
        call = {"index": 0, "id": "x", "type": "custom", "custom": {"name": "f", "input": "{}"}}
        assert said(chunk({"tool_calls": [call]}), DONE)[-1] == StreamCut(Cut.EOF, said="[DONE]")

    def test_usage_counts_as_a_closing_only_if_nothing_follows(self) -> None:
        usage = frame({"choices": [], "usage": {"prompt_tokens": 1}})
        assert said(chunk({"content": "a"}), usage)[-1] == StreamEnded(Stop.END, "usage")
        assert said(chunk({"content": "a"}), usage, chunk({"content": "b"}))[-1] == StreamCut(Cut.EOF)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"error": {"message": "boom", "code": 500}}, "boom"),
        ({"error": "boom"}, "boom"),
        ({"type": "error", "error": {"message": "boom"}}, "boom"),
        ({"object": "error", "message": "boom", "type": "BadRequestError", "code": 400}, "boom"),
        ({"code": "Throttling", "message": "boom", "request_id": "r"}, "boom"),
        ({"code": "a sentence", "error": "boom"}, "boom"),
        ({"error_code": 336, "error_msg": "boom"}, "boom"),
        ({"detail": [{"loc": ["body"], "msg": "boom"}]}, '[{"loc":["body"],"msg":"boom"}]'),
        ([{"error": {"message": "boom"}}], "boom"),
        ({"base_resp": {"status_code": 1002, "status_msg": "boom"}}, "boom"),
        ({"choices": None, "base_resp": {"status_code": "1002", "status_msg": "boom"}}, "boom"),
        ({"choices": [], "output_sensitive": True}, "output_sensitive"),
        ({"choices": [], "input_sensitive": True}, "input_sensitive"),
        ({"choices": [{"index": 0, "delta": {}, "error": {"message": "boom"}}]}, "boom"),
        ({"choices": [], "x_groq": {"id": "r", "error": "boom"}}, "boom"),
        ({"choices": [{"delta": {}, "finish_reason": "error"}], "error": {"code": 502}}, "502"),
        ({"error": {"metadata": {}}}, "error"),
        (
            {"error": {"message": {"message": {"message": {"message": {"message": "too deep"}}}}}},
            '{"message":"too deep"}',
        ),
    ],
)
def test_an_error_in_the_stream_cuts_it_with_its_evidence(value: Any, words: str) -> None:
    cut = decoded(chunk({"content": "a"}), frame(value), chunk({}, "stop"), DONE)[-1]
    assert isinstance(cut, StreamCut)
    assert (cut.cause, json.loads(cut.body), cut.said) == (Cut.ERROR, value, words)


def test_an_error_without_writable_words_is_still_called_one() -> None:
    assert error_words(["\ud800"]) == "error"


@pytest.mark.parametrize("data", [b'{"choices": []}', b"plain words", b'"quoted"'])
def test_an_event_named_error_is_one_whatever_it_holds(data: bytes) -> None:
    cut = decoded(chunk({"content": "a"}), b"event: error\ndata: " + data + b"\n\n")[-1]
    assert isinstance(cut, StreamCut)
    assert (cut.cause, cut.body) == (Cut.ERROR, data.decode())
    assert cut.said


@pytest.mark.parametrize(
    "value",
    [
        {"error": None},
        {"base_resp": {"status_code": 0, "status_msg": ""}},
        {"base_resp": {"status_code": "0"}},
        {"input_sensitive": False, "output_sensitive": False},
        {"x_groq": {"id": "r"}},
    ],
)
def test_a_field_that_could_hold_a_failure_and_does_not_is_harmless(value: dict[str, Any]) -> None:
    assert said(chunk({"content": "a"}, **value), chunk({}, "stop"), DONE) == [
        TextDelta("a"),
        StreamEnded(Stop.END, "stop"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"nonsense",
        b"5",
        b'{"choices": 5}',
        b'{"choices": [{"delta": "text"}]}',
        b'{"choices": [{"delta": {"content": 5}}]}',
        b'{"choices": [{"delta": {"content": [{"type": "audio"}]}}]}',
        b'{"choices": [{"delta": {"tool_calls": ["f"]}}]}',
        b'{"choices": [{"delta": {"tool_calls": [{"function": "f"}]}}]}',
        b'{"choices": [{"delta": {"refusal": {}}}]}',
        b'{"choices": [{"delta": {"content": "\xff"}}]}',
        b'{"choices":' + b"[" * 5000,
    ],
)
def test_a_frame_that_cannot_be_read_safely_cuts_the_stream(data: bytes) -> None:
    cut = decoded(chunk({"content": "a"}), b"data: " + data + b"\n\n", chunk({}, "stop"), DONE)[-1]
    assert isinstance(cut, StreamCut)
    assert cut.cause is Cut.UNREADABLE


def test_deviations_with_a_plain_meaning_are_read() -> None:
    odd = {"id": 7, "model": None, "choices": {"index": "0", "delta": {"content": [{"type": "text", "text": "a"}]}}}
    assert decoded(frame(odd), chunk({}, "stop")) == [
        StreamOpened("7", ""),
        TextDelta("a"),
        StreamEnded(Stop.END, "stop"),
    ]


def test_other_choices_are_passed_over_and_said_once() -> None:
    def other(text: str) -> bytes:
        return frame({"choices": [{"index": 1, "delta": {"content": text}, "finish_reason": "stop"}]})

    events = said(chunk({"content": "a"}), other("x"), other("y"))
    assert [type(event) for event in events] == [TextDelta, Unread, KeepAlive, StreamCut]


def test_a_whole_message_in_a_frame_is_read_once() -> None:
    whole = frame({"id": "c1", "model": "m1", "choices": [{"message": {"content": "all"}, "finish_reason": "stop"}]})
    assert said(whole, DONE) == [TextDelta("all"), StreamEnded(Stop.END, "stop")]
    assert said(chunk({"content": "all"}), whole, DONE) == [TextDelta("all"), StreamEnded(Stop.END, "stop")]


class TestThinking:
    def test_is_not_said_twice_when_a_chunk_has_it_twice(self) -> None:
        detail = {"type": "reasoning.text", "text": "hm"}
        assert said(chunk({"reasoning": "hm", "reasoning_content": "hm", "reasoning_details": [detail]}))[0:1] == [
            ThinkingDelta("hm")
        ]
        assert said(chunk({"reasoning": "hm", "reasoning_content": "hm"}))[:-1] == [ThinkingDelta("hm")]

    def test_a_signature_may_come_beside_flat_text(self) -> None:
        detail = {"type": "reasoning.text", "text": None, "signature": "s"}
        assert said(chunk({"reasoning": "hm", "reasoning_details": [detail]}))[:-1] == [
            ThinkingDelta("hm"),
            ThinkingSigned("s"),
        ]

    def test_a_signed_block_that_repeats_flat_text_only_signs_it(self) -> None:
        detail = {"type": "reasoning.text", "text": "hmhm", "signature": "s"}
        frames = [chunk({"reasoning": "hm"}), chunk({"reasoning": "hm"}), chunk({"reasoning_details": [detail]})]
        assert said(*frames)[:-1] == [ThinkingDelta("hm"), ThinkingDelta("hm"), ThinkingSigned("s")]

    def test_a_signed_block_that_says_something_new_says_it(self) -> None:
        detail = {"type": "reasoning.text", "text": "and", "signature": "s"}
        frames = [chunk({"reasoning": "hm"}), chunk({"reasoning_details": [detail]})]
        assert said(*frames)[:-1] == [ThinkingDelta("hm"), ThinkingDelta("and"), ThinkingSigned("s")]

    def test_a_sealed_block_keeps_the_detail_it_came_in(self) -> None:
        detail = {"type": "reasoning.encrypted", "data": "gA==", "id": "rs_1", "format": "f"}
        assert said(chunk({"reasoning_details": [detail]}))[:-1] == [
            ThinkingSealed("gA==", Raw("chat", {"reasoning_details": [detail]}))
        ]

    def test_a_detail_that_says_nothing_is_a_keep_alive(self) -> None:
        assert said(chunk({"content": "a"}), chunk({"reasoning_details": [{"type": "new"}]}))[1] == KeepAlive()

    def test_closes_a_whole_call_before_it(self) -> None:
        call = {"index": 0, "id": "x", "function": {"name": "f", "arguments": "{}"}}
        assert said(chunk({"tool_calls": [call]}), chunk({"reasoning": "hm"}))[:-1] == [
            CallOpened(0, "x", "f"),
            CallArguments(0, "{}"),
            CallClosed(0),
            ThinkingDelta("hm"),
        ]


def test_counts_that_are_no_numbers_count_as_zero() -> None:
    usage = {
        "prompt_tokens": "7",
        "completion_tokens": 2.0,
        "prompt_tokens_details": 5,
        "completion_tokens_details": None,
    }
    assert said(chunk({"content": "a"}, usage=usage))[1] == Usage(0, 2)


def test_all_counts_are_read() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 20},
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    assert said(chunk({"content": "a"}, usage=usage))[1] == Usage(100, 50, 60, 20, 30)
