"""Paths that a text names by `@path`, as people write them. Pure.

An `@` counts where a word begins, so an address for mail does not. Whether something is there is for the reader to look
up: the sign may as well be a decorator, a package or a person. Quotes hold what has spaces: `@"my notes.md"`.
"""

import re
from collections.abc import Iterator

_NAMED = re.compile(
    r"""(?<![^\s(\[{<"'`,;:|])@(?:"([^"\n]{1,1024})"|'([^'\n]{1,1024})'|((?:\\ |,(?!@)|[^\s"'`,]){1,1024}))"""
)
_BEHIND = ".,;:!?)]}>*_"
_CODE = re.compile(
    r"^ {0,3}(```+|~~~+).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)|(?<!`)(`+)(?!`).*?(?<!`)\2(?!`)", re.MULTILINE | re.DOTALL
)
_DECORATOR = re.compile(r"^[ \t]*@(\w{1,100})(?=\s|\Z)", re.MULTILINE)


def named_in(text: str) -> Iterator[tuple[str, ...]]:
    """Return what each `@` could name, the longest first: signs at the end may belong to the sentence."""
    for found in _NAMED.finditer(text):
        quoted = found[1] or found[2]
        yield (quoted,) if quoted else tuple(_readings(found[3].replace("\\ ", " ")))


def without_code(text: str) -> str:
    """Return a Markdown text without what stands in it as code."""
    return _CODE.sub(" ", text)


def decorators_in(text: str) -> frozenset[str]:
    """Return the plain words that begin a line, as decorators do; in a text of one line there are none."""
    return frozenset(_DECORATOR.findall(text)) if "\n" in text.strip() else frozenset()


def _readings(word: str) -> Iterator[str]:
    yield word
    while word and word[-1] in _BEHIND:
        word = word[:-1]
        if word:
            yield word
