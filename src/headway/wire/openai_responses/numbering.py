"""Events as bytes, counted one by one. A delta is its text between prepared bytes: every token of a stream is one."""

from typing import Any

from msgspec import Struct

from headway.wire.json_text import encode
from headway.wire.sse import write_frame


class DeltaForm(Struct, frozen=True):
    """What the deltas of one place have in common: how they begin, what follows their number, how they end."""

    head: bytes
    names: bytes
    tail: bytes


def delta_form(name: str, names: dict[str, Any], extra: dict[str, Any]) -> DeltaForm:
    """Return the form of the deltas called `name` that have these fields before and after their text."""
    head = f'event: {name}\ndata: {{"type":"{name}","sequence_number":'
    more = b"," + encode(extra)[1:] if extra else b"}"
    return DeltaForm(head.encode(), b"," + encode(names)[1:-1] + b',"delta":', more + b"\n\n")


class Numbering:
    """Writes events, each under the next number."""

    def __init__(self, number: int = 0) -> None:
        """Begin with `number`."""
        self._next = number

    def event(self, name: str, fields: dict[str, Any]) -> bytes:
        """Return an event."""
        number, self._next = self._next, self._next + 1
        return write_frame(encode({"type": name, "sequence_number": number, **fields}), name)

    def delta(self, form: DeltaForm, text: str) -> bytes:
        """Return a delta."""
        number, self._next = self._next, self._next + 1
        return b"%b%d%b%b%b" % (form.head, number, form.names, encode(text), form.tail)
