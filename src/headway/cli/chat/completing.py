"""What could stand at the cursor: a command after `/`, a path after `@`. Bounded, whatever the folder holds.

A path with spaces is put in quotes, as `@"my notes.md"`, which is how it is read when it is sent.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

MOST_LOOKED_AT = 5_000
MOST = 50
LONGEST = 1_000


class Suggestion(Struct, frozen=True):
    """What would be put in the place of the last `replaced` characters."""

    text: str
    replaced: int
    about: str = ""


def suggestions(before: str, folder: Path, commands: Callable[[], Sequence[tuple[str, str]]]) -> list[Suggestion]:
    """Return what fits the text before the cursor."""
    if before.startswith("/") and not before[1:].strip(_WORD):
        return [Suggestion(name, len(before), about) for name, about in commands() if name.startswith(before)]
    begun = _BEGUN.search(before, max(0, len(before) - LONGEST))
    if begun is None:
        return []
    paths = _paths(folder, begun[1] or begun[2] or "", len(begun[0]))
    return sorted(paths, key=lambda found: found.text)[:MOST]


_WORD = "abcdefghijklmnopqrstuvwxyz"
_BEGUN = re.compile(r"""(?<![^\s(\[{])@(?:"([^"\n]*)|([^\s"]*))$""")


def _paths(folder: Path, begun: str, replaced: int) -> Iterator[Suggestion]:
    parent, _, start = begun.rpartition("/")
    try:
        with os.scandir(folder / parent if parent else folder) as entries:
            for _, entry in zip(range(MOST_LOOKED_AT), entries, strict=False):
                if not entry.name.startswith(start) or (entry.name.startswith(".") and not start.startswith(".")):
                    continue
                path = f"{parent}/{entry.name}" if parent else entry.name
                if path.isprintable() and '"' not in path:
                    yield Suggestion(_named(path, is_folder=entry.is_dir()), replaced)
    except OSError:
        return


def _named(path: str, *, is_folder: bool) -> str:
    """Return a path as it is mentioned; the quotes of a folder stay open, for what comes behind it."""
    if any(one.isspace() for one in path):
        return f'@"{path}/' if is_folder else f'@"{path}"'
    return f"@{path}/" if is_folder else f"@{path}"
