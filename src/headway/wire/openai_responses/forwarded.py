"""The items of a stream that was forwarded: what a client knows of each, whether it is finished or not.

The objects are those of the frames: a finished item stands as its `done` event said it, an unfinished one as it was
announced, with the words that came since. Servers disagree about ids and indexes; an item is known by its id, else as
the unfinished one at its index, else as the last unfinished one of its kind.
"""

from typing import Any, Final

from msgspec import Struct

from headway.wire.openai_responses.parts import objects, string
from headway.wire.openai_responses.shapes import (
    CUSTOM,
    FUNCTION,
    REASONING,
    REFUSAL,
    SUMMARY,
    TEXT,
    CallShape,
    PartShape,
)
from headway.wire.openai_responses.standing import Call, Words

PARTS: Final = {shape.stream: shape for shape in (TEXT, REFUSAL, SUMMARY, REASONING)}
CALLS: Final = {shape.stream: shape for shape in (FUNCTION, CUSTOM)}
_CALL_ITEMS: Final = {shape.item: shape for shape in (FUNCTION, CUSTOM)}
_PART_TYPES: Final = {shape.part["type"]: shape for shape in PARTS.values()}
_FINISHED_BY_US: Final = frozenset(
    {"message", "reasoning", "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call"}
    | {"mcp_call", "mcp_list_tools", "compaction"}
)
"""Items that only the server acts on. A client may run any other when it sees it done, so half of one never is."""
NO_CALL: Final = -1


class Part(Struct):
    """A part of an item. `shape` is unknown for what only other clients can read."""

    shape: PartShape | None
    value: dict[str, Any]
    envelope: str = ""
    pieces: list[str] = []
    is_said: bool = False
    is_done: bool = False

    @property
    def parts(self) -> str:
        """Return the name of the list that it stands in."""
        return self.shape.parts if self.shape else "content"

    def object(self) -> dict[str, Any]:
        """Return the part as it stands."""
        if self.is_done or self.shape is None:
            return self.value
        return {**self.value, self.shape.field: "".join(self.pieces)}


class Item(Struct):
    """An item, as its client knows it. `number` is that of its call, once it is open."""

    index: int
    value: dict[str, Any]
    number: int = NO_CALL
    is_done: bool = False
    is_vouched: bool = False
    is_said: bool = False
    pieces: list[str] = []
    """The arguments so far, if it is a call."""
    parts: list[Part] = []
    _placed: dict[tuple[str, int], Part] = {}

    @property
    def kind(self) -> str:
        """Return the type of the item."""
        return string(self.value.get("type"))

    @property
    def name(self) -> str:
        """Return what to call it in an error."""
        return string(self.value.get("name")) or self.kind

    @property
    def call_shape(self) -> CallShape | None:
        """Return how its arguments are written, if it is a call that others can go on with."""
        return _CALL_ITEMS.get(self.kind)

    @property
    def may_be_finished(self) -> bool:
        """Say whether nobody acts on it when it is done."""
        return self.kind in _FINISHED_BY_US

    def part_at(self, shape: PartShape, place: int) -> Part:
        """Return the unfinished part in a place; one that nobody announced is new."""
        part = self._placed.get((shape.stream, place))
        return part if part is not None and not part.is_done else self.begin_part(shape, place, {**shape.part})

    def begin_part(self, shape: PartShape | None, place: int, value: dict[str, Any], envelope: str = "") -> Part:
        """Note a new part."""
        part = Part(shape, value, envelope)
        self.parts.append(part)
        if shape is not None:
            self._placed[shape.stream, place] = part
        return part

    def object(self) -> dict[str, Any]:
        """Return the item as it stands, to be edited by whoever goes on with it."""
        if self.is_done:
            return self.value
        value = {key: found for key, found in self.value.items() if key != "encrypted_content"}  # half a seal is none
        told = {"message": {"content"}, "reasoning": {"summary"}}.get(self.kind, set())
        told |= {part.parts for part in self.parts}
        value.update({name: objects(value.get(name)) for name in told})
        for part in self.parts:
            value[part.parts].append(part.object())
        return value

    def as_words(self, value: dict[str, Any]) -> Words:
        """Return the item as an encoder goes on with it."""
        last = self.parts[-1] if self.parts else None
        if last is None or last.is_done:
            return Words(self.index, value)
        return Words(self.index, value, last.shape, last.envelope, last.is_said, list(last.pieces))

    def as_call(self, value: dict[str, Any], shape: CallShape) -> Call:
        """Return the call as an encoder goes on with it."""
        return Call(self.index, value, shape, list(self.pieces), self.is_said, self.is_done, self.is_vouched)


class Items:
    """The items in the order they were announced. Everything is a lookup: a hostile stream stays linear."""

    def __init__(self) -> None:
        """Start with none."""
        self.all: list[Item] = []
        self.next_index = 0
        self._named: dict[str, Item] = {}
        self._placed: dict[tuple[str, Any], Item] = {}
        self._last: dict[str, Item] = {}

    def announce(self, value: dict[str, Any], given: Any) -> Item:
        """Note a new item; the next one gets an index that none has, whatever this one's is."""
        index = given if isinstance(given, int) and given >= 0 else self.next_index
        item = Item(index, value)
        self.all.append(item)
        self.next_index = max(self.next_index, index + 1, len(self.all))
        self._placed[item.kind, index] = self._last[item.kind] = item
        for name in (string(value.get("call_id")), string(value.get("id"))):
            if name:
                self._named[name] = item
        return item

    def finish(self, value: dict[str, Any], given: Any) -> None:
        """Note a finished item; one that nobody announced is new."""
        kind = string(value.get("type"))
        item = self.called(string(value.get("call_id"))) or self.called(string(value.get("id")))
        if item is None or item.kind != kind:
            item = self.find(kind, given, None) or self.announce(value, given)
        item.value, item.is_done, item.parts, item.pieces = value, True, [], []

    def find(self, kind: str, index: Any, name: Any) -> Item | None:
        """Return the unfinished item that an event is about."""
        places = (self._placed.get((kind, index)) if isinstance(index, int) else None, self._last.get(kind))
        for item in (self._named.get(name) if isinstance(name, str) else None, *places):
            if item is not None and item.kind == kind and not item.is_done:
                return item
        return None

    def called(self, name: str) -> Item | None:
        """Return the item of that id, or the call of that call id."""
        return self._named.get(name)

    def open_call(self, name: str, number: int) -> Item | None:
        """Give a call its number; one without an id is the last that was announced."""
        item = self._named.get(name)
        if item is None or item.call_shape is None:
            calls = [self._last[kind] for kind in _CALL_ITEMS if kind in self._last]
            item = max(calls, key=lambda call: call.index, default=None)
        if item is not None:
            item.number = number
        return item


def shape_of(part: dict[str, Any]) -> PartShape | None:
    """Return the shape of a part by its type."""
    return _PART_TYPES.get(string(part.get("type")))
