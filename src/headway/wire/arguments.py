r"""Tool arguments as they stream: which fields are whole, which string is open, and where a cut does no harm.

`ArgumentReader` takes the text of one JSON object in pieces of any size, in linear time, and never raises. It is
exactly as strict as `json_text.strict_object`, except that it refuses more than `MAX_DEPTH` levels. The safe cut is
the last place after a whole character of an open string value, after a whole value, or after an opening bracket:
never inside an escape, a surrogate pair, a key, or a number that could go on. A piece of plain text inside an open
string costs one regular expression; only structure is read character by character.
"""

import re
from collections.abc import Callable
from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

from headway.wire.json_text import BadJson, decode, encode_text

MAX_DEPTH = 256
Path: TypeAlias = tuple[str | int, ...]
Span: TypeAlias = tuple[int, int]

_PIECES_BEFORE_JOIN = 1024
_SPACE = re.compile(r"[ \t\n\r]*+")
_PLAIN = re.compile(r'[^"\\\x00-\x1f\ud800-\udfff]*+')
_WHOLE_CHARACTERS = re.compile(
    r'(?:[^"\\\x00-\x1f\ud800-\udfff]++'
    r'|\\["\\/bfnrt]'
    r"|\\u(?:[0-9a-ce-fA-CE-F][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2})"
    r"|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})*+"
)
_HALF_CHARACTER = re.compile(
    r"\\(?:u(?:[0-9a-fA-F]{0,3}"
    r"|[dD][89abAB][0-9a-fA-F]{2}(?:\\(?:u(?:[dD](?:[c-fC-F][0-9a-fA-F]?)?)?)?)?)?)?\Z"
)
_NUMBER = re.compile(r"[-+.0-9eE]*+")
_LITERALS = {"t": "true", "f": "false", "n": "null"}


class State(Enum):
    """How far an object has come. Nothing follows `BROKEN`; only `BROKEN` follows `WHOLE`."""

    EMPTY = "empty"
    OPEN = "open"
    WHOLE = "whole"
    BROKEN = "broken"


class Broken(Struct, frozen=True):
    """Where the text stopped being the beginning of a JSON object, and why."""

    at: int
    why: str


class _Container(Struct):
    """An object or array that is still open. `at` is the key or index of the member being read."""

    start: int
    closer: str
    keys: set[str]
    at: str | int


class ArgumentReader:
    """Follows the arguments of one call. Offsets are in characters of the raw text, as they came."""

    def __init__(self, text: str = "") -> None:
        """Start with `text`, if some is there already."""
        self.state = State.EMPTY
        self.broken: Broken | None = None
        self.whole_fields: dict[str, Span] = {}
        """The top-level fields that are whole, and where their values stand in the raw text."""
        self._chunks: list[str] = []
        self._pieces: list[str] = []
        self._length = 0
        self._carry = ""  # the end of the text, if it is half an escape or half a literal: read again with what follows
        self._token: list[str] = []  # the key or number being read
        self._stack: list[_Container] = []
        self._step: _Step = ArgumentReader._before_object
        self._base = 0  # the offset of the text being scanned
        self._safe = 0  # the safe cut while no string value is open
        self._value_start = 0
        self._escape_surplus = 0  # how much longer the open string is in raw characters than in decoded ones
        self._skims = False  # a string value is open and nothing is carried: plain pieces need no scan
        if text:
            self.feed(text)

    def feed(self, piece: str) -> None:
        """Take the next piece of the text."""
        if not (self._skims and _PLAIN.fullmatch(piece)):
            self._scan(piece)
        self._length += len(piece)
        self._pieces.append(piece)
        if len(self._pieces) >= _PIECES_BEFORE_JOIN:
            self._chunks.append("".join(self._pieces))
            self._pieces.clear()

    @property
    def text(self) -> str:
        """Return all of the raw text."""
        self._chunks = ["".join((*self._chunks, *self._pieces))]
        self._pieces = []
        return self._chunks[0]

    @property
    def safe_cut(self) -> int:
        """Return the last offset at which the raw text may be cut."""
        return self._length - len(self._carry) if self.text_is_open else self._safe

    @property
    def text_is_open(self) -> bool:
        """Say whether a string value is open."""
        return self._step is ArgumentReader._in_string

    @property
    def open_path(self) -> Path:
        """Return the keys and indexes that lead to the open string, or else to the innermost open container."""
        return tuple(container.at for container in (self._stack if self.text_is_open else self._stack[:-1]))

    @property
    def open_length(self) -> int:
        """Return how many decoded characters the open string has so far; 0 when none is open."""
        return self.safe_cut - self._value_start - 1 - self._escape_surplus if self.text_is_open else 0

    def open_text(self, since: int = 0) -> str:
        """Return the decoded text of the open string, or only what came after the earlier safe cut `since`."""
        if not self.text_is_open:
            return ""
        return _decoded(self._slice(max(since, self._value_start + 1), self.safe_cut))

    @property
    def closers(self) -> str:
        """Return what would close the text at its safe cut: a quote if a string is open, then the brackets."""
        brackets = "".join(container.closer for container in reversed(self._stack))
        return f'"{brackets}' if self.text_is_open else brackets

    def whole_values(self) -> dict[str, Any]:
        """Return the decoded values of the top-level fields that are whole."""
        text = self.text
        return {name: decode(text[start:end]) for name, (start, end) in self.whole_fields.items()}

    def _slice(self, start: int, end: int) -> str:
        """Return a part of the raw text; near its end this costs no more than the part."""
        found: list[str] = []
        at = self._length
        for pieces in (self._pieces, self._chunks):
            for piece in reversed(pieces):
                if at <= start:
                    break
                at -= len(piece)
                found.append(piece)
        return "".join(reversed(found))[max(0, start - at) : end - at]

    # Each step reads from `at`, where a character is, and returns where the next step goes on.

    def _scan(self, piece: str) -> None:
        data = self._carry + piece
        self._base = self._length - len(self._carry)
        self._carry = ""
        at = 0
        while at < len(data):
            if self._step not in _INSIDE_TOKENS:
                at = _end_of(_SPACE, data, at)
                if at == len(data):
                    break
            at = self._step(self, data, at)
        self._skims = self.text_is_open and not self._carry

    def _break(self, at: int, why: str) -> int:
        if self.text_is_open:
            self._safe = self._base + at
        self.state = State.BROKEN
        self.broken = Broken(self._base + at, why)
        self._step = ArgumentReader._after_break
        return at

    def _wait(self, data: str, at: int) -> int:
        self._carry = data[at:]
        return len(data)

    def _before_object(self, data: str, at: int) -> int:
        if data[at] != "{":
            return self._break(at, "arguments are an object, which begins with {")
        self.state = State.OPEN
        return self._open_container(data, at)

    def _open_container(self, data: str, at: int) -> int:
        if len(self._stack) == MAX_DEPTH:
            return self._break(at, "nested too deeply")
        is_object = data[at] == "{"
        container = _Container(self._base + at, "}" if is_object else "]", set(), "" if is_object else 0)
        self._stack.append(container)
        self._safe = self._base + at + 1
        self._step = ArgumentReader._before_first_key if is_object else ArgumentReader._before_first_item
        return at + 1

    def _before_first_key(self, data: str, at: int) -> int:
        return self._close_container(at) if data[at] == "}" else self._before_key(data, at)

    def _before_key(self, data: str, at: int) -> int:
        if data[at] != '"':
            return self._break(at, f"expected a key in quotes, found {data[at]!r}")
        self._token = []
        self._step = ArgumentReader._in_key
        return at + 1

    def _in_key(self, data: str, at: int) -> int:
        stop = _end_of(_WHOLE_CHARACTERS, data, at)
        self._token.append(data[at:stop])
        if not data.startswith('"', stop):
            return self._stop_in_text(data, stop)
        key = _decoded("".join(self._token))
        container = self._stack[-1]
        if key in container.keys:
            return self._break(stop, f"the key {key!r} appears twice")
        container.keys.add(key)
        container.at = key
        self._step = ArgumentReader._before_colon
        return stop + 1

    def _before_colon(self, data: str, at: int) -> int:
        if data[at] != ":":
            return self._break(at, f"expected : after a key, found {data[at]!r}")
        self._step = ArgumentReader._before_value
        return at + 1

    def _before_first_item(self, data: str, at: int) -> int:
        return self._close_container(at) if data[at] == "]" else self._before_value(data, at)

    def _before_value(self, data: str, at: int) -> int:
        first = data[at]
        if first in "{[":
            return self._open_container(data, at)
        self._value_start = self._base + at
        if first == '"':
            self._escape_surplus = 0
            self._step = ArgumentReader._in_string
            return at + 1
        if first in "-0123456789":
            self._token = []
            self._step = ArgumentReader._in_number
            return at
        word = _LITERALS.get(first)
        if word and data.startswith(word, at):
            return self._close_value(at + len(word))
        if word and word.startswith(data[at:]):
            return self._wait(data, at)
        return self._break(at, f"no value begins with {data[at : at + 5]!r}")

    def _in_string(self, data: str, at: int) -> int:
        stop = _end_of(_WHOLE_CHARACTERS, data, at)
        if data.find("\\", at, stop) >= 0:
            self._escape_surplus += stop - at - len(_decoded(data[at:stop]))
        if data.startswith('"', stop):
            return self._close_value(stop + 1)
        return self._stop_in_text(data, stop)

    def _stop_in_text(self, data: str, at: int) -> int:
        """Say why whole characters end here: the piece does, in or after one, or the text is not JSON."""
        if at == len(data):
            return at
        if _HALF_CHARACTER.match(data, at):
            return self._wait(data, at)
        if data[at] == "\\":
            return self._break(at, f"bad escape {data[at : at + 6]!r}")
        return self._break(at, f"the character {data[at]!r} must be escaped in a string")

    def _in_number(self, data: str, at: int) -> int:
        stop = _end_of(_NUMBER, data, at)
        self._token.append(data[at:stop])
        if stop == len(data):
            return stop
        try:
            decode("".join(self._token))
        except BadJson as bad:
            return self._break(self._value_start - self._base, f"bad number: {bad}")
        return self._close_value(stop)

    def _close_container(self, at: int) -> int:
        self._value_start = self._stack.pop().start
        return self._close_value(at + 1)

    def _close_value(self, stop: int) -> int:
        self._safe = self._base + stop
        self._step = ArgumentReader._after_value
        if not self._stack:
            self.state = State.WHOLE
            self._step = ArgumentReader._after_object
        elif len(self._stack) == 1:
            self.whole_fields[str(self._stack[0].at)] = (self._value_start, self._safe)
        return stop

    def _after_value(self, data: str, at: int) -> int:
        container = self._stack[-1]
        if data[at] == container.closer:
            return self._close_container(at)
        if data[at] != ",":
            return self._break(at, f"expected , or {container.closer} after a value, found {data[at]!r}")
        if isinstance(container.at, int):
            container.at += 1
            self._step = ArgumentReader._before_value
        else:
            self._step = ArgumentReader._before_key
        return at + 1

    def _after_object(self, data: str, at: int) -> int:
        return self._break(at, f"found {data[at]!r} after the end of the object")

    def _after_break(self, data: str, _at: int) -> int:
        return len(data)


_Step: TypeAlias = Callable[[ArgumentReader, str, int], int]
_INSIDE_TOKENS: frozenset[_Step] = frozenset(
    {ArgumentReader._in_key, ArgumentReader._in_string, ArgumentReader._in_number}  # noqa: SLF001 (its own table)
)


def string_content(text: str) -> str:
    """Return text as it stands between the quotes of a JSON string, or raise `BadJson` for half a character."""
    return encode_text(text)[1:-1]


def _decoded(content: str) -> str:
    """Return what stands between the quotes of a JSON string, decoded; only whole characters come here."""
    return str(decode(f'"{content}"'))


def _end_of(pattern: re.Pattern[str], data: str, at: int) -> int:
    """Return where a pattern that also matches nothing stops matching."""
    match = pattern.match(data, at)
    return match.end() if match else at
