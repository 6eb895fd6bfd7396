"""Settings for people and for editors: every value in force and where it came from, and a schema. No secrets."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from headway.providers.secret import MASK
from headway.settings.layers import DEFAULT, KeyPath, Origin, dotted
from headway.settings.loading import Loaded
from headway.settings.schema import Settings

_PASSWORD = re.compile(r"(?<=://)([^/@\s]*):[^/@\s]*@")


class Row(Struct, frozen=True):
    """One value in force."""

    key: str
    value: str
    origin: Origin


def rows(loaded: Loaded) -> list[Row]:
    """Return every value in force. Of providers and routes, only what was set or found."""
    found = []
    for path, value in _leaves(loaded.settings, ()):
        origin = loaded.origins.get(path, DEFAULT)
        found.append(Row(dotted(path), _shown(path, value), origin))
    return found


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
        elif not path or here[0] not in {"providers", "routes"} or value not in _UNSAID:
            yield here, value


_UNSAID: tuple[Any, ...] = (None, "", (), {})


def _shown(path: KeyPath, value: Any) -> str:
    if len(path) > 2 and path[0] == "providers" and path[2] == "headers":
        return ", ".join(f"{name}: {MASK}" for name in value)
    if value is None:
        return "as needed"
    return _PASSWORD.sub(rf"\1:{MASK}@", msgspec.json.encode(value).decode())
