"""Every way in which the official OpenAI client gets a reply, each as one function to what it has then."""

import asyncio
import json
import ssl
from collections.abc import Callable
from typing import Any

import openai

from support.gate import TOOL
from support.sdk_cases import Said

LOOK = {
    "name": "look",
    "description": "Look.",
    "parameters": {"type": "object", "properties": {"at": {"type": "string"}}},
}
CHAT_TOOLS: Any = [{"type": "function", "function": tool} for tool in (TOOL, LOOK)]
TOOLS: Any = [{"type": "function", "strict": False, **tool} for tool in (TOOL, LOOK)]
CHAT: Any = {"model": "any", "messages": [{"role": "user", "content": "Go."}], "tools": CHAT_TOOLS}
RESPONSES: Any = {"model": "any", "input": "Go.", "tools": TOOLS}
COUNTED: Any = {"stream_options": {"include_usage": True}}
TRUST = ssl.create_default_context()
"""Made once: nine tenths of what it costs to make a client."""
Way = Callable[[openai.OpenAI], Said]


def an_async(client: openai.OpenAI) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        api_key=client.api_key,
        base_url=client.base_url,
        max_retries=client.max_retries,
        http_client=openai.DefaultAsyncHttpxClient(verify=TRUST),
    )


# Chat Completions


def said_by_completion(completion: Any) -> Said:
    (choice,) = completion.choices
    message = choice.message
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls or []]
    thinking = (message.model_extra or {}).get("reasoning_content") or ""
    return Said(message.content or "", calls, choice.finish_reason, thinking, completion.usage.completion_tokens)


def said_by_chunks(chunks: list[Any]) -> Said:
    """Put chunks together by hand, as clients without a helper do."""
    choices = [choice for chunk in chunks for choice in chunk.choices]
    calls: dict[int, list[str]] = {}
    for piece in (call for choice in choices for call in choice.delta.tool_calls or []):
        call = calls.setdefault(piece.index, ["", ""])
        call[0] += piece.function.name or ""
        call[1] += piece.function.arguments or ""
    (finish,) = [choice.finish_reason for choice in choices if choice.finish_reason]
    (usage,) = [chunk.usage for chunk in chunks if chunk.usage]
    assert len({chunk.id for chunk in chunks}) == 1, "one reply has one name"
    thinking = "".join((choice.delta.model_extra or {}).get("reasoning_content") or "" for choice in choices)
    text = "".join(choice.delta.content or "" for choice in choices)
    made = [(name, json.loads(arguments)) for name, arguments in calls.values()]
    return Said(text, made, finish, thinking, usage.completion_tokens)


def chat_whole(client: openai.OpenAI) -> Said:
    return said_by_completion(client.chat.completions.create(**CHAT))


def chat_chunks(client: openai.OpenAI) -> Said:
    return said_by_chunks(list(client.chat.completions.create(**CHAT, **COUNTED, stream=True)))


def chat_helper(client: openai.OpenAI) -> Said:
    with client.chat.completions.stream(**CHAT, **COUNTED) as stream:
        return said_by_completion(stream.get_final_completion())


def chat_async_chunks(client: openai.OpenAI) -> Said:
    async def ask() -> Said:
        async with an_async(client) as own:
            return said_by_chunks([c async for c in await own.chat.completions.create(**CHAT, **COUNTED, stream=True)])

    return asyncio.run(ask())


def chat_async_helper(client: openai.OpenAI) -> Said:
    async def ask() -> Said:
        async with an_async(client) as own, own.chat.completions.stream(**CHAT, **COUNTED) as stream:
            return said_by_completion(await stream.get_final_completion())

    return asyncio.run(ask())


# Responses


def said_by_response(response: Any) -> Said:
    calls = [(item.name, json.loads(item.arguments)) for item in response.output if item.type == "function_call"]
    thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
    return Said(response.output_text, calls, response.status, "".join(thoughts), response.usage.output_tokens)


def said_by_events(events: list[Any]) -> Said:
    numbers = [event.sequence_number for event in events if event.type != "response.in_progress"]
    assert numbers == sorted(set(numbers)), "every event but a sign of life has its own number, and they rise"
    last = events[-1]
    assert last.type in {"response.completed", "response.incomplete"}
    deltas = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert deltas == last.response.output_text, "what was streamed is what is summed up"
    return said_by_response(last.response)


def responses_whole(client: openai.OpenAI) -> Said:
    return said_by_response(client.responses.create(**RESPONSES))


def responses_events(client: openai.OpenAI) -> Said:
    return said_by_events(list(client.responses.create(**RESPONSES, stream=True)))


def responses_helper(client: openai.OpenAI) -> Said:
    with client.responses.stream(**RESPONSES) as stream:
        return said_by_response(stream.get_final_response())


def responses_async_events(client: openai.OpenAI) -> Said:
    async def ask() -> Said:
        async with an_async(client) as own:
            return said_by_events([event async for event in await own.responses.create(**RESPONSES, stream=True)])

    return asyncio.run(ask())


def responses_async_helper(client: openai.OpenAI) -> Said:
    async def ask() -> Said:
        async with an_async(client) as own, own.responses.stream(**RESPONSES) as stream:
            return said_by_response(await stream.get_final_response())

    return asyncio.run(ask())


CHAT_WAYS = (chat_whole, chat_chunks, chat_helper, chat_async_chunks, chat_async_helper)
RESPONSES_WAYS = (responses_whole, responses_events, responses_helper, responses_async_events, responses_async_helper)
WAYS: dict[str, Way] = {way.__name__: way for way in (*CHAT_WAYS, *RESPONSES_WAYS)}
STREAMS: dict[str, Way] = {name: way for name, way in WAYS.items() if "whole" not in name and "async" not in name}
