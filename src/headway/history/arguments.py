"""Whether arguments are one whole JSON object, exactly as strictly as the wires read it. Fast: every request asks.

A key that appears twice is refused like a cut: nobody can say which value was meant, and strict endpoints say no.
"""

import json
from typing import Any

import msgspec

_decode = msgspec.json.Decoder().decode
_SHORT = 4_096
"""Up to this length, counting is faster than reading a second time."""


def is_whole_object(text: str) -> bool:
    """Say whether the text is one whole JSON object with no key twice."""
    try:
        value = _decode(text)
        if not isinstance(value, dict):
            return False
        return (len(text) < _SHORT and _has_no_key_to_spare(text, value)) or not _repeats(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def _has_no_key_to_spare(text: str, value: dict[str, Any]) -> bool:
    """Say whether a text has as many colons behind quotes as its value has keys: then none of them came twice."""
    if " :" in text or "\n:" in text or "\t:" in text or "\r:" in text:
        return False
    keys, waiting = 0, [value]
    while waiting:
        one: Any = waiting.pop()
        if isinstance(one, dict):
            keys += len(one)
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return text.count('":') == keys


def _repeats(text: str) -> bool:
    repeated = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal repeated
        repeated = repeated or len({key for key, _ in pairs}) != len(pairs)

    json.loads(text, object_pairs_hook=look)
    return repeated
