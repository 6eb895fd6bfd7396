"""Input items, both ways. One item is one `Message`: words, a call, an output, reasoning, or what only this wire has.

A call is a `ToolCall` only if its arguments are one whole JSON object; anything less is a `CallFragment`, which is
never written. Ids and statuses of items survive only on items that were read from a request: what came from a
stream, or from another wire, is written in the form that needs nothing stored on the server.
"""

from collections.abc import Callable, Iterable
from typing import Any

from headway.failure import InvalidInput
from headway.messages import (
    CallFragment,
    Message,
    Opaque,
    Part,
    Raw,
    Refusal,
    ResultPart,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from headway.wire.json_text import is_whole_object
from headway.wire.openai_responses.parts import WIRE_NAME, objects, own, read_content, string, words, write_content

BETWEEN_THOUGHTS = "\n\n"
"""What stands between the parts of a reasoning item when they are read as one text."""

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_SENT_BY_CLIENTS = frozenset(
    {"item_reference", "mcp_approval_response", "additional_tools", "compaction_trigger", "configuration_update"}
)
_ONLY_WHERE_STORED = frozenset({"id", "status"})


def read_items(items: list[Any]) -> tuple[Message, ...]:
    """Read a list of input items; nulls say nothing."""
    return tuple(_read_item(item, position) for position, item in enumerate(items) if item is not None)


def write_items(messages: Iterable[Message]) -> list[dict[str, Any]]:
    """Write messages as items. Streamed reasoning goes only directly before what it led to; alone it is refused."""
    written = [pair for message in messages for pair in _write_message(message)]
    kept: list[dict[str, Any]] = []
    for item, needs_next in reversed(written):
        if not needs_next or (kept and _role(kept[-1]) == "assistant"):
            kept.append(item)
    return kept[::-1]


def readable_reasoning(item: dict[str, Any]) -> str:
    """Return the readable text of a reasoning item: its summaries, then its own words."""
    parts = [*objects(item.get("summary")), *objects(item.get("content"))]
    return BETWEEN_THOUGHTS.join(text for part in parts if (text := string(part.get("text"))))


def _read_item(value: Any, position: int) -> Message:
    if isinstance(value, str):
        return Message("user", (Text(value),))
    if not isinstance(value, dict):
        raise InvalidInput(f"input[{position}]", f"an item is an object, not {type(value).__name__}", "Remove it.")
    raw = Raw(WIRE_NAME, value)
    if _is_message(value):
        return Message(_message_role(value, position), read_content(value.get("content")), raw)
    read = _READERS.get(string(value.get("type")), Opaque)
    return Message(_role(value), (read(raw),), raw)


def _is_message(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return kind == "message" or (kind is None and "role" in value)


def _message_role(value: dict[str, Any], position: int) -> Role:
    word = string(value.get("role")) or "user"
    if word not in _ROLES:
        hint = "Roles are user, assistant, system and developer; tool results are items of type function_call_output."
        raise InvalidInput(f"input[{position}]", f"the Responses wire has no role {word!r}", hint)
    return _ROLES[word]


def _role(item: dict[str, Any]) -> Role:
    """Return whose item it is: outputs and requests come from the client, calls and reasoning from the model."""
    if _is_message(item):
        return _ROLES.get(string(item.get("role")), "user")
    kind = string(item.get("type")) or "item_reference"
    return "user" if kind.endswith("_output") or kind in _SENT_BY_CLIENTS else "assistant"


def _read_call(raw: Raw) -> ToolCall | CallFragment:
    given, status = raw.value.get("arguments"), raw.value.get("status")
    arguments = words(given)
    if isinstance(given, str) and not given.strip() and status != "incomplete":
        arguments = "{}"  # this wire's way to say "no arguments"
    kind = ToolCall if is_whole_object(arguments) else CallFragment
    return kind(string(raw.value.get("call_id")), string(raw.value.get("name")), arguments, raw=raw)


def _read_custom_call(raw: Raw) -> ToolCall | CallFragment:
    given, status = raw.value.get("input"), raw.value.get("status")
    kind = ToolCall if isinstance(given, str) and status != "incomplete" else CallFragment
    return kind(string(raw.value.get("call_id")), string(raw.value.get("name")), words(given), freeform=True, raw=raw)


def _read_output(raw: Raw) -> ToolResult:
    parts: tuple[ResultPart, ...] = tuple(
        Text(part.text) if isinstance(part, Refusal) else part for part in read_content(raw.value.get("output"))
    )
    freeform = raw.value.get("type") == "custom_tool_call_output"
    return ToolResult(string(raw.value.get("call_id")), parts, freeform=freeform, raw=raw)


def _read_reasoning(raw: Raw) -> Thinking:
    sealed, signature = string(raw.value.get("encrypted_content")), string(raw.value.get("signature"))
    return Thinking(readable_reasoning(raw.value), WIRE_NAME, signature or None, sealed or None, raw)


_READERS: dict[str, Callable[[Raw], Part]] = {
    "function_call": _read_call,
    "custom_tool_call": _read_custom_call,
    "function_call_output": _read_output,
    "custom_tool_call_output": _read_output,
    "reasoning": _read_reasoning,
}


def _write_message(message: Message) -> list[tuple[dict[str, Any], bool]]:
    """Write one message as items, each with a mark that says whether another of the model's items must follow it."""
    read_here = own(message.raw)
    base = read_here if _is_message(read_here) else {}
    items: list[tuple[dict[str, Any], bool]] = []
    content: list[Part] = []

    def flush() -> None:
        nonlocal base
        if (item := _write_content_item(message.role, tuple(content), base)) is not None:
            items.append((item, False))
            base = {}  # its id can be used once
        content.clear()

    for part in message.parts:
        if not _stands_alone(part, inside=bool(base)):
            content.append(part)
            continue
        if content:
            flush()
        if (item := _write_alone(part, stored=bool(read_here))) is not None:
            items.append((item, isinstance(part, Thinking) and not read_here))
    if content or (base and not message.parts):
        flush()
    return items


def _stands_alone(part: Part, *, inside: bool) -> bool:
    """Say whether a part is an item of its own; what only this wire has is told apart by where it was read."""
    if isinstance(part, Opaque):
        return not inside and not string(own(part.raw).get("type")).startswith("input_")
    return isinstance(part, ToolCall | CallFragment | ToolResult | Thinking)


def _write_content_item(role: Role, parts: tuple[Part, ...], base: dict[str, Any]) -> dict[str, Any] | None:
    content: str | list[dict[str, Any]] = write_content(parts, spoken=role == "assistant")
    if not content and not base:
        return None
    match parts:
        case (Text(text=text, raw=raw),) if isinstance(base.get("content"), str) and not own(raw):
            content = text
    same_role = _ROLES.get(string(base.get("role"))) == role
    item = base or {"type": "message"}
    return {**item, "role": base["role"] if same_role else role, "content": content}


def _write_alone(part: Part, *, stored: bool) -> dict[str, Any] | None:
    match part:
        case ToolCall():
            base = _base(part.raw, stored=stored)
            kind, field = ("custom_tool_call", "input") if part.freeform else ("function_call", "arguments")
            names = {"call_id": _name(base, "call_id", part.id), "name": _name(base, "name", part.name)}
            return {**base, "type": kind, **names, field: part.arguments}
        case ToolResult():
            base = _base(part.raw, stored=stored)
            kind = "custom_tool_call_output" if part.freeform else "function_call_output"
            return {
                **base,
                "type": kind,
                "call_id": _name(base, "call_id", part.call_id),
                "output": _write_output(part),
            }
        case Thinking():
            return _write_reasoning(part, stored=stored)
        case Opaque(raw=raw):
            return own(raw) or None
        case _:
            return None


def _write_output(result: ToolResult) -> str | list[dict[str, Any]]:
    """Write a string where one was read, or where words are all there is; else a list of parts."""
    parts = [part for part in result.parts if not isinstance(part, Opaque) or own(part.raw)]
    if isinstance(own(result.raw).get("output"), list) or not all(isinstance(part, Text) for part in parts):
        return write_content(result.parts, spoken=False)
    return result.text


def _write_reasoning(thinking: Thinking, *, stored: bool) -> dict[str, Any] | None:
    """Write reasoning unchanged, or not at all: it needs the object it was read from, or its seal."""
    if read_here := own(thinking.raw):
        return read_here if stored or not thinking.sealed else _base(thinking.raw, stored=False)
    if thinking.issuer != WIRE_NAME or not thinking.sealed:
        return None
    summary = [{"type": "summary_text", "text": thinking.text}] if thinking.text else []
    return {"type": "reasoning", "summary": summary, "encrypted_content": thinking.sealed}


def _base(raw: Raw | None, *, stored: bool) -> dict[str, Any]:
    return {key: value for key, value in own(raw).items() if stored or key not in _ONLY_WHERE_STORED}


def _name(base: dict[str, Any], key: str, name: str) -> Any:
    """Return a name or an id to write; a blank does not replace what could not be read as one."""
    return base[key] if key in base and not name else name
