"""The output of one response as it is written: which item is open, which part of it, which calls; each one numbered.

Item ids are made from the response's id, so the same events give the same bytes. What others began, and an encoder
took over, is gone on with under the names that they gave it.
"""

from typing import Any

from headway.events import CallOpened
from headway.wire.openai_responses.numbering import Numbering, delta_form
from headway.wire.openai_responses.parts import own
from headway.wire.openai_responses.shapes import CUSTOM, FUNCTION, PartShape, new_item, unfinished
from headway.wire.openai_responses.standing import Call, Standing, Words

_ID_TAIL = 40  # the wire takes ids of up to 64 characters back
_OF_THE_ITEM = frozenset({"type", "id", "status", "summary", "content"})


class Output:
    """Writes items. `items` are their objects, in order; `halves` the names of calls that will never be whole."""

    def __init__(self, standing: Standing, numbered: Numbering) -> None:
        """Go on where the stream stands."""
        self.items = standing.output
        self.calls = standing.calls
        self.halves = standing.halves
        self.response_id = ""
        self._numbered = numbered
        self._next_index = standing.next_index
        self._words = standing.words
        self._loose = standing.loose

    # Words

    def say(self, shape: PartShape, text: str) -> bytes:
        """Write more words: in the open part if it has that shape, else in a new one."""
        words, written = self._words, b""
        if words is None or words.shape is not shape or words.is_said:
            words, written = self._open_part(shape)
        words.pieces.append(text)
        if words.form is None:
            words.form = delta_form(f"{shape.stream}.delta", _place(words, shape), shape.extra)
        return written + self._numbered.delta(words.form, text)

    def seal(self, proof: dict[str, Any]) -> bytes:
        """Finish a block of reasoning, with what proves it."""
        words, written = self._open_words("reasoning")
        words.value.update({key: value for key, value in proof.items() if key not in _OF_THE_ITEM})
        return written + self.close_words()

    def close_words(self, status: str = "completed") -> bytes:
        """Finish the open item that is no call, if there is one."""
        words, self._words = self._words, None
        return b"" if words is None else self._close_item(words, status)

    def _open_part(self, shape: PartShape) -> tuple[Words, bytes]:
        words, written = self._open_words(shape.item)
        written += self._close_part(words)
        part = {**shape.part, shape.field: ""}
        words.value.setdefault(shape.parts, []).append(part)
        words.shape, words.envelope = shape, shape.envelope
        return words, written + self._part_event(words, shape, f"{shape.envelope}.added", {"part": part})

    def _close_part(self, words: Words) -> bytes:
        shape = words.shape
        if shape is None:
            return b""
        text = "".join(words.pieces)
        part = words.value[shape.parts][-1]
        part[shape.field] = text
        written = b""
        if not words.is_said:
            written += self._part_event(words, shape, f"{shape.stream}.done", {shape.field: text, **shape.extra})
        if words.envelope:
            written += self._part_event(words, shape, f"{words.envelope}.done", {"part": part})
        words.shape, words.is_said, words.pieces, words.form = None, False, [], None
        return written

    def _open_words(self, kind: str) -> tuple[Words, bytes]:
        """Return the open item if it is of that kind, else a new one."""
        if self._words is not None and self._words.value["type"] == kind:
            return self._words, b""
        written = self.close_words()
        value = new_item(kind, self._id("msg" if kind == "message" else "rs"))
        self._words = Words(self._next_index, value)
        return self._words, written + self._add(value)

    def _close_item(self, words: Words, status: str) -> bytes:
        written = self._close_part(words)
        words.value["status"] = status
        return written + self._done(words.index, words.value)

    def _part_event(self, words: Words, shape: PartShape, name: str, fields: dict[str, Any]) -> bytes:
        return self._numbered.event(name, _place(words, shape) | fields)

    # Calls

    def open_call(self, event: CallOpened) -> bytes:
        """Begin a call."""
        self.leave(event.call)
        shape = CUSTOM if event.freeform else FUNCTION
        written = self.close_words()
        names = {"type": shape.item, "id": self._id(shape.prefix), "call_id": event.id, "name": event.name}
        value = {**own(event.raw), **names, shape.field: "", "status": "in_progress"}
        self.calls[event.call] = Call(self._next_index, value, shape)
        return written + self._add(value)

    def say_arguments(self, number: int, text: str) -> bytes:
        """Write more arguments of an open call."""
        call = self.calls.get(number)
        if call is None or not text:
            return b""
        if call.is_said or call.is_done:  # nothing can follow finished arguments, so these are missed
            self.leave(number)
            return b""
        call.pieces.append(text)
        if call.form is None:
            call.form = delta_form(f"{call.shape.stream}.delta", _item(call), {})
        return self._numbered.delta(call.form, text)

    def close_call(self, number: int) -> bytes:
        """Finish a call that is whole."""
        call = self.calls.pop(number, None)
        if call is None or call.is_done:
            return b""
        whole = {call.shape.field: call.settle("completed")}
        said = b"" if call.is_said else self._numbered.event(f"{call.shape.stream}.done", _item(call) | whole)
        return said + self._done(call.index, call.value)

    def leave(self, number: int) -> None:
        """Leave an open call as it is for good, if there is one of that number: it will never be whole."""
        if call := self.calls.pop(number, None):
            call.settle("incomplete")
            self.halves.append(call.name)

    def settle_calls(self) -> None:
        """Put into the objects of open calls what came of them."""
        for call in self.calls.values():
            call.settle("incomplete")

    # Items

    def seam(self, keeping: int | None) -> bytes:
        """Finish what the next attempt cannot go on with."""
        written = self.tidy_up()
        if self._words is not None and self._words.value["type"] != "message":
            written += self.close_words("incomplete")
        for number in [number for number in self.calls if number != keeping]:
            self.leave(number)
        return written

    def tidy_up(self) -> bytes:
        """Finish what others left unfinished: items that nobody goes on with, and calls that are whole."""
        loose, self._loose = self._loose, []
        whole = [number for number, call in self.calls.items() if call.is_vouched]
        return b"".join(
            (*(self._close_item(words, unfinished(words.value)) for words in loose), *map(self.close_call, whole))
        )

    def write_whole(self, value: dict[str, Any]) -> bytes:
        """Write an item that only this wire has, as it came; one of another wire has no words here."""
        if not value:
            return b""
        written = self.close_words()
        index = self._next_index
        return written + self._add(value) + self._done(index, value)

    def _add(self, value: dict[str, Any]) -> bytes:
        index, self._next_index = self._next_index, self._next_index + 1
        self.items.append(value)
        return self._numbered.event("response.output_item.added", {"output_index": index, "item": value})

    def _done(self, index: int, value: dict[str, Any]) -> bytes:
        return self._numbered.event("response.output_item.done", {"output_index": index, "item": value})

    def _id(self, prefix: str) -> str:
        tail = self.response_id.partition("_")[2] or self.response_id
        return f"{prefix}_{tail[-_ID_TAIL:]}_{self._next_index}"


def _item(item: Words | Call) -> dict[str, Any]:
    """Return the fields by which events name an item."""
    return {"item_id": item.value.get("id", ""), "output_index": item.index}


def _place(words: Words, shape: PartShape) -> dict[str, Any]:
    """Return the fields by which events name the open part of an item."""
    return {**_item(words), shape.index: len(words.value[shape.parts]) - 1}
