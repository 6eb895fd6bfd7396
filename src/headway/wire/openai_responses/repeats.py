"""Frames that repeat what was streamed. This wire says every text again, whole, in three or four frames at its end.

A long one is not read again: its JSON is looked for in the frame, and what was streamed stands for it. So a large call
is in memory as often as its events need it, and not once more for each time that the wire says it.
"""

from typing import Any

from headway.wire.json_text import decode, encode

LONG = 64 * 1024
_AT_ONCE = 16 * 1024
_STAND_IN = "\N{SYMBOL FOR DATA LINK ESCAPE} what was said \N{SYMBOL FOR DATA LINK ESCAPE}"
_STAND_IN_JSON = encode(_STAND_IN)


def decode_repeat(data: bytes, said: str) -> Any:
    """Read a frame as `decode` does; a value in it that is `said` is that very object.

    A server that escapes its text in another way than ours is read in the ordinary way.
    """
    place = _find(data, said) if len(said) >= LONG else None
    if place is None or _STAND_IN_JSON in data:
        return decode(data)
    holder = [decode(data[: place.start] + _STAND_IN_JSON + data[place.stop :])]
    return holder[0] if _put_back(holder, said) else decode(data)


def _find(data: bytes, said: str) -> range | None:
    """Return where the text stands as a JSON string, quotes included.

    A quote that is not escaped begins or ends a string, so what has the text between two of them is that string.
    """
    start = at = data.find(encode(said[:_AT_ONCE])[:-1])
    for begin in range(0, len(said), _AT_ONCE):
        piece = encode(said[begin : begin + _AT_ONCE])[1 if begin else 0 : -1]
        if not data.startswith(piece, at):
            return None
        at += len(piece)
    return range(start, at + 1) if start >= 0 and data.startswith(b'"', at) else None


def _put_back(value: list[Any], said: str) -> bool:
    """Put the text where its stand-in is; say whether that was a value, and not a key."""
    waiting: list[Any] = [value]
    while waiting:
        holder = waiting.pop()
        entries = holder.items() if isinstance(holder, dict) else enumerate(holder) if isinstance(holder, list) else ()
        for key, member in entries:
            if member == _STAND_IN:
                holder[key] = said
                return True
            waiting.append(member)
    return False
