"""Content parts, both ways. A bare string is a `Text` without `raw`; whatever stood in a list keeps its object."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from headway.messages import Document, Image, Opaque, Part, Raw, Refusal, Text
from headway.wire.json_text import BadJson, encode_text
from headway.wire.openai_chat.raw import own

ContentPart = Text | Refusal | Image | Document | Opaque
FIELDS = frozenset({"audio", "function_call"})
"""What an assistant message may hold beside its content and that no other wire has."""
_DATA_URL = re.compile(r"data:([^;,]+);base64,(.*)", re.DOTALL)
_TEXT_TYPES = ("text", "input_text", "output_text")


def read_content(content: Any) -> tuple[ContentPart, ...]:
    """Read the content of a message, whatever its type."""
    match content:
        case None:
            return ()
        case str():
            return (Text(content),)
        case list():
            return tuple(part for item in content if (part := _read_item(item)) is not None)
        case {"type": str()}:
            return (_read_part(content),)
        case _:
            return (Text(_as_text(content)),)


def write_content(parts: Sequence[ContentPart], joint: str) -> str | list[dict[str, Any]]:
    """Write content: words born elsewhere as one string, joined by `joint`; anything else as a list."""
    if all(isinstance(part, Text) and not own(part.raw) for part in parts):
        return joint.join(part.text for part in parts if isinstance(part, Text))
    return [item for part in parts if (item := write_part(part)) is not None]


def write_part(part: ContentPart) -> dict[str, Any] | None:
    """Write one part in list form; what only another wire can read is left out."""
    raw = own(part.raw)
    match part:
        case Text(text=text):
            return {**raw, "type": "text", "text": text}
        case Refusal(text=text):
            return {**raw, "type": "refusal", "refusal": text}
        case Image():
            return _write_image(part, raw)
        case Document():
            return _write_document(part, raw)
        case Opaque():
            return raw or None


def content_of(parts: Iterable[Part]) -> list[ContentPart]:
    """Return the parts that stand in the content of a message; a refusal does only if it was read there."""
    return [
        part
        for part in parts
        if isinstance(part, Text | Image | Document)
        or (isinstance(part, Refusal) and own(part.raw))
        or (isinstance(part, Opaque) and own(part.raw) and not is_field(part))
    ]


def is_field(part: Opaque) -> bool:
    """Say whether an opaque part is a field of its message, not a part of its content."""
    return part.raw.value.keys() <= FIELDS


def _read_item(item: Any) -> ContentPart | None:
    if isinstance(item, str):
        return Text(item)
    return _read_part(item) if isinstance(item, dict) else None


def _read_part(item: dict[str, Any]) -> ContentPart:
    raw = Raw("chat", item)
    kind = item.get("type")
    if kind in _TEXT_TYPES and isinstance(item.get("text"), str):
        return Text(item["text"], raw)
    if kind == "refusal" and isinstance(item.get("refusal"), str):
        return Refusal(item["refusal"], raw)
    if kind == "image_url" and (image := _read_image(item, raw)):
        return image
    if kind == "file" and isinstance(item.get("file"), dict):
        return _read_document(item["file"], raw)
    return Opaque(raw)


def _read_image(item: dict[str, Any], raw: Raw) -> Image | None:
    held = item.get("image_url")
    url = held.get("url") if isinstance(held, dict) else held
    if not isinstance(url, str):
        return None
    media_type, data = _split_data_url(url)
    return Image(media_type, data, raw=raw) if data is not None else Image(url=url, raw=raw)


def _read_document(file: dict[str, Any], raw: Raw) -> Document:
    content, file_id, name = (
        value if isinstance(value := file.get(key), str) else None for key in ("file_data", "file_id", "filename")
    )
    media_type, data = _split_data_url(content) if content is not None else (None, None)
    return Document(media_type, content if data is None else data, file_id=file_id, name=name, raw=raw)


def _write_image(image: Image, raw: dict[str, Any]) -> dict[str, Any]:
    url = image.url if image.data is None else f"data:{image.media_type or 'image/png'};base64,{image.data}"
    if url is None:
        return {"type": "text", "text": "[an image that is stored with another provider]"}
    held = raw.get("image_url")
    return {**raw, "type": "image_url", "image_url": url if isinstance(held, str) else {**(held or {}), "url": url}}


def _write_document(document: Document, raw: dict[str, Any]) -> dict[str, Any]:
    file: dict[str, Any] = dict(raw.get("file", {}))
    if document.data is not None:
        media_type = document.media_type or (None if raw else "application/pdf")
        file["file_data"] = f"data:{media_type};base64,{document.data}" if media_type else document.data
        if document.name or not raw:
            file["filename"] = document.name or "document"
    elif not raw:
        name = document.name or document.url or "a file that is stored with another provider"
        return {"type": "text", "text": f"[{name}]" if document.text is None else document.text}
    return {**raw, "type": "file", "file": file}


def _split_data_url(url: str) -> tuple[str | None, str | None]:
    match = _DATA_URL.fullmatch(url)
    return (match[1], match[2]) if match else (None, None)


def _as_text(value: Any) -> str:
    try:
        return encode_text(value)
    except BadJson:
        return ""
