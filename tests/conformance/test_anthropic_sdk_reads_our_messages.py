"""The official client, over a real socket, reads what our Messages encoder writes; we read what it sends."""

import asyncio

import anthropic
import pytest

from headway.events import Cut, StreamCut, TextDelta
from headway.wire.table import WIRES
from support.replies import CONTENT, OPENED, REPLIES

WIRE = WIRES["anthropic"]
HI = [{"role": "user", "content": "hi"}]
MESSAGES = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "look", "cache_control": {"type": "ephemeral"}},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "redacted_thinking", "data": "xyz"},
            {"type": "text", "text": "I look."},
            {
                "type": "tool_use",
                "id": "toolu_1",
                "name": "look",
                "input": {"at": "y", "n": 1.5, "big": 12345678901234567890},
            },
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "toolu_1",
                "content": [{"type": "text", "text": "a cat"}],
                "is_error": False,
            },
            {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "doc"}, "title": "t"},
            {"type": "text", "text": "and?"},
        ],
    },
]


def encoded(events) -> bytes:
    encoder = WIRE.encoder()
    return b"".join(encoder.write(event) for event in events)


@pytest.fixture
def client(server):
    with anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0) as client:
        yield client


def test_text_and_usage(server, client):
    server.streams(encoded(REPLIES["answer"]()))
    events = list(client.messages.create(model="m", max_tokens=9, messages=HI, stream=True))
    text = "".join(e.delta.text for e in events if e.type == "content_block_delta")
    assert text == "Hello, wörld 😀."
    assert [e.type for e in events][-1] == "message_stop"
    assert next(e for e in events if e.type == "message_delta").usage.output_tokens == 7


def test_the_accumulating_helper_gets_both_calls_whole(server, client):
    server.streams(encoded(REPLIES["calls"]()))
    with client.messages.stream(model="m", max_tokens=9, messages=HI) as stream:
        message = stream.get_final_message()
    uses = [block for block in message.content if block.type == "tool_use"]
    assert [use.id for use in uses] == ["call_one", "call_two"]
    assert uses[0].input["content"] == CONTENT
    assert uses[1].input == {}
    assert message.stop_reason == "tool_use"
    assert message.id == "msg_abc"


def test_the_async_helper_gets_thinking_with_its_signature(server):
    server.streams(encoded(REPLIES["thought"]()))

    async def read():
        async with (
            anthropic.AsyncAnthropic(api_key="k", base_url=server.url, max_retries=0) as client,
            client.messages.stream(model="m", max_tokens=9, messages=HI) as stream,
        ):
            return await stream.get_final_message()

    thinking, text = asyncio.run(read()).content
    assert (thinking.thinking, thinking.signature) == ("Let me think.", "c2lnbmF0dXJl")
    assert text.text == "Done."


def test_an_output_limit_is_told_as_such(server, client):
    server.streams(encoded(REPLIES["cut_short"]()))
    with client.messages.stream(model="m", max_tokens=9, messages=HI) as stream:
        assert stream.get_final_message().stop_reason == "max_tokens"


def test_an_error_in_the_stream_is_raised_by_the_client(server, client):
    body = '{"type":"error","error":{"type":"overloaded_error","message":"upstream died"}}'
    server.streams(encoded([OPENED, TextDelta("Hel"), StreamCut(Cut.ERROR, body)]))
    with pytest.raises(anthropic.APIError, match="upstream died"):
        list(client.messages.create(model="m", max_tokens=9, messages=HI, stream=True))


@pytest.mark.parametrize("name", REPLIES)
def test_whole_replies_are_read_too(server, client, name):
    server.answers(WIRE.render_reply(REPLIES[name]()))
    message = client.messages.create(model="m", max_tokens=9, messages=HI)
    text = "".join(block.text for block in message.content if block.type == "text")
    assert text == "".join(e.text for e in REPLIES[name]() if isinstance(e, TextDelta))
    assert message.usage.output_tokens > 0


def test_what_the_client_sends_is_parsed_without_loss(server, client):
    server.streams(encoded(REPLIES["answer"]()))
    list(
        client.messages.create(
            model="claude-x",
            max_tokens=9999,
            system=[{"type": "text", "text": "Act.", "cache_control": {"type": "ephemeral"}}],
            messages=MESSAGES,
            tools=[
                {
                    "name": "look",
                    "description": "Look.",
                    "input_schema": {"type": "object", "properties": {}},
                    "cache_control": {"type": "ephemeral"},
                },
                {"type": "web_search_20250305", "name": "web_search"},
            ],
            tool_choice={"type": "auto", "disable_parallel_tool_use": True},
            thinking={"type": "enabled", "budget_tokens": 2000},
            stop_sequences=["END"],
            metadata={"user_id": "u"},
            service_tier="auto",
            extra_body={"vendor_field": {"deep": [1, 2]}},
            stream=True,
        )
    )
    (body,) = server.requests
    assert WIRE.render_request(WIRE.parse_request(body)) == body
