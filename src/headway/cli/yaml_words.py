"""Scalars, keys and brackets of YAML: what stands within a line, or goes on over several. See `yaml_reading`."""

import json
import re
from typing import Any

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})
_FALSE = frozenset({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})
_INTEGER = re.compile(r"^[-+]?(?:0x[0-9a-fA-F_]+|0|[1-9][0-9_]*)$")
_FLOAT = re.compile(
    r"^[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+]?[0-9]+)?|\.[0-9]+(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"
)
_NO_WORD = re.compile(r"^[@`%]|^[-?:](?:\s|$)|:(?:\s|$)")
_PLAIN_KEY = re.compile(r"^(?P<key>[^\s#\"'\[\]{}&*!|>%@`,?:-](?:[^:#]|:(?=\S)|(?<=\S)#)*?|-[^\s:]+)\s*:(?:\s+|$)")
_QUOTED_KEY = re.compile(r"""^(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*:(?:\s+|$)""")
_ESCAPES = {"0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"} | {
    "_": "\u00a0",
    "N": "\u0085",
    "L": "\u2028",
    "P": "\u2029",
}
_WIDTHS = {"x": 2, "u": 4, "U": 8}
_OPENS = {"[": "]", "{": "}"}


def uncommented(text: str) -> str:
    """Return a text without the comment behind it; quotes are respected."""
    quote = ""
    at = 0
    while at < len(text):
        char = text[at]
        if quote:
            if char == "\\" and quote == '"':
                at += 1
            elif char == quote:
                quote = ""
        elif char in "\"'" and (at == 0 or text[at - 1] in " \t[{,:"):
            quote = char
        elif char == "#" and (at == 0 or text[at - 1] in " \t"):
            return text[:at].rstrip()
        at += 1
    return text.rstrip()


def key_of(content: str) -> tuple[str, str] | None:
    """Return the key of a line and what stands behind it; None when it has none."""
    if (quoted := _QUOTED_KEY.match(content)) is not None:
        return unquoted(quoted["key"]), content[quoted.end() :].strip()
    if (plain := _PLAIN_KEY.match(content)) is not None:
        return plain["key"].strip(), content[plain.end() :].strip()
    return ("<<", content[3:].strip()) if content.startswith("<<:") else None


def scalar(text: str) -> Any:
    """Return what a plain word means; raises `ValueError` for what no plain word may look like."""
    if _NO_WORD.search(text):
        raise ValueError(f"{text[:40]!r} must stand in quotes, or on a line of its own")
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.match(text):
        return int(text.replace("_", ""), 0)
    if _FLOAT.match(text):
        return float(text.replace("_", ""))
    return text


def unquoted(text: str) -> str:
    """Return what a quoted text says; raises `ValueError` for an escape that there is not."""
    inner = text[1:-1]
    if text[0] == "'":
        return inner.replace("''", "'")
    out = []
    at = 0
    while at < len(inner):
        char = inner[at]
        at += 1
        if char != "\\":
            out.append(char)
            continue
        escape = inner[at : at + 1]
        at += 1
        if escape in _WIDTHS:
            digits = inner[at : at + _WIDTHS[escape]]
            out.append(chr(int(digits, 16)))
            at += _WIDTHS[escape]
        elif escape in '"\\/ ':
            out.append(escape)
        elif escape in _ESCAPES:
            out.append(_ESCAPES[escape])
        else:
            raise ValueError(f"there is no escape \\{escape}")
    return "".join(out)


class Words:
    """A quoted text or brackets, as far as they have been read."""

    def __init__(self, first: str) -> None:
        """Begin with the rest of a line."""
        self._text = ""
        self._quote = ""
        self._depth = 0
        self._simple = first[0] not in "\"'[{"
        self.add(first)

    @property
    def is_open(self) -> bool:
        """Say whether the next line belongs to it."""
        return not self._simple and (self._depth > 0 or bool(self._quote))

    def add(self, line: str) -> None:
        """Take one more line; what stands behind the end is left out if it is a comment."""
        if self._simple:
            return
        text = line.strip()
        if self._text:
            self._text += " "
        at = 0
        while at < len(text):
            char = text[at]
            if self._quote:
                if char == "\\" and self._quote == '"':
                    at += 1
                elif char == self._quote:
                    self._quote = ""
            elif char in "\"'" and (at == 0 or text[at - 1] in " [{,:"):
                self._quote = char
            elif char in _OPENS:
                self._depth += 1
            elif char in "]}":
                self._depth -= 1
            elif char == "#" and (at == 0 or text[at - 1] in " \t"):
                text = text[:at]
            at += 1
        self._text += text.rstrip()

    def value(self, anchors: dict[str, Any]) -> Any:
        """Return what it says; raises `ValueError` when that is nothing."""
        flow = _Flow(self._text, anchors)
        value = flow.read()
        if flow.rest():
            raise ValueError(f"{flow.rest()[:40]!r} stands behind a value")
        return value


class _Flow:
    """Brackets within one text."""

    def __init__(self, text: str, anchors: dict[str, Any], depth: int = 0) -> None:
        self._text, self._anchors, self._at, self._depth = text, anchors, 0, depth

    def rest(self) -> str:
        return self._text[self._at :].strip()

    def read(self) -> Any:
        self._skip()
        char = self._text[self._at : self._at + 1]
        if char in _OPENS and char:
            self._depth += 1
            if self._depth > 64:
                raise ValueError("it is nested too deeply")
            self._at += 1
            value = self._list() if char == "[" else self._mapping()
            self._depth -= 1
            return value
        if char in {'"', "'"}:
            return self._quoted()
        word = self._word()
        if word.startswith("*"):
            if word[1:] not in self._anchors:
                raise ValueError(f"there is no anchor {word[1:]!r} before it")
            return self._anchors[word[1:]]
        return scalar(word)

    def _list(self) -> list[Any]:
        found = []
        while not self._closes("]"):
            found.append(self.read())
            self._skip()
            if self._text[self._at : self._at + 1] == ":":  # a mapping of one pair, without its brackets
                self._at += 1
                found[-1] = {str(found[-1]): self.read()}
            self._comma("]")
        return found

    def _mapping(self) -> dict[str, Any]:
        found = {}
        while not self._closes("}"):
            key = self.read()
            self._skip()
            value = None
            if self._text[self._at : self._at + 1] == ":":
                self._at += 1
                value = self.read() if not self._peeks(",}") else None
            found[key if isinstance(key, str) else json.dumps(key)] = value
            self._comma("}")
        return found

    def _skip(self) -> None:
        while self._text[self._at : self._at + 1] in {" ", "\t"}:
            self._at += 1

    def _peeks(self, characters: str) -> bool:
        self._skip()
        return self._at < len(self._text) and self._text[self._at] in characters

    def _closes(self, end: str) -> bool:
        if self._peeks(end):
            self._at += 1
            return True
        if self._at >= len(self._text):
            raise ValueError("a bracket is not closed")
        return False

    def _comma(self, end: str) -> None:
        if self._peeks(","):
            self._at += 1
        elif not self._peeks(end):
            raise ValueError(f"a comma or {end} was expected before {self.rest()[:40]!r}")

    def _quoted(self) -> str:
        start, quote = self._at, self._text[self._at]
        at = start + 1
        while at < len(self._text):
            if self._text[at] == "\\" and quote == '"':
                at += 1
            elif self._text[at] == quote:
                if quote == "'" and self._text[at + 1 : at + 2] == "'":
                    at += 1
                else:
                    self._at = at + 1
                    return unquoted(self._text[start : at + 1])
            at += 1
        raise ValueError("a quote is not closed")

    def _word(self) -> str:
        found = re.match(r"(?:[^,\[\]{}:]|:(?=[^\s,\[\]{}]))*", self._text[self._at :])
        word = found[0] if found else ""
        self._at += len(word)
        if not word.strip() and not self._peeks(",]}:"):
            raise ValueError(f"a value was expected before {self.rest()[:40]!r}")
        return word.strip()
