"""The lines between `---` and `---` that a Markdown file may begin with, as far as skills need them. Pure and total.

Not YAML, but what people write there: `key: value`, quotes, texts over several lines (`>` and `|`, or just indented).
Lists and tables below a key are passed over. A colon inside a plain value is part of it, although YAML would mind.
"""

import re

from headway.failure import HeadwayError

MOST_LINES = 200
_KEY = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")
_BLOCK = re.compile(r"[>|][+-]?\d?[+-]?(?:[ \t]+#.*)?$")
_QUOTED = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')[ \t]*(?:#.*)?$""")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "/": "/"}


class BadFrontMatter(HeadwayError):
    """Front matter that cannot be read; its text says why."""


def front_matter(text: str) -> dict[str, str]:
    """Return the values by their keys; raises `BadFrontMatter`."""
    first, *lines = text.removeprefix("\ufeff").splitlines()[: MOST_LINES + 1] or [""]
    if first.rstrip() != "---":
        raise BadFrontMatter("it does not begin with a line `---`")
    end = next((at for at, line in enumerate(lines) if line.rstrip() in {"---", "..."}), None)
    if end is None:
        raise BadFrontMatter(f"no second line `---` ends its first part within {MOST_LINES} lines")
    found: dict[str, str] = {}
    at = 0
    while at < end:
        line, at = lines[at].rstrip(), at + 1
        if not line or line.startswith("#"):
            continue
        key = _KEY.match(line)
        if key is None:
            raise BadFrontMatter(f"line {at + 1} is no `key: value`")
        below: list[str] = []
        while at < end and (not lines[at].strip() or lines[at][0] in " \t" or lines[at].startswith("- ")):
            below.append(lines[at].rstrip())
            at += 1
        if key[1] in found:
            raise BadFrontMatter(f"it has `{key[1]}` twice")
        found[key[1]] = _value((key[2] or "").strip(), below, key[1])
    return found


def _value(begun: str, below: list[str], key: str) -> str:
    lines = [line.strip() for line in below if line.strip()]
    if _BLOCK.match(begun):
        return ("\n" if begun.startswith("|") else " ").join(lines)
    if not begun and lines and (lines[0].startswith("-") or _KEY.match(lines[0])):
        return ""  # a list, or a table
    whole = " ".join((begun, *lines)).strip()
    if whole[:1] not in {'"', "'"}:
        return re.split(r"[ \t]#", whole, maxsplit=1)[0].strip()
    quoted = _QUOTED.match(whole)
    if quoted is None:
        raise BadFrontMatter(f"the quotes of `{key}` do not end")
    inner = quoted[1][1:-1]
    if whole[0] == "'":
        return inner.replace("''", "'")
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), inner)
