"""Starting from what was read: unknown fields survive, and a field that still says the same keeps its own form."""

from collections.abc import Callable, Container
from typing import Any

from headway.messages import Raw


def own(raw: Raw | None) -> dict[str, Any]:
    """Return the object that a value was read from on this wire; empty when it was born elsewhere."""
    return raw.value if raw is not None and raw.wire == "chat" else {}


def without(value: dict[str, Any], keys: Container[str]) -> dict[str, Any]:
    """Return a copy of an object without some keys."""
    return {key: item for key, item in value.items() if key not in keys}


def settle(body: dict[str, Any], key: str, value: Any, read: Callable[[Any], Any], write: Callable[[Any], Any]) -> None:
    """Make `body[key]` say `value`. If it already reads as that, however it is written, it stays as it is."""
    if key in body and read(body[key]) == value:
        return
    if value is None or value == ():
        body.pop(key, None)
    else:
        body[key] = write(value)
