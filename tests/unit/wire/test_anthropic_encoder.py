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
from headway.messages import CallFragment, Raw
from headway.wire.anthropic import WIRE
from headway.wire.assembly import assemble

OPENED = StreamOpened("m1", "m")
ENDED = StreamEnded(Stop.END)


def encode(*events: Event) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


def frames(*events: Event) -> list[dict]:
    """Return the data of each frame, after checking that its name is its type."""
    found = []
    for block in encode(*events).decode().split("\n\n")[:-1]:
        name, data = block.split("\n")
        found.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {found[-1]['type']}"
    return found


def told(*events: Event) -> list[object]:
    """Return the frames in short: block types, texts of deltas, and the rest by type."""
    short = []
    for frame in frames(*events):
        match frame:
            case {"content_block": block, "index": index}:
                short.append((index, block["type"]))
            case {"delta": {"type": kind} as delta}:
                short.append(next(value for name, value in delta.items() if name != "type" and kind))
            case {"type": kind}:
                short.append(kind)
    return short


def decoded(*events: Event) -> list[Event]:
    decoder = WIRE.decoder()
    return decoder.feed(encode(*events)) + decoder.close()


def test_a_reply_is_framed_as_the_api_frames_it():
    first, *_, conclusion, last = frames(OPENED, TextDelta("hi"), Usage(30, 5, 20, 4, 2), ENDED)
    assert first["message"] == {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    assert conclusion == {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {
            "input_tokens": 6,
            "output_tokens": 5,
            "cache_creation_input_tokens": 4,
            "cache_read_input_tokens": 20,
            "output_tokens_details": {"thinking_tokens": 2},
        },
    }
    assert last == {"type": "message_stop"}


def test_blocks_follow_one_another_with_rising_indexes():
    assert told(
        OPENED,
        ThinkingDelta("hm"),
        ThinkingSigned("sig"),
        ThinkingDelta("mo"),
        ThinkingDelta("re"),
        TextDelta("a"),
        KeepAlive(),
        TextDelta("b"),
        CallOpened(0, "t", "go"),
        CallArguments(0, "{}"),
        CallClosed(0),
        ENDED,
    ) == [
        "message_start",
        *[(0, "thinking"), "hm", "sig", "content_block_stop"],
        *[(1, "thinking"), "mo", "re", "content_block_stop"],
        *[(2, "text"), "a", "ping", "b", "content_block_stop"],
        *[(3, "tool_use"), "{}", "content_block_stop"],
        *["message_delta", "message_stop"],
    ]


def test_what_belongs_elsewhere_waits_while_a_call_is_open():
    interleaved = (
        OPENED,
        CallOpened(0, "a", "go"),
        CallOpened(1, "b", "go"),
        CallArguments(1, '{"n"'),
        TextDelta("so"),
        CallArguments(0, '{"m":1}'),
        CallArguments(1, ":2}"),
        CallArguments(9, "of no call"),
        CallClosed(1),
        CallClosed(0),
        CallArguments(0, "too late"),
        StreamEnded(Stop.CALLS),
    )
    assert told(*interleaved)[1:-2] == [
        *[(0, "tool_use"), '{"m":1}', "content_block_stop"],
        *[(1, "tool_use"), '{"n"', ":2}", "content_block_stop"],
        *[(2, "text"), "so", "content_block_stop"],
    ]
    assert [call.arguments for call in assemble(decoded(*interleaved)).calls] == ['{"m":1}', '{"n":2}']


def test_many_interleaved_calls_take_linear_time():
    opened = [CallOpened(n, f"c{n}", "go") for n in range(3000)]
    closed = [CallClosed(n) for n in range(3000)]
    events = decoded(OPENED, *opened, *closed, StreamEnded(Stop.CALLS))
    assert len(assemble(events).calls) == 3000


def test_a_signature_without_words_has_a_block_of_its_own():
    assert told(ThinkingSigned("sig"))[1:] == [(0, "thinking"), "sig", "content_block_stop"]


def test_a_sealed_thought_is_a_whole_block_and_another_wires_seal_is_not_passed_off_as_ours():
    (_, block, _) = frames(ThinkingSealed("xyz"))
    assert block["content_block"] == {"type": "redacted_thinking", "data": "xyz"}
    raw = Raw("anthropic", {"type": "redacted_thinking", "data": "xyz", "x": 1})
    assert decoded(ThinkingSealed("xyz", raw), ENDED)[1] == ThinkingSealed("xyz", raw)
    assert told(ThinkingSealed("xyz", Raw("responses", {}))) == ["message_start"]


def test_an_opaque_block_goes_whole_to_its_own_wire_only():
    block = OpaqueBlock(Raw("anthropic", {"type": "server_tool_use", "id": "s", "name": "web", "input": {"q": 1}}))
    assert decoded(block, ENDED)[1:2] == [block]
    assert told(OpaqueBlock(Raw("responses", {"type": "web_search_call"}))) == ["message_start"]


def test_a_refusals_words_are_text():
    assert decoded(RefusalDelta("I will "), TextDelta("not."), ENDED)[1:3] == [TextDelta("I will "), TextDelta("not.")]


def test_free_text_travels_as_the_one_string_of_an_object():
    patch = '*** Begin\n"quoted" \\ 😀'
    events = (CallOpened(0, "t", "patch", freeform=True), CallArguments(0, patch[:5]), CallArguments(0, patch[5:]))
    (call,) = assemble(decoded(*events, CallClosed(0), StreamEnded(Stop.CALLS))).calls
    assert json.loads(call.arguments) == {"input": patch}
    (cut,) = assemble(decoded(*events, StreamEnded(Stop.LENGTH))).fragments
    assert cut.arguments.startswith('{"input":"*** Begin')


def test_a_closed_call_without_arguments_says_so_even_at_the_output_limit():
    (call,) = assemble(decoded(CallOpened(0, "t", "go"), CallClosed(0), StreamEnded(Stop.LENGTH))).calls
    assert call.arguments == "{}"


def test_fields_that_only_this_wire_knows_go_with_the_call():
    opened = CallOpened(
        0, "t", "go", raw=Raw("anthropic", {"type": "tool_use", "id": "t", "name": "go", "input": {}, "caller": {}})
    )
    assert decoded(opened, CallClosed(0), StreamEnded(Stop.CALLS))[1] == opened


@pytest.mark.parametrize("arguments", ["", '{"a', '{"a": 1'])
@pytest.mark.parametrize("stop", [Stop.LENGTH, Stop.WINDOW, Stop.REFUSED, Stop.FILTERED])
def test_a_call_cut_by_the_end_is_closed_in_grammar_and_stays_a_fragment(arguments, stop):
    events = (OPENED, CallOpened(0, "t", "go"), CallArguments(0, arguments), StreamEnded(stop))
    assert told(*events)[-3:] == ["content_block_stop", "message_delta", "message_stop"]
    assert assemble(decoded(*events)).parts == (CallFragment("t", "go", arguments),)


def test_an_empty_call_that_was_cut_is_no_call_although_the_reply_goes_on():
    events = (CallOpened(0, "t", "go"), TextDelta("after"), CallOpened(1, "u", "go"), StreamEnded(Stop.LENGTH))
    got = assemble(decoded(*events))
    assert got.calls == ()
    assert [fragment.id for fragment in got.fragments] == ["t", "u"]
    assert got.text == "after"


@pytest.mark.parametrize("stop", [Stop.END, Stop.CALLS, Stop.SEQUENCE, Stop.PAUSE])
def test_an_end_that_vouches_for_half_a_call_is_an_error(stop):
    (*_, last) = frames(OPENED, CallOpened(0, "t", "go"), CallArguments(0, '{"a"'), StreamEnded(stop))
    assert last["error"] == {
        "type": "api_error",
        "message": "the reply ended, but its call of 'go' never arrived whole",
    }


@pytest.mark.parametrize(
    ("end", "delta"),
    [
        (StreamEnded(Stop.CALLS, "end_turn"), {"stop_reason": "tool_use"}),
        (StreamEnded(Stop.LENGTH, "length"), {"stop_reason": "max_tokens"}),
        (StreamEnded(Stop.SEQUENCE, detail="END"), {"stop_reason": "stop_sequence", "stop_sequence": "END"}),
        (StreamEnded(Stop.PAUSE), {"stop_reason": "pause_turn"}),
        (StreamEnded(Stop.PAUSE, "compaction"), {"stop_reason": "compaction"}),
        (StreamEnded(Stop.WINDOW), {"stop_reason": "model_context_window_exceeded"}),
        (
            StreamEnded(Stop.REFUSED, detail="No."),
            {"stop_reason": "refusal", "stop_details": {"type": "refusal", "category": None, "explanation": "No."}},
        ),
        (
            StreamEnded(Stop.FILTERED, "content_filter"),
            {"stop_reason": "refusal", "stop_details": {"type": "refusal", "category": None, "explanation": None}},
        ),
    ],
)
def test_every_end_has_this_wires_word(end, delta):
    assert frames(OPENED, end)[-2]["delta"] == {"stop_sequence": None, **delta}


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (
            StreamEnded(Stop.FAILED, "failed", "out of memory"),
            "the reply ended without success: failed (out of memory)",
        ),
        (StreamEnded(Stop.UNKNOWN), "the reply ended without success: unknown"),
    ],
)
def test_an_end_without_a_word_is_an_error(end, message):
    assert frames(OPENED, TextDelta("hi"), end)[-1] == {
        "type": "error",
        "error": {"type": "api_error", "message": message},
    }


@pytest.mark.parametrize("cause", [cause for cause in Cut if cause is not Cut.ERROR])
def test_a_cut_writes_nothing_so_that_no_end_is_invented(cause):
    assert encode(OPENED, TextDelta("hi"), StreamCut(cause)) == encode(OPENED, TextDelta("hi"))


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ('{"type":"error","error":{"type":"overloaded_error","message":"x","details":{}}}', "overloaded_error", "x"),
        ('{"error":{"type":"invalid_request_error","message":"x"}}', "invalid_request_error", "x"),
        ('{"error":{"type":"requests","code":"rate_limit_exceeded","message":"x"}}', "rate_limit_error", "x"),
        ('{"error":{"code":"insufficient_quota","message":"x"}}', "billing_error", "x"),
        ('{"error":{"code":529,"message":"x"}}', "overloaded_error", "x"),
        ('{"error":{"code":"504","message":"x"}}', "timeout_error", "x"),
        ('{"error":{"code":500.5,"message":7}}', "api_error", '{"error":{"code":500.5,"message":7}}'),
        ('{"error":"gone"}', "api_error", "gone"),
        ('{"base_resp":{"status_code":1002,"status_msg":"slow down"}}', "api_error", "slow down"),
        ('{"base_resp":7,"message":"x"}', "api_error", "x"),
        ("the upstream hung up", "api_error", "the upstream hung up"),
        ("", "api_error", "the reply was cut: error_in_stream"),
    ],
)
def test_an_error_is_said_in_this_wires_words(body, kind, message):
    (_, error) = frames(OPENED, StreamCut(Cut.ERROR, body))
    assert (error["error"]["type"], error["error"]["message"]) == (kind, message)
    assert decoded(OPENED, StreamCut(Cut.ERROR, body))[-1].cause is Cut.ERROR


def test_an_error_of_this_wire_goes_on_as_it_came():
    body = {"type": "error", "error": {"type": "api_error", "message": "x", "details": {"y": 1}}, "request_id": "r"}
    assert frames(StreamCut(Cut.ERROR, json.dumps(body, indent=1))) == [body]


def test_a_stream_that_never_opened_is_opened_by_what_it_says():
    assert told(TextDelta("hi"))[0] == "message_start"
    assert told(ENDED) == ["message_start", "message_delta", "message_stop"]
    assert told(OPENED, OPENED) == ["message_start"]


def test_what_this_wire_has_no_word_for_is_not_written():
    assert encode(Unread("x", "y"), TextDelta(""), Usage()) == encode(TextDelta(""))
    assert told(OPENED, TextDelta(""), CallClosed(3), CallArguments(3, "x")) == ["message_start"]


def test_nothing_follows_the_end():
    encoder = WIRE.encoder()
    encoder.write(StreamCut(Cut.EOF))
    assert encoder.write(TextDelta("hi")) == encoder.write(ENDED) == b""
