"""The words of a shell command, without their quotes, and which of their letters the shell would still read. Linear.

Comments are left out, lines that go on are joined. What a shell reads by other rules (`$'…'`, `$(…)`, here-documents)
is not followed; each of them leaves a `$`, a backtick or a `<<` behind, by which a reader knows not to trust the rest.
"""

import re
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct

_PIECE = re.compile(
    r"""(?P<blank>[ \t]++)
      | (?P<comment>\#[^\n]*+)
      | (?P<plain>[^\s'"\\;|&()<>]++ | [^\S \t\n])
      | (?P<end>[;|&()<>\n]++)
      | '(?P<single>[^']*+)'
      | "(?P<double>(?:[^"\\]++|\\.)*+)"
      | \\(?P<escaped>.)""",
    re.VERBOSE | re.DOTALL,
)
_LETTERS = re.compile(r"[^\s'\"\\;|&()<>]++")
_ESCAPED = re.compile(r"""\\([$`"\\\n])""")
_ACTIVE = re.compile(r"\\.|([$`])", re.DOTALL)


class Word(Struct, frozen=True):
    """One word. `bare` is what of it the shell still reads: all that is not quoted, and `$` or backticks in quotes."""

    text: str
    bare: str


class Break(Struct, frozen=True):
    """What stands between commands: `;`, `&&`, `|`, a redirection, a parenthesis, the end of a line."""

    text: str
    glued: bool = False
    """Whether it follows a word without a blank."""


class Unclosed(Struct, frozen=True):
    """A quote or an escape that never ends; nothing after it is known."""


Token: TypeAlias = Word | Break | Unclosed


def scan(line: str) -> Iterator[Token]:
    """Read a command line."""
    word: list[tuple[str, str]] = []
    at = 0
    while at < len(line):
        piece = _PIECE.match(line, at)
        kind = piece.lastgroup if piece is not None else None
        if kind == "comment" and word:  # a `#` inside a word is a letter
            letters = _LETTERS.match(line, at)
            assert letters is not None
            word.append((letters[0], letters[0]))
            at = letters.end()
            continue
        glued = bool(word)
        if word and kind in {"blank", "end", None}:
            yield _joined(word)
            word = []
        if piece is None:
            yield Unclosed()
            return
        at = piece.end()
        if kind == "end":
            yield Break(piece["end"], glued)
        elif kind not in {"blank", "comment"} and piece["escaped"] != "\n":
            word.append(_said(piece))
    if word:
        yield _joined(word)


def _joined(pieces: list[tuple[str, str]]) -> Word:
    return Word("".join(text for text, _ in pieces), "".join(bare for _, bare in pieces))


def _said(piece: re.Match[str]) -> tuple[str, str]:
    """Return the letters of a piece of a word, and those that the shell still reads."""
    if piece.lastgroup == "plain":
        return piece["plain"], piece["plain"]
    if piece.lastgroup == "double":
        said = _ESCAPED.sub(lambda found: "" if found[1] == "\n" else found[1], piece["double"])
        return said, "".join(found[1] or "" for found in _ACTIVE.finditer(piece["double"]))
    return piece["single"] if piece.lastgroup == "single" else piece["escaped"], ""
