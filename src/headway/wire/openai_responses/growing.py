"""The output items of one response while they stream: which event belongs to which item, and what each has said.

Servers disagree about how items are named: ids that change from event to event, indexes that are missing or shared, a
final list in another order. So an item is known by its id or call id first, then by its place among its kind, then as
the last one of its kind. Everything is a dictionary lookup: a hostile stream stays linear.
"""

from collections import deque
from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct, field

from headway.wire.openai_responses.parts import string
from headway.wire.pieces import Pieces

NOWHERE = -1


class Words(Enum):
    """The kinds of words that items say."""

    TEXT = "text"
    REFUSAL = "refusal"
    SUMMARY = "summary"
    REASONING = "reasoning"
    ARGUMENTS = "arguments"


Place: TypeAlias = tuple[Words, int]
"""A kind of words and the index of the part that they stand in."""


class Phase(Enum):
    """How far an item has come. `SAID` is done without a word on whether it is complete."""

    OPEN = "open"
    SAID = "said"
    WHOLE = "whole"
    CUT = "cut"


class Item(Struct):
    """One output item: what it has said so far, by place, and the number of its call once that is open."""

    kind: str
    index: int = NOWHERE
    call_id: str = ""
    call: int = NOWHERE
    phase: Phase = Phase.OPEN
    said: dict[Place, Pieces] = field(default_factory=dict)

    def text(self, place: Place) -> str:
        """Return what was said in one place."""
        pieces = self.said.get(place)
        return "" if pieces is None else pieces.text()

    def may_be(self, value: dict[str, Any]) -> bool:
        """Say whether an item object may be this one: it is, unless two calls have different ids."""
        call_id = string(value.get("call_id"))
        return not call_id or not self.call_id or call_id == self.call_id

    def is_said_by(self, value: dict[str, Any]) -> bool:
        """Say whether an object without a name of its own says again what this item, a call, has said."""
        if string(value.get("id")) or string(value.get("call_id")):
            return False
        given = string(value.get("arguments")) or string(value.get("input"))
        return any(words is Words.ARGUMENTS and self.text((words, at)) == given for words, at in self.said)


class Items:
    """The items in the order they appeared."""

    def __init__(self) -> None:
        """Start with none."""
        self.all: list[Item] = []
        self._named: dict[tuple[str, str], Item] = {}
        self._placed: dict[tuple[str, int], Item] = {}
        self._last: dict[str, Item] = {}

    def add(self, kind: str, index: int, *names: str) -> Item:
        """Note a new item, known by its names and its index."""
        item = Item(kind, index)
        self.all.append(item)
        self._last[kind] = item
        self._placed[kind, index] = item
        for name in names:
            if name:
                self._named[kind, name] = item
        return item

    def announce(self, value: dict[str, Any], index: int) -> Item:
        """Note a new item by its object."""
        call_id = string(value.get("call_id"))
        item = self.add(string(value.get("type")), index, string(value.get("id")), call_id)
        item.call_id = call_id
        return item

    def of_delta(self, kind: str, index: int, name: str) -> Item:
        """Return the item that a delta goes to; one that nobody announced is new."""
        item = self._named.get((kind, name)) if name else None
        return item or self._open_at(kind, index) or self.add(kind, index, name)

    def of_object(self, value: dict[str, Any], index: int) -> Item:
        """Return the item that an object completes; one that nobody announced is new."""
        kind = string(value.get("type"))
        item = self._by_name(value) or self._open_at(kind, index)
        if item is None and (there := self._placed.get((kind, index))) is not None and there.is_said_by(value):
            item = there  # its arguments were done already, and nothing names it
        if item is None or not item.may_be(value):
            return self.announce(value, index)
        item.call_id = item.call_id or string(value.get("call_id"))
        return item

    def of_list(self, values: list[dict[str, Any]]) -> list[tuple[Item, dict[str, Any]]]:
        """Pair the final list with what streamed: by name, else in order among its kind; what is left is new."""
        named = [self._by_name(value) for value in values]
        taken = {id(item) for item in named if item is not None}
        waiting: dict[str, deque[Item]] = {}
        for item in self.all:
            if id(item) not in taken:
                waiting.setdefault(item.kind, deque()).append(item)
        pairs = []
        for value, known in zip(values, named, strict=True):
            queue = waiting.get(string(value.get("type")))
            next_one = queue.popleft() if known is None and queue and queue[0].may_be(value) else None
            pairs.append((known or next_one or self.announce(value, NOWHERE), value))
        return pairs

    def longest_text(self) -> str:
        """Return the longest text that was said in one place."""
        return max((pieces.text() for item in self.all for pieces in item.said.values()), key=len, default="")

    def _by_name(self, value: dict[str, Any]) -> Item | None:
        kind = string(value.get("type"))
        for key in ("call_id", "id"):
            name = string(value.get(key))
            if name and (item := self._named.get((kind, name))) and item.may_be(value):
                return item
        return None

    def _open_at(self, kind: str, index: int) -> Item | None:
        item = self._placed.get((kind, index)) if index != NOWHERE else None
        last = self._last.get(kind)
        if item is None and last is not None and NOWHERE in (index, last.index):
            item = last
        return item if item is not None and item.phase is Phase.OPEN else None
