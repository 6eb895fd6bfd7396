"""Tables as TOML, in the order they come; what has no value is left out."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE = re.compile(r"^[A-Za-z0-9_-]+$")


def write_toml(tables: Mapping[str, Any]) -> str:
    """Return a file: each table under its heading, a blank line between them."""
    return "\n\n".join(_tables((), tables)) + "\n"


def _tables(path: tuple[str, ...], table: Mapping[str, Any]) -> Iterator[str]:
    plain = {key: value for key, value in table.items() if not isinstance(value, Mapping) and value is not None}
    inner = {key: value for key, value in table.items() if isinstance(value, Mapping)}
    if plain or (path and not inner):
        heading = [f"[{'.'.join(map(_key, path))}]"] if path else []
        yield "\n".join((*heading, *(f"{_key(key)} = {_value(value)}" for key, value in plain.items())))
    for key, value in inner.items():
        yield from _tables((*path, key), value)


def _key(key: str) -> str:
    return key if _BARE.match(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)
