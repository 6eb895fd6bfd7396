"""Pasts for sessions of the lab, whole and broken, and whether a strict server takes what is sent of them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from headway.agent.happenings import Done
from headway.messages import Message, Part, Text, ToolCall, ToolResult
from support.lab import Lab
from support.turns import TALK, WORDS, kinds, next_turn_works, refusals, requests, with_history

TRUNCATED = '{"path":"page.html","content":"<p>TRUNCATED'
"""Arguments as a cut stream leaves them."""


def call(number: int | str, path: str = "a.txt") -> ToolCall:
    return ToolCall(f"call_{number}", "read_file", json.dumps({"path": path}))


def result(number: int | str, text: str) -> ToolResult:
    return ToolResult(f"call_{number}", (Text(text),))


def told(*results: ToolResult) -> Message:
    return Message("user", results)


def said(*parts: Part) -> Message:
    return Message("assistant", parts)


async def is_accepted(lab: Lab, wire: str, history: Sequence[Message], words: str = "And now?") -> str:
    """Ask in a session with that past; return the body that a strict server of the wire accepted at the first try."""
    endpoint = await lab.provider(TALK, wire)
    agent = await with_history(lab, history, endpoint)
    assert await agent.ask(words) == Done(WORDS)
    assert refusals(lab) == [], "accepted"
    assert kinds(lab) == []
    assert requests(lab) == [1], "at the first try"
    body = json.dumps(lab.sims[0].log[0].body, ensure_ascii=False)
    assert words in body
    assert lab.session.state.history[: len(history)] == tuple(history), "what is stored stays as it is"
    await next_turn_works(lab, endpoint)
    return body


def texts_in(value: Any) -> Iterator[str]:
    """Give all strings of a body."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_in(one)
