"""What single frames of a Responses stream mean, and what servers get wrong."""

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
    ThinkingSealed,
    Usage,
)
from headway.messages import Raw
from headway.wire.assembly import assemble
from headway.wire.openai_responses import WIRE, ResponsesDecoder

CREATED = {"type": "response.created", "response": {"id": "resp_1", "model": "m"}, "sequence_number": 0}
COMPLETED = {"type": "response.completed", "response": {"status": "completed", "output": []}}


def frame(value: dict | str, event: str = "") -> bytes:
    data = value if isinstance(value, str) else json.dumps(value)
    return (f"event: {event}\n" if event else "").encode() + f"data: {data}\n\n".encode()


def decode(*values: dict | str | bytes) -> list[Event]:
    decoder = WIRE.decoder()
    fed = [event for value in values for event in decoder.feed(value if isinstance(value, bytes) else frame(value))]
    return fed + decoder.close()


def heard(*values: dict | str | bytes) -> list[Event]:
    return [event for event in decode(*values) if not isinstance(event, KeepAlive)]


def added(index: int = 0, **item) -> dict:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int = 0, **item) -> dict:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def text(delta: str, index: int = 0, item_id: str = "msg_1", **fields) -> dict:
    return {"type": "response.output_text.delta", "delta": delta, "output_index": index, "item_id": item_id, **fields}


def arguments(delta: str, **fields) -> dict:
    return {"type": "response.function_call_arguments.delta", "delta": delta, "output_index": 0, **fields}


def finished(text: str, **fields) -> dict:
    return {"type": "response.function_call_arguments.done", "arguments": text, "output_index": 0, **fields}


CALL = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f"}
MESSAGE = {"type": "message", "id": "msg_1", "role": "assistant"}


def words(*texts: str) -> list[dict]:
    return [{"type": "output_text", "text": text} for text in texts]


# Envelopes


def test_a_response_opens_once():
    progress = {**CREATED, "type": "response.in_progress"}
    assert decode(CREATED, progress, {**CREATED, "type": "response.queued"}) == [
        StreamOpened("resp_1", "m"),
        KeepAlive(),
        KeepAlive(),
        StreamCut(Cut.EOF),
    ]


def test_what_a_server_needs_to_resume_stays_in_reach():
    decoder = ResponsesDecoder()
    assert (decoder.response_id, decoder.sequence_number) == ("", None)
    decoder.feed(frame(CREATED) + frame(text("a", sequence_number=4)) + frame(text("b", sequence_number=5)))
    decoder.feed(frame(text("c")))
    assert (decoder.response_id, decoder.sequence_number) == ("resp_1", 5)


@pytest.mark.parametrize("data", ["", "[DONE]", " [DONE] ", "{}", '{"type":"response.news","x":1}'])
def test_what_says_nothing_keeps_alive_and_ends_nothing(data):
    assert decode(frame(data)) == [KeepAlive(), StreamCut(Cut.EOF)]


def test_the_word_done_after_the_end_changes_nothing():
    assert isinstance(decode(COMPLETED, "[DONE]")[-1], StreamEnded)


@pytest.mark.parametrize("data", ["not json", "[1]", "5", '{"type":"response.output_text.delta","delta":{"a":1}}'])
def test_what_cannot_be_read_cuts_the_stream(data):
    end = decode(text("Half"), data, text("more"))[-1]
    assert isinstance(end, StreamCut)
    assert end.cause is Cut.UNREADABLE


def test_the_name_of_the_event_stands_in_for_a_missing_type():
    named = frame({"delta": "Hi", "output_index": 0}, "response.output_text.delta")
    assert heard(named, frame({"response": {}}, "response.completed"))[0] == TextDelta("Hi")


def test_fields_of_wrong_types_are_passed_over():
    odd = text("Hi", item_id=None, sequence_number="4", output_index=None, content_index=True)
    assert heard(odd, odd)[:2] == [TextDelta("Hi"), TextDelta("Hi")]


def test_an_empty_delta_is_a_keep_alive():
    assert decode(text(""), text(None)) == [KeepAlive(), KeepAlive(), StreamCut(Cut.EOF)]


# Ends


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"type": "error", "code": "slow_down", "message": "Wait"}, "error"),
        ({"type": "error", "status": 400, "error": {"message": "Bad"}}, "error"),
        ({"error": {"message": "Bad"}}, "error"),
        ({"type": "response.failed", "response": {"error": {"code": "server_error"}}}, "response.failed"),
        ({"type": "response.cancelled"}, "response.cancelled"),
        ({"type": "response.completed", "response": {"status": "failed"}}, "response.completed"),
        ({"type": "response.completed", "response": {"status": "cancelled"}}, "response.completed"),
        ({"type": "response.completed", "response": {"error": {"code": "x"}}}, "response.completed"),
    ],
)
def test_an_error_in_any_form_cuts_the_stream_and_is_the_evidence(value, said):
    end = decode(CREATED, text("Half"), value)[-1]
    assert isinstance(end, StreamCut)
    assert (end.cause, json.loads(end.body), end.said) == (Cut.ERROR, value, said)


def test_an_error_event_need_not_be_json():
    assert decode(frame("Bad gateway", "error")) == [StreamCut(Cut.ERROR, "Bad gateway", "error")]
    assert decode(frame({"message": "Bad"}, "error")) == [StreamCut(Cut.ERROR, '{"message":"Bad"}', "error")]


def test_a_failed_response_still_says_what_it_cost():
    failed = {"type": "response.failed", "response": {"id": "r", "usage": {"input_tokens": 3}, "error": {"code": "x"}}}
    assert heard(failed)[:2] == [StreamOpened("r", ""), Usage(3)]


@pytest.mark.parametrize(
    ("details", "stop", "said"),
    [
        ({"reason": "max_output_tokens"}, Stop.LENGTH, "incomplete:max_output_tokens"),
        ({"reason": "content_filter"}, Stop.FILTERED, "incomplete:content_filter"),
        ({"reason": ["odd"]}, Stop.UNKNOWN, "incomplete"),
        ("odd", Stop.UNKNOWN, "incomplete"),
    ],
)
def test_an_incomplete_response_is_never_a_success(details, stop, said):
    for kind in ("response.incomplete", "response.completed"):
        value = {"type": kind, "response": {"status": "incomplete", "incomplete_details": details}}
        assert decode(value)[-1] == StreamEnded(stop, said)


def test_the_event_ends_a_response_whose_status_lags_behind():
    lagging = {"type": "response.completed", "response": {"status": "in_progress"}}
    assert decode(lagging)[-1] == StreamEnded(Stop.END, "completed")
    assert decode({"type": "response.incomplete"})[-1] == StreamEnded(Stop.UNKNOWN, "incomplete")


@pytest.mark.parametrize("usage", [None, 5, {"input_tokens": "7", "output_tokens": -1, "input_tokens_details": []}])
def test_odd_usage_counts_nothing(usage):
    heard_usage = [e for e in decode({**COMPLETED, "response": {"usage": usage}}) if isinstance(e, Usage)]
    assert heard_usage == ([Usage()] if isinstance(usage, dict) else [])


# Words


def test_the_rest_that_no_delta_brought_is_said_once():
    whole = {"type": "response.output_text.done", "item_id": "msg_1", "output_index": 0, "text": "Hello"}
    item = done(**MESSAGE, content=words("Hello, you"))
    final = {**COMPLETED, "response": {"output": [{**MESSAGE, "content": words("Hello, you")}]}}
    assert heard(added(**MESSAGE), text("Hel"), whole, whole, item, item, final)[:3] == [
        TextDelta("Hel"),
        TextDelta("lo"),
        TextDelta(", you"),
    ]
    assert assemble(decode(added(**MESSAGE), text("Hel"), whole, whole, item, item, final)).text == "Hello, you"


def test_text_that_was_shown_stays_shown_when_the_whole_differs():
    trimmed = done(**MESSAGE, content=words("Hello"))
    assert assemble(decode(added(**MESSAGE), text("Hello  "), trimmed, COMPLETED)).text == "Hello  "


def test_parts_of_a_message_are_joined_even_when_deltas_do_not_tell_them_apart():
    item = done(**MESSAGE, content=words("One. ", "Two."))
    assert assemble(decode(added(**MESSAGE), text("One. "), text("Two."), item, COMPLETED)).text == "One. Two."


def test_items_may_share_an_index_or_have_none():
    other = {**MESSAGE, "id": "msg_2"}
    shared = [added(**MESSAGE), text("A"), done(**MESSAGE, content=words("A")), added(**other)]
    shared += [text("B", item_id="msg_2"), done(**other, content=words("B")), COMPLETED]
    assert assemble(decode(*shared)).text == "AB"
    nameless = {"type": "message", "role": "assistant"}
    bare = {"type": "response.output_text.delta"}
    finish = [{"type": "response.output_item.done", "item": {**nameless, "content": words(t)}} for t in "AB"]
    values = [{**bare, "delta": "A"}, finish[0], {**bare, "delta": "B"}, finish[1], COMPLETED]
    assert assemble(decode(*values)).text == "AB"


def test_the_final_list_may_be_in_another_order_under_other_names():
    output = [
        {"type": "reasoning", "id": "rs_9", "summary": []},
        {**MESSAGE, "id": "msg_9", "content": words("A")},
        {**CALL, "id": "fc_9", "arguments": "{}"},
        {**CALL, "id": "fc_8", "call_id": "call_2", "arguments": "{}"},
    ]
    values = [added(**MESSAGE), text("A"), added(1, **CALL), arguments("{}", output_index=1)]
    received = assemble(decode(*values, {**COMPLETED, "response": {"output": output}}))
    assert received.text == "A"
    assert [call.id for call in received.calls] == ["call_1", "call_2"]


# Thoughts


def thought(delta: str, part: int, index: int = 0) -> dict:
    kind = "response.reasoning_summary_text.delta"
    return {"type": kind, "delta": delta, "summary_index": part, "output_index": index}


def test_parts_of_thoughts_are_set_apart():
    values = [added(type="reasoning"), thought("A", 0), thought("B", 1), thought("C", 1)]
    assert heard(*values)[:4] == [ThinkingDelta(t) for t in ("A", "\n\n", "B", "C")]
    next_item = [added(1, type="reasoning"), thought("D", 0, index=1)]
    assert assemble(decode(*values, *next_item)).thinking[0].text == "A\n\nBC\n\nD"


def test_a_seal_sets_blocks_of_thought_apart():
    sealed = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "g"}
    values = [added(**sealed), thought("A", 0), done(**sealed), added(1, type="reasoning"), thought("B", 0, index=1)]
    assert heard(*values)[:3] == [
        ThinkingDelta("A"),
        ThinkingSealed("g", Raw("responses", sealed)),
        ThinkingDelta("B"),
    ]


def test_a_seal_of_a_block_that_was_cut_is_not_trusted():
    item = {"type": "reasoning", "id": "rs_1", "encrypted_content": "g", "status": "incomplete"}
    assert heard(done(**item)) == [StreamCut(Cut.EOF)]


# Calls


def test_a_call_is_closed_once():
    item = done(**CALL, arguments='{"a":1}', status="completed")
    assert heard(added(**CALL), arguments('{"a"'), arguments(":1}"), finished('{"a":1}'), item, item, COMPLETED) == [
        CallOpened(0, "call_1", "f"),
        CallArguments(0, '{"a"'),
        CallArguments(0, ":1}"),
        CallClosed(0),
        StreamOpened(),
        StreamEnded(Stop.CALLS, "completed"),
    ]


def test_arguments_that_came_only_when_finished_are_said():
    assert heard(added(**CALL), arguments('{"a"'), finished('{"a":1}'))[2:4] == [CallArguments(0, ":1}"), CallClosed(0)]
    as_object = done(**CALL, arguments={"a": 1})
    assert assemble(decode(as_object)).calls[0].arguments == '{"a":1}'


@pytest.mark.parametrize("whole", ['{"a":2}', '{"a":', '{"a":1.0}'])
def test_finished_arguments_that_contradict_cut_the_stream(whole):
    for value in (finished(whole), done(**CALL, arguments=whole, status="completed")):
        received = assemble(decode(added(**CALL), arguments('{"a":1'), arguments("}"), value))
        assert received.end == StreamCut(Cut.CONTRADICTORY, received.end.body, received.end.said)
        assert "contradict" in received.end.said
        assert not received.calls


def test_arguments_that_are_more_than_an_object_are_no_call():
    values = [added(**CALL), arguments("{}"), done(**CALL, arguments="{}{}", status="completed"), COMPLETED]
    assert [fragment.arguments for fragment in assemble(decode(*values)).fragments] == ["{}{}"]


def test_arguments_written_in_another_way_are_no_contradiction():
    values = [added(**CALL), arguments('{"a":1}'), done(**CALL, arguments='{ "a": 1 }', status="completed"), COMPLETED]
    assert assemble(decode(*values)).calls[0].arguments == '{"a":1}'
    values[2] = done(**CALL, arguments='{"a":true}', status="completed")
    assert assemble(decode(*values)).is_cut


def test_arguments_after_the_end_of_their_call_cut_the_stream():
    received = assemble(decode(added(**CALL), finished("{}"), arguments('{"more":1}', item_id="fc_1")))
    assert received.end == StreamCut(Cut.UNREADABLE, received.end.body, "arguments went on after their call was closed")


def test_a_finished_item_need_not_repeat_its_arguments():
    values = [added(**CALL), arguments("{}"), done(**CALL, arguments="", status="completed"), COMPLETED]
    assert [call.arguments for call in assemble(decode(*values)).calls] == ["{}"]


def test_a_call_without_arguments_is_whole_only_when_the_wire_says_so():
    blank = done(**CALL, arguments="")
    assert assemble(decode(added(**CALL), finished(""))).fragments
    assert assemble(decode(added(**CALL), blank)).fragments
    assert assemble(decode(added(**CALL), blank, {"type": "response.incomplete"})).fragments
    assert assemble(decode(added(**CALL), COMPLETED)).fragments, "only its name was heard"
    assert assemble(decode(added(**CALL), blank, COMPLETED)).calls
    assert assemble(decode(added(**CALL), done(**CALL, arguments="", status="completed"))).calls


def test_free_text_is_whole_only_when_the_wire_says_so():
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "patch"}
    said = {"type": "response.custom_tool_call_input.done", "input": "rm x", "output_index": 0}
    assert assemble(decode(added(**item), said)).fragments
    assert assemble(decode(added(**item), said, done(**item, input="rm x"))).fragments
    assert assemble(decode(added(**item), said, done(**item, input="rm x", status="incomplete"), COMPLETED)).fragments
    assert assemble(decode(added(**item), said, done(**item, input="rm x", status="completed"))).calls
    assert assemble(decode(added(**item), said, done(**item, input="rm x"), COMPLETED)).calls


def test_an_item_that_says_incomplete_is_not_closed_even_if_its_text_is_an_object():
    assert not assemble(decode(added(**CALL), done(**CALL, arguments="{}", status="incomplete"), COMPLETED)).calls


def test_arguments_wait_for_the_name_of_their_call():
    values = [arguments('{"a":', item_id="fc_1"), arguments("1}", item_id="fc_1")]
    assert heard(*values, done(**CALL, arguments='{"a":1}', status="completed"))[:3] == [
        CallOpened(0, "call_1", "f"),
        CallArguments(0, '{"a":1}'),
        CallClosed(0),
    ]


def test_calls_stream_side_by_side():
    other = {**CALL, "id": "fc_2", "call_id": "call_2"}
    values = [added(0, **CALL), added(1, **other), arguments("{", output_index=0), arguments('{"b":', output_index=1)]
    values += [arguments("}", output_index=0), arguments("2}", output_index=1), COMPLETED]
    assert [call.arguments for call in assemble(decode(*values)).calls] == ["{}", '{"b":2}']


def test_a_call_without_an_id_takes_that_of_its_item():
    assert heard(added(type="function_call", id="fc_1", name="f"))[0] == CallOpened(0, "fc_1", "f")


# Other items


def test_other_items_are_whole_blocks_once_finished():
    item = {"type": "image_generation_call", "id": "ig_1", "result": "AAAA"}
    progress = {"type": "response.image_generation_call.partial_image", "item_id": "ig_1", "partial_image_b64": "A"}
    final = {**COMPLETED, "response": {"output": [item]}}
    values = [added(type="image_generation_call", id="ig_1"), progress, done(**item), final]
    assert heard(*values)[0] == OpaqueBlock(Raw("responses", item))
    assert sum(isinstance(event, OpaqueBlock) for event in heard(*values)) == 1


def test_an_item_that_is_announced_as_nothing_is_nothing():
    assert decode({"type": "response.output_item.added", "item": None, "output_index": 0})[0] == KeepAlive()
