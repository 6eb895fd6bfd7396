"""Paths as a model writes them: which are refused by their text alone, and what their parts are. No I/O.

A path is shown to people before they allow it, so one that can look like another is refused: control characters,
letters that turn the reading direction, characters that some file systems read as `..` or `/`.
"""

import os
import unicodedata
from collections.abc import Sequence

from headway.agent.tools.refusals import PathRefused

LONGEST_NAME_BYTES = 255
LONGEST_PATH_BYTES = 4096
DEEPEST = 100
_TURNING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_GIT = frozenset({".git", "git~1"})


def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of a path, with `..` and without `.`; raises `PathRefused` for one that nobody should use."""
    if os.name == "nt":
        path = path.replace("\\", "/")
    if problem := _problem(path):
        raise PathRefused(f"The path {_shown(path)} {problem}.")
    parts = tuple(part for part in path.split("/") if part not in {"", "."})
    for part in parts:
        if problem := _part_problem(part):
            raise PathRefused(f"The path {_shown(path)} {problem}.")
    if len(parts) > DEEPEST:
        raise PathRefused(f"The path {_shown(path)} has more than {DEEPEST} parts.")
    return parts


def refuse_git_internals(parts: Sequence[str]) -> None:
    """Refuse to write into git's own files (a hook there runs at the next commit), however `.git` is spelled."""
    if any(_folded(part) in _GIT for part in parts):
        path = _shown("/".join(parts))
        raise PathRefused(
            f"The path {path} leads into git's own files, which are not edited by hand; use git commands."
        )


def _problem(path: str) -> str:
    if not path.strip():
        return "is empty"
    if path == "~" or path.startswith("~/"):
        return "begins with `~`, which is not expanded here; write a path inside the workspace"
    if any(unicodedata.category(one) in {"Cc", "Cs"} for one in path):
        return "holds control characters or half characters"
    if not _TURNING.isdisjoint(path):
        return "holds characters that turn the reading direction, so that people would read another path"
    if "\\" in path:
        return "holds `\\`; write `/` between the parts of a path"
    if len(path.encode()) > LONGEST_PATH_BYTES:
        return f"is longer than {LONGEST_PATH_BYTES} bytes"
    return ""


def _part_problem(part: str) -> str:
    if len(part.encode()) > LONGEST_NAME_BYTES:
        return f"has a part of more than {LONGEST_NAME_BYTES} bytes"
    plain = unicodedata.normalize("NFKC", part)
    if plain != part and (plain in {".", ".."} or "/" in plain or "\\" in plain):
        return "holds characters that only look like dots or slashes"
    return ""


def _folded(part: str) -> str:
    """Return a name as the most forgiving file system reads it: no case, no invisible characters, no stream suffix."""
    plain = unicodedata.normalize("NFKC", part.split(":", maxsplit=1)[0]).casefold()
    return "".join(one for one in plain if unicodedata.category(one) != "Cf").rstrip(" .")


def _shown(path: str) -> str:
    """Return the path so that it can be read whatever it holds."""
    shown = ascii(path)
    return shown if len(shown) <= 120 else f"{shown[:120]}…"
