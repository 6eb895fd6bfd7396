"""A shell command in words, so that rules can speak about it: what it runs, and whether that can be told at all.

This is no shell. It errs on one side: a command counts as `plain` only if nothing in it could mean more than its words,
and what cannot be told from the text is `hidden`. A rule that allows wants plain words; a rule that denies finds its
words anywhere in a command, through wrappers, quotes, lists and subshells, and leaves the rest to a person. Linear.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from typing import TypeAlias

from msgspec import Struct

from headway.agent.tools import runners
from headway.agent.tools.shell_words import Break, Token, Unclosed, Word, scan
from headway.wire.json_text import excerpt

Words: TypeAlias = tuple[str, ...]
LONGEST = 20_000
"""Characters. What is longer holds a whole file or is meant to tire its reader."""
MOST_TOKENS = 2_000
_LISTS = re.compile(r"(?:[;\n|]|&&)+")
_REDIRECTS = re.compile(r"(?P<both>&)?(?:>{1,2}[|&]?|<[>&]?)")
"""A redirection. One that begins with `&` ends a command, where the shell is not bash."""
_KEYWORDS = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{"})
_ASSIGNMENT = re.compile(r"\w+(?:\[[^]]*\])?\+?=")
_COMPUTED = re.compile(r"[$`]|\{.*?(?:,|\.\.)", re.DOTALL)
"""Marks of a word that the shell computes: variables, commands, lists in braces."""
_CHOSEN = re.compile(r"(?!\[{1,2}$)[^$`*?\[{]*(?:[$`*?\[]|\{.)|~", re.DOTALL)
"""Marks of a command whose very name the shell makes up."""
_SUBSCRIPT = re.compile(r"\[[^]]*[$`]", re.DOTALL)
"""An index of an array is computed even in quotes, by whoever takes the word for the name of a variable."""
_PATTERN = re.compile(r"[*?\[]")
_BRACKETS = re.compile(r"\[[!^]?\]?(?:\[:\w*:\]|\[\..*?\.\]|\[=.*?=\]|[^\]])*\]")
_MEANS_MORE = re.compile(r"[\s;|&()<>$`]")
_DEEPEST = 4
_MOST_OF_A_NAME = 8


class Part(Struct, frozen=True):
    """One command of a line, in words, without quotes."""

    words: Words
    at: int = 0
    """Which of the words names the command; others before it are assignments, keywords and programs that run it."""
    is_data: bool = False
    """Whether the words behind it are never more than text, or names of files."""
    doubt: str = ""
    """Why it could run something that its words do not show; empty if it could not."""
    doubt_at: int = 0
    """Which of the words the doubt is about."""


class Command(Struct, frozen=True):
    """What a command line runs, as far as its text tells."""

    parts: tuple[Part, ...]
    """The commands of the line; those inside scripts that are handed to a shell, too."""
    is_plain: bool
    """Whether the line is nothing but those words, one command after another."""
    hidden: str = ""
    """Why its text does not tell what it runs; empty if it does."""
    texts: tuple[Words, ...] = ()
    """Commands in words that some program may run, or may not."""

    @property
    def doubt(self) -> str:
        """Return why it might run something that its words do not show; empty if it cannot."""
        return self.hidden or next((part.doubt for part in self.parts if part.doubt), "")

    def begins_with(self, prefixes: Sequence[Words], *, beyond_doubt: bool = False) -> bool:
        """Say whether the line is plain and each of its commands begins with one of the prefixes, word for word.

        `beyond_doubt` wants more where a program can run anything: that the prefix names this program.
        """
        return self.is_plain and bool(self.parts) and all(_begins(part, prefixes, beyond_doubt) for part in self.parts)

    def mentions(self, prefix: Words) -> bool:
        """Say whether any command could be of this kind: its words in their order, with others between them."""
        return any(_mentions(part, prefix) for part in self.parts)

    def might_mention(self, prefix: Words) -> bool:
        """Say whether a text for some program is a command of this kind."""
        return any(_leads_with(words, prefix) for words in self.texts)


def read_command(line: str, depth: int = 0) -> Command:
    """Read a command line; never raises."""
    tokens = list(islice(scan(line), MOST_TOKENS + 1)) if len(line) <= LONGEST else []
    if len(line) > LONGEST or len(tokens) > MOST_TOKENS:
        return Command((), is_plain=False, hidden="it is too long to be read")
    split = list(_split(tokens))
    inner = [] if depth >= _DEEPEST else [read_command(script, depth + 1) for script in _scripts(split)]
    hidden = next(filter(None, (*_hidden(tokens, split, depth), *(one.hidden for one in inner))), "")
    is_plain = not hidden and not inner and all(map(_is_plain, tokens)) and not any(_assigns(part) for part in split)
    parts = [_part(part) for part in split] + [part for one in inner for part in one.parts]
    texts = [words for one in inner for words in one.texts]
    texts += [] if depth >= _DEEPEST else [words for part in split for words in _texts(part)]
    return Command(tuple(parts), is_plain, hidden, tuple(texts))


def _split(tokens: Sequence[Token]) -> Iterator[list[Word]]:
    """Cut between commands. A redirection stands among the words of one, and the file that it names is no word."""
    words: list[Word] = []
    is_file = False
    for token in tokens:
        names_file, is_file = is_file, False
        if isinstance(token, Word):
            if not names_file or not _is_literal(token):
                words.append(token)
            continue
        found = _REDIRECTS.fullmatch(token.text) if isinstance(token, Break) else None
        is_file = found is not None
        if found is not None and not found["both"]:
            continue
        if words:
            yield words
            words = []
    if words:
        yield words


def _is_literal(word: Word) -> bool:
    return not any(one in word.bare for one in "$`")


def _is_plain(token: Token) -> bool:
    if isinstance(token, Word):
        return not any(one in token.bare for one in "$`{}")
    return isinstance(token, Break) and _LISTS.fullmatch(token.text) is not None


def _assigns(part: list[Word]) -> bool:
    return _ASSIGNMENT.match(part[0].bare) is not None


def _scripts(parts: Sequence[list[Word]]) -> Iterator[str]:
    """Return what is handed to a shell as one word."""
    for part in parts:
        first = _commands(part)
        if any(runners.takes_script(base_name(word.text), is_first=word in first or _is_prefix(word)) for word in part):
            yield from (word.text for word in part if _MEANS_MORE.search(word.text))


def _texts(part: list[Word]) -> Iterator[Words]:
    """Return commands in what an unknown program gets as one word, as a whole or behind an option."""
    names = {base_name(word.text) for word in _commands(part)}
    if names <= runners.ONLY_DATA | {"git"}:
        return
    for word in part:
        for text in (word.text, word.text.partition("=")[2], word.text[2:] if word.text.startswith("-") else ""):
            if text and (_MEANS_MORE.search(text) or text is not word.text):
                yield from (tuple(one.text for one in inner) for inner in _split(list(scan(text[:LONGEST]))))


def _hidden(tokens: Sequence[Token], parts: Sequence[list[Word]], depth: int) -> Iterator[str]:
    """Return what the text itself keeps to itself."""
    before: Token | None = None
    for token in tokens:
        if isinstance(token, Unclosed):
            yield "its quotes are not closed"
        if isinstance(token, Break) and "<<" in token.text:
            yield "it feeds a text to a program"
        if isinstance(token, Break) and isinstance(before, Word) and token.glued and token.text.startswith("("):
            yield "it defines a function, or a pattern that is not known here"
        before = token
    for part in parts:
        yield from _hidden_in(part)
    if depth >= _DEEPEST:
        yield "it hides a command in a command too often"


def _hidden_in(part: list[Word]) -> Iterator[str]:
    if part[0].bare == "function":
        yield "it defines a function"
    for command in _commands(part):
        if _CHOSEN.match(command.bare):
            yield f"what `{_shown(command)}` runs is known only to the shell"
    wraps = any(base_name(word.text) in runners.WRAPPERS for word in part)
    for word in part:
        is_open = _is_open(word) and (wraps or word.text.startswith(("/", "~", "..")))
        if _COMPUTED.search(word.bare) or _SUBSCRIPT.search(word.text) or (is_open and not _is_data(part)):
            yield f"what `{_shown(word)}` stands for is known only to the shell"
        if runners.CHANGES_MEANING.match(word.bare) and (_precedes(part, word) or _declares(part)):
            yield f"`{_shown(word)}` changes what other words mean"


def _is_open(word: Word) -> bool:
    """Say whether a word is a pattern of names that has no letter of its own."""
    if not _PATTERN.search(word.bare):
        return False
    return not any(one.isalnum() for one in _BRACKETS.sub("", word.text).rsplit("/", 1)[-1])


def _precedes(part: list[Word], word: Word) -> bool:
    """Say whether a word stands among the assignments before a command."""
    for one in part:
        if one is word:
            return True
        if not (_ASSIGNMENT.match(one.bare) or base_name(one.text) in runners.WRAPPERS):
            return False
    return False


def _declares(part: list[Word]) -> bool:
    return any(word.text in runners.DECLARES for word in part)


def _part(part: list[Word]) -> Part:
    """Return a command in words, and the doubt about it."""
    words, first = tuple(word.text for word in part), _commands(part)
    at = part.index(first[-1])
    doubt, doubt_at = ("", 0) if _is_data(part) else _doubt(part, words, first)
    is_data = _is_data(part) or (not doubt and all(base_name(word.text) == "git" for word in first))
    return Part(words, at, is_data, doubt, doubt_at)


def _is_data(part: list[Word]) -> bool:
    """Say whether what a command gets is never run: by no program that runs others, whose options nobody knows."""
    if any(_is_prefix(word) and word.text not in _KEYWORDS for word in part):
        return False
    return all(_takes_only_data(word) for word in _commands(part))


def _takes_only_data(word: Word) -> bool:
    is_known = "/" not in word.text or runners.is_of_the_system(word.text)
    return is_known and base_name(word.text) in runners.ONLY_DATA


def _doubt(part: list[Word], words: Words, first: list[Word]) -> tuple[str, int]:
    known: Counter[str] = Counter()
    for at, word in enumerate(part):
        name, is_first = base_name(word.text), word in first or _is_prefix(word)
        if runners.runs_anything(name, is_first=is_first):
            return f"`{_shown(word)}` can run anything", at
        if name in runners.RISKY:
            known[name] += 1
            option = runners.risky_options(name, words[at + 1 :])
            if option or known[name] > _MOST_OF_A_NAME:
                return f"`{name} … {excerpt(option, 40)}` can run anything", at
        if word in first and "/" in word.text and not runners.is_of_the_system(word.text):
            return f"`{_shown(word)}` is a file, and what is in it is not known", at
    return "", 0


def _commands(part: list[Word]) -> list[Word]:
    """Return the words that may name the command, the likeliest last.

    Behind a program that runs others, it is not known which of its options take a value: both readings count.
    """
    found: list[Word] = []
    wrapped = after_option = False
    for word in part:
        if _ASSIGNMENT.match(word.bare) or (wrapped and word.text[:1].isdigit()):
            continue
        if _is_prefix(word):
            wrapped, after_option = True, False
        elif wrapped and word.text.startswith("-"):
            after_option = "=" not in word.text
        else:
            found.append(word)
            if not after_option:
                return found
            after_option = False
    return found or part[-1:]


def _is_prefix(word: Word) -> bool:
    return base_name(word.text) in runners.PREFIXERS


def _shown(word: Word) -> str:
    return excerpt(word.text, 60)


def _begins(part: Part, prefixes: Sequence[Words], beyond_doubt: bool) -> bool:  # noqa: FBT001
    return any(
        len(part.words) >= len(prefix)
        and all(_fits(pattern, word) for pattern, word in zip(prefix, part.words, strict=False))
        and not (beyond_doubt and part.doubt and part.doubt_at >= len(prefix))
        for prefix in prefixes
    )


def _fits(pattern: str, word: str) -> bool:
    """Say whether a word of a rule that allows fits; a pattern without a `/` does not go into folders."""
    return pattern == word or (fnmatchcase(word, pattern) and ("/" in pattern or "/" not in word))


def _mentions(part: Part, prefix: Words) -> bool:
    """Say whether the words of a rule that denies could be meant by a command, in their order."""
    words = part.words[: part.at + 1] if part.is_data else part.words
    # If the rest does not follow the first of its name, it does not follow a later one.
    named = (at for at, word in enumerate(words) if any(_named(one, prefix[0]) for one in _readings(word)))
    at = next(named, None)
    return at is not None and _follow(part.words[at + 1 :], prefix[1:])


def _readings(word: str) -> Iterator[str]:
    """Return the names of programs that a word could hold: itself, or the value of an option or an assignment."""
    yield base_name(word)
    _, equals, value = word.partition("=")
    if equals and value:
        yield base_name(value)


def _follow(words: Sequence[str], wanted: Words) -> bool:
    """Say whether words follow in their order; what stands for a name that is not known yet may be the first."""
    first = next((at for at, word in enumerate(words) if not word.startswith("-")), None)
    rest = enumerate(words)
    return all(any(_means(word, one, is_first=at == first) for at, word in rest) for one in wanted)


def _means(word: str, wanted: str, *, is_first: bool) -> bool:
    """Say whether a word is what a rule names, or could become it: by what is found, or by a pattern of names."""
    word, wanted = word.casefold(), wanted.casefold()
    return "{}" in word or fnmatchcase(word, wanted) or (is_first and fnmatchcase(wanted, word))


def _leads_with(words: Words, prefix: Words) -> bool:
    """Say whether words are a command of a kind, behind nothing but assignments, wrappers and their options."""
    for at, word in enumerate(words):
        if any(_named(one, prefix[0]) for one in _readings(word)):
            return _follow(words[at + 1 :], prefix[1:])
        is_before = _ASSIGNMENT.match(word) or base_name(word) in runners.WRAPPERS | runners.SHELLS
        if not (is_before or word.startswith("-") or word[:1].isdigit()):
            return False
    return False


def _named(name: str, wanted: str) -> bool:
    wanted = base_name(wanted)
    return fnmatchcase(name, wanted) or _could_become(name, wanted)


def _could_become(pattern: str, name: str) -> bool:
    """Say whether a pattern of file names could match a name; one of nothing but `*` and `?` is any file's."""
    if not _PATTERN.search(pattern) or not pattern.strip("*?") or pattern in {"[", "[["}:
        return False
    loose = _BRACKETS.sub("?", pattern)
    loose = loose.partition("[")[0] + "*" if "[" in loose else loose
    return fnmatchcase(name, loose)


def base_name(word: str) -> str:
    """Return the name of a program without its folder, as the most forgiving system reads it."""
    return word.rsplit("/", 1)[-1].casefold()
