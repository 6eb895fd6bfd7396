"""Errors as providers word them, each in two forms: an HTTP answer, and a frame inside a stream that began well."""

import json
from typing import Any, ClassVar

from headway.sim.fault import Fault
from headway.sim.place import At
from headway.sim.play import Bytes, Finish, Play, answer
from headway.sim.scene import Scene

OPENAI: dict[str, tuple[int, dict[str, Any]]] = {
    "rate_limit": (
        429,
        {
            "message": "Rate limit reached for model-1 on tokens per min (TPM). Please try again in 1.5s.",
            "type": "tokens",
            "code": "rate_limit_exceeded",
        },
    ),
    "overloaded": (
        503,
        {
            "message": "Our servers are currently overloaded. Please try again later.",
            "type": "service_unavailable_error",
            "code": "server_is_overloaded",
        },
    ),
    "server_error": (
        500,
        {"message": "The server had an error while processing your request.", "type": "server_error", "code": None},
    ),
    "content_filter": (
        400,
        {"message": "The response was filtered by the content management policy.", "code": "content_filter"},
    ),
    "new_sensitive": (
        422,
        {"message": "output new_sensitive (1027)", "type": "unprocessable_entity_error", "code": None},
    ),
    "context_full": (
        400,
        {
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 "
            "tokens. Please reduce the length of the messages.",
            "type": "invalid_request_error",
            "code": "context_length_exceeded",
        },
    ),
    "quota": (
        429,
        {
            "message": "You exceeded your current quota, please check your plan and billing details.",
            "type": "insufficient_quota",
            "code": "insufficient_quota",
        },
    ),
    "bad_key": (
        401,
        {"message": "Incorrect API key provided.", "type": "invalid_request_error", "code": "invalid_api_key"},
    ),
    "no_model": (
        404,
        {
            "message": "The model `model-1` does not exist or you do not have access to it.",
            "type": "invalid_request_error",
            "code": "model_not_found",
        },
    ),
    "history": (
        400,
        {
            "message": "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: call_1",
            "type": "invalid_request_error",
            "code": None,
        },
    ),
}
ANTHROPIC: dict[str, tuple[int, dict[str, Any]]] = {
    "rate_limit": (
        429,
        {"type": "rate_limit_error", "message": "This request would exceed your organization's rate limit."},
    ),
    "overloaded": (529, {"type": "overloaded_error", "message": "Overloaded"}),
    "server_error": (500, {"type": "api_error", "message": "Internal server error"}),
    "timeout": (504, {"type": "timeout_error", "message": "Request timed out"}),
    "content_filter": (
        400,
        {"type": "invalid_request_error", "message": "Output blocked by content filtering policy"},
    ),
    "new_sensitive": (422, {"type": "unprocessable_entity_error", "message": "output new_sensitive (1027)"}),
    "context_full": (
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"},
    ),
    "too_large": (413, {"type": "request_too_large", "message": "Request exceeds the maximum size"}),
    "bad_key": (401, {"type": "authentication_error", "message": "invalid x-api-key"}),
    "forbidden": (
        403,
        {"type": "permission_error", "message": "Your API key does not have permission to use this resource"},
    ),
    "billing": (402, {"type": "billing_error", "message": "There is an issue with your billing"}),
    "no_model": (404, {"type": "not_found_error", "message": "model: model-1"}),
    "history": (
        400,
        {
            "type": "invalid_request_error",
            "message": "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1.",
        },
    ),
}
ERRORS = {"chat": OPENAI, "responses": OPENAI, "anthropic": ANTHROPIC}
FORMS = {"chat": ("data",), "responses": ("error", "response.failed"), "anthropic": ("error",)}
"""The frames that each wire has for an error."""


class _ErrorStatus(Fault, frozen=True, kw_only=True):
    """The error as an HTTP answer."""

    answers: ClassVar[bool] = True
    status: int = 500
    body: str = ""

    def strike(self, _scene: Scene) -> Play | None:
        return answer(self.status, json.loads(self.body))


class _ErrorFrame(Fault, frozen=True, kw_only=True):
    """The error as the last frame of a stream that began with HTTP 200."""

    at: At = "opened"
    frame: str = ""

    def strike(self, scene: Scene) -> Play | None:
        halves = self.split(scene)
        return None if halves is None else [*halves[0], Bytes(self.frame.encode()), Finish()]


def as_status(wire: str, name: str, **scope: Any) -> Fault:
    status, error = ERRORS[wire][name]
    body = {"type": "error", "error": error} if wire == "anthropic" else {"error": error}
    return _ErrorStatus(status=status, body=json.dumps(body), **scope)


def as_frame(wire: str, name: str, form: str, at: At = "opened", **scope: Any) -> Fault:
    _, error = ERRORS[wire][name]
    bodies: dict[tuple[str, str], dict[str, Any]] = {
        ("chat", "data"): {"error": error},
        ("anthropic", "error"): {"type": "error", "error": error},
        ("responses", "error"): {"type": "error", "code": error.get("code"), "message": error["message"]},
        ("responses", "response.failed"): {
            "type": "response.failed",
            "response": {
                "id": "resp_1",
                "status": "failed",
                "output": [],
                "error": {"code": error.get("code") or error.get("type"), "message": error["message"]},
            },
        },
    }
    event = "" if form == "data" else f"event: {form}\n"
    return _ErrorFrame(frame=f"{event}data: {json.dumps(bodies[wire, form])}\n\n", at=at, **scope)
