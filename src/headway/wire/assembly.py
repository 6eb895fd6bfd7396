"""Events to what was received. A call is whole only if the wire closed it and its arguments parse strictly.

Linear in the bytes.
"""

from collections.abc import Iterable

from msgspec import Struct

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    End,
    Event,
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
from headway.messages import CallFragment, Opaque, Part, Raw, Refusal, Text, Thinking, ToolCall
from headway.received import Received
from headway.wire.json_text import is_whole_object
from headway.wire.pieces import Pieces


class _Words(Struct):
    """Text, refusal or thinking that is still growing."""

    kind: type[TextDelta | RefusalDelta | ThinkingDelta]
    pieces: Pieces
    signature: str | None = None
    sealed: str | None = None
    raw: Raw | None = None
    finished: bool = False

    def part(self, issuer: str) -> Part:
        text = self.pieces.text()
        if self.kind is TextDelta:
            return Text(text)
        if self.kind is RefusalDelta:
            return Refusal(text)
        return Thinking(text, issuer, self.signature, self.sealed, self.raw)


class _Call(Struct):
    """A call that is still growing, or closed."""

    opened: CallOpened
    pieces: Pieces
    closed: bool = False

    def part(self) -> Part:
        opened = self.opened
        arguments = self.pieces.text()
        if self.closed and not opened.freeform and not arguments.strip():
            arguments = "{}"  # every wire's way to say "no arguments"; the wire vouched that no more comes
        whole = self.closed and (opened.freeform or is_whole_object(arguments))
        kind = ToolCall if whole and opened.name else CallFragment
        return kind(opened.id, opened.name, arguments, opened.freeform, opened.raw)


class Assembler:
    """Collects the events of one attempt. `received` may be asked at any time; before the end it is what there is."""

    def __init__(self, issuer: str = "") -> None:
        """Mark thinking as issued by `issuer`."""
        self._issuer = issuer
        self._blocks: list[_Words | _Call | Opaque] = []
        self._calls: dict[int, _Call] = {}
        self._speaking: type[Event] | None = None
        """The kind of the words that came last, as long as more of them go on in the same place: in `_spoken`."""
        self._spoken = Pieces()
        self._open = StreamOpened()
        self._usage: Usage | None = None
        self._end: End | None = None
        self._unread = 0
        self._whole: Received | None = None

    def add(self, event: Event) -> None:
        """Take one event; events after the end change nothing."""
        kind = type(event)
        if self._end is not None:
            return
        if kind is self._speaking:  # nearly always: more of the same
            self._spoken.add(event.text)  # type: ignore[union-attr]
        elif kind is CallArguments:
            call = self._calls.get(event.call)  # type: ignore[union-attr]
            if call is not None and not call.closed:
                call.pieces.add(event.text)  # type: ignore[union-attr]
        elif kind is TextDelta or kind is ThinkingDelta or kind is RefusalDelta:
            self._speaking, self._spoken = kind, self._words(kind).pieces
            self._spoken.add(event.text)  # type: ignore[union-attr]
        else:
            self._speaking = None
            self._add_rarer(event)

    def add_all(self, events: Iterable[Event]) -> None:
        """Take several events."""
        for event in events:
            self.add(event)

    def reopen(self) -> None:
        """Go on after a cut with the same stream."""
        self._end = self._whole = None

    def received(self) -> Received:
        """Return what has come so far; after the end it is put together once."""
        if self._end is None:
            return self._put_together()
        if self._whole is None:
            self._whole = self._put_together()
        return self._whole

    def _put_together(self) -> Received:
        parts = tuple(
            block
            if isinstance(block, Opaque)
            else block.part(self._issuer)
            if isinstance(block, _Words)
            else block.part()
            for block in self._blocks
        )
        return Received(parts, self._end, self._usage, self._open.id, self._open.model, self._unread)

    def _add_rarer(self, event: Event) -> None:
        match event:
            case CallOpened():
                call = _Call(event, Pieces())
                self._calls[event.call] = call
                self._blocks.append(call)
            case CallClosed(call=number):
                if number in self._calls:
                    self._calls[number].closed = True
            case ThinkingSigned(signature=signature):
                words = self._words(ThinkingDelta)
                words.signature, words.finished = signature, True
            case ThinkingSealed(sealed=sealed, raw=raw):
                words = self._words(ThinkingDelta)
                words.sealed, words.raw, words.finished = sealed, raw, True
            case OpaqueBlock(raw=raw):
                self._blocks.append(Opaque(raw))
            case Usage():
                self._usage = event
            case StreamOpened():
                self._open = event
            case Unread():
                self._unread += 1
            case StreamEnded() | StreamCut():
                self._finish(event)
            case _:
                pass  # keep-alives say nothing

    def _finish(self, end: End) -> None:
        self._end = end
        if isinstance(end, StreamCut) and end.cause is Cut.CONTRADICTORY:
            for call in self._calls.values():  # what has come of them cannot be trusted, nor gone on from
                call.pieces = call.pieces if call.closed else Pieces()

    def _words(self, kind: type[TextDelta | RefusalDelta | ThinkingDelta]) -> _Words:
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, _Words) and last.kind is kind and not last.finished:
            return last
        words = _Words(kind, Pieces())
        self._blocks.append(words)
        return words


def assemble(events: Iterable[Event], issuer: str = "") -> Received:
    """Return what a finished stream brought."""
    assembler = Assembler(issuer)
    assembler.add_all(events)
    return assembler.received()
