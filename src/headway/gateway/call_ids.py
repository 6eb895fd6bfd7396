"""Ids of calls that a client can tell apart: an upstream may leave them out, or give the same one twice."""

from msgspec.structs import replace

from headway.events import CallOpened, Event


class CallIds:
    """Names the calls of one reply."""

    def __init__(self, reply: str) -> None:
        """Make up ids from the id of the reply, so that the same stream gets the same ones."""
        self._reply = reply.rpartition("_")[2].rpartition("-")[2][-24:] or "headway"
        self._used: set[str] = set()

    def named(self, event: Event) -> Event:
        """Return the event; a call that opens with no id, or with one that is in use, has its own."""
        if not isinstance(event, CallOpened):
            return event
        if not event.id or event.id in self._used:
            event = replace(event, id=f"call_{self._reply}_{len(self._used)}")
        self._used.add(event.id)
        return event
