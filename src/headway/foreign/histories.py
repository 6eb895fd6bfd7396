"""Histories as the providers' own APIs have them: a request body, or a bare list of messages or items."""

from typing import Any

from headway.foreign.detached import detached
from headway.foreign.session import Account, ForeignSession
from headway.wire.table import wire_named

NO_MODEL = "none"
"""Stands in for a model that a body does not name, on the way through codecs that want one."""
SOURCES = {"openai-chat": "chat", "openai-responses": "responses", "anthropic": "anthropic"}
"""The names of these formats, and their wires."""


def read_history(value: dict[str, Any] | list[Any], source: str, account: Account | None = None) -> ForeignSession:
    """Read a body or a list; raises `InvalidInput` for what is neither."""
    wire, account = wire_named(SOURCES[source]), account or Account()
    if isinstance(value, list):
        request = wire.parse_messages([one for one in value if one is not None])
    else:
        named = isinstance(value.get("model"), str)
        request = wire.parse_request(value if named else {**value, "model": NO_MODEL})
        if value.get("previous_response_id") or value.get("conversation"):
            account.leave("earlier part", "earlier parts", "held by its provider, and not in this file")
    for _ in request.system:
        account.leave("system prompt", "system prompts", "written for the other agent; Headway has its own")
    messages = detached(request.messages, account)
    return ForeignSession(source, wire.name, messages, left_out=account.left_out, mended=account.mended)
