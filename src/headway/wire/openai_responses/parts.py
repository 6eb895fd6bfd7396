"""Content parts of messages and tool outputs, both ways: words, refusals, pictures, files.

Reading is total: a part of another type is `Opaque` and goes back as it came; words that are not a string become
one. Writing starts from the object that was read, so fields nobody here knows survive.
"""

import re
from typing import Any, TypeAlias

from headway.failure import InvalidInput
from headway.messages import Document, Image, Opaque, Part, Raw, Refusal, Text
from headway.wire.json_text import BadJson, encode_text

WIRE_NAME = "responses"
ContentPart: TypeAlias = Text | Refusal | Image | Document | Opaque
_DATA_URL = re.compile(r"data:([^;,]+);base64,")


def own(raw: Raw | None) -> dict[str, Any]:
    """Return the object that a value was read from on this wire; empty when it was born elsewhere."""
    return raw.value if raw is not None and raw.wire == WIRE_NAME else {}


def string(value: Any) -> str:
    """Return a name or an id as it stands; anything but a string is a blank, which a repair pass knows how to treat."""
    return value if isinstance(value, str) else ""


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; anything else stands for none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: Any) -> str:
    """Return text, whatever JSON stands where text should be."""
    if isinstance(value, str):
        return value
    try:
        return "" if value is None else encode_text(value)
    except BadJson as exc:
        raise InvalidInput("a text of the request", str(exc), "Send it as a string.") from None


def read_content(content: Any) -> tuple[ContentPart, ...]:
    """Read the content of a message, or the output of a tool: a string, or a list of parts."""
    if content is None:
        return ()
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        return tuple(_read_part(part) for part in content if part is not None)
    return (Text(words(content)),)


def write_content(parts: tuple[Part, ...], *, spoken: bool) -> list[dict[str, Any]]:
    """Write parts; `spoken` is for what the model said. What this wire cannot say in that place is left out."""
    return [value for part in parts if (value := _write_part(part, spoken=spoken)) is not None]


def _read_part(value: Any) -> ContentPart:
    if not isinstance(value, dict):
        return Text(words(value))
    raw = Raw(WIRE_NAME, value)
    match value.get("type"):
        case "input_text" | "output_text" | "text":
            return Text(words(value.get("text")), raw)
        case None if "text" in value:
            return Text(words(value["text"]), raw)
        case "refusal":
            return Refusal(words(value.get("refusal")), raw)
        case "input_image":
            return _read_image(raw)
        case "input_file":
            return _read_file(raw)
        case _:
            return Opaque(raw)


def _read_image(raw: Raw) -> Image | Opaque:
    url, file_id = raw.value.get("image_url"), raw.value.get("file_id")
    file_id = file_id if isinstance(file_id, str) else None
    if isinstance(url, str):
        media_type, data = _read_data_url(url)
        return Image(media_type, data, None if data is not None else url, file_id, raw)
    return Image(file_id=file_id, raw=raw) if file_id else Opaque(raw)


def _read_file(raw: Raw) -> Document | Opaque:
    given = {key: raw.value.get(key) for key in ("file_data", "file_url", "file_id", "filename")}
    inline, url, file_id, name = (value if isinstance(value, str) else None for value in given.values())
    if inline is None and url is None and file_id is None:
        return Opaque(raw)
    media_type, data = _read_data_url(inline or "")
    return Document(media_type, inline if data is None else data, url=url, file_id=file_id, name=name, raw=raw)


def _read_data_url(url: str) -> tuple[str | None, str | None]:
    found = _DATA_URL.match(url)
    return (found[1], url[found.end() :]) if found else (None, None)


def _write_part(part: Part, *, spoken: bool) -> dict[str, Any] | None:
    match part:
        case Text(text=text):
            return _write_words(part, "text", text, spoken=spoken)
        case Refusal(text=text) if spoken:
            return _write_words(part, "refusal", text, spoken=spoken)
        case Refusal(text=text):
            return {"type": "input_text", "text": text}
        case Image():
            if (raw := own(part.raw)) and _read_part(raw) == part:
                return raw
            return None if spoken else _write_image(part)
        case Document():
            if (raw := own(part.raw)) and _read_part(raw) == part:
                return raw
            return None if spoken else _write_file(part)
        case Opaque(raw=known):
            return own(known) or None
        case _:
            return None


def _write_words(part: Text | Refusal, field: str, text: str, *, spoken: bool) -> dict[str, Any]:
    """Write words as the kind that this place takes; what was read in another kind of place is written anew."""
    kind = field if field == "refusal" else "output_text" if spoken else "input_text"
    raw = own(part.raw)
    strange = "input_text" if spoken else "output_text"
    if raw and raw.get("type") != strange:
        return {**raw, "type": raw.get("type") or kind, field: text}
    if kind == "output_text":
        return {"type": kind, "text": text, "annotations": []}
    return {"type": kind, field: text}


def _write_image(image: Image) -> dict[str, Any] | None:
    url = image.url
    if image.data is not None:
        url = f"data:{image.media_type or 'image/png'};base64,{image.data}"
    source = {"image_url": url} if url else {"file_id": image.file_id} if image.file_id else None
    return {"type": "input_image", "detail": "auto", **source} if source else None


def _write_file(document: Document) -> dict[str, Any] | None:
    """Write a file. Plain text goes as words: every model reads those, and few endpoints take text files."""
    if document.text is not None:
        return {"type": "input_text", "text": document.text}
    name = {"filename": document.name} if document.name else {}
    if document.data is not None:
        data = f"data:{document.media_type or 'application/pdf'};base64,{document.data}"
        return {"type": "input_file", "filename": document.name or "file", "file_data": data}
    if document.url:
        return {"type": "input_file", **name, "file_url": document.url}
    return {"type": "input_file", **name, "file_id": document.file_id} if document.file_id else None
