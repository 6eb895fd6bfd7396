"""Neutral messages to chat messages. What was read on this wire goes back as it was, with the changes made since.

Messages of other wires are brought into this wire's order: an assistant turn is one message, each result is a `tool`
message of its own right behind it, and pictures in results follow in a user message, because results are text here.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from headway.messages import (
    Document,
    Image,
    Message,
    Opaque,
    Part,
    Refusal,
    ResultPart,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from headway.wire.openai_chat.parts import FIELDS, ContentPart, content_of, is_field, write_content
from headway.wire.openai_chat.raw import own
from headway.wire.openai_chat.thinking import is_thinking, write_thinking

_SYSTEM_ROLES = ("system", "developer")
_OWNED = FIELDS | {"refusal", "tool_calls", "content"}
_SEE_BELOW = "[{} attached in the next user message]"


def write_messages(system: Sequence[Text], messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Write the messages of a request."""
    out: list[dict[str, Any]] = []
    attached: list[ContentPart] = []
    if system:
        out.append({"role": "system", "content": write_content(system, "\n\n")})
    for message in _one_per_turn(messages):
        results = message.results if message.role == "user" else ()
        for result in results:
            out.append(_write_result(result))
            attached += [part for part in result.parts if _is_attachment(part)]
        if results:
            rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
            if not rest:
                continue  # further results may follow, and nothing may stand between them
            message = replace(message, parts=rest)  # noqa: PLW2901 -- the same message without its results
        out += _attachments(attached)
        attached = []
        out += _write_message(message)
    return [*out, *_attachments(attached)]


def write_call(call: ToolCall) -> dict[str, Any]:
    """Write a call as an assistant message holds it."""
    raw = own(call.raw)
    if call.freeform:
        custom = {**raw.get("custom", {}), "name": call.name, "input": call.arguments}
        return {**raw, "id": call.id, "type": "custom", "custom": custom}
    function = {**raw.get("function", {}), "name": call.name, "arguments": call.arguments}
    return {**raw, "id": call.id, "type": "function", "function": function}


def _one_per_turn(messages: Iterable[Message]) -> Iterator[Message]:
    """Join neighbours of an assistant turn that another wire keeps apart; what was read here stays one to one.

    Calls bind: whatever the assistant says beside them is one message with them. Answers alone stay apart.
    """
    turn: list[Message] = []
    has_calls = has_words = False
    for message in messages:
        binds = has_calls or bool(message.calls) or not has_words
        if not (turn and binds and _is_foreign_turn(turn[0]) and _is_foreign_turn(message)):
            yield from _joined(turn)
            turn, has_calls, has_words = [], False, False
        turn.append(message)
        has_calls = has_calls or bool(message.calls)
        has_words = has_words or bool(message.text)
    yield from _joined(turn)


def _joined(turn: list[Message]) -> list[Message]:
    return turn if len(turn) < 2 else [Message("assistant", tuple(part for message in turn for part in message.parts))]


def _is_foreign_turn(message: Message) -> bool:
    return message.role == "assistant" and not own(message.raw)


def _write_message(message: Message) -> list[dict[str, Any]]:
    """Write one message; nothing when nothing of it can be sent."""
    content = content_of(message.parts)
    if message.role == "assistant":
        return _write_assistant(message, content)
    raw = _raw_of(message, _SYSTEM_ROLES if message.role == "system" else ("user",))
    if message.parts and not content:
        return []
    role = raw["role"].lower() if raw else message.role
    return [{**raw, "role": role, **_content(raw, content, joint="\n\n", nothing="")}]


def _write_assistant(message: Message, content: list[ContentPart]) -> list[dict[str, Any]]:
    raw = _raw_of(message, ("assistant",))
    kept = {key: value for key, value in raw.items() if value is None or not _is_owned(key, value)}
    said: dict[str, Any] = {}
    for part in message.parts:
        if isinstance(part, Opaque) and own(part.raw) and is_field(part):
            said.update(part.raw.value)
        elif isinstance(part, Refusal) and not own(part.raw):
            said["refusal"] = said.get("refusal", "") + part.text
    if message.calls:
        said["tool_calls"] = [write_call(call) for call in message.calls]
    thought = write_thinking(part for part in message.parts if isinstance(part, Thinking))
    if message.parts and not (content or said or (raw and thought)):
        return []
    return [{**kept, "role": "assistant", **_content(raw, content, joint="", nothing=None), **thought, **said}]


def _write_result(result: ToolResult) -> dict[str, Any]:
    raw = own(result.raw)
    parts: list[Part] = [_inline(part) for part in result.parts]
    if result.is_error and not raw and not result.text.lower().startswith("error"):
        parts.insert(0, Text("Error:"))
    said = {**raw, "content": write_content(content_of(parts), "\n")}
    if str(raw.get("role")).lower() == "function":
        return {**said, "role": "function"}
    return {**said, "role": "tool", "tool_call_id": result.call_id}


def _content(raw: dict[str, Any], parts: list[ContentPart], *, joint: str, nothing: str | None) -> dict[str, Any]:
    """Return the `content` field; an absent or null one that was read stays so, an empty list is refused and is not."""
    if parts:
        return {"content": write_content(parts, joint)}
    if raw and raw.get("content") is None:
        return {"content": None} if "content" in raw else {}
    return {"content": nothing}


def _raw_of(message: Message, roles: Sequence[str]) -> dict[str, Any]:
    """Return what the message was read from, if it still is the same kind of message."""
    raw = own(message.raw)
    return raw if str(raw.get("role")).lower() in roles else {}


def _is_owned(key: str, value: Any) -> bool:
    return key in _OWNED or is_thinking(key, value)


def _is_attachment(part: ResultPart) -> bool:
    """Say whether a part of a result cannot stand in it here; what this wire's client put there may stay."""
    return not own(part.raw) and (isinstance(part, Image) or (isinstance(part, Document) and part.text is None))


def _inline(part: ResultPart) -> ResultPart:
    if _is_attachment(part):
        return Text(_SEE_BELOW.format("image" if isinstance(part, Image) else "file"))
    if isinstance(part, Document) and part.text is not None:
        return Text(part.text)
    return part


def _attachments(parts: list[ContentPart]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": write_content(parts, "")}] if parts else []
