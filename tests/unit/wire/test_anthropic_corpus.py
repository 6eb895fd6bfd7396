"""Recorded-style streams, replayed whole, byte by byte, and cut at every byte."""

from pathlib import Path

import pytest

from headway.events import Cut, Event, Stop, StreamCut, StreamEnded, Usage
from headway.messages import CallFragment, Opaque, Thinking, ToolCall
from headway.received import Received
from headway.wire.anthropic import WIRE
from headway.wire.assembly import assemble

CORPUS = {path.stem: path.read_bytes() for path in (Path(__file__).parents[2] / "corpus" / "anthropic").glob("*.sse")}


def decode(data: bytes, size: int | None = None) -> list[Event]:
    decoder = WIRE.decoder()
    size = size or max(1, len(data))
    events = [event for at in range(0, len(data), size) for event in decoder.feed(data[at : at + size])]
    return events + decoder.close()


def received(case: str) -> Received:
    return assemble(decode(CORPUS[case]), "anthropic")


def calls(case: str) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in received(case).calls]


def fragments(case: str) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in received(case).fragments]


@pytest.mark.parametrize("case", CORPUS)
def test_bytes_mean_the_same_however_they_are_split(case):
    whole = decode(CORPUS[case])
    assert decode(CORPUS[case], 1) == whole
    assert decode(CORPUS[case], 7) == whole


@pytest.mark.parametrize("case", CORPUS)
def test_a_cut_at_any_byte_ends_once_and_never_makes_up_a_call(case):
    data = CORPUS[case]
    whole = received(case)
    for cut in range(len(data)):
        events = decode(data[:cut])
        assert [isinstance(event, StreamEnded | StreamCut) for event in events] == [False] * (len(events) - 1) + [True]
        part = assemble(events, "anthropic")
        assert all(call in whole.calls for call in part.calls)
        assert whole.text.startswith(part.text)
        if isinstance(part.end, StreamEnded):
            assert part.end == whole.end
            assert part.parts == whole.parts


ENDS = {
    "plain_answer": (Stop.END, "end_turn", ""),
    "thinking_then_parallel_calls": (Stop.CALLS, "tool_use", ""),
    "omitted_and_redacted_thinking": (Stop.END, "end_turn", ""),
    "call_without_arguments": (Stop.CALLS, "tool_use", ""),
    "max_tokens_inside_a_call": (Stop.LENGTH, "max_tokens", ""),
    "max_tokens_before_any_input": (Stop.LENGTH, "max_tokens", ""),
    "server_tools_and_citations": (Stop.END, "end_turn", ""),
    "compaction_and_fallback": (Stop.END, "end_turn", ""),
    "gateway_without_names_or_indexes": (Stop.CALLS, "end_turn", ""),
    "names_only_in_the_event_lines": (Stop.END, "end_turn", ""),
    "refusal_after_some_text": (Stop.REFUSED, "refusal", "cyber: This request was declined."),
    "a_stop_sequence": (Stop.SEQUENCE, "stop_sequence", "three"),
    "a_paused_turn": (Stop.PAUSE, "pause_turn", ""),
    "window_full": (Stop.WINDOW, "model_context_window_exceeded", ""),
    "mark_without_a_reason": (Stop.CALLS, "message_stop", ""),
    "reason_without_a_mark": (Stop.CALLS, "tool_use", ""),
    "a_call_that_never_stops": (Stop.CALLS, "tool_use", ""),
    "an_unknown_reason": (Stop.UNKNOWN, "went_fishing", ""),
    "a_reply_that_did_not_stream": (Stop.CALLS, "tool_use", ""),
    "pings_while_a_long_argument_is_held_back": (Stop.CALLS, "tool_use", ""),
}


@pytest.mark.parametrize("case", ENDS)
def test_how_each_stream_ends(case):
    assert received(case).end == StreamEnded(*ENDS[case])


def test_every_other_stream_ends_in_an_error_with_its_frame_as_evidence():
    bodies = {case: received(case).end.body for case in CORPUS.keys() - ENDS.keys()}
    assert bodies == {
        "overloaded_inside_a_call": '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
        "status_beside_the_reply": '{"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"}}',
    }
    assert {received(case).end.cause for case in bodies} == {Cut.ERROR}


def test_parallel_calls_arrive_whole_with_signed_thinking_before_them():
    reply = received("thinking_then_parallel_calls")
    assert calls("thinking_then_parallel_calls") == [
        ("get_weather", '{"location": "San Francisco, CA"}'),
        ("get_weather", '{"location": "S\\u00e3o Paulo 🌧", "unit": "c"}'),
    ]
    assert reply.parts[0] == Thinking(
        "I need the weather in two cities.", "anthropic", "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk="
    )
    assert reply.usage == Usage(
        input_tokens=1945, output_tokens=89, cache_read_tokens=1800, cache_write_tokens=120, reasoning_tokens=31
    )


def test_thinking_that_shows_nothing_is_kept_by_its_signature_or_seal():
    signed, sealed = received("omitted_and_redacted_thinking").thinking
    assert (signed.text, bool(signed.signature)) == ("", True)
    assert (sealed.text, bool(sealed.sealed), sealed.raw.value["type"]) == ("", True, "redacted_thinking")


def test_no_input_means_no_arguments_when_the_reply_was_not_cut():
    assert calls("call_without_arguments") == [("list_files", "{}"), ("now", "{}")]


def test_no_input_at_the_output_limit_is_a_fragment():
    assert calls("max_tokens_before_any_input") == [("read_file", '{"path":"a.py"}')]
    assert fragments("max_tokens_before_any_input") == [("delete_everything", "")]


def test_a_call_that_the_limit_cut_is_a_fragment_although_its_block_was_closed():
    assert calls("max_tokens_inside_a_call") == []
    assert fragments("max_tokens_inside_a_call") == [
        ("write_file", '{"path": "a.py", "content": "import os\\nimport sys\\n\\ndef ma')
    ]


def test_a_call_whose_block_never_stops_is_a_fragment_although_its_text_is_whole():
    assert calls("a_call_that_never_stops") == []
    assert fragments("a_call_that_never_stops") == [("save", '{"all":true}')]


def test_blocks_that_only_this_wire_knows_come_whole():
    kinds = [part.raw.value for part in received("server_tools_and_citations").parts if isinstance(part, Opaque)]
    assert [kind["type"] for kind in kinds] == ["server_tool_use", "web_search_tool_result"]
    assert kinds[0]["input"] == {"query": "weather NYC"}
    compaction, fallback, hologram = (
        part.raw.value for part in received("compaction_and_fallback").parts if isinstance(part, Opaque)
    )
    assert compaction == {
        "type": "compaction",
        "content": "The user wants a parser.",
        "encrypted_content": "AbCd",
    }
    assert fallback["to"] == {"model": "claude-opus-5"}
    assert hologram == {"type": "hologram", "frames": 3, "glow": "blue-green"}


def test_a_citation_is_reported_as_unread():
    assert received("server_tools_and_citations").unread == 1


def test_a_gateway_may_give_input_with_the_start_and_leave_names_and_indexes_out():
    assert calls("gateway_without_names_or_indexes") == [("add", '{"a":1,"b":2}'), ("add", '{"a":3}')]


def test_fields_beyond_the_vocabulary_stay_with_the_call():
    (call,) = received("pings_while_a_long_argument_is_held_back").parts
    assert isinstance(call, ToolCall)
    assert call.raw.value["caller"] == {"type": "direct"}


def test_a_whole_reply_where_a_stream_was_promised_is_read_as_one():
    assert calls("a_reply_that_did_not_stream") == [("save", '{"n":[1,2.5,"x"]}')]


def test_an_error_inside_a_call_leaves_the_fragment():
    assert received("overloaded_inside_a_call").parts[-1] == CallFragment("toolu_01", "write_file", '{"path":"a.txt"')
