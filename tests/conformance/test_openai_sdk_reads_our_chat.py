"""The official client, over a real socket, reads what our chat encoder writes; we read what it sends."""

import asyncio
import json

import openai
import pytest

from headway.events import Cut, StreamCut, TextDelta
from headway.wire.table import WIRES
from support.replies import CONTENT, OPENED, REPLIES

WIRE = WIRES["chat"]
MESSAGES = [
    {"role": "developer", "content": "Be brief."},
    {
        "role": "user",
        "name": "ann",
        "content": [
            {"type": "text", "text": "look"},
            {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
        ],
    },
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at": "y"}'}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "a cat"},
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look.",
            "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
            "strict": True,
        },
    }
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
    chunks = list(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], stream=True))
    assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == "Hello, wörld 😀."
    assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == ["stop"]
    assert {c.id for c in chunks} == {"msg_abc"}
    assert chunks[-1].usage.prompt_tokens == 11
    assert chunks[-1].usage.completion_tokens == 7


def test_the_accumulating_helper_gets_both_calls_whole(server, client):
    server.streams(encoded(REPLIES["calls"]()))
    with client.chat.completions.stream(model="m", messages=[{"role": "user", "content": "hi"}]) as stream:
        completion = stream.get_final_completion()
    message = completion.choices[0].message
    assert message.content == "I write two files."
    assert [call.id for call in message.tool_calls] == ["call_one", "call_two"]
    assert json.loads(message.tool_calls[0].function.arguments)["content"] == CONTENT
    assert completion.choices[0].finish_reason == "tool_calls"


def test_the_async_client_reads_the_same(server):
    server.streams(encoded(REPLIES["thought"]()))

    async def read() -> tuple[str, str]:
        async with openai.AsyncOpenAI(api_key="k", base_url=server.url, max_retries=0) as client:
            stream = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}], stream=True
            )
            text, thinking = "", ""
            async for chunk in stream:
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    thinking += (choice.delta.model_extra or {}).get("reasoning_content") or ""
            return text, thinking

    assert asyncio.run(read()) == ("Done.", "Let me think.")


def test_an_output_limit_is_told_as_such(server, client):
    server.streams(encoded(REPLIES["cut_short"]()))
    chunks = list(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], stream=True))
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "length"


def test_an_error_in_the_stream_is_raised_by_the_client(server, client):
    body = '{"error":{"message":"upstream died","type":"server_error","code":"500"}}'
    server.streams(encoded([OPENED, TextDelta("Hel"), StreamCut(Cut.ERROR, body)]))
    with pytest.raises(openai.APIError, match="upstream died"):
        list(client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}], stream=True))


@pytest.mark.parametrize("name", REPLIES)
def test_whole_replies_are_read_too(server, client, name):
    server.answers(WIRE.render_reply(REPLIES[name]()))
    completion = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
    expected = "".join(e.text for e in REPLIES[name]() if isinstance(e, TextDelta))
    assert completion.choices[0].message.content == expected
    assert completion.usage.total_tokens > 0


def test_what_the_client_sends_is_parsed_without_loss(server, client):
    server.streams(encoded(REPLIES["answer"]()))
    list(
        client.chat.completions.create(
            model="gpt-x",
            messages=MESSAGES,
            tools=TOOLS,
            tool_choice={"type": "function", "function": {"name": "look"}},
            parallel_tool_calls=False,
            max_completion_tokens=99,
            reasoning_effort="low",
            temperature=0.5,
            top_p=0.9,
            stop=["END"],
            seed=7,
            metadata={"k": "v"},
            response_format={"type": "json_object"},
            logit_bias={"1": -100},
            user="u",
            extra_body={"vendor_field": {"deep": [1, 2]}},
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    (body,) = server.requests
    assert WIRE.render_request(WIRE.parse_request(body)) == body
