"""JSON that somebody else wrote, from a file or standard input: bounded, and mended where it has one reading."""

import json
import sys
from pathlib import Path
from typing import Any

from headway.failure import InvalidInput
from headway.wire.json_text import BadJson, decode_repaired

LIMIT = 256 * 1024 * 1024
_WANTED = "Give it a request body or a list of messages"


def read_json(file: str) -> tuple[dict[str, Any] | list[Any], tuple[str, ...]]:
    """Read an object, a list, or one value a line, and say what was mended; `-` is standard input."""
    what = "standard input" if file == "-" else file
    data = _bytes(file, what)
    if not data.strip():
        raise InvalidInput(what, "it is empty", _WANTED)
    try:
        value, mended = decode_repaired(data)
    except BadJson as exc:
        value, mended = _lines(data, what, exc)
    if not isinstance(value, dict | list):
        raise InvalidInput(what, f"it is a JSON {type(value).__name__}", _WANTED)
    return value, (*mended, *_repeated_keys(data))


def _bytes(file: str, what: str) -> bytes:
    too_large = InvalidInput(what, f"it is larger than {LIMIT // 2**20} MB", "Heal a part of it")
    try:
        if file != "-" and Path(file).stat().st_size > LIMIT:
            raise too_large
        data = sys.stdin.buffer.read(LIMIT + 1) if file == "-" else _beginning(Path(file))
    except OSError as exc:
        raise InvalidInput(what, exc.strerror or str(exc), "Nothing was changed") from None
    if len(data) > LIMIT:
        raise too_large
    return data


def _beginning(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(LIMIT + 1)


def _lines(data: bytes, what: str, whole: BadJson) -> tuple[list[Any], tuple[str, ...]]:
    """Read one message a line, if that is what it is."""
    values: list[Any] = []
    mended: list[str] = []
    try:
        for line in data.splitlines():
            if line.strip():
                value, notes = decode_repaired(line)
                values.append(value)
                mended += notes
    except BadJson:
        raise InvalidInput(what, f"it is not JSON: {whole}", "Nothing was changed") from None
    return values, tuple(dict.fromkeys(mended))


def _repeated_keys(data: bytes) -> list[str]:
    """Say which keys an object has twice: the last one counts, and the reader should know."""
    twice: dict[str, None] = {}

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                twice[key] = None
            seen.add(key)

    try:
        json.loads(data.decode("utf-8", "replace"), object_pairs_hook=look)
    except (ValueError, RecursionError):
        return []
    return [f"the key {key!r} appears twice in one object; the last one counts" for key in list(twice)[:20]]
