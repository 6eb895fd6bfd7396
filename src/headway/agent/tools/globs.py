"""Patterns of file names: `*` and `?` within a name, `**` over directories, `{a,b}` for either. Linear in the path.

Each part is matched by the standard library's own translation, which does not backtrack; `**` is matched by going back
to the last one only, which is enough because everything between two of them has a fixed number of parts.
"""

import re
from collections.abc import Sequence
from fnmatch import translate

from msgspec import Struct

MOST_FORMS = 64
_BRACES = re.compile(r"\{([^{}]*,[^{}]*)\}")
_SPECIAL = re.compile(r"[*?\[]")


class _Part(Struct, frozen=True):
    """One part of a pattern: any number of directories, a plain name, or a pattern of names."""

    text: str
    pattern: re.Pattern[str] | None

    def fits(self, name: str) -> bool:
        return self.text == name if self.pattern is None else self.pattern.match(name) is not None


class Glob:
    """One pattern. Without a `/` it speaks of names in any directory, otherwise of whole paths."""

    def __init__(self, pattern: str) -> None:
        """Read a pattern; every text is one."""
        self._forms = tuple(_parts(form) for form in _forms(pattern))

    def fits(self, path: Sequence[str]) -> bool:
        """Say whether the pattern fits a path, given in its parts."""
        return any(_fits(form, path) for form in self._forms)


def _forms(pattern: str) -> list[str]:
    """Write out the braces; what would become too many forms is taken literally from there on."""
    forms = [pattern]
    while any(_BRACES.search(form) for form in forms):
        spread: list[str] = []
        for form in forms:
            found = _BRACES.search(form)
            spread += (
                [form]
                if found is None
                else [form[: found.start()] + choice + form[found.end() :] for choice in found[1].split(",")]
            )
        if len(spread) > MOST_FORMS:
            return forms
        forms = spread
    return forms


def _parts(pattern: str) -> tuple[_Part, ...]:
    names = [name for name in pattern.split("/") if name not in {"", "."}]
    if "/" not in pattern.rstrip("/"):
        names.insert(0, "**")
    return tuple(_Part(name, re.compile(translate(name)) if _SPECIAL.search(name) else None) for name in names)


def _fits(pattern: tuple[_Part, ...], path: Sequence[str]) -> bool:
    at = place = 0
    resume: tuple[int, int] | None = None
    while place < len(path):
        if at < len(pattern) and pattern[at].text == "**":
            resume = (at, place)
            at += 1
        elif at < len(pattern) and pattern[at].fits(path[place]):
            at, place = at + 1, place + 1
        elif resume is not None:
            resume = (resume[0], resume[1] + 1)
            at, place = resume[0] + 1, resume[1]
        else:
            return False
    return all(part.text == "**" for part in pattern[at:])
