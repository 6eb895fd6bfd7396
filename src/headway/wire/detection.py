"""Which wire a body or a bare list of messages is written in, and why one thinks so. Pure; words decide nothing.

Shapes are looked for in order of how much they prove: a field or block that only one wire has, before anything that two
of them share. A list of plain texts fits every wire and counts as chat, which all of them understand.
"""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

_ITEM_TYPES = frozenset(
    {
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "local_shell_call_output",
        "web_search_call",
        "file_search_call",
        "computer_call",
        "item_reference",
    }
)
_SHARED_TYPES = frozenset({"message"})
"""Replies of another wire say so of themselves, too: what is in them decides first."""
_ITEM_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file"})
_BLOCKS = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document"})
_CHAT_PARTS = frozenset({"image_url", "input_audio", "file"})
_CHAT_ROLES = frozenset({"tool", "function"})


class Detected(Struct, frozen=True):
    """A wire's name, and the shape that gave it away."""

    wire: str
    because: str


def detect(value: dict[str, Any] | list[Any]) -> Detected:
    """Say which wire a body, or a bare list of messages, is written in."""
    if isinstance(value, list):
        return _of_messages(value) or Detected("chat", "nothing in it belongs to one wire alone")
    if "messages" not in value and "input" in value:
        return Detected("responses", "it has `input`")
    messages = value.get("messages")
    found = _of_messages(messages) if isinstance(messages, list) else None
    return found or _of_fields(value) or Detected("chat", "nothing in it belongs to one wire alone")


def _of_messages(messages: list[Any]) -> Detected | None:
    for message in messages:
        if not isinstance(message, dict):
            continue
        if _word(message, "type") in _ITEM_TYPES - _SHARED_TYPES:
            return Detected("responses", f"it has an item of type {message['type']!r}")
        if "tool_calls" in message or "function_call" in message or _word(message, "role") in _CHAT_ROLES:
            return Detected("chat", "it has `tool_calls`, or messages of the role `tool`")
        for kind in _part_types(message):
            if kind in _ITEM_PARTS:
                return Detected("responses", f"it has a part of type {kind!r}")
            if kind in _BLOCKS or (kind == "image" and _has_source(message)):
                return Detected("anthropic", f"it has a block of type {kind!r}")
            if kind in _CHAT_PARTS:
                return Detected("chat", f"it has a part of type {kind!r}")
        if _word(message, "type") in _SHARED_TYPES and "stop_reason" not in message:
            return Detected("responses", f"it has an item of type {message['type']!r}")
    return None


def _word(message: dict[str, Any], key: str) -> str:
    value = message.get(key)
    return value if isinstance(value, str) else ""


def _part_types(message: dict[str, Any]) -> Iterator[str]:
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(part.get("type"), str):
            yield part["type"]


def _has_source(message: dict[str, Any]) -> bool:
    return any(isinstance(part, dict) and "source" in part for part in message["content"])


def _of_fields(body: dict[str, Any]) -> Detected | None:
    tools = body.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and "input_schema" in tool:
            return Detected("anthropic", "its tools have an `input_schema`")
        if isinstance(tool, dict) and "function" in tool:
            return Detected("chat", "its tools have a `function`")
    for name in ("system", "anthropic_version", "stop_sequences", "thinking"):
        if name in body:
            return Detected("anthropic", f"it has `{name}`")
    return None
