"""The calls of one stream: which delta belongs to which call, when a call opens, and when it may be closed.

Servers disagree about indexes, ids and names. A delta goes by its index, without one by its id, without both by its
position. It begins another call when it brings another id, or a name after arguments began. A call that came
without an id waits for its arguments before it opens, because its name may come in pieces.
"""

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct, field

from headway.events import CallArguments, CallClosed, CallOpened, Event, Unread
from headway.messages import Raw
from headway.wire.json_text import excerpt, is_whole_object
from headway.wire.openai_chat.shapes import CallDelta
from headway.wire.pieces import Pieces


class _State(Enum):
    HELD = "held"
    OPEN = "open"
    CLOSED = "closed"


class _Call(Struct, eq=False):
    """A call that grows. Its number is given when it opens; its id stays blank when the server gave none."""

    id: str
    name: str
    freeform: bool
    raw: Raw | None
    number: int = -1
    state: _State = _State.HELD
    begun: bool = False
    """Have any arguments come?"""
    pieces: Pieces = field(default_factory=Pieces)
    """The arguments, until the call is closed; whoever reads the events has them too."""

    def is_another(self, delta: CallDelta) -> bool:
        """Say whether a delta that seems to belong to this call begins another one."""
        if delta.id and self.id and delta.id != self.id:
            return True
        if not delta.name or not self.name:
            return False
        if delta.name != self.name:  # the next piece of a name, as long as this call waits for one
            return self.state is not _State.HELD or (delta.index is None and not delta.id)
        return self.begun and not delta.id

    def is_whole(self) -> bool:
        """Say whether the arguments prove by themselves that nothing is missing."""
        return not self.freeform and is_whole_object(self.pieces.text())


class Calls:
    """The calls of one stream, in the order they opened."""

    def __init__(self) -> None:
        """Start with none."""
        self._calls: list[_Call] = []
        self._by_index: dict[int | None, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self.opened = self.closed = 0
        self.unsettled: list[_Call] = []
        """Calls to look at when something else follows; each is looked at once, so time stays linear."""

    def read(self, deltas: Sequence[CallDelta], out: list[Event]) -> None:
        """Append what these deltas say."""
        if len(deltas) == 1 and self.goes_on(deltas[0], out):
            return
        touched: set[_Call] = set()
        for position, delta in enumerate(deltas):
            call = self._known(delta, position - len(deltas))
            if call is None or (delta.name and call in touched) or call.is_another(delta):
                if not (delta.name or delta.id or delta.arguments):
                    continue
                self.settle(out)
                call = self._start(delta)
            touched.add(call)
            self._grow(call, delta, out)

    def goes_on(self, delta: CallDelta, out: list[Event]) -> bool:
        """Take the usual delta, which is only more arguments of an open call; say whether it was that."""
        call, function = self._by_index.get(delta.index), delta.function
        if call is None or function is None or call.state is not _State.OPEN or delta.id or function.name:
            return False
        if not function.arguments:
            return False
        call.begun = True
        call.pieces.add(function.arguments)
        out.append(CallArguments(call.number, function.arguments))
        return True

    def settle(self, out: list[Event]) -> None:
        """Open what was held and close each call whose arguments are whole, because something else follows."""
        for call in self.unsettled:
            self._open(call, out)
            if call.is_whole():
                self._close(call, out)
        self.unsettled.clear()

    def open_held(self, out: list[Event]) -> None:
        """Let what was held be seen: the stream is over."""
        for call in self.unsettled:
            self._open(call, out)

    def close_all(self, out: list[Event]) -> None:
        """Close every call: the wire vouches for all that it said."""
        self.open_held(out)
        for call in self._calls:
            if call.state is _State.OPEN:
                self._close(call, out)
        self.unsettled.clear()

    def close_whole(self, out: list[Event]) -> bool:
        """Close what proves itself, as nobody vouches for it, and say whether that was every call."""
        self.open_held(out)
        for call in self._calls:
            if call.state is _State.OPEN and call.is_whole():
                self._close(call, out)
        return self.closed == self.opened

    def _known(self, delta: CallDelta, position: int) -> _Call | None:
        if delta.index is not None:
            return self._by_index.get(delta.index)
        if delta.id:
            return self._by_id.get(delta.id)
        return self._calls[position] if -position <= len(self._calls) else None

    def _start(self, delta: CallDelta) -> _Call:
        raw = Raw("chat", {"extra_content": delta.extra_content}) if delta.extra_content is not None else None
        call = _Call(delta.id or "", "", delta.custom is not None, raw)
        self._calls.append(call)
        self.unsettled.append(call)
        if delta.index is not None:
            self._by_index[delta.index] = call
        if delta.id:
            self._by_id[delta.id] = call
        return call

    def _grow(self, call: _Call, delta: CallDelta, out: list[Event]) -> None:
        piece = delta.arguments
        if call.state is _State.HELD:
            call.id = call.id or delta.id or ""
            if delta.name != call.name:
                call.name += delta.name
            if piece:
                call.begun = True
                call.pieces.add(piece)
            if call.name and (call.id or call.begun):
                self._open(call, out)
        elif piece and call.state is _State.OPEN:
            call.begun = True
            call.pieces.add(piece)
            out.append(CallArguments(call.number, piece))
        elif piece.strip():
            out.append(Unread("arguments after the end of a call's arguments", excerpt(piece)))

    def _open(self, call: _Call, out: list[Event]) -> None:
        if call.state is not _State.HELD:
            return
        call.number = self.opened
        self.opened += 1
        call.state = _State.OPEN
        out.append(CallOpened(call.number, call.id or f"call_{call.number}", call.name, call.freeform, call.raw))
        if call.begun:
            out.append(CallArguments(call.number, call.pieces.text()))

    def _close(self, call: _Call, out: list[Event]) -> None:
        call.state = _State.CLOSED
        call.pieces = Pieces()
        self.closed += 1
        out.append(CallClosed(call.number))
