"""Chat messages to neutral ones, one to one. What cannot be meant is kept blank, for the history rules to judge."""

from typing import Any

from headway.failure import InvalidInput
from headway.messages import CallFragment, Message, Opaque, Part, Raw, Refusal, ResultPart, Role, ToolCall, ToolResult
from headway.wire.json_text import BadJson, encode_text, is_whole_object
from headway.wire.openai_chat.parts import FIELDS, read_content
from headway.wire.openai_chat.shapes import scalar
from headway.wire.openai_chat.thinking import read_thinking

_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
    "function": "user",
}
_RESULT_ROLES = ("tool", "function")


def read_messages(values: list[Any]) -> tuple[Message, ...]:
    """Read the messages of a request, or raise `InvalidInput` for the first that is none."""
    return tuple(_read_message(value, f"messages[{i}]") for i, value in enumerate(values))


def _read_message(value: Any, where: str) -> Message:
    if not isinstance(value, dict):
        raise InvalidInput(where, "it is not an object", 'Write {"role": …, "content": …}.')
    word = scalar(value.get("role")).lower()
    role = _ROLES.get(word)
    if role is None:
        raise InvalidInput(where, f"the role {word[:40]!r} is unknown", f"Use one of: {', '.join(_ROLES)}.")
    raw = Raw("chat", value)
    if role == "assistant":
        return Message(role, _read_assistant(value), raw)
    if word in _RESULT_ROLES:
        return Message(role, (_read_result(value, raw),), raw)
    return Message(role, read_content(value.get("content")), raw)


def _read_assistant(value: dict[str, Any]) -> tuple[Part, ...]:
    refusal = value.get("refusal")
    fields = {key: value[key] for key in FIELDS if value.get(key) is not None}
    return (
        *read_thinking(value),
        *read_content(value.get("content")),
        *((Refusal(refusal),) if isinstance(refusal, str) else ()),
        *(Opaque(Raw("chat", {key: held})) for key, held in sorted(fields.items())),
        *_read_calls(value.get("tool_calls")),
    )


def _read_calls(values: Any) -> list[ToolCall | CallFragment]:
    items = values if isinstance(values, list) else [values]
    return [read_call(item) for item in items if isinstance(item, dict)]


def read_call(item: dict[str, Any]) -> ToolCall | CallFragment:
    """Read one call. Unless its arguments are whole it is a fragment, never a call with other arguments."""
    raw = Raw("chat", item)
    call_id = scalar(item.get("id"))
    function, custom = item.get("function"), item.get("custom")
    if isinstance(custom, dict) and isinstance(custom.get("input"), str):
        return ToolCall(call_id, scalar(custom.get("name")), custom["input"], freeform=True, raw=raw)
    if not isinstance(function, dict):
        return CallFragment(call_id, "", "", raw=raw)
    arguments = _arguments(function.get("arguments"))
    kind = ToolCall if is_whole_object(arguments) else CallFragment
    return kind(call_id, scalar(function.get("name")), arguments, raw=raw)


def _arguments(value: Any) -> str:
    """Return the text of the arguments; nothing at all is this wire's way to say that there are none."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return "{}"
    if isinstance(value, str):
        return value
    try:
        return encode_text(value)
    except BadJson:
        return ""


def _read_result(value: dict[str, Any], raw: Raw) -> ToolResult:
    parts: tuple[ResultPart, ...] = tuple(
        Opaque(part.raw or raw) if isinstance(part, Refusal) else part for part in read_content(value.get("content"))
    )
    return ToolResult(scalar(value.get("tool_call_id")), parts, raw=raw)
