"""Settings for people and for editors: every value in force and where it came from, and a schema. No secrets."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from headway.providers.secret import MASK
from headway.settings.key_lines import key_lines
from headway.settings.layers import DEFAULT, ENTRIES, From, KeyPath, Origin, dotted
from headway.settings.loading import Loaded
from headway.settings.schema import Settings

_PASSWORD = re.compile(r"(?<=://)([^/@\s]*):[^/@\s]*@")
_ASKED = re.compile(r"(://[^\s\"?]*\?)[^\s\"]*")
"""What an address asks for: often the token by which it is let in."""


class Row(Struct, frozen=True):
    """One value in force; `said` is what `value` shows, masked likewise."""

    key: str
    value: str
    origin: Origin
    said: Any = None
    line: int | None = None
    """Where it stands in its file, if it is from one."""

    @property
    def place(self) -> str:
        """Return where it came from, as an editor can open it."""
        return f"{self.origin}:{self.line}" if self.line is not None else str(self.origin)


def rows(loaded: Loaded) -> list[Row]:
    """Return every value in force. Of providers and routes, only what was set or found."""
    lines = {str(path): key_lines(path) for path in loaded.files}
    found = []
    for path, value in _leaves(loaded.settings, ()):
        origin = _origin(loaded, path)
        line = lines.get(origin.name, {}).get(path) if origin.kind is From.FILE else None
        said = _masked(path, value)
        found.append(Row(dotted(path), _shown(said), origin, said, line))
    return found


def _origin(loaded: Loaded, path: KeyPath) -> Origin:
    """Return where a value came from; a table of texts came from where its texts did."""
    inner = (origin for known, origin in loaded.origins.items() if known[: len(path)] == path)
    return loaded.origins.get(path) or next(inner, DEFAULT)


def json_schema() -> dict[str, Any]:
    """Return the schema of the file, for editors."""
    schema = msgspec.json.schema(Settings)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "headway.toml", **schema}


def _leaves(table: Struct, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    for field in msgspec.structs.fields(table):
        value, here = getattr(table, field.name), (*path, field.name)
        if isinstance(value, Struct):
            yield from _leaves(value, here)
        elif isinstance(value, dict) and any(isinstance(entry, Struct) for entry in value.values()):
            for name, entry in value.items():
                yield from ((leaf, said) for leaf, said in _leaves(entry, (*here, name)) if said not in _UNSAID)
        elif not path or here[0] not in ENTRIES or value not in _UNSAID:
            yield here, value


_UNSAID: tuple[Any, ...] = (None, "", (), {})


def _masked(path: KeyPath, value: Any) -> Any:
    """Return a value without its secrets, of the types that JSON has."""
    if len(path) > 2 and path[0] in ENTRIES and path[2] in {"headers", "env"}:
        return dict.fromkeys(value, MASK)
    text = _PASSWORD.sub(rf"\1:{MASK}@", msgspec.json.encode(value).decode())
    return msgspec.json.decode(_ASKED.sub(rf"\1{MASK}", text))


def _shown(said: Any) -> str:
    if said is None:
        return "as needed"
    if isinstance(said, dict):
        return ", ".join(f"{name}: {value}" for name, value in said.items())
    return msgspec.json.encode(said).decode()
