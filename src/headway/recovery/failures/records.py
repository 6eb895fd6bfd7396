"""One JSON object to facts, leniently: absent, null and of the wrong type all mean the same, namely unknown."""

from collections.abc import Mapping
from typing import Any

from headway.failure import Where
from headway.recovery.failures.facts import Facts
from headway.wire.json_text import BadJson, encode_text

FIELDS = tuple(name for name in Facts.__struct_fields__ if name != "stop")
ANSWERS = frozenset(
    {"id", "class", "then", "repair", "meaning", "message_pattern", "evidence"}
    | {"verified", "status_verified", "body_source"}
)
"""What a failure that somebody has already judged carries besides; never read."""
ENVELOPES = ("error", "detail", "base_resp", "error_code", "error_msg", "promptFeedback", "response")
"""Beginnings of an error body; an object that has no `body` but one of these is, that far, the body itself."""
_PLACES = {place.value: place for place in Where}


def facts_of_record(record: Mapping[str, Any]) -> Facts:
    """Read facts from an object with their names. An object that has none of these names is itself a body."""
    if not any(name in record for name in FIELDS):
        return Facts(body=_text({name: value for name, value in record.items() if name not in ANSWERS}))
    body = record.get("body")
    if body is None:
        body = {name: record[name] for name in ENVELOPES if name in record}
    after_output = record.get("after_output")
    return Facts(
        wire=_text(record.get("wire")),
        vendor=_text(record.get("vendor")),
        where=_PLACES.get(_text(record.get("where"))),
        status=_number(record.get("status"), 100, 999),
        code=_text(record.get("code")),
        type=_text(record.get("type")),
        message=_text(record.get("message")),
        exception=_text(record.get("exception")),
        body=_text(body),
        headers=_headers(record.get("headers")),
        finish_reason=_text(record.get("finish_reason")),
        context=_text(record.get("context")),
        after_output=after_output if isinstance(after_output, bool) else None,
        repeat=_number(record.get("repeat"), 1, 1_000_000) or 1,
    )


def _text(value: Any) -> str:
    """Return text as it is, a number in digits, an object as JSON, anything else as nothing."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list) and value:
        try:
            return encode_text(value)
        except BadJson:
            return ""
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _number(value: Any, least: int, most: int) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 10:
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most else None


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        return {}
    return {str(name): text for name, item in value.items() if (text := _text(item))}
