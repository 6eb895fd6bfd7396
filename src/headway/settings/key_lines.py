"""On which line of a TOML file each key stands, for people who want to change it. Total: what is not found is absent.

The reader of TOML tells no lines. So a file, which is known to be right as a whole, is read again statement by
statement: lines are added to a statement until it is one.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.settings.layers import KeyPath

MOST_LINES = 500
"""No single value of settings is longer."""


def key_lines(path: Path) -> dict[KeyPath, int]:
    """Return the line of each key, by its whole path; those of inline tables stand where their table does."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return {}
    found: dict[KeyPath, int] = {}
    table: KeyPath = ()
    for number, statement in _statements(text):
        said = _parsed(statement) or {}
        if statement.lstrip().startswith("["):
            table = next(_paths(said), ())
            continue
        for inner in _paths(said):
            for length in range(1, len(inner) + 1):
                found.setdefault((*table, *inner[:length]), number)
    return found


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield each statement with the number of its first line; one that never becomes one is passed over."""
    held, first = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        if not held and (not line.strip() or line.lstrip().startswith("#")):
            continue
        first = first if held else number
        held = f"{held}{line}\n"
        if _parsed(held) is not None:
            yield first, held
            held = ""
        elif number - first >= MOST_LINES:
            held = ""


def _parsed(statement: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(statement)
    except tomllib.TOMLDecodeError:
        return None


def _paths(table: dict[str, Any]) -> Iterator[KeyPath]:
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from ((key, *inner) for inner in _paths(value))
        else:
            yield (key,)
