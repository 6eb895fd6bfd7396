"""One walk over a history: its parts by kind, and its turns. Rules read this, so each costs only what it looks at.

A turn is a maximal run of messages of one role: wires differ in how many messages they use to say one thing.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeVar, cast

from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    ModelRequest,
    Opaque,
    Part,
    Refusal,
    Role,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

SomePart = TypeVar("SomePart", bound=Part)
ELSEWHERE = ("previous_response_id", "conversation")
"""Fields of a request by which the provider keeps the beginning of the history itself."""


_ONLY_TEXTS = frozenset({Text})


class Turn(NamedTuple):
    """The messages from `start` up to `stop`, all of one role."""

    role: Role
    start: int
    stop: int


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Return the turns, in order."""
    turns: list[Turn] = []
    start = 0
    for index in range(1, len(messages) + 1):
        if index == len(messages) or messages[index].role != messages[start].role:
            turns.append(Turn(messages[start].role, start, index))
            start = index
    return turns


def only_thinks(message: Message) -> bool:
    """Say whether a message holds thinking and nothing that it led to."""
    return bool(message.parts) and all(isinstance(part, Thinking) for part in message.parts)


class Survey:
    """What rules ask about a history. `request` is absent when only the messages are judged."""

    def __init__(self, messages: Sequence[Message], request: ModelRequest | None = None) -> None:
        """Walk the messages once."""
        self.messages = messages
        self.request = request
        self._kinds: dict[type[object], list[tuple[int, Part]]] = defaultdict(list)
        self._inside: dict[type[object], list[tuple[int, Part]]] = defaultdict(list)
        kinds, inside = self._kinds, self._inside
        for index, message in enumerate(messages):
            for part in message.parts:
                kinds[type(part)].append((index, part))
        for index, result in self.of(ToolResult):
            for inner in result.parts:
                inside[type(inner)].append((index, inner))

    @property
    def holds_only_texts(self) -> bool:
        """Say whether there is nothing but texts in the messages."""
        return self._kinds.keys() <= _ONLY_TEXTS

    def of(self, kind: type[SomePart]) -> list[tuple[int, SomePart]]:
        """Return the parts of one kind, each with the index of its message."""
        return cast("list[tuple[int, SomePart]]", self._kinds.get(kind, []))

    def inside(self, kind: type[SomePart]) -> list[tuple[int, SomePart]]:
        """Return the parts of one kind that stand inside of results."""
        return cast("list[tuple[int, SomePart]]", self._inside.get(kind, []))

    def all_but(self, kind: type[Part]) -> Iterator[tuple[int, Part]]:
        """Return the parts of all kinds but one."""
        return chain.from_iterable(found for other, found in self._kinds.items() if other is not kind)

    @cached_property
    def turns(self) -> list[Turn]:
        """Return the turns, in order."""
        return turns_of(self.messages)

    @cached_property
    def words(self) -> list[tuple[int, Text | Refusal]]:
        """Return the texts and refusals, those inside of results too."""
        return [*self.of(Text), *self.of(Refusal), *self.inside(Text)]

    @cached_property
    def media(self) -> list[tuple[int, Image | Document]]:
        """Return the images and documents, those inside of results too."""
        return [*self.of(Image), *self.of(Document), *self.media_inside]

    @cached_property
    def media_inside(self) -> list[tuple[int, Image | Document]]:
        """Return the images and documents inside of results."""
        return [*self.inside(Image), *self.inside(Document)]

    @cached_property
    def opaques(self) -> list[tuple[int, Opaque]]:
        """Return the parts that only one wire knows, those inside of results too."""
        return [*self.of(Opaque), *self.inside(Opaque)]

    @cached_property
    def calls_and_fragments(self) -> list[tuple[int, ToolCall | CallFragment]]:
        """Return all calls, whole or not."""
        return [*self.of(ToolCall), *self.of(CallFragment)]

    @cached_property
    def call_ids(self) -> frozenset[str]:
        """Return the ids of all calls, whole or not."""
        return frozenset(call.id for _, call in self.calls_and_fragments)

    def begins_elsewhere(self, wire: str) -> bool:
        """Say whether the provider holds a part of this history, so that a call may be there and not here."""
        raw = self.request.raw if self.request else None
        if raw and raw.wire == wire and any(raw.value.get(field) for field in ELSEWHERE):
            return True
        raws = (opaque.raw for _, opaque in self.of(Opaque))
        return any(raw.wire == wire and raw.value.get("type") == "item_reference" for raw in raws)
