"""Responses that go on without their client: made in background mode, kept, and streamed again from any place.

Nothing runs in the background. A response is made at once, with the time at which each of its events will have
happened; whoever asks sees as much of it as its age allows.
"""

from functools import partial
from typing import Any

from msgspec import Struct

from headway.events import Event, StreamEnded
from headway.sim.frames import Change, change_frames
from headway.sim.manners import MANNERS
from headway.sim.play import Altered, Finish, Head, Pause, Play


class Stored(Struct):
    """One response of background mode."""

    id: str
    events: list[tuple[float, Event]]
    """Each event with the time at which it happens."""
    cancelled_at: float | None = None

    def play(self, now: float, starting_after: int = -1) -> Play:
        """Return the play that streams it from behind a sequence number on: what has happened at once, then live."""
        beats: Play = [Head()]
        drop = partial(change_frames, change=_behind(starting_after))
        for due, event in self.events:
            if self.cancelled_at is not None and due > self.cancelled_at:
                break
            if due > now:
                beats.append(Pause(due - now))
                now = due
            beats.append(Altered(event, drop, whole=True))
        return [*beats, Finish()]

    def reply(self, now: float) -> dict[str, Any]:
        """Return the response as it is now."""
        wire = MANNERS["responses"].wire
        happened = [event for due, event in self.events if due <= now]
        if self.cancelled_at is not None:
            return {**wire.render_reply(happened), "status": "cancelled", "error": None, "background": True}
        if happened and isinstance(happened[-1], StreamEnded):
            return {**wire.render_reply(happened), "background": True}
        return {**wire.render_reply([self.events[0][1]]), "status": "in_progress", "error": None, "background": True}


def _behind(number: int) -> Change:
    """Return a change that leaves out frames up to a sequence number."""

    def change(value: dict[str, Any]) -> dict[str, Any] | None:
        return value if value.get("sequence_number", number + 1) > number else None

    return change
