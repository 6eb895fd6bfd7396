"""What reading and writing alone put right: forms with one plain meaning that their wire does not take.

The history rules judge what a body says; these notes are about how it says it. A codec writes such a form anew, and
whoever reads the healed one shall be told.
"""

from typing import Any

from msgspec import Struct

from headway.messages import ModelRequest
from headway.wire.base import Wire

REQUIRED = frozenset({"max_tokens"})
"""Fields that a wire wants in every body: added when they lack. Others that a codec adds on its own are not kept."""


class Note(Struct, frozen=True):
    """A form that was put right: at a message, or (none) in the body around them."""

    index: int | None
    words: str


def misformed(wire: Wire, values: list[Any], request: ModelRequest) -> list[Note]:
    """Return the messages that their own wire would write in another way."""
    notes = [Note(index, "an item is null") for index, value in enumerate(values) if value is None]
    places = [index for index, value in enumerate(values) if value is not None]
    for index, message in zip(places, request.messages, strict=True):
        written = wire.render_messages(ModelRequest("", (message,)))
        if written and written != [values[index]]:
            notes.append(Note(index, f"{_differing(values[index], written)} not written as this wire takes it"))
    return notes


def merged(wire: Wire, values: list[Any], request: ModelRequest) -> bool:
    """Say whether the wire writes neighbouring messages of one role as one."""
    apart = sum(len(wire.render_messages(ModelRequest("", (message,)))) for message in request.messages)
    return bool(values) and len(wire.render_messages(ModelRequest("", request.messages))) < apart


def settled(given: dict[str, Any], read: dict[str, Any], healed: dict[str, Any]) -> tuple[dict[str, Any], list[Note]]:
    """Return the healed body with nothing added that was not needed, and what became of the fields around its messages.

    `read` is what the codec makes of the given body by itself.
    """
    unasked = {key for key in read if key not in given and key not in REQUIRED and read[key] == healed.get(key)}
    notes = [
        Note(None, f"`{key}` was added, which this wire requires") for key in read if key in REQUIRED - given.keys()
    ]
    for key in given.keys() - {"messages", "input", "model"}:
        if key not in read:
            notes.append(Note(None, f"`{key}` was removed, because it is refused here"))
        elif read[key] != given[key]:
            notes.append(Note(None, f"`{key}` was not written as this wire takes it"))
    return {key: value for key, value in healed.items() if key not in unasked}, notes


def _differing(value: Any, written: list[dict[str, Any]]) -> str:
    if not isinstance(value, dict) or len(written) != 1:
        return "it is"
    (other,) = written
    fields = [f"`{key}`" for key in {**value, **other} if value.get(key, value) != other.get(key, other)]
    return f"{', '.join(fields)} {'is' if len(fields) == 1 else 'are'}"
