"""Why a text was not found in a file: the slip that models make, or the lines that come nearest to it. Bounded."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from itertools import islice

from headway.agent.tools.bounds import shorten

MOST_LINES = 5_000
LEAST_LIKENESS = 0.6
_LOOKED_AT = 200
_SHOWN_LINES = 12
_NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)
_QUOTES = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014\u00a0", "''\"\"-- ")
"""Curly quotes, dashes and the space that does not break, as they are typed."""


def why_not_found(text: str, old: str) -> str:
    """Return what to do about a text that does not stand in the file, with the lines that were probably meant."""
    text = text.replace("\r\n", "\n")
    return next(_hints(text, old.replace("\r\n", "\n")))


def _hints(text: str, old: str) -> Iterator[str]:
    unnumbered = _NUMBERED.sub("", old)
    if unnumbered != old and unnumbered in text:
        yield "It begins its lines with their numbers, which are not part of the file: leave them out."
    unescaped = old.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
    if unescaped != old and unescaped in text:
        yield "It is escaped twice: write line ends, tabs and quotes as they are in the file."
    if old.strip() and old.strip() in text:
        yield "It stands there without the white space at its beginning or end: leave that out, or copy it exactly."
    for simplify, words in (
        (_without_space, "The same words stand there with other white space"),
        (_without_typography, "The same words stand there with other quotes, dashes or spaces"),
        (str.casefold, "The same words stand there in other case"),
    ):
        if place := _same_lines(text, old, simplify):
            yield f"{words}. Copy {_shown(text, *place)}"
    if place := _nearest(text, old):
        yield f"The nearest is {_shown(text, *place)}"
    yield "Nothing in the file is like it. Read the file again."


def _without_space(line: str) -> str:
    return "".join(line.split())


def _without_typography(line: str) -> str:
    return unicodedata.normalize("NFKC", line.translate(_QUOTES))


def _same_lines(text: str, old: str, simplify: Callable[[str], str]) -> tuple[int, int] | None:
    """Return the first lines that hold the same when simplified: where they begin, and how many they are."""
    wanted = "\n".join(simplify(line) for line in old.strip("\n").split("\n"))
    lines = "\n".join(simplify(line) for line in text.split("\n"))
    at = lines.find(wanted) if wanted.strip() else -1
    return None if at < 0 else (lines.count("\n", 0, at), wanted.count("\n") + 1)


def _nearest(text: str, old: str) -> tuple[int, int] | None:
    """Return where the lines are that are most like the longest line of `old`."""
    wanted = old.strip("\n").split("\n")
    index, key = max(enumerate(wanted), key=lambda numbered: len(numbered[1].strip()))
    if not key.strip():
        return None
    matcher = SequenceMatcher(None, "", key.strip()[:_LOOKED_AT], autojunk=False)
    best, place = LEAST_LIKENESS, None
    for number, line in enumerate(islice(text.split("\n"), MOST_LINES)):
        matcher.set_seq1(line.strip()[:_LOOKED_AT])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and (likeness := matcher.ratio()) > best:
            best, place = likeness, number
    return None if place is None else (max(place - index, 0), len(wanted))


def _shown(text: str, first: int, count: int) -> str:
    lines = [shorten(line, _LOOKED_AT) for line in text.split("\n")[first : first + min(count, _SHOWN_LINES)]]
    last = first + len(lines)
    where = f"line {last:,}" if len(lines) == 1 else f"lines {first + 1:,}-{last:,}"
    return "\n".join([f"{where}:", *lines])
