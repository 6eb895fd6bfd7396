"""All mistakes of a file at once, for whoever mends it; loading stops at the first."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.failure import InvalidInput
from headway.settings.reading import read
from headway.settings.schema import Settings
from headway.settings.toml_files import read_table

MOST = 20


def mistakes_in(path: Path) -> list[InvalidInput]:
    """Return what is wrong in a file, by the keys in it; what shows only in the whole of the settings is not seen."""
    try:
        table = read_table(path)
    except InvalidInput as error:
        return [error]
    found: dict[str, InvalidInput] = {}
    for piece in _pieces(table):
        try:
            read(Settings, piece, str(path))
        except InvalidInput as error:
            found.setdefault(error.what, error)
    return list(found.values())[:MOST]


def _pieces(table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield every value with the tables around it, and nothing beside it."""
    for key, value in table.items():
        if isinstance(value, dict) and value:
            yield from ({key: inner} for inner in _pieces(value))
        else:
            yield {key: value}
