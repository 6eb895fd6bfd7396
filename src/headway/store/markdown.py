"""A conversation for people to read, as Markdown: who said what, what was called, what came back."""

import re
from collections.abc import Iterator
from typing import assert_never

from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from headway.store.state import SessionState

_SPEAKERS = {"user": "You", "assistant": "Assistant", "system": "System"}
_BACKTICKS = re.compile("`+")


def to_markdown(state: SessionState) -> str:
    """Return the conversation, with what was open at its end."""
    return "\n\n".join(_blocks(state)) + "\n"


def speaker_of(message: Message, state: SessionState) -> str:
    """Return who said something, as people call them."""
    return "Headway" if message in state.nudges else _SPEAKERS[message.role]


def _blocks(state: SessionState) -> Iterator[str]:
    yield f"# {' '.join(state.title.split()) or f'Session {state.id}'}"
    speaker = ""
    for message in state.history:
        parts = [block for part in message.parts if (block := _block(part))]
        who = speaker_of(message, state)
        if parts and not message.results and speaker != who:
            speaker = who
            yield f"## {speaker}"
        yield from parts
    if state.salvage.draft is not None:
        yield f"*Not finished: a call to {_code(state.salvage.draft.tool)}, of which this arrived:*"
        yield _fenced(state.salvage.draft.arguments)


def _block(part: Part) -> str:
    match part:
        case Text(text=text) | Refusal(text=text):
            return text.strip()
        case ToolCall(name=name, arguments=arguments):
            return f"**Calls {_code(name)}**\n\n{_fenced(arguments)}"
        case CallFragment(name=name, arguments=arguments):
            return f"**Began to call {_code(name)}**, which did not arrive whole\n\n{_fenced(arguments)}"
        case ToolResult():
            heading = "**Error**" if part.is_error else "**Result**"
            inside = "\n".join(_in_result(inner) for inner in part.parts)
            return f"{heading}\n\n{_fenced(inside)}"
        case Image() | Document() | Thinking() | Opaque():
            return _mention(part)
        case _:
            assert_never(part)


def _in_result(part: Text | Image | Document | Opaque) -> str:
    return part.text if isinstance(part, Text) else _mention(part)


def _mention(part: Image | Document | Thinking | Opaque) -> str:
    match part:
        case Image(url=url):
            return f"(an image{f': {url}' if url else ''})"
        case Document(name=name):
            return f"(a document{f': {name}' if name else ''})"
        case Thinking() | Opaque():
            return ""
        case _:
            assert_never(part)


def _fenced(text: str) -> str:
    """Put text between fences that are longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`"
