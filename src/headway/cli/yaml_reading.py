"""Reads the part of YAML that configuration files are written in, and refuses the rest with its place.

Known: mappings and lists in blocks and in brackets, quoted and plain scalars over one or more lines, literal and folded
blocks, comments, anchors and aliases, merges. JSON is read too, being part of it. Tags, complex keys and several
documents in one file are refused. Plain words mean what they mean to PyYAML.
"""

import re
from typing import Any

from headway.cli.yaml_words import Words, key_of, scalar, uncommented
from headway.failure import InvalidInput

DEEPEST = 64
_BLOCK = re.compile(r"^(?P<style>[|>])(?P<more>[0-9+-]*)\s*(?:#.*)?$")
_ANCHOR = re.compile(r"^&(?P<name>[^\s,\[\]{}]+)(?:\s+|$)")
_ITEM = re.compile(r"^-(?:\s+|$)")


def read_yaml(text: str, name: str) -> Any:
    """Return what a file says; raises `InvalidInput` for what cannot be read, with its line."""
    return _Reader(text, name).document()


class _Reader:
    """Goes through the lines once."""

    def __init__(self, text: str, name: str) -> None:
        self._lines = text.removeprefix("\ufeff").splitlines()
        self._name = name
        self._at = 0
        self._depth = 0
        self._anchors: dict[str, Any] = {}

    def document(self) -> Any:
        if self._next() and self._lines[self._at].startswith("%"):
            raise self._wrong("it has a directive, which is not read here")
        if self._next() and re.match(r"^---\s*(#.*)?$", self._lines[self._at]):
            self._at += 1
        value = self._block(0) if self._next() else None
        if self._next():
            what = (
                "it has more than one document" if self._lines[self._at].startswith("---") else "it is indented wrong"
            )
            raise self._wrong(what)
        return value

    # Lines

    def _next(self) -> bool:
        """Go to the next line that says something; False at the end."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip() and not line.lstrip().startswith("#"):
                if line[: len(line) - len(line.lstrip())].count("\t"):
                    raise self._wrong("it is indented by a tab")
                return line.rstrip() != "..."
            self._at += 1
        return False

    def _indent(self) -> int:
        line = self._lines[self._at]
        return len(line) - len(line.lstrip(" "))

    def _wrong(self, why: str) -> InvalidInput:
        hint = "Headway reads plain YAML; `yq -o=json` makes JSON of the rest, which it reads as well."
        return InvalidInput(f"{self._name}:{self._at + 1}", why, hint)

    # Blocks

    def _block(self, least: int) -> Any:
        """Read what begins on the next line, which is indented by at least so much."""
        indent = self._indent()
        if indent < least:
            return None
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong("it is nested too deeply")
        content = self._lines[self._at][indent:]
        if _ITEM.match(content):
            value: Any = self._list(indent)
        elif self._key(content) is not None:
            value = self._mapping(indent)
        else:
            self._at += 1
            value = self._value(content, indent - 1)
        self._depth -= 1
        return value

    def _list(self, indent: int) -> list[Any]:
        found = []
        while self._next() and self._indent() == indent and _ITEM.match(self._lines[self._at][indent:]):
            line = self._lines[self._at]
            rest = line[indent + 1 :].lstrip(" ")
            if not uncommented(rest):
                self._at += 1
                found.append(self._block(indent + 1) if self._next() else None)
                continue
            inner = len(line) - len(rest)
            if _ITEM.match(rest) or self._key(rest) is not None:
                self._lines[self._at] = " " * inner + rest  # as if it stood on a line of its own
                found.append(self._block(inner))
            else:
                self._at += 1
                found.append(self._value(rest, indent))
        self._check_end(indent)
        return found

    def _mapping(self, indent: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while self._next() and self._indent() == indent:
            content = self._lines[self._at][indent:]
            pair = self._key(content)
            if pair is None:
                if _ITEM.match(content):
                    break
                raise self._wrong("a key with a colon was expected here")
            key, rest = pair
            self._at += 1
            value = self._value(rest, indent, may_list=True)
            if key == "<<":
                for one in value if isinstance(value, list) else [value]:
                    merged = {**(one if isinstance(one, dict) else {}), **merged}
            else:
                found[key] = value
        self._check_end(indent)
        return {**merged, **found}

    def _check_end(self, indent: int) -> None:
        if self._next() and self._indent() > indent:
            raise self._wrong("it is indented wrong")

    def _key(self, content: str) -> tuple[str, str] | None:
        """Return the key of a line and what stands behind it; None when it has none."""
        if content.startswith(("? ", "!")):
            raise self._wrong("tags and complex keys are not read here")
        return key_of(content)

    # Values

    def _value(self, rest: str, indent: int, *, may_list: bool = False) -> Any:
        """Read what stands behind a key or a dash, on its line and on those that belong to it."""
        anchor = _ANCHOR.match(rest)
        if anchor is not None:
            value = self._value(rest[anchor.end() :], indent, may_list=may_list)
            self._anchors[anchor["name"]] = value
            return value
        if not uncommented(rest):
            return self._below(indent, may_list=may_list)
        if rest.startswith("*"):
            name = uncommented(rest)[1:].strip()
            if name not in self._anchors:
                self._at -= 1
                raise self._wrong(f"there is no anchor {name!r} before it")
            return self._anchors[name]
        if (block := _BLOCK.match(rest)) is not None:
            return self._text(block["style"], block["more"], indent)
        if rest.startswith("!"):
            self._at -= 1
            raise self._wrong("tags are not read here")
        return self._inline(rest, indent)

    def _below(self, indent: int, *, may_list: bool) -> Any:
        """Read the block that belongs to a key; a list may stand right under it."""
        if not self._next():
            return None
        is_list = may_list and self._indent() == indent and _ITEM.match(self._lines[self._at][indent:])
        return self._block(indent if is_list else indent + 1)

    def _inline(self, rest: str, indent: int) -> Any:
        """Read a scalar or brackets, with the lines that they go on over."""
        start = self._at
        try:
            return self._words(rest, indent)
        except ValueError as exc:
            self._at = start - 1
            raise self._wrong(str(exc)) from None

    def _words(self, rest: str, indent: int) -> Any:
        words = Words(rest)
        while words.is_open and self._at < len(self._lines):
            words.add(self._lines[self._at])
            self._at += 1
        if words.is_open:
            raise ValueError("a quote or a bracket is not closed")
        if rest[0] not in "\"'[{":
            text = uncommented(rest)
            while self._next() and self._indent() > indent:
                text += " " + uncommented(self._lines[self._at].strip())
                self._at += 1
            return scalar(text)
        return words.value(self._anchors)

    def _text(self, style: str, more: str, indent: int) -> str:
        """Read a literal or folded text: the lines below that are indented deeper."""
        lines: list[str] = []
        inner = indent + int(digits) if (digits := "".join(filter(str.isdigit, more))) else None
        while self._at < len(self._lines):
            line = self._lines[self._at]
            own = len(line) - len(line.lstrip(" "))
            if line.strip():
                inner = own if inner is None else inner
                if own < inner or own <= indent:
                    break
            lines.append(line[inner:] if inner is not None else "")
            self._at += 1
        if "+" in more and style == "|":
            return "".join(f"{line}\n" for line in lines)
        text = "\n".join(lines).rstrip("\n") if style == "|" else _folded(lines)
        return text if "-" in more or not text else text + "\n"


def _folded(lines: list[str]) -> str:
    paragraphs = re.split(r"\n{2,}", "\n".join(lines).strip("\n"))
    return "\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
