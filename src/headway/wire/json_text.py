"""JSON in and out, strict and bounded: no NaN, no lone surrogates, no duplicate keys where it matters, no traceback.

`decode` is for frames (fast, strict), `strict_object` for tool arguments (a guessed call must never run),
`decode_repaired` for bodies written by others, which are read as far as they can be and say what was mended.
"""

import json
import re
from collections.abc import Callable
from math import isinf
from typing import Any, NoReturn

import msgspec

EXCERPT = 400
LARGE = 1_000_000
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"(\s*+:)?')
"""A string of JSON; a key is one with its colon."""
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()
_skim: Callable[[str], object] = msgspec.json.Decoder(type("_Object", (msgspec.Struct,), {})).decode
"""Reads an object as strictly as any, and keeps nothing of it; only numbers may be beyond all measure."""


class BadJson(ValueError):
    """Text that is not the JSON it should be; the message says why, in one line."""


class Contradiction(BadJson):
    """Two texts that should be one: what a stream brought in pieces, and what it says in the end."""


def decode(data: bytes | str) -> Any:
    """Read strict JSON or raise `BadJson`."""
    try:
        return _decoder.decode(data)
    except RecursionError:
        raise BadJson("nested too deeply") from None
    except (msgspec.DecodeError, UnicodeError) as exc:
        raise BadJson(str(exc)) from None


def encode(value: Any) -> bytes:
    """Write compact JSON or raise `BadJson` (nested too deeply, a lone surrogate)."""
    try:
        return _encoder.encode(value)
    except RecursionError:
        raise BadJson("nested too deeply") from None
    except (TypeError, ValueError, msgspec.MsgspecError) as exc:
        raise BadJson(str(exc)) from None


def encode_text(value: Any) -> str:
    """Write compact JSON as text."""
    return encode(value).decode()


def strict_object(text: str) -> dict[str, Any]:
    """Read the text of one JSON object, or raise `BadJson`.

    An object's text is self-delimiting: no proper prefix of it is itself whole. So text that passes here is not
    a piece of something longer. Duplicate keys are refused because nobody can say which value was meant.
    """
    value = decode(text)
    if not isinstance(value, dict):
        raise BadJson(f"expected an object, got {type(value).__name__}")
    try:
        _look_at_keys(text)
    except RecursionError:
        raise BadJson("nested too deeply") from None
    return value


def is_whole_object(text: str) -> bool:
    """Say whether the text is one whole JSON object: whether `strict_object` would read it.

    Nothing is built of it, as large calls come by here.
    """
    try:
        _skim(text)
        _look_at_keys(text)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return True


def decode_repaired(data: bytes) -> tuple[Any, tuple[str, ...]]:
    """Read JSON that somebody else wrote, mending what has one safe reading; say what was mended.

    Invalid UTF-8 and lone surrogates become U+FFFD, NaN and infinities become null. Anything else is `BadJson`.
    """
    try:
        return decode(data), ()
    except BadJson as strict:
        try:
            return _decode_mending(data)
        except (ValueError, RecursionError):
            raise strict from None


def excerpt(data: bytes | str, limit: int = EXCERPT) -> str:
    """Return the beginning of some evidence, as text, bounded."""
    text = data[: limit * 4].decode("utf-8", "replace") if isinstance(data, bytes) else data
    return text if len(text) <= limit else f"{text[:limit]}…"


def _decode_mending(data: bytes) -> tuple[Any, tuple[str, ...]]:
    mended: list[str] = []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
        mended.append("bytes that are not UTF-8 became U+FFFD")

    def constant(name: str) -> None:
        mended.append(f"{name} became null")

    value = json.loads(text, parse_constant=constant)
    flat = json.dumps(value, ensure_ascii=False)
    if _LONE_SURROGATE.search(flat):
        flat = _LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", flat)
        mended.append("lone surrogates became U+FFFD")
    return decode(flat), tuple(dict.fromkeys(mended))


def _look_at_keys(text: str) -> None:
    """Refuse keys that appear twice, in text that is known to be JSON, and numbers that nothing can hold.

    Of large text, strings that are no keys are left out before: it takes longer, and no memory.
    """
    if len(text) > LARGE:
        text = _STRING.sub(lambda found: found[0] if found[1] else '""', text)
    json.loads(text, object_pairs_hook=_refuse_duplicates, parse_float=_refuse_infinity)


def _refuse_duplicates(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        _duplicate(pairs)


def _refuse_infinity(number: str) -> None:
    if isinf(float(number)):
        raise BadJson("a number is out of range")


def _duplicate(pairs: list[tuple[str, Any]]) -> NoReturn:
    keys = [key for key, _ in pairs]
    twice = next(key for key in keys if keys.count(key) > 1)
    raise BadJson(f"the key {twice!r} appears twice")
