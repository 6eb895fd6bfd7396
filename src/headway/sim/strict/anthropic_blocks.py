"""The blocks of the Messages API, judged one by one: their types, their fields, and what may not be blank."""

import re
from collections.abc import Iterator
from typing import Any

from headway.sim.strict.strings import LONG_TOOL_NAME, is_blank, kind_of

CALL_ID = re.compile(r"[a-zA-Z0-9_-]+")
PICTURES = ("image/jpeg", "image/png", "image/gif", "image/webp")
SERVER_USES = ("server_tool_use", "mcp_tool_use")
SERVER_RESULTS = (
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result", "mcp_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
    "advisor_tool_result",
)  # fmt: skip
SPOKEN = {"text", "thinking", "redacted_thinking", "tool_use", "compaction", "fallback", *SERVER_USES, *SERVER_RESULTS}
GIVEN = {"text", "image", "document", "tool_result", "search_result", "container_upload"}
IN_RESULTS = {"text", "image", "document", "search_result", "tool_reference"}
EMPTY = "messages.{}: all messages must have non-empty content except for the optional final assistant message"
BLANK = "messages: text content blocks must contain non-whitespace text"


def judge_message(message: Any, index: int) -> Iterator[str]:
    """Judge one message on its own."""
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ("user", "assistant"):
        yield f"messages.{index}.role: Input should be 'user' or 'assistant'"
        return
    content = message.get("content")
    if isinstance(content, str):
        if is_blank(content):
            yield EMPTY.format(index) if not content else BLANK
    elif not isinstance(content, list):
        yield f"messages.{index}.content: Input should be a valid list"
    elif not content:
        yield EMPTY.format(index)
    else:
        for at, block in enumerate(content):
            yield from _judge_block(block, SPOKEN if role == "assistant" else GIVEN, f"messages.{index}.content.{at}")


def _judge_block(block: Any, allowed: set[str], place: str) -> Iterator[str]:
    kind = kind_of(block)
    if kind not in allowed:
        yield f"{place}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        return
    match kind:
        case "text" if is_blank(block.get("text")):
            yield BLANK if block.get("text") else "messages: text content blocks must be non-empty"
        case "thinking":
            if not isinstance(block.get("thinking"), str):
                yield f"{place}.thinking.thinking: Field required"
            if is_blank(block.get("signature")):
                yield f"{place}.thinking.signature: Field required"
        case "redacted_thinking" if is_blank(block.get("data")):
            yield f"{place}.redacted_thinking.data: Field required"
        case "tool_use":
            yield from _judge_call(block, place)
        case "tool_result":
            yield from _judge_result(block, place)
        case "image" | "document":
            yield from _judge_source(block, kind, place)


def _judge_call(block: dict[str, Any], place: str) -> Iterator[str]:
    if not CALL_ID.fullmatch(str(block.get("id"))) or not isinstance(block.get("id"), str):
        yield f"{place}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if not isinstance(block.get("name"), str) or not LONG_TOOL_NAME.fullmatch(block["name"]):
        yield f"{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
    if not isinstance(block.get("input"), dict):
        yield f"{place}.tool_use.input: Input should be a valid dictionary"


def _judge_result(block: dict[str, Any], place: str) -> Iterator[str]:
    if not isinstance(block.get("tool_use_id"), str) or not CALL_ID.fullmatch(block["tool_use_id"]):
        yield f"{place}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    if not isinstance(block.get("is_error"), bool | None):
        yield f"{place}.tool_result.is_error: Input should be a valid boolean"
    content = block.get("content")
    if isinstance(content, list):
        for at, inner in enumerate(content):
            yield from _judge_block(inner, IN_RESULTS, f"{place}.tool_result.content.{at}")
    elif isinstance(content, str):
        if content and is_blank(content):
            yield BLANK
    elif content is not None:
        yield f"{place}.tool_result.content: Input should be a valid string or list"


def _judge_source(block: dict[str, Any], kind: str, place: str) -> Iterator[str]:
    match block.get("source"):
        case {"type": "base64", "media_type": str(media), "data": str(data)} if data:
            if kind == "image" and media not in PICTURES:
                yield f"{place}.image.source.base64.media_type: Input should be one of {PICTURES}"
        case {"type": "url", "url": str(url)} if url:
            pass
        case {"type": "file", "file_id": str(file_id)} if file_id:
            pass
        case {"type": "text", "data": str(text)} if text and kind == "document":
            pass
        case {"type": "content", "content": str() | list()} if kind == "document":
            pass
        case _:
            yield f"{place}.{kind}.source: Input tag does not match any of the expected tags"
