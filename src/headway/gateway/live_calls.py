"""Calls that a client is shown while they grow: how much of each it has, and what is missing once the turn has ended.

A call is shown up to the last safe cut of its arguments, because that is what a draft keeps and a continuation goes on
from. What ends up in the reply must begin with what was shown; if it does not, the stream cannot be finished.
"""

from collections.abc import Sequence

from msgspec import Struct

from headway.events import CallArguments, CallClosed, CallOpened, Event
from headway.messages import ToolCall
from headway.wire.arguments import ArgumentReader, State


class _Growing(Struct):
    """One call: what was received of it, and how many characters of that the client has."""

    opened: CallOpened
    reader: ArgumentReader
    received: int = 0
    shown: int = 0
    waiting: str = ""
    is_shown: bool = False
    is_vouched: bool = False
    """Has the wire said that it is complete?"""
    is_closed: bool = False
    """Does the client know that?"""

    @property
    def safe(self) -> int:
        if self.opened.freeform:
            return self.received
        if self.reader.state is State.WHOLE and not self.is_vouched:
            return len(self.reader.text.rstrip()) - 1  # a draft leaves the object open, so its end is not shown yet
        return self.reader.safe_cut

    @property
    def is_whole(self) -> bool:
        return self.opened.freeform or self.reader.state in {State.WHOLE, State.EMPTY}

    def shown_text(self) -> str:
        return self.reader.text[: self.shown]


class LiveCalls:
    """The calls of the attempt that was shown, by their numbers."""

    def __init__(self) -> None:
        """Start with none."""
        self._calls: dict[int, _Growing] = {}
        self.spoiled = False
        """Has a call been closed that is not whole, or cannot be read? Nothing more is shown then."""

    @property
    def shown(self) -> int:
        """Return how many calls the client has some of."""
        return sum(call.is_shown for call in self._calls.values())

    @property
    def open_call(self) -> int | None:
        """Return the number of the call that the client has a part of."""
        return next((number for number, call in self._calls.items() if call.is_shown and not call.is_closed), None)

    @property
    def is_safe(self) -> bool:
        """Say whether all that came of the calls may be shown."""
        return not self.spoiled and all(call.safe == call.received for call in self._calls.values())

    def take(self, event: CallOpened | CallArguments | CallClosed) -> None:
        """Take what came of a call."""
        if isinstance(event, CallOpened):
            self._calls[event.call] = _Growing(event, ArgumentReader())
            return
        call = self._calls.get(event.call)
        if call is None:
            self.spoiled = True  # nobody knows whose it is
        elif isinstance(event, CallClosed):
            call.is_vouched = True
            self.spoiled = self.spoiled or not call.is_whole
        else:
            call.reader.feed(event.text)
            call.received += len(event.text)
            self.spoiled = self.spoiled or (not call.opened.freeform and call.reader.state is State.BROKEN)

    def showed(self, event: Event) -> None:
        """Note that the client got an event as it came."""
        match event:
            case CallOpened(call=number) if number in self._calls:
                self._calls[number].is_shown = True
            case CallArguments(call=number, text=text) if number in self._calls:
                self._calls[number].shown += len(text)
            case CallClosed(call=number) if number in self._calls:
                self._calls[number].is_closed = True
            case _:
                pass

    def safe_part(self, event: CallOpened | CallArguments | CallClosed) -> list[Event]:
        """Return what of a call can be shown now, with an event that was just taken; it counts as shown."""
        call = self._calls.get(event.call)
        if call is None or self.spoiled:
            return []
        if isinstance(event, CallArguments):
            call.waiting += event.text
        ready = max(0, call.safe - call.shown)
        text, call.waiting = call.waiting[:ready], call.waiting[ready:]
        call.shown += len(text)
        told: list[Event] = [CallArguments(event.call, text)] if text else []
        if not isinstance(event, CallArguments):
            self.showed(event)
            told.append(event)
        return told

    def forget_unseen(self) -> None:
        """Drop the calls of an attempt that the client has nothing of."""
        self._calls = {number: call for number, call in self._calls.items() if call.is_shown}

    def rest_of(self, calls: Sequence[ToolCall]) -> list[Event] | None:
        """Return what is missing of the calls that were shown; None when the reply does not begin with them."""
        missing: list[Event] = []
        growing = [(number, call) for number, call in self._calls.items() if call.is_shown]
        if len(growing) > len(calls):
            return None
        for (number, call), whole in zip(growing, calls, strict=False):
            begins = call.opened.name == whole.name and whole.arguments.startswith(call.shown_text())
            if not begins or (call.is_closed and call.shown != len(whole.arguments) and call.shown):
                return None
            if not call.is_closed:
                rest = whole.arguments[call.shown :]
                missing += [CallArguments(number, rest)] if rest else []
                missing.append(CallClosed(number))
        return missing
