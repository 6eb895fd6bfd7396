"""Joining a continuation to what was received: a model often says its last words again before it goes on.

A repeat is removed only on evidence, because losing real text is worse than reading a few words twice. What is
removed is always text that is there already. `overlap` decides, `join` applies it, and `SeamFilter` does the same for
a stream in any pieces, holding text back only while it could still be a repeat. All of it looks at a bounded stretch
on both sides of the seam.
"""

import re
from collections.abc import Iterator
from enum import Enum

from msgspec import Struct

LOOK_BACK = 2_000
"""How far back a repeat may begin, in characters; so also the most that a filter holds back of one."""
LOOK_AHEAD = 2 * LOOK_BACK
"""How much of a continuation is looked at; a repeat may come with more space than the original."""
TELLING_WEIGHT = 8
"""Words this heavy (`_weight`), said again to the letter, are no accident; part of a word must weigh twice as much."""
TELLING_VARIETY = 4
"""With fewer different characters than this, a repeat is a rule or a filler such as `--------`."""
LINES_WORTH = 40
"""A repeat this heavy is believed although its space differs, or although it stands elsewhere near the end too."""

_QUOTE = "[\"'`\u201c\u2018]"
_FENCE = r"(?:`{3,}|~{3,})"
_LANGUAGE = r"[\w.+#-]"
_ARTEFACT = re.compile(rf"\s*(?:{_FENCE}{_LANGUAGE}{{0,20}}[ \t]*\n|…|\.\.\.|{_QUOTE})")
_HALF_ARTEFACT = re.compile(rf"\s*(?:(?:`+|~+){_LANGUAGE}{{0,20}}[ \t]*|\.{{1,2}})")
_FENCE_WITH_LANGUAGE = re.compile(rf"\s*({_FENCE}{_LANGUAGE}{{1,20}})[ \t]*\n")
_FENCE_LINE = re.compile(rf"^ {{0,3}}({_FENCE})(.*)$", re.MULTILINE)
_LAST_WORD = re.compile(r"(?<!\w)[^\W\d_]{5,}\Z")
_INSIDE_WORD = re.compile(r"\w\w")
_DOUBLE_SPACE = re.compile(r"[\w,] {2}\w")
_WIDE_GAP = re.compile(r"\S {2,}\S")
_SPACES = re.compile(r"\s*")
_NO_SPACES = re.compile(r"\S+")


class Join(Enum):
    """What was found at a seam."""

    PLAIN = "plain"
    REPEAT = "repeat"
    UNFINISHED_REPEAT = "unfinished_repeat"
    DOUBLE_SPACE = "double_space"
    SECOND_FENCE = "second_fence"


class Seam(Struct, frozen=True):
    """How a continuation joins: its first `skip` characters are not new."""

    skip: int = 0
    join: Join = Join.PLAIN


def overlap(kept: str, rest: str, *, ended: bool = True, trimmed: bool = False) -> Seam:
    r"""Say how much of `rest` only says again how `kept` ends.

    What is removed, in this order; everything else is joined as it came, and no space is ever invented:

    1. The longest end of `kept` that `rest` begins with, even behind a new code fence, a quote mark or an ellipsis,
       if it weighs enough: little to the letter (`TELLING_WEIGHT`), more if its space differs (`LINES_WORTH`). It
       stays if the text may really be saying this twice: the repeat is a pattern in itself, `kept` already runs on
       with its period (rows of a table, `x = 1` fifty times), or it is shorter than a line and stands elsewhere
       near the end. Only an offset can settle such a seam.
    2. A whole last line of at least three letters or digits, or a whole last word of at least five letters
       ("the quick" + "quick brown"), if nothing near the end is the same.
    3. A fence with a language, inside a block that the same line opened: it can neither open nor close anything.
    4. One of two spaces between two words, if words stand one space apart near the end. Newlines and indentation
       stay: two of them mean something.

    `trimmed`: the model was shown `kept` without its last space (some endpoints refuse it), so `rest` says it again.
    `ended` is false when the continuation itself was cut: then text that could still have become a repeat is not taken
    for new. A few words are asked for again; said twice, they would stay for ever.
    """
    window, start = kept[-LOOK_BACK:], rest[:LOOK_AHEAD]
    if not window or not start:
        return Seam()
    solid = _solid(window)
    for begin in _beginnings(start):
        length = _longest_repeat(window, solid, start[begin:])
        if length and _may_be_meant(solid, length):
            return _trimmed_space(window, start) if trimmed else Seam()
        if length:
            return Seam(begin + _after_repeat(window, start[begin:], length), Join.REPEAT)
    if not ended and _could_go_on(solid, rest):
        return Seam(len(rest), Join.UNFINISHED_REPEAT)
    if skip := _whole_line(window, start) or _whole_word(window, start):
        return Seam(skip, Join.REPEAT)
    if fence := _second_fence(kept, start):
        return Seam(fence, Join.SECOND_FENCE)
    return _trimmed_space(window, start) if trimmed else _double_space(window, start)


def join(kept: str, rest: str, *, ended: bool = True, trimmed: bool = False) -> str:
    """Return `kept` and what is new in `rest`."""
    return kept + rest[overlap(kept, rest, ended=ended, trimmed=trimmed).skip :]


def unmistakable_repeat(kept: str, rest: str, *, ended: bool) -> int:
    """Return how long a repeat is that cannot be anything else, though the model says that `rest` begins at the end.

    Models copy the offset that they were told and say a few lines again all the same. Only what is worth a line or more
    counts here, and nothing that the text may really be saying twice.
    """
    window, start = kept[-LOOK_BACK:], rest[:LOOK_AHEAD]
    solid = _solid(window)
    length = _longest_repeat(window, solid, start)
    if length and _weight(solid[-length:]) >= LINES_WORTH:
        return 0 if _may_be_meant(solid, length) else _after_repeat(window, start, length)
    again = len(solid) - found if not ended and (found := solid.find(_solid(rest))) >= 0 else 0
    unfinished = _weight(solid[len(solid) - again :]) >= LINES_WORTH and not _may_be_meant(solid, again)
    return len(rest) if unfinished else 0


def end_of_repeat(claimed: str, rest: str) -> int | None:
    """Return where `rest` has finished saying `claimed` again, whatever its space; None if it says something else."""
    if rest.startswith(claimed):
        return len(claimed)
    solid = _solid(claimed)
    if not solid:
        return _given_space(claimed, _leading_space(rest))
    if not _solid(rest).startswith(solid):
        return None
    return _after_repeat(claimed, rest, len(solid))


class SeamFilter:
    """Gives, of a continuation that streams in after `kept`, what is new. The pieces add up to what `join` adds."""

    def __init__(self, kept: str, *, trimmed: bool = False) -> None:
        """Join to `kept`; see `overlap` for `trimmed`."""
        self._kept = kept
        self._trimmed = trimmed
        self._solid = _solid(kept[-LOOK_BACK:])
        self._held = ""
        self.seam: Seam | None = None if kept else Seam()
        """What was decided; None while the text could still be a repeat."""
        self._undecided: str | None = None
        """What was held when a cut made an end of it, if nothing of it was given out."""

    def feed(self, text: str) -> str:
        """Take the next piece; return what of it, and of what was held back, is new."""
        if self.seam is not None:
            return text
        self._held += text
        return "" if _could_go_on(self._solid, self._held) else self._decide(ended=True)

    def flush(self, *, ended: bool = True) -> str:
        """Say that no more comes, and whether the continuation came to its end; return what is left."""
        if self.seam is not None:
            return ""
        held = self._held
        new = self._decide(ended=ended)
        self._undecided = None if new or ended else held
        return new

    def reopen(self) -> None:
        """Say that the same continuation goes on after all: what had not been decided at the cut is open again."""
        if self._undecided is not None:
            self.seam, self._held, self._undecided = None, self._undecided, None

    def _decide(self, *, ended: bool) -> str:
        self.seam = overlap(self._kept, self._held, ended=ended, trimmed=self._trimmed)
        new, self._held = self._held[self.seam.skip :], ""
        return new


def _solid(text: str) -> str:
    """Return the text without its space."""
    return "".join(text.split())


def _weight(solid: str) -> int:
    """Return how many letters a text is worth; one character of a script without spaces says as much as two."""
    return len(solid) + sum(character > "\u2e7f" for character in solid)


def _beginnings(start: str) -> Iterator[int]:
    """Give the places where a repeat may begin: at once, or behind what models put before one."""
    yield 0
    artefact = _ARTEFACT.match(start)
    if artefact:
        yield artefact.end()


def _could_go_on(solid: str, held: str) -> bool:
    """Say whether more text could still show a repeat; while it could, nothing of `overlap` is settled."""
    if len(held) >= LOOK_AHEAD:
        return False
    return bool(_HALF_ARTEFACT.fullmatch(held)) or any(_solid(held[begin:]) in solid for begin in _beginnings(held))


def _longest_repeat(window: str, solid: str, start: str) -> int:
    """Return the length of the longest end of `solid` that `start` begins with; 0 if it is too light to tell."""
    begun = _solid(start)
    probe = begun[: TELLING_WEIGHT // 2]
    at = solid.find(probe) if probe else -1
    while at >= 0 and not begun.startswith(solid[at:]):
        at = solid.find(probe, at + 1)
    length = len(solid) - at if at >= 0 else 0
    return length if length and _is_telling(window, start, length, _weight(solid[-length:])) else 0


def _is_telling(window: str, start: str, length: int, weight: int) -> bool:
    """Say whether so many solid characters, said again, are evidence of a repeat."""
    if weight >= LINES_WORTH or weight < TELLING_WEIGHT:
        return weight >= LINES_WORTH
    lead, end = _leading_space(start), _end_of_solid(start, length)
    again, space, space_again = start[len(lead) : end], _end_space(window), _leading_space(start, end)
    before = window.removesuffix(again + space)
    same_end = space_again.startswith(space) or (end + len(space_again) == len(start) and space.startswith(space_again))
    to_the_letter = before != window and same_end and (lead in {"", " ", "\n"} or before.endswith(lead))
    words = len(again.split()) > 1 and not _INSIDE_WORD.fullmatch(before[-1:] + again[:1])
    return to_the_letter and (words or weight >= 2 * TELLING_WEIGHT)


def _may_be_meant(solid: str, length: int) -> bool:
    """Say whether the text may really say its last `length` characters twice."""
    repeat = solid[-length:]
    if len(set(repeat)) < TELLING_VARIETY:
        return True
    if _weight(repeat) < LINES_WORTH and solid.find(repeat) < len(solid) - length:
        return True
    if any(repeat.startswith(repeat[period:]) for period in range(1, length // 2 + 1)):
        return True
    run = 0
    while run < length and length + run < len(solid) and solid[-1 - run] == solid[-1 - length - run]:
        run += 1
    return run >= 3 and 3 * run >= length


def _after_repeat(kept: str, start: str, length: int) -> int:
    """Return where a repeat of `length` solid characters ends, with the space that `kept` has already."""
    end = _end_of_solid(start, length)
    return end + _given_space(_end_space(kept), _leading_space(start, end))


def _end_of_solid(text: str, length: int) -> int:
    """Return where the first `length` solid characters of a text end."""
    end = 0
    for run in _NO_SPACES.finditer(text):
        end = run.start() + min(length, len(run.group()))
        length -= len(run.group())
        if length <= 0:
            break
    return end


def _given_space(end: str, start: str) -> int:
    """Return how much of the space that begins a text is there already, as the space that ended the last one."""
    if start.startswith(end):
        return len(end)
    return len(start) if end.startswith(start) or start == " " else 0


def _trimmed_space(window: str, start: str) -> Seam:
    skip = _given_space(_end_space(window), _leading_space(start))
    return Seam(skip, Join.DOUBLE_SPACE) if skip else Seam()


def _double_space(window: str, start: str) -> Seam:
    at_seam = window.endswith(" ") and start.startswith(" ") and _DOUBLE_SPACE.fullmatch(window[-2:] + start[:2])
    return Seam(1, Join.DOUBLE_SPACE) if at_seam and not _WIDE_GAP.search(window) else Seam()


def _end_space(text: str) -> str:
    return text[len(text.rstrip()) :]


def _leading_space(text: str, at: int = 0) -> str:
    match = _SPACES.match(text, at)
    return match.group() if match else ""


def _whole_line(window: str, start: str) -> int:
    _, before, line = window[:-1].rpartition("\n")
    line += "\n"
    whole = window.endswith(line) and (before or len(window) < LOOK_BACK)
    telling = sum(map(str.isalnum, line)) >= 3 and window.count(line) == 1
    return len(line) if whole and telling and start.startswith(line) else 0


def _whole_word(window: str, start: str) -> int:
    last = _LAST_WORD.search(window)
    word = last.group() if last else ""
    if not word or len(set(word)) < 3 or window.count(word) > 1:
        return 0
    end = len(word) + start.startswith(" ")
    following = start[end : end + 1]
    goes_on = following.isalnum() or following == "_"
    return end if start.removeprefix(" ").startswith(word) and not goes_on else 0


def _second_fence(kept: str, start: str) -> int:
    """Return the length of a line that opens a block inside the same open block; a newline that is needed stays."""
    second = _FENCE_WITH_LANGUAGE.match(start)
    if not second or second[1] != _open_fence(kept):
        return 0
    own_line = "\n" in _leading_space(start) and not kept.endswith("\n")
    return second.end() - own_line


def _open_fence(text: str) -> str:
    """Return the line that opened the Markdown code block which is open after the last whole line; empty if none is."""
    fence = line = ""
    for found in _FENCE_LINE.finditer(text, 0, text.rfind("\n") + 1):
        mark, info = found[1], found[2].strip()
        if not fence:
            fence, line = mark, mark + info
        elif mark.startswith(fence) and not info:
            fence = line = ""
    return line
