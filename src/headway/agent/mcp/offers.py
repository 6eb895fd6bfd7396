"""What a server offers, as tools that every wire takes: legal names, bounded words, schemas with a plain root.

Pure. A name is `server__tool`, the same in every run; one that no wire would take is mended and marked by a few digits
of what it was, so that two tools never get the same.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from msgspec import Struct

from headway.agent.approval import Kind
from headway.agent.mcp.spec import ServerSpec, Trust
from headway.history.characters import clean
from headway.messages import ToolSpec
from headway.wire.json_text import BadJson, encode

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_024
"""More than this, and some endpoints refuse the whole request."""
LARGEST_SCHEMA = 32_000
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]")
_NOT_AT_ROOT = frozenset({"$schema", "$id", "anyOf", "oneOf", "allOf", "not"})
"""Some endpoints take none of these at the root of a schema; the server checks for itself what they say."""


class Offer(Struct, frozen=True):
    """A tool of a server: its own name there, and what a model is told."""

    own_name: str
    spec: ToolSpec
    kind: Kind


class Offers(Struct, frozen=True):
    """What there is, and what of it could not be taken."""

    tools: tuple[Offer, ...] = ()
    notices: tuple[str, ...] = ()


def offers_of(spec: ServerSpec, entries: Iterable[dict[str, Any]]) -> Offers:
    """Return the tools that settings want of a list, each once."""
    tools: dict[str, Offer] = {}
    notices: list[str] = []
    for entry in entries:
        own = entry.get("name")
        if not isinstance(own, str) or not own or own in tools or not _is_wanted(own, spec):
            continue
        schema = _schema(entry.get("inputSchema"))
        if schema is None:
            notices.append(f"{own[:80]} is left out: its schema is too large or cannot be read")
            continue
        told = ToolSpec(tool_name(spec.name, own), _description(own, entry), schema)
        tools[own] = Offer(own, told, _kind(spec.trust, entry))
    missing = (one for one in spec.tools if one != "*" and not any(fnmatchcase(own, one) for own in tools))
    notices += (f"it has no tool {one[:80]}" for one in missing)
    return Offers(tuple(tools.values()), tuple(notices))


def tool_name(server: str, own: str) -> str:
    """Return the name that a model calls a tool by."""
    name = f"{server}__{_ILLEGAL.sub('_', own)}"
    if len(name) <= LONGEST_NAME and name == f"{server}__{own}":
        return name
    mark = sha256(own.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{name[: LONGEST_NAME - len(mark) - 1]}_{mark}"


def _is_wanted(own: str, spec: ServerSpec) -> bool:
    return any(fnmatchcase(own, wanted) for wanted in spec.tools)


def _description(own: str, entry: dict[str, Any]) -> str:
    title, said = entry.get("title"), entry.get("description")
    words = said if isinstance(said, str) and said.strip() else title if isinstance(title, str) else ""
    words = clean(words[: LONGEST_DESCRIPTION + 1].strip() or own[:LONGEST_DESCRIPTION], "\0")
    return words if len(words) <= LONGEST_DESCRIPTION else f"{words[: LONGEST_DESCRIPTION - 1]}…"


def _schema(given: Any) -> dict[str, Any] | None:
    if given is None:
        given = {}
    if not isinstance(given, dict):
        return None
    try:
        if len(encode(given)) > LARGEST_SCHEMA:
            return None
    except BadJson:
        return None
    schema = {key: value for key, value in given.items() if key not in _NOT_AT_ROOT}
    properties = schema.get("properties")
    return {**schema, "type": "object", "properties": properties if isinstance(properties, dict) else {}}


def _kind(trust: Trust, entry: dict[str, Any]) -> Kind:
    if trust is Trust.READS:
        return Kind.READS
    hints = entry.get("annotations")
    only_reads = isinstance(hints, dict) and hints.get("readOnlyHint") is True
    return Kind.READS if trust is Trust.HINTED and only_reads else Kind.RUNS
