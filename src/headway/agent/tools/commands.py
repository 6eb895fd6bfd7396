"""A shell command in words, so that rules can speak about it: what it runs, and whether that can be told at all.

This is no shell. It errs on one side: a command counts as `plain` only if nothing in it could mean more than its words,
and what cannot be told from the text is `hidden`. A rule that allows wants plain words; a rule that denies finds its
words anywhere in a command, through wrappers, quotes, lists and subshells, and leaves the hidden to a person.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

Words = tuple[str, ...]
_SEPARATORS = ";|&()<>\n"
_MEANINGFUL = re.compile(r"[$`<>(){}#\\]|(?:^|[^&])&(?:[^&]|$)")
"""What may mean more to a shell than it says; an allow rule speaks for none of it. Patterns of file names are fine."""
_ASSIGNMENT = re.compile(r"\w+\+?=")
_COMMENT = re.compile(r"(?:^|[\s;&|()])#")
_EXPANDED = re.compile(r"[$`*?\[{]|^~")
_COMPUTED = re.compile(r"[$`]|\{[^}]*,")
_DEEPEST = 4
_SHELLS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "csh", "tcsh", "eval", "source", ".", "exec"}
    | {"su", "ssh", "xargs", "parallel", "watch", "script"}
)
_LANGUAGES = re.compile(r"(?:python|perl|ruby|node|php|lua|awk|gawk|tclsh|pwsh|powershell)[\d.]*$|(?:alias|busybox)$")


class Command(Struct, frozen=True):
    """What a command line runs, as far as its text tells."""

    parts: tuple[Words, ...]
    """The commands of the line, in words, without quotes; those inside quoted scripts too."""
    is_plain: bool
    """Whether the line is nothing but those words, one command after another."""
    hidden: str = ""
    """Why it might run something that its words do not show; empty if it cannot."""

    def begins_with(self, prefixes: Sequence[Words]) -> bool:
        """Say whether the line is plain and each of its commands begins with one of the prefixes, word for word."""
        each = (any(part[: len(prefix)] == prefix for prefix in prefixes) for part in self.parts)
        return self.is_plain and bool(self.parts) and all(each)

    def mentions(self, prefix: Words) -> bool:
        """Say whether any command could be of this kind: its words in their order, with others between them."""
        return any(_mentions(part, prefix) for part in self.parts)


def read_command(line: str, depth: int = 0) -> Command:
    """Read a command line; never raises."""
    joined = line.replace("\\\n", "")
    try:
        tokens = list(_tokens(joined))
    except ValueError:
        return Command((tuple(joined.split()),), is_plain=False, hidden="its quotes are not closed")
    parts = tuple(_split(tokens))
    inner = tuple(_inner(parts, depth))
    hidden = _hidden(joined, parts) or next((one.hidden for one in inner if one.hidden), "")
    scripts = tuple(part for one in inner for part in one.parts)
    has_assignments = any(_ASSIGNMENT.match(part[0]) for part in parts)
    is_plain = not (hidden or scripts or has_assignments or _MEANINGFUL.search(joined))
    return Command(parts + scripts, is_plain, hidden)


def _tokens(line: str) -> Iterator[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=_SEPARATORS)
    lexer.whitespace = " \t"
    lexer.whitespace_split = True
    lexer.commenters = ""
    return lexer


def _split(tokens: Sequence[str]) -> Iterator[Words]:
    """Cut at separators. A run of them counts as one, and what follows a redirection is looked at like a command."""
    words: list[str] = []
    for token in tokens:
        if token and all(one in _SEPARATORS for one in token):
            if words:
                yield tuple(words)
            words = []
        else:
            words.append(token)
    if words:
        yield tuple(words)


def _inner(parts: Sequence[Words], depth: int) -> Iterator[Command]:
    """Read the scripts that are handed to a shell as one word."""
    if depth >= _DEEPEST:
        return
    for part in parts:
        if any(_base(word) in _SHELLS or _base(word) == "env" for word in part):
            for word in part:
                if any(one.isspace() or one in _SEPARATORS for one in word):
                    yield read_command(word, depth + 1)


def _hidden(line: str, parts: Sequence[Words]) -> str:
    if _COMMENT.search(line):
        return "it holds a comment, behind which quotes can hide commands"
    if "<<" in line:
        return "it feeds a text to a program"
    for part in parts:
        command = next((word for word in part if not _ASSIGNMENT.match(word)), "")
        if _EXPANDED.search(command):
            return f"what `{command}` runs is known only to the shell"
        for word in part:
            if _COMPUTED.search(word):
                return f"what `{word}` stands for is known only to the shell"
            if _base(word) in _SHELLS or _LANGUAGES.match(_base(word)):
                return f"`{word}` can run anything"
    return ""


def _mentions(part: Words, prefix: Words) -> bool:
    wanted = _base(prefix[0])
    for start, word in enumerate(part):
        if _base(word) == wanted or _could_become(_base(word), wanted):
            rest = iter(part[start + 1 :])
            if all(any(word == wanted for word in rest) for wanted in prefix[1:]):
                return True
    return False


def _could_become(pattern: str, name: str) -> bool:
    """Say whether a pattern of file names, with at least one letter of its own, matches a name."""
    return any(one in pattern for one in "*?[") and any(one.isalnum() for one in pattern) and fnmatchcase(name, pattern)


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1].casefold()
