"""The words of a shell command, without their quotes, and which of their letters the shell would still read. Linear.

Comments are left out, lines that go on are joined. What a shell reads by other rules (`$'…'`, `$(…)`, here-documents) is
not followed; each of them leaves a `$`, a backtick or a `<<` behind, by which a reader knows not to trust the rest.
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
_ESCAPED = re.compile(r"""\\([$`"\\\n])""")
_ACTIVE = re.compile(r"\\.|([$`])", re.DOTALL)


class Word(Struct, frozen=True):
    """One word. `bare` is what of it the shell still reads: all that is not quoted, and `$` or backticks in quotes."""

    text: str
    bare: str


class Break(Struct, frozen=True):
    """What stands between commands: `;`, `&&`, `|`, a redirection, a parenthesis, the end of a line."""

    text: str


class Unclosed(Struct, frozen=True):
    """A quote or an escape that never ends; nothing after it is known."""


Token: TypeAlias = Word | Break | Unclosed


def scan(line: str) -> Iterator[Token]:
    """Read a command line."""
    text: list[str] = []
    bare: list[str] = []
    in_word = False
    at = 0
    while at < len(line):
        piece = _PIECE.match(line, at)
        if piece is not None and piece["comment"] is not None and in_word:  # a `#` inside a word is a letter
            text.append("#")
            bare.append("#")
            at += 1
            continue
        if in_word and (piece is None or piece.lastgroup in {"blank", "end"}):
            yield Word("".join(text), "".join(bare))
            text, bare, in_word = [], [], False
        if piece is None:
            yield Unclosed()
            return
        at = piece.end()
        if piece["end"] is not None:
            yield Break(piece["end"])
        elif piece.lastgroup not in {"blank", "comment"}:
            in_word = in_word or piece["escaped"] != "\n"
            said, read = _said(piece)
            text.append(said)
            bare.append(read)
    if in_word:
        yield Word("".join(text), "".join(bare))


def _said(piece: re.Match[str]) -> tuple[str, str]:
    """Return the letters of a piece of a word, and those that the shell still reads."""
    if piece["plain"] is not None:
        return piece["plain"], piece["plain"]
    if piece["single"] is not None:
        return piece["single"], ""
    if piece["double"] is not None:
        said = _ESCAPED.sub(lambda found: "" if found[1] == "\n" else found[1], piece["double"])
        return said, "".join(found[1] or "" for found in _ACTIVE.finditer(piece["double"]))
    return ("" if piece["escaped"] == "\n" else piece["escaped"]), ""
