"""Failures that come where an answer was promised, as error objects, flags or status codes inside a 200; both ways."""

from typing import Any

from headway.events import StreamCut
from headway.wire.json_text import BadJson, decode, encode_text, excerpt
from headway.wire.openai_chat.shapes import Chunk, scalar

_ENVELOPE = ("message", "detail", "code", "error_code", "error_msg")
_WORDS = ("message", "status_msg", "error_msg", "detail", "error", "code", "type")
_DEPTH = 4
_NO_FAILURE = ("", "0")


def failure_in(chunk: Chunk) -> str:
    """Return the server's words for a failure, or a blank when the chunk holds none."""
    if chunk.error:
        return error_words(chunk.error)
    if chunk.x_groq is not None and chunk.x_groq.get("error"):
        return error_words(chunk.x_groq["error"])
    if chunk.base_resp is not None and scalar(chunk.base_resp.get("status_code")) not in _NO_FAILURE:
        return error_words(chunk.base_resp)
    if chunk.output_sensitive is True:
        return "output_sensitive"
    if chunk.input_sensitive is True:
        return "input_sensitive"
    return ""


def failure_envelope(value: dict[str, Any]) -> str:
    """Return the words of a body without choices that is an error by its shape, or a blank."""
    if value.get("object") == "error" or value.get("type") == "error" or any(value.get(key) for key in _ENVELOPE):
        return error_words(value)
    return ""


def write_error(cut: StreamCut) -> dict[str, Any]:
    """Return the error object that tells a client of a cut: the upstream's own when it is one of this wire."""
    try:
        value = decode(cut.body)
    except BadJson:
        value = None
    if isinstance(value, dict) and value.get("error"):
        return value
    message = cut.said or excerpt(cut.body) or "The reply was cut before its end."
    return {"error": {"message": message, "type": "upstream_error", "code": cut.cause.value}}


def write_half_a_call(name: str) -> dict[str, Any]:
    """Return the error object for a reply that claims to be whole and holds a call that is not."""
    message = f"The reply ended, but its call of {name!r} never arrived whole."
    return {"error": {"message": message, "type": "upstream_error", "code": "half_a_call"}}


def said_in(data: bytes) -> str:
    """Return the words of an error frame, JSON or not; never blank."""
    try:
        return error_words(decode(data))
    except BadJson:
        return excerpt(data) or "error"


def error_words(error: Any) -> str:
    """Return the shortest honest words of an error of any shape; never blank."""
    for _ in range(_DEPTH):
        if isinstance(error, dict):
            error = next((error[key] for key in _WORDS if error.get(key)), None)
    try:
        return excerpt(scalar(error) or encode_text(error or "error").strip('"'))
    except BadJson:
        return "error"
