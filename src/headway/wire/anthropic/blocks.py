"""Content blocks to parts and back. What still reads the same is sent as it came, unknown fields and all.

Reading is total: a block this vocabulary has no word for is an `Opaque`, a call whose input is no object is a
`CallFragment`. Rendering gives `None` for what must not be sent: fragments, thinking without proof, what only another
wire can read. Rendered blocks may be the very objects they were read from; nobody edits them.
"""

import re
from typing import Any, TypeAlias, assert_never

from headway.dialect import ANTHROPIC
from headway.messages import (
    CallFragment,
    Document,
    Image,
    Opaque,
    Part,
    Raw,
    Refusal,
    ResultPart,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from headway.wire.json_text import BadJson, encode_text, strict_object

NAME = ANTHROPIC.wire
ISSUER = ANTHROPIC.issuer
_OWN = frozenset(
    {"type", "text", "thinking", "signature", "data", "id", "name", "input"}
    | {"tool_use_id", "content", "is_error", "source", "title"}
)
_Sendable: TypeAlias = Text | Refusal | Thinking | ToolCall | ToolResult | Image | Document | Opaque
_DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)


def ours(raw: Raw | None) -> dict[str, Any] | None:
    """Return the object a value was read from, if it was read on this wire."""
    return raw.value if raw is not None and raw.wire == NAME else None


def text_of(value: Any) -> str:
    """Return a text, or nothing where the wire has something else."""
    return value if isinstance(value, str) else ""


def read_block(block: dict[str, Any]) -> Part:
    """Return what one content block says."""
    raw = Raw(NAME, block)
    match block.get("type"):
        case "text":
            return Text(text_of(block.get("text")), raw)
        case "thinking":
            signature = text_of(block.get("signature")) or None
            return Thinking(text_of(block.get("thinking")), ISSUER, signature, raw=raw)
        case "redacted_thinking":
            return Thinking("", ISSUER, sealed=text_of(block.get("data")), raw=raw)
        case "tool_use":
            return _read_call(block, raw)
        case "tool_result":
            return _read_result(block)
        case "image" | "document":
            return _read_file(block, raw)
        case _:
            return Opaque(raw)


def render_block(part: Part) -> dict[str, Any] | None:
    """Return the block that says this part, or `None` when it must not be sent."""
    if isinstance(part, CallFragment) or (isinstance(part, Thinking) and not _is_proven(part)):
        return None
    raw = ours(part.raw)
    if raw is None:
        return _fields(part)
    if read_block(raw) == part:
        return raw
    fields = _fields(part)
    return None if fields is None else {**{k: v for k, v in raw.items() if k not in _OWN}, **fields}


def _is_proven(part: Thinking) -> bool:
    """Only its issuer's signature or seal makes thinking acceptable, and a seal of another wire is no seal here."""
    return (bool(part.signature) or bool(part.sealed)) and (part.raw is None or part.raw.wire == NAME)


def _fields(part: _Sendable) -> dict[str, Any] | None:
    """Return a part in this wire's words, without what only its raw form knows."""
    match part:
        case Text(text=text) | Refusal(text=text):
            return {"type": "text", "text": text}
        case Thinking(sealed=None):
            return {"type": "thinking", "thinking": part.text, "signature": part.signature or ""}
        case Thinking():
            return {"type": "redacted_thinking", "data": part.sealed}
        case ToolCall():
            return _call_fields(part)
        case ToolResult():
            return _result_fields(part)
        case Image():
            source = _source(part, "image/png")
            return None if source is None else {"type": "image", "source": source}
        case Document():
            return _document_fields(part)
        case Opaque():
            return ours(part.raw)
        case _:
            assert_never(part)


# Calls


def _read_call(block: dict[str, Any], raw: Raw) -> ToolCall | CallFragment:
    """Read a call; anything but an object for its input makes it malformed, and never a call without input."""
    given = block.get("input")
    named = text_of(block.get("id")), text_of(block.get("name"))
    try:
        arguments = given if isinstance(given, str) else "" if given is None else encode_text(given)
    except BadJson:
        return CallFragment(*named, "", raw=raw)
    kind = ToolCall if isinstance(given, dict) else CallFragment
    return kind(*named, arguments, raw=raw)


def _call_fields(part: ToolCall) -> dict[str, Any] | None:
    try:
        given = {"input": part.arguments} if part.freeform else strict_object(part.arguments)
    except BadJson:
        return None
    return {"type": "tool_use", "id": part.id, "name": part.name, "input": given}


# Results


def _read_result(block: dict[str, Any]) -> ToolResult:
    content = block.get("content")
    parts: tuple[ResultPart, ...]
    if isinstance(content, str):
        parts = (Text(content),)
    elif isinstance(content, list):
        parts = tuple(_read_result_part(item) for item in content)
    else:
        parts = () if content is None else (_read_result_part(content),)
    raw = Raw(NAME, {key: value for key, value in block.items() if _may_go_back(key, value)})
    return ToolResult(text_of(block.get("tool_use_id")), parts, block.get("is_error") is True, raw=raw)


def _may_go_back(key: str, value: Any) -> bool:
    """Say whether a field of a result is as it should be; what reading had to mend is written anew."""
    if key == "is_error":
        return isinstance(value, bool)
    if key == "content":
        return isinstance(value, str) or (isinstance(value, list) and all(map(_is_block, value)))
    return True


def _is_block(item: Any) -> bool:
    return isinstance(item, dict) and "type" in item


def _read_result_part(item: Any) -> ResultPart:
    if _is_block(item):
        part = read_block(item)
        return part if isinstance(part, Text | Image | Document) else Opaque(Raw(NAME, item))
    if isinstance(item, str):
        return Text(item)
    try:
        return Text(encode_text(item))
    except BadJson:
        return Text("")


def _result_fields(part: ToolResult) -> dict[str, Any]:
    fields: dict[str, Any] = {"type": "tool_result", "tool_use_id": part.call_id}
    content = content_of(part.parts)
    if content is not None:
        fields["content"] = content
    if part.is_error:
        fields["is_error"] = True
    return fields


def content_of(parts: tuple[Part, ...]) -> str | list[dict[str, Any]] | None:
    """Return a bare string for words that were never a block, else blocks; `None` when nothing is left to send."""
    match parts:
        case (Text(raw=None) as only,):
            return only.text
        case _:
            return [block for part in parts if (block := render_block(part)) is not None] or None


# Pictures and files


def _read_file(block: dict[str, Any], raw: Raw) -> Image | Document | Opaque:
    source = block.get("source")
    media = text_of(source.get("media_type")) or None if isinstance(source, dict) else None
    name = text_of(block.get("title")) or None
    is_image = block["type"] == "image"
    match source:
        case {"type": "base64", "data": str(data)}:
            return Image(media, data, raw=raw) if is_image else Document(media, data, name=name, raw=raw)
        case {"type": "url", "url": str(url)}:
            return Image(url=url, raw=raw) if is_image else Document(url=url, name=name, raw=raw)
        case {"type": "file", "file_id": str(file_id)}:
            return Image(file_id=file_id, raw=raw) if is_image else Document(file_id=file_id, name=name, raw=raw)
        case {"type": "text", "data": str(text)} if not is_image:
            return Document(media, text=text, name=name, raw=raw)
        case _:
            return Opaque(raw)


def _document_fields(part: Document) -> dict[str, Any] | None:
    source: dict[str, Any] | None
    if part.text is not None:
        source = {"type": "text", "media_type": "text/plain", "data": part.text}
    else:
        source = _source(part, "application/pdf")
    if source is None:
        return None
    return {"type": "document", "source": source, **({"title": part.name} if part.name else {})}


def _source(part: Image | Document, media_type: str) -> dict[str, Any] | None:
    """Give a file by value, by address or by id; but an id that another wire's provider gave names nothing here."""
    if part.data is not None:
        return {"type": "base64", "media_type": part.media_type or media_type, "data": part.data}
    if part.url is not None:
        inside = _DATA_URL.fullmatch(part.url)
        if inside is None:
            return {"type": "url", "url": part.url}
        return {"type": "base64", "media_type": inside[1] or media_type, "data": inside[2]}
    if part.file_id is not None and (part.raw is None or part.raw.wire == NAME):
        return {"type": "file", "file_id": part.file_id}
    return None
