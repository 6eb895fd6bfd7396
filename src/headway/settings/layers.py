"""Where each value came from: layers of tables, laid over one another, and the origin of every leaf.

An entry of [providers], [routes] or [mcp] comes whole from one layer: a file in a project must not be able to send keys
that the user's own file names to an address of its choice. All other tables are merged key by key.
"""

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

from msgspec import Struct

KeyPath: TypeAlias = tuple[str, ...]
ENTRIES = frozenset({"providers", "routes", "mcp"})
ADDED_UP = frozenset({("agent", "deny"), ("agent", "ask"), ("agent", "hidden")})
"""Lists of all layers together: what one place forbids, another does not permit."""


class From(Enum):
    """The kinds of places, those that count more first."""

    CODE = "code"
    FLAG = "flag"
    ENVIRONMENT = "environment"
    FILE = "file"
    DEFAULT = "default"


class Origin(Struct, frozen=True):
    """Where a value came from."""

    kind: From
    name: str = ""

    def __str__(self) -> str:
        return self.name or self.kind.value


DEFAULT = Origin(From.DEFAULT)


class Layer(Struct, frozen=True):
    """What one place says. `folder` is what its relative paths start from."""

    origin: Origin
    table: dict[str, Any]
    folder: Path


def merged(layers: tuple[Layer, ...]) -> tuple[dict[str, Any], dict[KeyPath, Origin]]:
    """Lay tables over one another, the first on top; return the table and the origin of each leaf in it."""
    table: dict[str, Any] = {}
    origins: dict[KeyPath, Origin] = {}
    for layer in reversed(layers):
        for section, given in layer.table.items():
            below = table.setdefault(section, {})
            for name, value in given.items():
                path = (section, name)
                for old in [old for old in origins if old[:2] == path]:
                    del origins[old]
                below[name] = [*below.get(name, ()), *value] if path in ADDED_UP else value
                leaves = list(_leaves(value, path)) if section in ENTRIES else [path]
                origins.update(dict.fromkeys(leaves, layer.origin))
    return table, origins


def replaced_keys(layers: tuple[Layer, ...]) -> dict[str, Origin]:
    """Return the providers of which one layer has keys and the entry of another, above it, counts; and where they are.

    An entry comes whole from one place, so its keys are gone then, which nobody expects who wrote them.
    """
    found: dict[str, Origin] = {}
    seen: set[str] = set()
    for layer in layers:
        entries = layer.table.get("providers", {})
        found.update((name, layer.origin) for name in seen & entries.keys() if entries[name].get("keys"))
        seen.update(entries)
    return found


def _leaves(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    if not isinstance(value, dict) or not value:
        yield path
        return
    for name, inner in value.items():
        yield from _leaves(inner, (*path, name))


def dotted(path: KeyPath) -> str:
    """Write a path of keys as TOML would."""
    return ".".join(key if _is_bare(key) else f'"{key}"' for key in path)


def _is_bare(key: str) -> bool:
    return key != "" and all(char.isascii() and (char.isalnum() or char in "-_") for char in key)
