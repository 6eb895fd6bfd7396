"""The encoder's bytes, as the official client reads and accumulates them."""

import json
from collections.abc import Iterable

import httpx2
import pytest
from openai import OpenAI
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

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
from headway.wire.openai_responses import WIRE, ResponsesEncoder

OPENED = StreamOpened("resp_abc", "model-1")
SEARCH = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
EVERYTHING: list[Event] = [
    OPENED,
    ThinkingDelta("Let me "),
    ThinkingDelta("see."),
    ThinkingSealed("gAAAA"),
    KeepAlive(),
    TextDelta("Look"),
    TextDelta("ing."),
    RefusalDelta("Not that."),
    OpaqueBlock(Raw("responses", SEARCH)),
    CallOpened(0, "call_1", "read"),
    CallArguments(0, '{"path":'),
    CallOpened(1, "call_2", "patch", freeform=True),
    CallArguments(1, "*** Begin"),
    CallArguments(0, '"a"}'),
    CallClosed(0),
    CallClosed(1),
    TextDelta("Done."),
    Usage(10, 5, 4, 1, 2),
    StreamEnded(Stop.CALLS),
]
DONE_EVENTS = ("response.function_call_arguments.done", "response.custom_tool_call_input.done")


def encode(events: Iterable[Event]) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


def frames(data: bytes) -> list[dict]:
    return [json.loads(block.partition(b"data: ")[2]) for block in data.split(b"\n\n") if b"data: " in block]


def client_for(data: bytes, content_type: str = "text/event-stream") -> OpenAI:
    answer = httpx2.MockTransport(lambda _: httpx2.Response(200, content=data, headers={"content-type": content_type}))
    return OpenAI(api_key="none", base_url="http://test", http_client=httpx2.Client(transport=answer))


def decode(data: bytes) -> list[Event]:
    decoder = WIRE.decoder()
    return decoder.feed(data) + decoder.close()


def test_the_official_client_accumulates_the_stream():
    with client_for(encode(EVERYTHING)).responses.stream(model="m", input="hi") as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        response = stream.get_final_response()
    assert deltas == ["Look", "ing.", "Done."]
    assert response.id == "resp_abc"
    assert response.output_text == "Looking.Done."
    assert [item.type for item in response.output] == [
        "reasoning",
        "message",
        "web_search_call",
        "function_call",
        "custom_tool_call",
        "message",
    ]
    assert response.output[3].arguments == '{"path":"a"}'
    assert response.output[4].input == "*** Begin"
    assert response.usage is not None
    assert response.usage.total_tokens == 15


def test_every_frame_has_the_exact_shape_of_its_event():
    adapter = TypeAdapter(ResponseStreamEvent)
    for frame in frames(encode(EVERYTHING)):
        event = adapter.validate_python(frame)
        assert event.type == frame["type"]


def test_frames_are_named_and_numbered_in_order():
    data = encode(EVERYTHING)
    assert [frame["sequence_number"] for frame in frames(data)] == list(range(len(frames(data))))
    for block in data.split(b"\n\n"):
        if block.startswith(b"event: "):
            name, _, body = block.removeprefix(b"event: ").partition(b"\n")
            assert json.loads(body.removeprefix(b"data: "))["type"] == name.decode()


def test_every_item_is_announced_and_finished_under_one_name():
    written = frames(encode(EVERYTHING))
    added = {f["output_index"]: f["item"]["id"] for f in written if f["type"] == "response.output_item.added"}
    done = {f["output_index"]: f["item"]["id"] for f in written if f["type"] == "response.output_item.done"}
    final = {index: item["id"] for index, item in enumerate(written[-1]["response"]["output"])}
    assert added == done == final
    assert all(f["item_id"] == added[f["output_index"]] for f in written if "item_id" in f)
    assert len(set(added.values())) == len(added)


def test_the_same_events_give_the_same_bytes_and_other_responses_other_ids():
    assert encode(EVERYTHING) == encode(EVERYTHING)
    others = frames(encode([StreamOpened("resp_xyz"), *EVERYTHING[1:]]))
    assert others[2]["item"]["id"] != frames(encode(EVERYTHING))[2]["item"]["id"]


def test_the_date_is_given_not_read_from_a_clock():
    encoder = ResponsesEncoder(created_at=1_762_000_000)
    assert frames(encoder.write(OPENED))[0]["response"]["created_at"] == 1_762_000_000


def test_a_keep_alive_is_a_comment_and_what_has_no_word_is_nothing():
    encoder = WIRE.encoder()
    assert encoder.write(KeepAlive()).startswith(b":")
    assert encoder.write(Unread("odd", "x")) == b""
    assert encoder.write(TextDelta("")) == b""
    assert encoder.write(CallArguments(7, "{}")) == b""
    encoder.write(OPENED)
    assert encoder.write(CallClosed(7)) == b""
    assert encoder.write(OpaqueBlock(Raw("anthropic", {"type": "server_tool_use"}))) == b""


def test_an_open_call_is_never_finished_and_stands_in_the_output_as_incomplete():
    events = [OPENED, CallOpened(0, "call_1", "write"), CallArguments(0, '{"text":"ha'), StreamEnded(Stop.LENGTH)]
    written = frames(encode(events))
    assert not [f for f in written if f["type"] in (*DONE_EVENTS, "response.output_item.done")]
    assert written[-1]["type"] == "response.incomplete"
    assert written[-1]["response"]["incomplete_details"] == {"reason": "max_output_tokens"}
    (item,) = written[-1]["response"]["output"]
    assert (item["status"], item["arguments"]) == ("incomplete", '{"text":"ha')


@pytest.mark.parametrize("cause", [cause for cause in Cut if cause is not Cut.ERROR])
def test_a_cut_that_is_no_error_writes_no_end(cause):
    encoder = WIRE.encoder()
    encoder.write(OPENED)
    encoder.write(TextDelta("Half"))
    assert encoder.write(StreamCut(cause)) == b""
    assert encoder.write(TextDelta("more")) == b""


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (
            '{"error":{"type":"overloaded_error","message":"Overloaded"},"type":"error"}',
            "overloaded_error",
            "Overloaded",
        ),
        ('{"error":{"code":429,"message":"Slow down"}}', "429", "Slow down"),
        ('{"type":"error","code":"server_error","message":"Oops","param":null}', "server_error", "Oops"),
        ('{"response":{"error":{"code":"bio_policy","message":"No"}}}', "bio_policy", "No"),
        ('{"error":"just words"}', "server_error", "just words"),
        ("Bad gateway", "server_error", "Bad gateway"),
        ("[1]", "server_error", "[1]"),
        ("", "server_error", "The answer failed."),
    ],
)
def test_an_error_of_any_wire_is_told_in_this_one(body, code, message):
    events: list[Event] = [OPENED, TextDelta("Half"), Usage(1, 2), StreamCut(Cut.ERROR, body)]
    failed = frames(encode(events))[-1]
    assert failed["type"] == "response.failed"
    assert failed["response"]["error"] == {"code": code, "message": message}
    end = decode(encode(events))[-1]
    assert isinstance(end, StreamCut)
    assert end.cause is Cut.ERROR
    assert message in json.loads(end.body)["response"]["error"]["message"]


def test_an_error_before_anything_else_is_an_error_event():
    (frame,) = frames(encode([StreamCut(Cut.ERROR, '{"error":{"code":"slow_down","message":"Wait"}}')]))
    assert frame == {"type": "error", "sequence_number": 0, "code": "slow_down", "message": "Wait", "param": None}


@pytest.mark.parametrize(
    ("stop", "code"),
    [
        (Stop.REFUSED, "invalid_prompt"),
        (Stop.WINDOW, "context_length_exceeded"),
        (Stop.FAILED, "server_error"),
        (Stop.UNKNOWN, "server_error"),
    ],
)
def test_a_stop_that_is_no_answer_fails_the_response(stop, code):
    error = frames(encode([OPENED, StreamEnded(stop, said="odd_word")]))[-1]["response"]["error"]
    assert error["code"] == code
    assert "odd_word" in error["message"]


def test_content_without_an_opening_opens_the_response():
    assert [frame["type"] for frame in frames(encode([TextDelta("Hi")]))][:2] == [
        "response.created",
        "response.in_progress",
    ]
    assert encode([OPENED, OPENED]) == encode([OPENED])


def test_a_signature_travels_on_its_reasoning_item():
    events: list[Event] = [OPENED, ThinkingDelta("Hm"), ThinkingSigned("sig"), ThinkingSigned("sig2"), TextDelta("A")]
    heard = [event for event in decode(encode(events)) if not isinstance(event, KeepAlive)]
    assert heard == [*events, StreamCut(Cut.EOF)]


def test_a_sealed_item_keeps_its_fields_and_says_its_words_once():
    item = {"type": "reasoning", "id": "rs_x", "content": [{"type": "reasoning_text", "text": "Hm"}], "extra": 1}
    events: list[Event] = [OPENED, ThinkingDelta("Hm"), ThinkingSealed("gAAAA", Raw("responses", item))]
    heard = decode(encode(events))
    assert [event.text for event in heard if isinstance(event, ThinkingDelta)] == ["Hm"]
    (sealed,) = [event for event in heard if isinstance(event, ThinkingSealed)]
    assert sealed.raw is not None
    assert sealed.raw.value["extra"] == 1


def test_the_official_client_reads_a_whole_reply():
    reply = WIRE.render_reply(EVERYTHING)
    Response.model_validate(reply)
    body = json.dumps(reply).encode()
    response = client_for(body, "application/json").responses.create(model="m", input="hi")
    assert response.output_text == "Looking.Done."
    assert response.status == "completed"
