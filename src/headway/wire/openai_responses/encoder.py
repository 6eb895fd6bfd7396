"""Events to the bytes of a Responses stream, in the shapes that the official clients accumulate.

Item ids are made from the response's id, so the same events give the same bytes. Readable thinking is a reasoning
summary, the form that clients show; another wire's signature travels as an extra field of its reasoning item.
A call that was not closed gets no `done` events, because clients run a call when they see those: it stands in the final
output as incomplete. A cut that is no error writes nothing: an end is never invented.
"""

from typing import Any

from msgspec import Struct

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    End,
    Event,
    KeepAlive,
    OpaqueBlock,
    RefusalDelta,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
    Unread,
    Usage,
)
from headway.wire.json_text import encode
from headway.wire.openai_responses.ending import write_end, write_error
from headway.wire.openai_responses.parts import own
from headway.wire.openai_responses.shapes import (
    CUSTOM,
    FUNCTION,
    REFUSAL,
    SUMMARY,
    TEXT,
    CallShape,
    PartShape,
    new_item,
    response_object,
)
from headway.wire.sse import write_comment, write_frame

_ID_TAIL = 40  # the wire takes ids of up to 64 characters back
_OF_THE_ITEM = frozenset({"type", "id", "status", "summary", "content"})


class _Words(Struct):
    """A message or reasoning item that is open; `value` is its object, which the final output shares."""

    index: int
    value: dict[str, Any]
    shape: PartShape | None = None
    pieces: list[str] = []


class _Call(Struct):
    """A call that is open."""

    index: int
    value: dict[str, Any]
    shape: CallShape
    pieces: list[str] = []

    def settle(self, status: str) -> str:
        """Put what was received into the object; return it."""
        arguments: str = "".join(self.pieces)
        self.value.update({self.shape.field: arguments, "status": status})
        return arguments


class ResponsesEncoder:
    """Writes the events of one response. After the end it writes nothing."""

    def __init__(self, created_at: int = 0) -> None:
        """Date the response `created_at`, in seconds since 1970: the core reads no clock."""
        self._created_at = created_at
        self._sequence = 0
        self._opened: StreamOpened | None = None
        self._output: list[dict[str, Any]] = []
        self._words: _Words | None = None
        self._calls: dict[int, _Call] = {}
        self._usage: Usage | None = None
        self._end: End | None = None

    def write(self, event: Event) -> bytes:
        """Return the bytes that say this event."""
        if self._end is not None:
            return b""
        match event:
            case TextDelta(text=text):
                return self._say(TEXT, text)
            case RefusalDelta(text=text):
                return self._say(REFUSAL, text)
            case ThinkingDelta(text=text):
                return self._say(SUMMARY, text)
            case CallArguments(call=number, text=text):
                return self._say_arguments(number, text)
            case KeepAlive():
                return write_comment()
            case Unread():
                return b""
            case Usage():
                self._usage = event
                return b""
            case StreamOpened():
                return self._open(event)
            case StreamEnded() | StreamCut():
                self._end = event
                return self._finish(event)
            case _:
                return self._open(StreamOpened()) + self._write_block(event)

    def reply(self) -> dict[str, Any]:
        """Return the whole response that the events make; without an end it is one that was cut."""
        end = self._end or StreamCut(Cut.EOF)
        if self._opened is None and isinstance(end, StreamCut):
            return {"error": write_error(end)}
        self._close_words("incomplete")
        self._settle_calls()
        return self._response(write_end(end))

    def _write_block(self, event: CallOpened | CallClosed | ThinkingSigned | ThinkingSealed | OpaqueBlock) -> bytes:
        match event:
            case CallOpened():
                return self._open_call(event)
            case CallClosed(call=number):
                return self._close_call(number)
            case ThinkingSigned(signature=signature):
                return self._seal({"signature": signature})
            case ThinkingSealed(sealed=sealed, raw=raw):
                return self._seal({**own(raw), "encrypted_content": sealed})
            case OpaqueBlock(raw=raw):
                return self._write_whole(own(raw))

    def _finish(self, end: End) -> bytes:
        if isinstance(end, StreamCut):
            if end.cause is not Cut.ERROR:
                return b""
            if self._opened is None:
                return self._event("error", {**write_error(end), "param": None})
        ending = write_end(end)
        status = ending["status"]
        written = self._open(StreamOpened()) + self._close_words("completed" if status == "completed" else "incomplete")
        self._settle_calls()
        return written + self._event(f"response.{status}", {"response": self._response(ending)})

    def _open(self, opened: StreamOpened) -> bytes:
        if self._opened is not None:
            return b""
        self._opened = opened
        response = {"response": self._response({"status": "in_progress"})}
        return self._event("response.created", response) + self._event("response.in_progress", response)

    def _say(self, shape: PartShape, text: str) -> bytes:
        """Write more words: in the open part if it has that shape, else in a new one."""
        if not text:
            return b""
        words, written = self._words, b""
        if words is None or words.shape is not shape:
            words, written = self._open_part(shape)
        words.pieces.append(text)
        return written + self._part_event(words, shape, f"{shape.stream}.delta", {"delta": text, **shape.extra})

    def _open_part(self, shape: PartShape) -> tuple[_Words, bytes]:
        words, written = self._open_words(shape.item)
        written += self._close_part(words)
        part = {**shape.part, shape.field: ""}
        words.value[shape.parts].append(part)
        words.shape = shape
        return words, written + self._part_event(words, shape, f"{shape.envelope}.added", {"part": part})

    def _close_part(self, words: _Words) -> bytes:
        shape = words.shape
        if shape is None:
            return b""
        text = "".join(words.pieces)
        part = words.value[shape.parts][-1]
        part[shape.field] = text
        written = self._part_event(words, shape, f"{shape.stream}.done", {shape.field: text, **shape.extra})
        written += self._part_event(words, shape, f"{shape.envelope}.done", {"part": part})
        words.shape, words.pieces = None, []
        return written

    def _open_words(self, kind: str) -> tuple[_Words, bytes]:
        """Return the open item if it is of that kind, else a new one."""
        if self._words is not None and self._words.value["type"] == kind:
            return self._words, b""
        written = self._open(StreamOpened()) + self._close_words()
        value = new_item(kind, self._id("msg" if kind == "message" else "rs"))
        self._words = _Words(len(self._output), value)
        return self._words, written + self._add(value)

    def _close_words(self, status: str = "completed") -> bytes:
        words, self._words = self._words, None
        if words is None:
            return b""
        written = self._close_part(words)
        words.value["status"] = status
        return written + self._done(words.index, words.value)

    def _seal(self, proof: dict[str, Any]) -> bytes:
        """Finish a block of reasoning, with what proves it."""
        words, written = self._open_words("reasoning")
        words.value.update({key: value for key, value in proof.items() if key not in _OF_THE_ITEM})
        return written + self._close_words()

    def _open_call(self, event: CallOpened) -> bytes:
        shape = CUSTOM if event.freeform else FUNCTION
        written = self._close_words()
        names = {"type": shape.item, "id": self._id(shape.prefix), "call_id": event.id, "name": event.name}
        value = {**own(event.raw), **names, shape.field: "", "status": "in_progress"}
        self._calls[event.call] = _Call(len(self._output), value, shape)
        return written + self._add(value)

    def _say_arguments(self, number: int, text: str) -> bytes:
        call = self._calls.get(number)
        if call is None or not text:
            return b""
        call.pieces.append(text)
        return self._call_event(call, "delta", {"delta": text})

    def _close_call(self, number: int) -> bytes:
        call = self._calls.pop(number, None)
        if call is None:
            return b""
        whole = {call.shape.field: call.settle("completed")}
        return self._call_event(call, "done", whole) + self._done(call.index, call.value)

    def _settle_calls(self) -> None:
        for call in self._calls.values():
            call.settle("incomplete")

    def _write_whole(self, value: dict[str, Any]) -> bytes:
        """Write an item that only this wire has, as it came; one of another wire has no words here."""
        if not value:
            return b""
        written = self._close_words()
        index = len(self._output)
        return written + self._add(value) + self._done(index, value)

    def _add(self, value: dict[str, Any]) -> bytes:
        self._output.append(value)
        return self._event("response.output_item.added", {"output_index": len(self._output) - 1, "item": value})

    def _done(self, index: int, value: dict[str, Any]) -> bytes:
        return self._event("response.output_item.done", {"output_index": index, "item": value})

    def _part_event(self, words: _Words, shape: PartShape, name: str, fields: dict[str, Any]) -> bytes:
        place = len(words.value[shape.parts]) - 1
        names = {"item_id": words.value["id"], "output_index": words.index, shape.index: place}
        return self._event(name, names | fields)

    def _call_event(self, call: _Call, step: str, fields: dict[str, Any]) -> bytes:
        names = {"item_id": call.value["id"], "output_index": call.index}
        return self._event(f"{call.shape.stream}.{step}", names | fields)

    def _event(self, name: str, fields: dict[str, Any]) -> bytes:
        body = {"type": name, "sequence_number": self._sequence, **fields}
        self._sequence += 1
        return write_frame(encode(body), name)

    def _id(self, prefix: str) -> str:
        response_id = self._opened.id if self._opened else ""
        tail = response_id.partition("_")[2] or response_id
        return f"{prefix}_{tail[-_ID_TAIL:]}_{len(self._output)}"

    def _response(self, ending: dict[str, Any]) -> dict[str, Any]:
        opened = self._opened or StreamOpened()
        return response_object(opened, self._created_at, self._output, self._usage, ending)
