"""Server-sent events taken apart and put together again, to change what stands in them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from headway.sim.play import Beat, altered
from headway.wire.json_text import BadJson, decode, encode

Change: TypeAlias = Callable[[dict[str, Any]], dict[str, Any] | None]
"""What to do with the object of a frame; None leaves the frame out."""
DONE = b"data: [DONE]\n\n"


def split_frames(data: bytes) -> list[bytes]:
    """Return the frames of some encoded bytes, each with its empty line."""
    return [frame + b"\n\n" for frame in data.split(b"\n\n") if frame]


def object_of(frame: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a frame; None for a comment, a bare word, or what was spoilt before."""
    _, found, data = frame.partition(b"data: ")
    try:
        return decode(data) if found and data.startswith(b"{") else None
    except BadJson:
        return None


def with_object(frame: bytes, value: dict[str, Any]) -> bytes:
    """Return the frame with another object in it."""
    head, found, _ = frame.partition(b"data: ")
    return head + found + encode(value) + b"\n\n"


def change_frames(data: bytes, change: Change) -> bytes:
    """Return encoded bytes with the object of each frame changed; comments and bare words stay."""
    return b"".join(_changed(data, change))


def changed(beat: Beat, change: Change) -> Beat:
    """Return the beat with the objects of its frames changed when it is encoded."""
    return altered(beat, partial(change_frames, change=change))


def _changed(data: bytes, change: Change) -> Iterator[bytes]:
    for frame in split_frames(data):
        value = object_of(frame)
        if value is None:
            yield frame
        elif (new := change(value)) is not None:
            yield with_object(frame, new)
