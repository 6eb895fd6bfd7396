"""A shell command in words, so that rules can speak about it: what it runs, and whether that can be told at all.

This is no shell. It errs on one side: a command counts as `plain` only if nothing in it could mean more than its words,
and what cannot be told from the text is `hidden`. A rule that allows wants plain words; a rule that denies finds its
words anywhere in a command, through wrappers, quotes, lists and subshells, and leaves the hidden to a person. Linear.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

from msgspec import Struct

from headway.agent.tools.shell_words import Break, Token, Unclosed, Word, scan
from headway.wire.json_text import excerpt

Words: TypeAlias = tuple[str, ...]
LONGEST = 20_000
"""Characters. What is longer holds a whole file or is meant to tire its reader."""
_LISTS = re.compile(r"(?:[;\n|]|&&)+")
_ASSIGNMENT = re.compile(r"\w+\+?=")
_COMPUTED = re.compile(r"[$`]|\{[^}]*,")
"""Marks of a word that the shell computes: variables, commands, lists in braces."""
_CHOSEN = re.compile(r"[$`*?\[{]|^~")
"""Marks of a command whose very name the shell makes up."""
_DEEPEST = 4
_SHELLS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "csh", "tcsh", "eval", "source", ".", "exec"}
    | {"su", "ssh", "xargs", "parallel", "watch", "script", "env", "trap"}
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
    if len(line) > LONGEST:
        return Command((), is_plain=False, hidden="it is too long to be read")
    tokens = list(scan(line))
    parts = list(_split(tokens))
    inner = [] if depth >= _DEEPEST else [read_command(script, depth + 1) for script in _scripts(parts)]
    hidden = next(filter(None, (*_hidden(tokens, parts), *(one.hidden for one in inner))), "")
    is_plain = not hidden and not inner and all(map(_is_plain, tokens)) and not any(_assigns(part) for part in parts)
    texts = tuple(tuple(word.text for word in part) for part in parts)
    return Command(texts + tuple(part for one in inner for part in one.parts), is_plain, hidden)


def _split(tokens: Sequence[Token]) -> Iterator[list[Word]]:
    """Cut at every break; what follows a redirection is looked at like a command as well."""
    words: list[Word] = []
    for token in tokens:
        if isinstance(token, Word):
            words.append(token)
        elif words:
            yield words
            words = []
    if words:
        yield words


def _is_plain(token: Token) -> bool:
    if isinstance(token, Word):
        return not any(one in token.bare for one in "$`{}")
    return isinstance(token, Break) and _LISTS.fullmatch(token.text) is not None


def _assigns(part: list[Word]) -> bool:
    return _ASSIGNMENT.match(part[0].bare) is not None


def _scripts(parts: Sequence[list[Word]]) -> Iterator[str]:
    """Return what is handed to a shell as one word."""
    for part in parts:
        if any(_base(word.text) in _SHELLS for word in part):
            yield from (word.text for word in part if any(one in word.text for one in " \t\n;|&()<>$`"))


def _hidden(tokens: Sequence[Token], parts: Sequence[list[Word]]) -> Iterator[str]:
    for token in tokens:
        if isinstance(token, Unclosed):
            yield "its quotes are not closed"
        if isinstance(token, Break) and "<<" in token.text:
            yield "it feeds a text to a program"
    for part in parts:
        command = next((word for word in part if not _ASSIGNMENT.match(word.bare)), part[0])
        if _CHOSEN.search(command.bare):
            yield f"what `{_shown(command)}` runs is known only to the shell"
        for word in part:
            if _COMPUTED.search(word.bare):
                yield f"what `{_shown(word)}` stands for is known only to the shell"
            if _base(word.text) in _SHELLS or _LANGUAGES.match(_base(word.text)):
                yield f"`{_shown(word)}` can run anything"


def _shown(word: Word) -> str:
    return excerpt(word.text, 60)


def _mentions(part: Words, prefix: Words) -> bool:
    wanted = _base(prefix[0])
    rest = iter(part)
    first = any(_base(word) == wanted or _could_become(_base(word), wanted) for word in rest)
    return first and all(any(word == one for word in rest) for one in prefix[1:])


def _could_become(pattern: str, name: str) -> bool:
    """Say whether a pattern of file names, with at least one letter of its own, matches a name."""
    return any(one in pattern for one in "*?[") and any(one.isalnum() for one in pattern) and fnmatchcase(name, pattern)


def _base(word: str) -> str:
    return word.rsplit("/", 1)[-1].casefold()
