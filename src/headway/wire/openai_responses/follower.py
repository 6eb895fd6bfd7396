"""Follows a Responses stream that is forwarded as it comes. Nearly every frame is more of the same words.

Such frames are not read: their words come with the events, and the number of the last one is read when somebody asks.
Any other frame is read as plain JSON; what nobody here knows of is passed over.
"""

from collections.abc import Sequence
from typing import Any, Final

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    RefusalDelta,
    StreamCut,
    StreamEnded,
    TextDelta,
    ThinkingDelta,
)
from headway.wire.json_text import BadJson, decode, encode
from headway.wire.openai_responses.encoder import ResponsesEncoder
from headway.wire.openai_responses.forwarded import CALLS, NO_CALL, PARTS, Item, Items, shape_of
from headway.wire.openai_responses.parts import string
from headway.wire.openai_responses.shapes import TEXT, PartShape
from headway.wire.openai_responses.standing import Standing
from headway.wire.sse import Comment, Frame, write_comment, write_frame

_PROGRESS: Final = ("response.created", "response.queued", "response.in_progress")
_WORDS: Final = frozenset({TextDelta, RefusalDelta, ThinkingDelta})
_NOT_NUMBERED: Final = -1


class ResponsesFollower:
    """Knows where one forwarded stream stands."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self._opening: Frame | None = None
        """What opened the response; it may be large, and is read again when somebody asks."""
        self._items = Items()
        self._calls: dict[int, Item] = {}
        """The calls, by number."""
        self._number = _NOT_NUMBERED
        self._last: Frame | None = None
        """The last frame, if its number was not read yet."""
        self._going = b"."  # the name of the last delta's event (no event is called so) …
        self._going_head = b""  # … how its data begins, if it has no name …
        self._going_words: list[str] = []  # … where its words are collected …
        self._going_call = NO_CALL  # … and whose arguments they are, if they are any
        self._is_over = False

    def passed(self, frames: Sequence[Frame | Comment], events: Sequence[Event]) -> None:
        """Note frames that were forwarded, and the events that they said."""
        going = self._going
        if len(events) == 1 and len(frames) == 1:  # nearly always: one more token of the same
            event, frame = events[0], frames[0]
            kind = type(event)
            if (
                (kind is TextDelta or (kind is CallArguments and event.call == self._going_call))  # type: ignore[union-attr]
                and going
                and frame.event == going  # type: ignore[union-attr]  # no comment says words
            ):
                self._last = frame  # type: ignore[assignment]
                self._going_words.append(event.text)  # type: ignore[union-attr]
                return
        if not frames:
            return
        if len(frames) != len(events):  # then one of them says more than more of the same
            self._look_at_all(frames, events)
            return
        for frame in frames:
            if type(frame) is not Frame or frame.event != going or not (going or self._is_nameless(frame)):
                self._look_at_all(frames, events)
                return
            self._last = frame
        for event in events:
            kind = type(event)
            if kind is TextDelta:
                self._going_words.append(event.text)  # type: ignore[union-attr]
            elif kind is CallArguments and event.call in self._calls:  # type: ignore[union-attr]
                self._calls[event.call].pieces.append(event.text)  # type: ignore[union-attr]
            elif kind in _WORDS:
                self._going_words.append(event.text)  # type: ignore[union-attr]
            else:
                self._note(event)

    def encoder(self) -> ResponsesEncoder:
        """Return an encoder that goes on where the last forwarded frame left off."""
        self._read_number()
        standing = Standing(self._response(), self._is_over, self._number + 1, self._items.next_index)
        last = self._items.all[-1] if self._items.all else None
        for item in sorted(self._items.all, key=lambda item: item.index):
            value = item.object()
            standing.output.append(value)
            if item.is_done and (item.is_vouched or item.call_shape is None):
                continue
            if item.call_shape is not None and item.number != NO_CALL:
                standing.calls[item.number] = item.as_call(value, item.call_shape)
            elif not item.may_be_finished:
                value["status"] = "incomplete"
                standing.halves.append(item.name)
            elif item is last and item.kind in ("message", "reasoning"):
                standing.words = item.as_words(value)
            else:
                standing.loose.append(item.as_words(value))
        return ResponsesEncoder(standing=standing)

    def heartbeat(self) -> bytes:
        """Return what keeps a client waiting. It repeats the last number: the next one is that of the next frame."""
        if self._is_over:
            return b""
        if self._opening is None:
            return write_comment()
        self._read_number()
        numbered = {} if self._number == _NOT_NUMBERED else {"sequence_number": self._number}
        event = {"type": "response.in_progress", **numbered, "response": {**self._response(), "status": "in_progress"}}
        return write_frame(encode(event), "response.in_progress")

    def _response(self) -> dict[str, Any]:
        return _object(_value(self._opening).get("response")) if self._opening else {}

    def _is_nameless(self, frame: Frame) -> bool:
        return frame.data.startswith(self._going_head)

    def _read_number(self) -> None:
        if self._last is not None:
            self._take_number(_value(self._last))
            self._last = None

    def _take_number(self, value: dict[str, Any]) -> None:
        number = value.get("sequence_number")
        if isinstance(number, int):
            self._number = number

    # The rarer frames

    def _look_at_all(self, frames: Sequence[Frame | Comment], events: Sequence[Event]) -> None:
        self._going = b"."
        self._read_number()
        for frame in frames:
            if type(frame) is Frame:
                value = _value(frame)
                self._take_number(value)
                self._look_at(frame, value)
        for event in events:
            self._note(event)
        self._go_on(frames)

    def _note(self, event: Event) -> None:
        match event:
            case CallOpened():
                if item := self._items.open_call(event.id, event.call):
                    self._calls[event.call] = item
            case CallClosed() if event.call in self._calls:
                self._calls[event.call].is_vouched = True
            case StreamEnded() | StreamCut(cause=Cut.ERROR):
                self._is_over = True
            case _:
                pass

    def _look_at(self, frame: Frame, value: dict[str, Any]) -> None:
        kind = string(value.get("type")) or frame.event.decode("utf-8", "replace")
        family, _, step = kind.rpartition(".")
        response, item, part = (_object(value.get(name)) for name in ("response", "item", "part"))
        if kind in _PROGRESS and response:
            self._opening = self._opening or frame
        elif kind == "response.output_item.added":
            self._items.announce(item, value.get("output_index"))
        elif kind == "response.output_item.done":
            self._items.finish(item, value.get("output_index"))
        elif family in PARTS:
            self._add_words(PARTS[family], step, value)
        elif family in CALLS:
            self._add_arguments(family, step, value)
        elif kind == "response.output_text.annotation.added":
            self._annotate(value)
        elif part and family.endswith("_part"):
            self._add_part(family, step, value, part)

    def _add_words(self, shape: PartShape, step: str, value: dict[str, Any]) -> None:
        item = self._item(shape.item, value)
        if item is None:
            return
        part = item.part_at(shape, _place(value, shape))
        if step == "delta":
            part.pieces.append(string(value.get("delta")))
        elif step == "done":
            part.pieces = [string(value.get(shape.field))]
            part.is_said = True

    def _add_arguments(self, family: str, step: str, value: dict[str, Any]) -> None:
        item = self._item(CALLS[family].item, value)
        if item is None:
            return
        if step == "delta":
            item.pieces.append(string(value.get("delta")))
        elif step == "done":
            item.pieces = [string(value.get(CALLS[family].field))]
            item.is_said = True

    def _add_part(self, family: str, step: str, value: dict[str, Any], part: dict[str, Any]) -> None:
        shape = shape_of(part)
        item = self._item(shape.item if shape else "message", value)
        if item is None:
            return
        if step == "added":
            item.begin_part(shape, _place(value, shape or TEXT), part, family)
        elif step == "done" and shape is not None:
            found = item.part_at(shape, _place(value, shape))
            found.value, found.is_done, found.pieces = part, True, []

    def _annotate(self, value: dict[str, Any]) -> None:
        item = self._item("message", value)
        if item is not None and "annotation" in value:
            part = item.part_at(TEXT, _place(value, TEXT))
            part.value["annotations"] = [*(part.value.get("annotations") or ()), value["annotation"]]

    def _item(self, kind: str, value: dict[str, Any]) -> Item | None:
        return self._items.find(kind, value.get("output_index"), value.get("item_id"))

    def _go_on(self, frames: Sequence[Frame | Comment]) -> None:
        """Expect more of what the last frame said, if the events will tell it."""
        frame = frames[-1]
        value = _value(frame) if type(frame) is Frame else {}
        kind = string(value.get("type"))
        family, _, step = kind.rpartition(".")
        if type(frame) is not Frame or step != "delta":
            return
        shape = PARTS.get(family)
        item = self._item(shape.item if shape else CALLS[family].item, value) if shape or family in CALLS else None
        if item is None:
            return
        if shape is None and item.number == NO_CALL:
            return
        self._going_words = item.part_at(shape, _place(value, shape)).pieces if shape else item.pieces
        self._going_call = item.number
        self._going = frame.event
        self._going_head = b"" if frame.event else b'{"type":"' + kind.encode() + b'"'
        if not frame.data.startswith(self._going_head):
            self._going = b"."


def _value(frame: Frame) -> dict[str, Any]:
    try:
        return _object(decode(frame.data))
    except BadJson:
        return {}  # a word, or what ended the stream: the events say so


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _place(value: dict[str, Any], shape: PartShape) -> int:
    place = value.get(shape.index)
    return place if isinstance(place, int) else 0
