"""Every way in which the official Anthropic client gets a reply, each as one function to what it has then."""

import asyncio
import json
import ssl
from collections.abc import Callable
from typing import Any

import anthropic

from support.gate import TOOL
from support.sdk_cases import Said

LOOK = {
    "name": "look",
    "description": "Look.",
    "input_schema": {"type": "object", "properties": {"at": {"type": "string"}}},
}
WRITE = {"name": TOOL["name"], "description": TOOL["description"], "input_schema": TOOL["parameters"]}
ASKED: Any = {
    "model": "any",
    "max_tokens": 30_000,
    "messages": [{"role": "user", "content": "Go."}],
    "tools": [WRITE, LOOK],
}
TRUST = ssl.create_default_context()
"""Made once: nine tenths of what it costs to make a client."""
Way = Callable[[anthropic.Anthropic], Said]


def an_async(client: anthropic.Anthropic) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(
        api_key=client.api_key,
        base_url=client.base_url,
        max_retries=client.max_retries,
        http_client=anthropic.DefaultAsyncHttpxClient(verify=TRUST),
    )


def said_by_message(message: Any) -> Said:
    text = "".join(block.text for block in message.content if block.type == "text")
    calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
    thinking = "".join(block.thinking for block in message.content if block.type == "thinking")
    assert message.usage.input_tokens > 0
    return Said(text, calls, message.stop_reason, thinking, message.usage.output_tokens)


def said_by_events(events: list[Any]) -> Said:
    """Put raw events together by hand, as clients without a helper do."""
    blocks: dict[int, Any] = {}
    grown: dict[int, str] = {}
    stop, tokens = "", 0
    for event in events:
        match event.type:
            case "content_block_start":
                assert event.index == len(blocks), "blocks are numbered without a gap"
                blocks[event.index], grown[event.index] = event.content_block, ""
            case "content_block_delta":
                delta = event.delta
                named = {"text_delta": "text", "input_json_delta": "partial_json", "thinking_delta": "thinking"}
                grown[event.index] += getattr(delta, named.get(delta.type, ""), "") if delta.type in named else ""
            case "message_delta":
                assert not stop, "one stop"
                stop, tokens = event.delta.stop_reason, event.usage.output_tokens
    assert [event.type for event in events].count("message_start") == 1
    assert events[-1].type == "message_stop"
    of = {kind: [at for at, block in blocks.items() if block.type == kind] for kind in ("text", "tool_use", "thinking")}
    calls = [(blocks[at].name, json.loads(grown[at] or "{}")) for at in of["tool_use"]]
    text, thinking = ("".join(grown[at] for at in of[kind]) for kind in ("text", "thinking"))
    return Said(text, calls, stop, thinking, tokens)


def whole(client: anthropic.Anthropic) -> Said:
    # The client itself refuses to wait long for a reply that does not stream; a timeout of its own tells it not to.
    return said_by_message(client.messages.create(**ASKED, timeout=60))


def events(client: anthropic.Anthropic) -> Said:
    return said_by_events(list(client.messages.create(**ASKED, stream=True)))


def helper(client: anthropic.Anthropic) -> Said:
    grown: dict[int, str] = {}
    with client.messages.stream(**ASKED) as stream:
        for event in stream:
            if event.type == "input_json":
                at = len(stream.current_message_snapshot.content)
                grown[at] = grown.get(at, "") + event.partial_json
        said = said_by_message(stream.get_final_message())
    assert [json.loads(text) for text in grown.values()] == [given for _, given in said.calls]
    return said


def words(client: anthropic.Anthropic) -> Said:
    with client.messages.stream(**ASKED) as stream:
        text = "".join(stream.text_stream)
        said = said_by_message(stream.get_final_message())
    assert text == said.text
    return said


def async_events(client: anthropic.Anthropic) -> Said:
    async def ask() -> Said:
        async with an_async(client) as own:
            return said_by_events([event async for event in await own.messages.create(**ASKED, stream=True)])

    return asyncio.run(ask())


def async_helper(client: anthropic.Anthropic) -> Said:
    async def ask() -> Said:
        async with an_async(client) as own, own.messages.stream(**ASKED) as stream:
            text = "".join([piece async for piece in stream.text_stream])
            said = said_by_message(await stream.get_final_message())
            assert text == said.text
            return said

    return asyncio.run(ask())


WAYS: dict[str, Way] = {way.__name__: way for way in (whole, events, helper, words, async_events, async_helper)}
STREAMS: dict[str, Way] = {name: WAYS[name] for name in ("events", "helper")}
