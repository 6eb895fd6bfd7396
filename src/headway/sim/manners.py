"""How each wire behaves where the codecs have no say: its ids, its refusals, its frames that say nothing.

The codecs speak for both sides; what only a provider does stands here, one row a wire.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from headway.events import Event, ThinkingSealed, ThinkingSigned
from headway.messages import WireName
from headway.sim.frames import change_frames
from headway.sim.play import Headers, Idle
from headway.sim.seals import seal
from headway.wire.base import Wire
from headway.wire.sse import write_comment, write_frame
from headway.wire.table import WIRES

EVERY_WIRE: frozenset[WireName] = frozenset({"chat", "responses", "anthropic"})


class Trouble(Struct, frozen=True):
    """Why a request is turned away, before a wire puts it into its own words."""

    status: int
    message: str
    code: str | None = None
    param: str | None = None
    headers: Headers = ()


class Sent(Struct):
    """What went out on a stream so far: the first frame, the last delta, and how many frames."""

    first: bytes = b""
    delta: bytes = b""
    frames: int = 0


class Manners(Struct, frozen=True):
    """One wire's ways."""

    wire: Wire
    reply_id: str
    """How ids of replies begin, and ids of calls."""
    call_id: str
    refuse: Callable[[Trouble], dict[str, Any]]
    """Write the body of an error answer."""
    proof: Callable[[str], list[Event]]
    """End a block of thinking with what proves it."""
    empty: Callable[[dict[str, Any]], dict[str, Any]]
    """Take the words out of a delta."""
    ping: bytes = write_comment()

    def idle(self, kind: Idle, sent: Sent) -> bytes:
        """Return a frame that says nothing; like what was sent before, but without words."""
        if kind is Idle.PING:
            return self.ping
        if kind is Idle.EMPTY_DELTA and sent.delta:
            return self._numbered(change_frames(sent.delta, self.empty), sent)
        if kind is not Idle.COMMENT and sent.first:
            return self._numbered(sent.first, sent)
        return write_comment()

    def _numbered(self, data: bytes, sent: Sent) -> bytes:
        """Count a frame on, where the wire counts its frames."""

        def renumber(value: dict[str, Any]) -> dict[str, Any]:
            return {**value, "sequence_number": sent.frames} if "sequence_number" in value else value

        return change_frames(data, renumber)


def refused_key(key: str, wire: str, status: int = 401) -> Trouble:
    """Return why a key is not accepted, in the words of a wire."""
    if wire == "anthropic":
        return Trouble(status, "invalid x-api-key" if key else "x-api-key header is required")
    if not key:
        missing = "You didn't provide an API key. You need to provide your API key in an Authorization header."
        return Trouble(status, missing)
    shown = f"{key[:3]}***{key[-2:]}" if len(key) > 8 else "***"
    return Trouble(status, f"Incorrect API key provided: {shown}.", "invalid_api_key")


_CHAT_TYPES = {401: "invalid_request_error", 402: "billing_error", 403: "permission_error", 429: "rate_limit_error"}
_MESSAGES_TYPES = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def _keyed_error(trouble: Trouble) -> dict[str, Any]:
    usual = "server_error" if trouble.status >= 500 else "invalid_request_error"
    kind = _CHAT_TYPES.get(trouble.status, usual)
    return {"error": {"message": trouble.message, "type": kind, "param": trouble.param, "code": trouble.code}}


def _typed_error(trouble: Trouble) -> dict[str, Any]:
    usual = "api_error" if trouble.status >= 500 else "invalid_request_error"
    error = {"type": _MESSAGES_TYPES.get(trouble.status, usual), "message": trouble.message}
    return {"type": "error", "error": error, "request_id": "req_sim"}


def _empty_chunk(value: dict[str, Any]) -> dict[str, Any]:
    delta = value["choices"][0]["delta"]
    calls = [{**call, "function": {**call["function"], "arguments": ""}} for call in delta.get("tool_calls", ())]
    emptied = {"tool_calls": calls} if calls else dict.fromkeys(delta, "")
    return {**value, "choices": [{**value["choices"][0], "delta": emptied}]}


def _empty_item_delta(value: dict[str, Any]) -> dict[str, Any]:
    return {**value, "delta": ""} if isinstance(value.get("delta"), str) else value


def _empty_block_delta(value: dict[str, Any]) -> dict[str, Any]:
    delta = value.get("delta", {})
    return {**value, "delta": {key: word if key == "type" else "" for key, word in delta.items()}}


MANNERS: dict[str, Manners] = {
    "chat": Manners(
        wire=WIRES["chat"],
        reply_id="chatcmpl-sim",
        call_id="call_",
        refuse=_keyed_error,
        proof=lambda _: [],
        empty=_empty_chunk,
        ping=write_frame(b'{"id":"","object":"chat.completion.chunk","created":0,"model":"","choices":[]}'),
    ),
    "responses": Manners(
        wire=WIRES["responses"],
        reply_id="resp_sim",
        call_id="call_",
        refuse=_keyed_error,
        proof=lambda thought: [ThinkingSealed(seal(thought))],
        empty=_empty_item_delta,
    ),
    "anthropic": Manners(
        wire=WIRES["anthropic"],
        reply_id="msg_sim",
        call_id="toolu_",
        refuse=_typed_error,
        proof=lambda thought: [ThinkingSigned(seal(thought))],
        empty=_empty_block_delta,
        ping=write_frame(b'{"type":"ping"}', "ping"),
    ),
}
