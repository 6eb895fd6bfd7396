"""A Responses stream that was forwarded as it came is gone on with: same numbers, same items, same response."""

from itertools import count
from typing import Any

import pytest

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    Usage,
)
from headway.wire.base import Follower
from headway.wire.json_text import encode
from headway.wire.openai_responses import WIRE
from headway.wire.sse import write_frame
from support.takeovers import following, forwarded, steps_of, values_of

NEXT = StreamOpened("another", "another-model")
ENDED = StreamEnded(Stop.END)
ECHO = {
    "instructions": "Be brief.",
    "tools": [{"type": "function", "name": "go"}],
    "metadata": {"k": "v"},
    "store": False,
}
RESPONSE = {
    "id": "resp_up",
    "object": "response",
    "created_at": 1762000000,
    "status": "in_progress",
    "model": "gpt-x",
    "output": [],
    "usage": None,
    "error": None,
    "incomplete_details": None,
    **ECHO,
}
PART = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
MESSAGE = {"id": "msg_up", "type": "message", "status": "in_progress", "content": [], "role": "assistant", "phase": "x"}
CALL = {
    "id": "fc_up",
    "type": "function_call",
    "status": "in_progress",
    "arguments": "",
    "call_id": "c1",
    "name": "wipe",
}


def stream(*events: tuple[str, dict[str, Any]]) -> Follower:
    """Return who followed these events after the opening of a response, all of them numbered from 5."""
    opening = [("created", {"response": RESPONSE}), ("in_progress", {"response": RESPONSE})]
    numbers = count(5)
    frames = [
        {"type": f"response.{name}", "sequence_number": next(numbers), **fields} for name, fields in (*opening, *events)
    ]
    return following(WIRE, *frames)


def added(item: dict[str, Any], index: int = 0) -> tuple[str, dict[str, Any]]:
    return "output_item.added", {"output_index": index, "item": item}


def done(item: dict[str, Any], index: int = 0) -> tuple[str, dict[str, Any]]:
    return "output_item.done", {"output_index": index, "item": item}


def about(name: str, item: str, index: int = 0, **fields: Any) -> tuple[str, dict[str, Any]]:
    return name, {"item_id": item, "output_index": index, **fields}


def words(name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return about(name, "msg_up", content_index=0, **fields)


TEXT = (added(MESSAGE), words("content_part.added", part=PART), words("output_text.delta", delta="Hel", logprobs=[]))


def gone_on(follower: Follower, *events: Event, keeping: int | None = None) -> list[Any]:
    encoder = follower.encoder()
    return values_of(b"".join((encoder.seam(keeping), *map(encoder.write, (NEXT, *events)))))


def kinds(values: list[Any]) -> list[str]:
    return [value["type"].removeprefix("response.") for value in values]


def test_text_goes_on_in_the_open_part_and_the_done_events_hold_all_of_it():
    more, text, part, item, end = gone_on(stream(*TEXT), TextDelta("lo"), Usage(9, 2), ENDED)
    assert more == {
        "type": "response.output_text.delta",
        "sequence_number": 10,
        "item_id": "msg_up",
        "output_index": 0,
        "content_index": 0,
        "delta": "lo",
        "logprobs": [],
    }
    assert (text["type"], text["text"]) == ("response.output_text.done", "Hello")
    assert part["part"] == {**PART, "text": "Hello"}
    assert item["item"] == {**MESSAGE, "status": "completed", "content": [part["part"]]}
    assert [value["sequence_number"] for value in (more, text, part, item, end)] == [10, 11, 12, 13, 14]


def test_the_end_is_that_of_the_response_that_was_opened_with_all_its_fields():
    (*_, end) = gone_on(stream(*TEXT), Usage(9, 2), ENDED)
    assert end["type"] == "response.completed"
    response = end["response"]
    assert {key: response[key] for key in ECHO} == ECHO
    assert (response["id"], response["model"], response["created_at"]) == ("resp_up", "gpt-x", 1762000000)
    assert (response["status"], response["usage"]["output_tokens"]) == ("completed", 2)
    assert [item["id"] for item in response["output"]] == ["msg_up"]


def test_finished_items_stand_in_the_end_as_their_done_event_said():
    reasoning = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "gAAAAwhole", "later": [1]}
    search = {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"type": "search"}}
    follower = stream(
        added({**reasoning, "encrypted_content": "gAAAAhalf"}), done(reasoning), added(search, 1), done(search, 1)
    )
    added_event, *_, end = gone_on(follower, TextDelta("Hi"), ENDED)
    assert (added_event["output_index"], added_event["item"]["id"]) == (2, "msg_up_2")
    assert end["response"]["output"][:2] == [reasoning, search]


def test_a_part_whose_words_are_finished_is_closed_and_the_text_goes_on_in_a_new_one_of_the_same_item():
    values = gone_on(stream(*TEXT, words("output_text.done", text="Hel")), TextDelta("lo"), ENDED)
    assert kinds(values) == [
        *("content_part.done", "content_part.added", "output_text.delta", "output_text.done", "content_part.done"),
        *("output_item.done", "completed"),
    ]
    assert [part["text"] for part in values[-2]["item"]["content"]] == ["Hel", "lo"]
    assert (values[1]["item_id"], values[1]["content_index"]) == ("msg_up", 1)


def test_after_a_finished_part_the_item_goes_on():
    finished = {**PART, "text": "Hel", "annotations": [{"type": "url_citation"}]}
    follower = stream(*TEXT, words("output_text.done", text="Hel"), words("content_part.done", part=finished))
    values = gone_on(follower, TextDelta("lo"), ENDED)
    assert kinds(values)[0] == "content_part.added"
    assert values[-2]["item"]["content"][0] == finished


def test_annotations_stay_with_their_part():
    note = {"type": "url_citation", "url": "https://x.test"}
    follower = stream(*TEXT, words("output_text.annotation.added", annotation_index=0, annotation=note))
    (_, part, *_) = gone_on(follower, ENDED)
    assert part["part"]["annotations"] == [note]


def test_words_in_a_part_that_nobody_announced_are_finished_without_its_envelope():
    follower = stream(added(MESSAGE), words("output_text.delta", delta="Hi"))
    values = gone_on(follower, TextDelta("!"), ENDED)
    assert kinds(values) == ["output_text.delta", "output_text.done", "output_item.done", "completed"]
    assert values[2]["item"]["content"][0]["text"] == "Hi!"


REASONING = {"id": "rs_up", "type": "reasoning", "summary": [], "encrypted_content": "gAAAAhalf"}
THOUGHT = (
    added(REASONING),
    about("reasoning_summary_part.added", "rs_up", summary_index=0, part={"type": "summary_text", "text": ""}),
    about("reasoning_summary_text.delta", "rs_up", summary_index=0, delta="Hm"),
)


def test_reasoning_is_closed_at_the_seam_without_half_a_seal():
    encoder = stream(*THOUGHT).encoder()
    text, part, item = values_of(encoder.seam())
    assert (text["text"], part["part"]["text"]) == ("Hm", "Hm")
    assert item["item"] == {
        "id": "rs_up",
        "type": "reasoning",
        "status": "incomplete",
        "summary": [{"type": "summary_text", "text": "Hm"}],
    }


def test_the_next_attempts_reasoning_is_an_item_of_its_own_with_its_own_seal():
    values = gone_on(stream(*THOUGHT), ThinkingDelta("So"), ThinkingSealed("gAAAAnew"), TextDelta("Yes"), ENDED)
    first, second, message = values[-1]["response"]["output"]
    assert "encrypted_content" not in first
    assert (second["encrypted_content"], second["summary"][0]["text"]) == ("gAAAAnew", "So")
    assert message["content"][0]["text"] == "Yes"


def test_reasoning_in_the_open_weight_form_is_finished_in_that_form():
    follower = stream(added(REASONING), about("reasoning_text.delta", "rs_up", content_index=0, delta="Hm"))
    values = values_of(follower.encoder().seam())
    assert kinds(values) == ["reasoning_text.done", "output_item.done"]
    assert values[1]["item"]["content"] == [{"type": "reasoning_text", "text": "Hm"}]


def test_the_kept_call_goes_on_in_its_item():
    more = {"namespace": "files"}
    follower = stream(added({**CALL, **more}), about("function_call_arguments.delta", "fc_up", delta='{"a":'))
    delta, finished, item, end = gone_on(
        follower, CallArguments(0, "1}"), CallClosed(0), StreamEnded(Stop.CALLS), keeping=0
    )
    assert (delta["item_id"], delta["delta"], finished["arguments"]) == ("fc_up", "1}", '{"a":1}')
    assert item["item"] == {**CALL, **more, "arguments": '{"a":1}', "status": "completed"}
    assert end["response"]["output"] == [item["item"]]


@pytest.mark.parametrize("end", [ENDED, StreamEnded(Stop.LENGTH)])
def test_a_call_that_nobody_goes_on_with_is_never_done_and_the_response_fails(end):
    follower = stream(added(CALL), about("function_call_arguments.delta", "fc_up", delta='{"a":'))
    values = gone_on(follower, TextDelta("well"), CallOpened(0, "c2", "go"), CallClosed(0), end)
    assert "fc_up" not in [value["item"]["id"] for value in values if value["type"].endswith("item.done")]
    response = values[-1]["response"]
    assert (values[-1]["type"], response["output"][0]["status"]) == ("response.failed", "incomplete")
    assert response["output"][0]["arguments"] == '{"a":'
    assert "'wipe' never arrived whole" in response["error"]["message"]


def test_a_whole_call_whose_end_was_not_forwarded_gets_it_at_the_seam():
    said = '{"a":1}'
    follower = stream(
        added(CALL),
        about("function_call_arguments.delta", "fc_up", delta=said),
        about("function_call_arguments.done", "fc_up", arguments=said),
    )
    (item,) = values_of(follower.encoder().seam())
    assert item["item"] == {**CALL, "arguments": said, "status": "completed"}
    assert gone_on(follower, ENDED)[-1]["type"] == "response.completed"


def test_a_call_that_was_finished_as_incomplete_is_not_gone_on_with():
    cut = {**CALL, "status": "incomplete", "arguments": '{"a":'}
    follower = stream(added(CALL), about("function_call_arguments.delta", "fc_up", delta='{"a":'), done(cut))
    assert kinds(gone_on(follower, StreamEnded(Stop.LENGTH), keeping=0)) == ["incomplete"]
    assert kinds(gone_on(follower, CallArguments(0, "1}"), CallClosed(0), ENDED, keeping=0)) == ["failed"]
    assert kinds(gone_on(follower, ENDED)) == ["failed"]


def test_parallel_calls_collect_their_own_arguments():
    other = {**CALL, "id": "fc_2", "call_id": "c2", "name": "go"}
    follower = stream(
        *(added(CALL), added(other, 1)),
        about("function_call_arguments.delta", "fc_up", delta='{"a"'),
        about("function_call_arguments.delta", "fc_2", 1, delta='{"b"'),
        about("function_call_arguments.delta", "fc_up", delta=":1"),
        about("function_call_arguments.delta", "fc_2", 1, delta=":2"),
        about("function_call_arguments.delta", "fc_2", 1, delta="}"),
    )
    finished = gone_on(follower, CallClosed(1), keeping=1)[0]
    assert finished["arguments"] == '{"b":2}'


@pytest.mark.parametrize(("kind", "status"), [("web_search_call", "incomplete"), ("image_generation_call", "failed")])
def test_an_open_item_of_the_servers_own_tools_is_closed_at_the_seam(kind, status):
    follower = stream(added({"id": "x_1", "type": kind, "status": "in_progress"}))
    (item,) = values_of(follower.encoder().seam())
    assert (item["type"], item["item"]["status"]) == ("response.output_item.done", status)


@pytest.mark.parametrize("kind", ["local_shell_call", "apply_patch_call", "something_new_call"])
def test_half_of_what_a_client_may_run_is_never_done(kind):
    follower = stream(added({"id": "x_1", "type": kind, "status": "in_progress"}))
    values = gone_on(follower, ENDED)
    assert kinds(values) == ["failed"]
    assert values[0]["response"]["output"][0]["status"] == "incomplete"


def test_items_that_were_left_open_while_others_followed_are_closed_at_the_seam():
    follower = stream(*TEXT, added(CALL, 1), about("function_call_arguments.delta", "fc_up", 1, delta="{}"))
    values = values_of(follower.encoder().seam(0))
    assert kinds(values) == ["output_text.done", "content_part.done", "output_item.done"]
    assert values[0]["text"] == "Hel"


def test_indexes_that_are_missing_or_shared_are_counted():
    follower = stream(("output_item.added", {"item": MESSAGE}), done({**MESSAGE, "id": "m2"}, 0))
    assert gone_on(follower, TextDelta("Hi"))[0]["output_index"] == 1


def test_without_numbers_counting_begins():
    opened = {"type": "response.created", "response": RESPONSE}
    assert gone_on(following(WIRE, opened), TextDelta("Hi"))[0]["sequence_number"] == 0


def test_frames_without_a_name_are_followed_too():
    numbers = [{"sequence_number": n} for n in range(9)]
    frames = [
        {"type": "response.created", **numbers[0], "response": RESPONSE},
        *({"type": f"response.{name}", **n, **fields} for n, (name, fields) in zip(numbers[1:], TEXT, strict=False)),
        *({"type": "response.output_text.delta", **n, **TEXT[2][1], "delta": "lo"} for n in numbers[4:7]),
    ]
    data = b"".join(write_frame(encode(frame)) for frame in frames)
    follower, _ = forwarded(WIRE, steps_of(WIRE, data)[0])
    values = gone_on(follower, ENDED)
    assert (values[0]["text"], values[0]["sequence_number"]) == ("Hellololo", 7)


def test_after_the_end_nothing_is_written():
    follower = stream(("completed", {"response": {**RESPONSE, "status": "completed"}}))
    assert gone_on(follower, TextDelta("more"), ENDED) == []
    assert follower.heartbeat() == b""


def test_a_cut_by_an_error_fails_the_response_that_was_opened():
    (*_, end) = gone_on(stream(*TEXT), StreamCut(Cut.ERROR, '{"error":{"message":"gone"}}'))
    assert (end["type"], end["response"]["id"]) == ("response.failed", "resp_up")
    assert end["response"]["output"][0]["content"][0]["text"] == "Hel"


def test_a_heartbeat_is_progress_and_leaves_the_next_number_to_the_upstream():
    follower = stream(*TEXT)
    (beat,) = values_of(follower.heartbeat())
    assert beat == {"type": "response.in_progress", "sequence_number": 9, "response": RESPONSE}
    encoder = follower.encoder()
    (ours,) = values_of(encoder.heartbeat())
    assert (ours["type"], ours["sequence_number"], ours["response"]["output"]) == ("response.in_progress", 10, [])
    assert values_of(encoder.write(TextDelta("lo")))[0]["sequence_number"] == 11


def test_before_the_stream_a_heartbeat_is_a_comment():
    assert WIRE.follower().heartbeat().startswith(b":")
    assert WIRE.encoder().heartbeat().startswith(b":")
