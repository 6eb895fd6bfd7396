"""Errors inside a reply: how to know one, and how to say any failure in this wire's own words."""

from typing import Any

from headway.events import End, StreamCut, StreamEnded
from headway.wire.json_text import BadJson, decode, excerpt

_BY_STATUS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_BY_WORD = (
    ("rate_limit", "rate_limit_error"),
    ("quota", "billing_error"),
    ("overload", "overloaded_error"),
    ("timeout", "timeout_error"),
    ("authentication", "authentication_error"),
    ("api_key", "authentication_error"),
    ("permission", "permission_error"),
    ("not_found", "not_found_error"),
    ("context_length", "invalid_request_error"),
    ("invalid_request", "invalid_request_error"),
)
"""Words in other wires' types and codes, most telling first."""
_TYPES = frozenset(_BY_STATUS.values())


def is_error(value: dict[str, Any]) -> bool:
    """Say whether an object is an error: this wire's own, a bare `error` key, or a status beside the reply."""
    if value.get("type") == "error" or value.get("error"):
        return True
    status = value.get("base_resp")
    return isinstance(status, dict) and status.get("status_code") not in (None, 0, "0", "")


def error_type(value: Any) -> str:
    """Return the type that an error object names for itself, if any."""
    inner = value.get("error") if isinstance(value, dict) else None
    kind = inner.get("type") if isinstance(inner, dict) else None
    return kind if isinstance(kind, str) else ""


def error_object(end: End | None) -> dict[str, Any]:
    """Return the error that says why there is no whole reply; an error of this wire goes on as it came."""
    if isinstance(end, StreamEnded):
        words = f"the reply ended without success: {end.said or end.stop.value}"
        return _error("api_error", f"{words} ({end.detail})" if end.detail else words)
    if end is None:
        return _error("api_error", "the reply never ended")
    return _cut(end)


def half_a_call(name: str) -> dict[str, Any]:
    """Return the error for a reply that claims to be whole and holds a call that is not."""
    return _error("api_error", f"the reply ended, but its call of {name!r} never arrived whole")


def _cut(cut: StreamCut) -> dict[str, Any]:
    try:
        value = decode(cut.body)
    except BadJson:
        value = None
    if not isinstance(value, dict):
        return _error("api_error", excerpt(cut.body) or cut.said or f"the reply was cut: {cut.cause.value}")
    inner = value.get("error")
    if value.get("type") == "error" and isinstance(inner, dict):
        return value
    facts = inner if isinstance(inner, dict) else value.get("base_resp", value)
    if not isinstance(facts, dict):
        facts = value
    message = inner if isinstance(inner, str) else facts.get("message") or facts.get("status_msg")
    return _error(_fitting_type(facts), message if isinstance(message, str) else excerpt(cut.body))


def _fitting_type(facts: dict[str, Any]) -> str:
    named = [facts.get(key) for key in ("type", "code", "status")]
    for word in named:
        if isinstance(word, str) and word in _TYPES:
            return word
    for word in named:
        status = int(word) if isinstance(word, str) and word.isdecimal() and len(word) == 3 else word
        if isinstance(status, int) and status in _BY_STATUS:
            return _BY_STATUS[status]
    said = " ".join(word for word in named if isinstance(word, str))
    return next((kind for word, kind in _BY_WORD if word in said), "api_error")


def _error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}
