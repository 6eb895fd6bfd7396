"""A TOML file to a table, or an error that says which file, where in it, and what to do."""

import re
import tomllib
from pathlib import Path
from typing import Any

from headway.failure import InvalidInput

MOST_BYTES = 1_000_000
_PLACE = re.compile(r"^(?P<why>.*?)\s*\(at (?:line (?P<line>\d+), column (?P<column>\d+)|(?P<end>end of document))\)$")


def read_table(path: Path) -> dict[str, Any]:
    """Read a file that must be there."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InvalidInput(str(path), "there is no such file", "Check the path after --config.") from None
    except OSError as exc:
        why = exc.strerror or type(exc).__name__
        raise InvalidInput(str(path), f"it cannot be read: {why}", "Check the path and its permissions.") from None
    if len(data) > MOST_BYTES:
        raise InvalidInput(str(path), f"it has {len(data)} bytes, which are no settings", "Name a TOML file.")
    return parse_table(data, str(path))


def parse_table(data: bytes, name: str) -> dict[str, Any]:
    """Read the bytes of a file."""
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as exc:
        raise InvalidInput(name, f"byte {exc.start} is not UTF-8", "Save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as exc:
        raise _misread(name, str(exc)) from None
    except RecursionError:
        raise InvalidInput(name, "it is nested too deeply", "Settings are at most four tables deep.") from None


def _misread(name: str, said: str) -> InvalidInput:
    found = _PLACE.match(said)
    why = found["why"] if found else said
    place = f"{name}:{found['line']}:{found['column']}" if found and found["line"] else name
    where = " at the end of the file" if found and found["end"] else ""
    why = f"it is no valid TOML: {why[:1].lower()}{why[1:]}{where}"
    return InvalidInput(place, why, 'Texts stand in quotes ("…"), lists in brackets, and each key stands once.')
