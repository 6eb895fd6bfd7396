"""How a response ends and what it cost, both ways: status, incomplete details, error, usage.

Only `completed` and `incomplete` are ends; a failed or cancelled response is cut by an error. Lossy on purpose when
written: a stop sequence is a plain end here, and a stop that is no answer (refused, window full, failed, unknown) has
no status of its own, so it is a failed response whose error code says which.
"""

from typing import Any

from headway.events import Cut, End, Stop, StreamCut, StreamEnded, Usage
from headway.wire.decoding import EVIDENCE
from headway.wire.json_text import BadJson, decode, encode_text, excerpt
from headway.wire.openai_responses.parts import string

_STOPS = {
    "max_output_tokens": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "content_filter": Stop.FILTERED,
    "pause": Stop.PAUSE,
}
_REASONS = {Stop.LENGTH: "max_output_tokens", Stop.FILTERED: "content_filter", Stop.PAUSE: "pause"}
_FAILURES = {
    Stop.REFUSED: ("invalid_prompt", "The model refused to answer."),
    Stop.WINDOW: ("context_length_exceeded", "The context window is full."),
    Stop.FAILED: ("server_error", "The model failed to finish its answer."),
    Stop.UNKNOWN: ("server_error", "The answer stopped for a reason this wire has no word for."),
}


def is_broken(response: dict[str, Any]) -> bool:
    """Say whether a response failed: by its status, or by an error that no other end explains."""
    return response.get("status") in ("failed", "cancelled") or (
        bool(response.get("error")) and not is_incomplete(response)
    )


def is_incomplete(response: dict[str, Any]) -> bool:
    """Say whether a response ended before it was finished."""
    return response.get("status") == "incomplete"


def is_complete(response: dict[str, Any]) -> bool:
    """Say whether a response vouches for everything in it; some servers leave the status out of a whole reply."""
    return response.get("status") in ("completed", None) and not response.get("error")


def read_end(response: dict[str, Any], *, has_calls: bool) -> StreamEnded:
    """Return how a response ended that did not fail; a word nobody knows is never read as success."""
    if is_complete(response):
        return StreamEnded(Stop.CALLS if has_calls else Stop.END, "completed")
    details = response.get("incomplete_details")
    reason = string(details.get("reason")) if isinstance(details, dict) else ""
    said = string(response.get("status"))
    return StreamEnded(_STOPS.get(reason, Stop.UNKNOWN), f"{said}:{reason}" if reason else said)


def read_failure(value: dict[str, Any], said: str) -> StreamCut:
    """Return the cut that an error event, a failed response or an error body stands for, with its evidence."""
    body = _text(value)
    if len(body) > EVIDENCE:  # an excerpt of JSON is no JSON: keep what says why, leave out what was answered
        response = value.get("response")
        body = _text({**value, "response": _why(response)} if isinstance(response, dict) else _why(value))
    return StreamCut(Cut.ERROR, excerpt(body, EVIDENCE), said)


def _text(value: dict[str, Any]) -> str:
    try:
        return encode_text(value)
    except BadJson:
        return ""


def _why(value: dict[str, Any]) -> dict[str, Any]:
    return {key: value[key] for key in ("type", "id", "status", "error", "code", "message") if key in value}


def read_usage(response: dict[str, Any]) -> Usage | None:
    """Return the tokens that a response says it cost, if it says so."""
    usage = response.get("usage")
    if not isinstance(usage, dict):
        return None
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        output_tokens=_count(usage, "output_tokens"),
        cache_read_tokens=_count(usage.get("input_tokens_details"), "cached_tokens"),
        cache_write_tokens=_count(usage.get("input_tokens_details"), "cache_write_tokens"),
        reasoning_tokens=_count(usage.get("output_tokens_details"), "reasoning_tokens"),
    )


def _count(counts: Any, key: str) -> int:
    value = counts.get(key) if isinstance(counts, dict) else None
    return value if type(value) is int and value > 0 else 0


def write_usage(usage: Usage) -> dict[str, Any]:
    """Write tokens as the wire counts them."""
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def write_end(end: End) -> dict[str, Any]:
    """Return the fields of a response that say how it ended."""
    if isinstance(end, StreamCut):
        return {"status": "failed", "error": write_error(end)}
    if reason := _REASONS.get(end.stop):
        return {"status": "incomplete", "incomplete_details": {"reason": reason}}
    if end.stop in _FAILURES:
        code, message = _FAILURES[end.stop]
        detail = f"{message} ({end.detail or end.said})" if end.detail or end.said else message
        return {"status": "failed", "error": {"code": code, "message": detail}}
    return {"status": "completed"}


def write_half_a_call(name: str) -> dict[str, Any]:
    """Return the fields of a response that claims to be whole and holds a call that is not."""
    message = f"The reply ended, but its call of {name!r} never arrived whole."
    return {"status": "failed", "error": {"code": "server_error", "message": message}}


def write_error(cut: StreamCut) -> dict[str, str]:
    """Return the code and message of a cut, from whatever wire's error body it carries."""
    if cut.cause is not Cut.ERROR:
        return {"code": "server_error", "message": f"The answer was cut: {cut.said or cut.cause.value}"}
    error = _error_of(cut.body)
    code = error.get("code") or error.get("type")
    message = string(error.get("message")) or excerpt(cut.body) or "The answer failed."
    return {
        "code": str(code) if isinstance(code, str | int) and code != "error" else "server_error",
        "message": message,
    }


def _error_of(body: str) -> dict[str, Any]:
    """Find the object that says what went wrong: nested in `response`, nested in `error`, or the body itself."""
    try:
        found = decode(body)
    except BadJson:
        return {}
    for key in ("response", "error"):
        inner = found.get(key) if isinstance(found, dict) else None
        if isinstance(inner, str):
            return {"message": inner}
        found = inner if isinstance(inner, dict) else found
    return found if isinstance(found, dict) else {}
