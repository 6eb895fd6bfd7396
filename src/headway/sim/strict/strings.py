"""What every provider asks of a body as a whole: JSON, and strings that are text."""

import json
import re
from collections.abc import Iterator
from typing import Any

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
LONG_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def judge_json(body: Any) -> list[str]:
    """Say what keeps a body from being sent at all."""
    try:
        text = json.dumps(body, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as exc:
        return [f"The request body is not valid JSON: {exc}"]
    if not isinstance(body, dict):
        return ["The request body must be an object."]
    if LONE_SURROGATE.search(text):
        return ["The request body is not valid JSON: no low surrogate in string"]
    if "\\u0000" in text and any("\x00" in one for one in _texts(body)):
        return ["unsupported Unicode escape sequence: \\u0000 cannot be converted to text."]
    return []


def _texts(value: Any) -> Iterator[str]:
    """Walk the strings of a body, but not what tools were called with: that is data."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case dict(fields):
                waiting += [one for key, one in fields.items() if key not in ("input", "arguments") or _is_list(one)]
            case list(items):
                waiting += items


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def kind_of(part: Any) -> str:
    """Return the type that a part names for itself; empty for what names none."""
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def is_blank(text: Any) -> bool:
    """Say whether a value is no text, or one with nothing to see in it."""
    return not isinstance(text, str) or not text.strip()


def is_object_text(text: Any) -> bool:
    """Say whether a text is one JSON object, with no key twice."""
    if not isinstance(text, str):
        return False

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in items}) != len(items):
            raise ValueError("a key appears twice")
        return dict(items)

    try:
        return isinstance(json.loads(text, object_pairs_hook=pairs, parse_constant=_refuse), dict)
    except (ValueError, RecursionError):
        return False


def empty_array(path: str) -> str:
    """Return the words for a list with nothing in it."""
    return f"Invalid '{path}': empty array. Expected an array with minimum length 1, but got an empty array instead."


def _refuse(name: str) -> None:
    raise ValueError(name)
