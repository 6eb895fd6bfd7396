"""What belongs after the call that is open: on this wire blocks do not interleave, so it waits until that is closed."""

from collections import deque
from collections.abc import Container

from msgspec.structs import replace

from headway.events import CallArguments, CallClosed, CallOpened, Content


class Waiting:
    """Events in the order in which they will be said. Those of a call stand together, where it was opened."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._events: deque[Content | None] = deque()
        """`None` is a seam between attempts."""
        self._calls: dict[int, list[Content]] = {}
        """What came so far of each call that waits, by number."""
        self._former = 0
        """The number, below zero, under which the last call of an earlier attempt waits."""

    def __len__(self) -> int:
        return len(self._events)

    def __contains__(self, number: int) -> bool:
        return number in self._calls

    def add(self, event: Content) -> None:
        """Let an event wait."""
        call = event.call if isinstance(event, CallOpened | CallArguments | CallClosed) else None
        if call is not None and not isinstance(event, CallOpened) and call in self._calls:
            self._calls[call].append(event)
            return
        self._events.append(event)
        if isinstance(event, CallOpened):
            self._calls[event.call] = []

    def take(self) -> list[Content | None]:
        """Give what is next: one event, with the rest of its call if it opens one."""
        event = self._events.popleft()
        return [event, *self._calls.pop(event.call, ())] if isinstance(event, CallOpened) else [event]

    def seam(self, unclosed: Container[int], keeping: int | None) -> list[int]:
        """Keep what was said before the seam apart from what comes after it, and free the numbers of calls.

        A call that is not whole is forgotten: the client has not seen it, so nothing is owed. Return which.
        """
        events, self._events = self._events, deque()
        forgotten: list[int] = []
        for event in events:
            if not isinstance(event, CallOpened) or event.call == keeping:
                self._events.append(event)
                continue
            rest = self._calls.pop(event.call)
            if event.call in unclosed:
                forgotten.append(event.call)
            else:
                self._former -= 1
                self._calls[self._former] = rest
                self._events.append(replace(event, call=self._former))
        if self._events:
            self._events.append(None)
        return forgotten

    def forget(self, number: int) -> None:
        """Forget a call."""
        del self._calls[number]
        self._events = deque(e for e in self._events if not (isinstance(e, CallOpened) and e.call == number))
