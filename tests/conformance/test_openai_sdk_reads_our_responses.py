"""The official client, over a real socket, reads what our Responses encoder writes; we read what it sends."""

import asyncio
import json

import openai
import pytest

from headway.events import Cut, StreamCut, TextDelta
from headway.wire.table import WIRES
from support.replies import CONTENT, OPENED, REPLIES

WIRE = WIRES["responses"]
ITEMS = [
    {"role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "content": [
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "https://x/y.png", "detail": "low"},
        ],
    },
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "abc",
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_1",
        "name": "look",
        "arguments": '{"at": "y"}',
        "status": "completed",
    },
    {"type": "function_call_output", "call_id": "call_1", "output": "a cat"},
    {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "A cat.", "annotations": []}],
    },
    {"role": "user", "content": "thanks"},
]


def encoded(events) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


@pytest.fixture
def client(server):
    with openai.OpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
        yield client


def test_text_and_usage(server, client):
    server.streams(encoded(REPLIES["answer"]()))
    events = list(client.responses.create(model="m", input="hi", stream=True))
    assert "".join(e.delta for e in events if e.type == "response.output_text.delta") == "Hello, wörld 😀."
    numbers = [e.sequence_number for e in events]
    assert numbers == sorted(set(numbers))
    assert events[-1].type == "response.completed"
    assert events[-1].response.output_text == "Hello, wörld 😀."
    assert events[-1].response.usage.input_tokens == 11
    assert events[-1].response.id == "msg_abc"


def test_the_accumulating_helper_gets_both_calls_whole(server, client):
    server.streams(encoded(REPLIES["calls"]()))
    with client.responses.stream(model="m", input="hi") as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    calls = [item for item in final.output if item.type == "function_call"]
    assert [call.call_id for call in calls] == ["call_one", "call_two"]
    assert json.loads(calls[0].arguments)["content"] == CONTENT
    assert final.output_text == "I write two files."


def test_the_async_client_reads_thinking_apart_from_text(server):
    server.streams(encoded(REPLIES["thought"]()))

    async def read() -> tuple[str, list[str]]:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
            async with client.responses.stream(model="m", input="hi") as stream:
                async for _ in stream:
                    pass
                final = await stream.get_final_response()
            return final.output_text, [item.type for item in final.output]

    assert asyncio.run(read()) == ("Done.", ["reasoning", "message"])


def test_an_output_limit_is_told_as_such(server, client):
    server.streams(encoded(REPLIES["cut_short"]()))
    *_, last = client.responses.create(model="m", input="hi", stream=True)
    assert last.type == "response.incomplete"
    assert last.response.incomplete_details.reason == "max_output_tokens"


def test_an_error_in_the_stream_reaches_the_client(server, client):
    body = '{"error":{"message":"upstream died","type":"server_error","code":"server_error"}}'
    server.streams(encoded([OPENED, TextDelta("Hel"), StreamCut(Cut.ERROR, body)]))
    try:
        *_, last = client.responses.create(model="m", input="hi", stream=True)
    except openai.APIError as exc:
        assert "upstream died" in str(exc)
    else:
        assert last.type in {"response.failed", "error"}
        assert "upstream died" in last.to_json()


@pytest.mark.parametrize("name", REPLIES)
def test_whole_replies_are_read_too(server, client, name):
    server.answers(WIRE.render_reply(REPLIES[name]()))
    response = client.responses.create(model="m", input="hi")
    assert response.output_text == "".join(e.text for e in REPLIES[name]() if isinstance(e, TextDelta))
    assert response.usage.total_tokens > 0


@pytest.mark.parametrize("given", [ITEMS, "hi"], ids=["items", "string"])
def test_what_the_client_sends_is_parsed_without_loss(server, client, given):
    server.streams(encoded(REPLIES["answer"]()))
    list(
        client.responses.create(
            model="gpt-x",
            input=given,
            instructions="Act.",
            tools=[
                {
                    "type": "function",
                    "name": "look",
                    "description": "Look.",
                    "parameters": {"type": "object", "properties": {}},
                    "strict": False,
                },
                {"type": "custom", "name": "patch", "description": "Patch."},
                {"type": "web_search"},
            ],
            tool_choice="auto",
            parallel_tool_calls=True,
            max_output_tokens=99,
            reasoning={"effort": "low", "summary": "auto"},
            include=["reasoning.encrypted_content"],
            text={"format": {"type": "text"}, "verbosity": "low"},
            store=False,
            temperature=1,
            top_p=0.5,
            metadata={"k": "v"},
            truncation="disabled",
            extra_body={"vendor_field": {"deep": [1, 2]}},
            stream=True,
        )
    )
    (body,) = server.requests
    assert WIRE.render_request(WIRE.parse_request(body)) == body
