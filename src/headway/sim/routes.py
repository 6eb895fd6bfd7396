"""Which path means what. Any prefix is fine: clients put `/v1`, `/openai/v1`, `/anthropic/v1` or nothing in front."""

import re
from enum import Enum

from msgspec import Struct

from headway.messages import WireName
from headway.sim.manners import EVERY_WIRE


class Kind(Enum):
    """What is asked for."""

    REPLY = "reply"
    COUNT = "count_tokens"
    MODELS = "models"
    STORED = "stored"
    CANCEL = "cancel"
    HEALTH = "health"
    NOTHING = "nothing"


class Route(Struct, frozen=True):
    """A path, understood."""

    kind: Kind
    wire: str = "chat"
    """The wire in whose words to answer."""
    id: str = ""


_ROUTES = (
    ("POST", r"/chat/completions", Kind.REPLY, "chat"),
    ("POST", r"/responses", Kind.REPLY, "responses"),
    ("POST", r"/messages", Kind.REPLY, "anthropic"),
    ("POST", r"/messages/count_tokens", Kind.COUNT, "anthropic"),
    ("GET", r"/responses/(?P<id>[\w-]+)", Kind.STORED, "responses"),
    ("POST", r"/responses/(?P<id>[\w-]+)/cancel", Kind.CANCEL, "responses"),
    ("GET", r"/models", Kind.MODELS, "chat"),
    ("GET", r"/health|/", Kind.HEALTH, "chat"),
)
_COMPILED = tuple((method, re.compile(rf"(?:/.*)?(?:{path})/?"), kind, wire) for method, path, kind, wire in _ROUTES)


def route_of(method: str, path: str, wires: frozenset[WireName] = EVERY_WIRE) -> Route:
    """Return what a path means to a provider of some wires."""
    for known, pattern, kind, wire in _COMPILED:
        match = pattern.fullmatch(path) if known == method else None
        if match and (wire in wires or kind in (Kind.MODELS, Kind.HEALTH)):
            return Route(kind, wire, match.groupdict().get("id") or "")
    return Route(Kind.NOTHING, "anthropic" if "/messages" in path else "chat")
