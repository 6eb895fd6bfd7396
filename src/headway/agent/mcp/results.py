"""What a call gave, as content for a model: words, pictures, and a note for what no model takes. Pure and bounded."""

from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from typing import Any

from headway.agent.context.images import MOST_BYTES, image_of
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.tool import Content
from headway.messages import ResultPart, Text
from headway.wire.json_text import BadJson, encode_text

MOST_PARTS = 64
MOST_IMAGES = 8


def content_of(tool: str, result: dict[str, Any]) -> Content:
    """Return what a call gave; raises `ToolError` with the server's words if it says that it failed."""
    if result.get("resultType") == "input_required":
        raise ToolError(f"`{tool}` was not run: its server wants to ask the user something, which cannot be done here.")
    blocks = result.get("content")
    parts = list(_parts(blocks)) if isinstance(blocks, list) else []
    structured = result.get("structuredContent")
    if structured is not None and not any(isinstance(part, Text) for part in parts):
        parts.insert(0, Text(_json(structured)))
    if result.get("isError") is True:
        words = "\n".join(part.text for part in parts if isinstance(part, Text)).strip()
        raise ToolError(words or f"`{tool}` failed, and its server did not say why.")
    return tuple(parts) or "Done. It gave nothing back."


def _parts(blocks: list[Any]) -> Iterator[ResultPart]:
    images = 0
    for block in blocks[:MOST_PARTS]:
        if not isinstance(block, dict):
            continue
        part = _part(block)
        if part is None:
            yield Text(f"[left out: {str(block.get('type'))[:40]}, which models do not take]")
        elif isinstance(part, Text):
            yield part
        else:
            images += 1
            yield part if images <= MOST_IMAGES else Text("[left out: one more picture]")
    if len(blocks) > MOST_PARTS:
        yield Text(f"[left out: {len(blocks) - MOST_PARTS} more parts]")


def _part(block: dict[str, Any]) -> ResultPart | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image", "data": str(data)}:
            return _image(data)
        case {"type": "resource", "resource": {"text": str(text)} as resource}:
            return Text(f"{_uri(resource)}:\n{text}")
        case {"type": "resource", "resource": {"blob": str(data)} as resource}:
            return _image(data) or Text(f"[left out: {_uri(resource)}, {len(data) * 3 // 4:,} bytes of no text]")
        case {"type": "resource_link", "uri": str()}:
            words = " ".join(str(block.get(key, "")) for key in ("name", "description") if block.get(key))
            return Text(f"{_uri(block)} {words}".strip()[:2_000])
        case _:
            return None


def _image(data: str) -> ResultPart | None:
    """Return a picture, known by its bytes and not by what the server calls it."""
    if len(data) > MOST_BYTES * 4 // 3 + 4:
        return Text(f"[left out: a picture of about {len(data) * 3 // 4:,} bytes, which is too large]")
    try:
        return image_of(b64decode(data, validate=True), "it")
    except (Error, ValueError, ToolError):
        return None


def _uri(resource: dict[str, Any]) -> str:
    return str(resource.get("uri", "a resource"))[:500]


def _json(value: Any) -> str:
    try:
        return encode_text(value)
    except BadJson as error:
        return f"[left out: a result that cannot be written: {error}]"
