"""Parts of a reply told again as the events of a stream."""

from collections.abc import Iterable, Iterator

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    OpaqueBlock,
    RefusalDelta,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
)
from headway.messages import Opaque, Part, Refusal, Text, Thinking, ToolCall, ToolSpec
from headway.wire.json_text import strict_object

FREE_TEXT = "input"
"""The field by which a wire without free text offers a tool that takes it."""


def events_of(parts: Iterable[Part], first_call: int = 0) -> Iterator[Event]:
    """Give the events that say these parts; calls are numbered from `first_call`. Fragments are never told."""
    number = first_call
    for part in parts:
        match part:
            case Text(text=text):
                yield TextDelta(text)
            case Refusal(text=text):
                yield RefusalDelta(text)
            case Thinking():
                yield from _thinking(part)
            case ToolCall():
                yield CallOpened(number, part.id, part.name, part.freeform, part.raw)
                yield CallArguments(number, part.arguments)
                yield CallClosed(number)
                number += 1
            case Opaque(raw=raw):
                yield OpaqueBlock(raw)
            case _:
                pass  # a fragment, or what only users send


def freed(parts: Iterable[Part], tools: Iterable[ToolSpec | Opaque]) -> tuple[Part, ...]:
    """Return the parts with calls of tools that take free text as such, where an upstream knows only JSON.

    Such a tool is offered there with one field for its text, and called so.
    """
    free = names_of_free(tools)
    return tuple(_freed(part) if isinstance(part, ToolCall) and part.name in free else part for part in parts)


def names_of_free(tools: Iterable[ToolSpec | Opaque]) -> frozenset[str]:
    """Return the names of the tools that take free text."""
    return frozenset(tool.name for tool in tools if isinstance(tool, ToolSpec) and tool.freeform)


def _freed(call: ToolCall) -> ToolCall:
    given = {} if call.freeform else strict_object(call.arguments)
    text = given.get(FREE_TEXT)
    if set(given) != {FREE_TEXT} or not isinstance(text, str):
        return call
    return ToolCall(call.id, call.name, text, freeform=True)


def _thinking(part: Thinking) -> Iterator[Event]:
    if part.text:
        yield ThinkingDelta(part.text)
    if part.signature is not None:
        yield ThinkingSigned(part.signature)
    elif part.sealed is not None:
        yield ThinkingSealed(part.sealed, part.raw)
