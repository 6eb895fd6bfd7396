"""What could stand at the cursor: a command after `/`, a path after `@`. Bounded, whatever the folder holds."""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

MOST_LOOKED_AT = 5_000
MOST = 50


class Suggestion(Struct, frozen=True):
    """What would be put in the place of the last `replaced` characters."""

    text: str
    replaced: int
    about: str = ""


def suggestions(before: str, folder: Path, commands: Callable[[], Sequence[tuple[str, str]]]) -> list[Suggestion]:
    """Return what fits the text before the cursor."""
    if before.startswith("/") and not before[1:].strip(_WORD):
        return [Suggestion(name, len(before), about) for name, about in commands() if name.startswith(before)]
    word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
    if not word.startswith("@"):
        return []
    return sorted(_paths(folder, word[1:]), key=lambda found: found.text)[:MOST]


_WORD = "abcdefghijklmnopqrstuvwxyz"


def _paths(folder: Path, begun: str) -> Iterator[Suggestion]:
    parent, _, start = begun.rpartition("/")
    try:
        with os.scandir(folder / parent if parent else folder) as entries:
            for _, entry in zip(range(MOST_LOOKED_AT), entries, strict=False):
                if not entry.name.startswith(start) or (entry.name.startswith(".") and not start.startswith(".")):
                    continue
                path = f"{parent}/{entry.name}" if parent else entry.name
                if path.isprintable():
                    yield Suggestion(f"@{path}/" if entry.is_dir() else f"@{path}", len(begun) + 1)
    except OSError:
        return
