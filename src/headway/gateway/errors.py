"""Errors in the client's own wire, marked as made by Headway; an upstream's own error goes on as it came.

A client must be able to tell its own mistakes (400, 404, 413) from trouble behind the gateway (429, 5xx), and never
takes the gateway's trouble with its own keys for a reason to ask its user to log in again.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from headway.events import Cut, StreamCut
from headway.failure import Failure, FailureKind
from headway.wire.json_text import encode

K = FailureKind
STATUSES: Mapping[FailureKind, int] = {
    K.RATE_LIMITED: 429,
    K.QUOTA_SPENT: 429,
    K.OVERLOADED: 529,
    K.TIMED_OUT: 504,
    K.STALLED: 504,
    K.CONTEXT_FULL: 400,
    K.OUTPUT_CAP_TOO_HIGH: 400,
    K.HISTORY_REFUSED: 400,
    K.PARAMETER_REFUSED: 400,
    K.REQUEST_REFUSED: 400,
    K.CONTENT_FILTERED: 400,
    K.MODEL_UNAVAILABLE: 404,
    K.CANCELLED: 503,
}
"""What a failure is for a client; everything else is trouble with an upstream, 502."""
CLIENTS_OWN = frozenset({400, 404, 413, 422})
"""An upstream's answers that are about what the client sent."""
HOPELESS = frozenset({K.BAD_KEY, K.FORBIDDEN, K.BILLING, K.QUOTA_SPENT, K.TLS_REFUSED, K.MISCONFIGURED, K.REFUSED})
"""Failures that a person has to see to: a client that asks again only makes them wait."""
_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    431: "invalid_request_error",
    504: "timeout_error",
    503: "overloaded_error",
    529: "overloaded_error",
}
_OPENAI_TYPES = {
    400: "invalid_request_error",
    401: "invalid_request_error",
    403: "invalid_request_error",
    404: "invalid_request_error",
    405: "invalid_request_error",
    408: "timeout",
    413: "invalid_request_error",
    429: "requests",
    431: "invalid_request_error",
}
_OPENAI_CODES = {401: "invalid_api_key", 404: "not_found", 413: "request_too_large", 429: "rate_limit_exceeded"}


class Trouble(Struct, frozen=True):
    """Why a client gets no answer."""

    status: int
    message: str
    code: str = ""
    wait_seconds: float | None = None
    retry: bool | None = None
    """Would asking again help? None leaves it to the client."""


def trouble_of(failure: Failure, tried: tuple[str, ...]) -> Trouble:
    """Return what a client is told about a turn that was given up."""
    status = STATUSES.get(failure.kind, 502)
    asked = f" Headway asked {', '.join(dict.fromkeys(tried))}." if tried else ""
    reason = failure.reason
    if failure.kind is K.CONTEXT_FULL:  # the words by which clients know that they must compact
        reason = f"prompt is too long: {reason[:1].lower()}{reason[1:]}"
    code = "context_length_exceeded" if failure.kind is K.CONTEXT_FULL else failure.kind.value
    hopeless = status in CLIENTS_OWN or failure.kind in HOPELESS
    return Trouble(status, f"{reason}{asked}", code, failure.wait_seconds, False if hopeless else None)


def error_value(wire: str, trouble: Trouble, request_id: str) -> dict[str, Any]:
    """Return the error object of a wire."""
    if wire == "anthropic":
        kind = _ANTHROPIC_TYPES.get(trouble.status, "api_error")
        error = {"type": kind, "message": trouble.message, "code": trouble.code or kind, "source": "headway"}
        return {"type": "error", "error": error, "request_id": request_id}
    kind = _OPENAI_TYPES.get(trouble.status, "server_error")
    code = trouble.code or _OPENAI_CODES.get(trouble.status, kind)
    return {
        "error": {"message": trouble.message, "type": kind, "param": None, "code": code, "source": "headway"},
        "request_id": request_id,
    }


def error_answer(wire: str, trouble: Trouble, request_id: str) -> tuple[dict[str, str], bytes]:
    """Return headers and body of an answer that is an error."""
    headers = {"content-type": "application/json", "x-headway-error": trouble.code or str(trouble.status)}
    if trouble.wait_seconds is not None:
        headers["retry-after"] = str(max(1, round(trouble.wait_seconds)))
    if trouble.retry is not None:
        headers["x-should-retry"] = "true" if trouble.retry else "false"
    return headers, encode(error_value(wire, trouble, request_id))


def error_event(wire: str, trouble: Trouble, request_id: str) -> StreamCut:
    """Return the same for a stream that has begun."""
    return StreamCut(Cut.ERROR, encode(error_value(wire, trouble, request_id)).decode(), trouble.code)
