"""Errors inside a stream that began well, in the form that each vendor gives them."""

from typing import ClassVar

from headway.events import StreamOpened
from headway.sim.answers import in_stream_named
from headway.sim.fault import Fault
from headway.sim.place import At
from headway.sim.play import Bytes, Finish, Play, event_of
from headway.sim.scene import Scene

USUAL = {"chat": "openai", "responses": "responses_flat", "anthropic": "anthropic_overloaded"}
"""The form that a wire's own vendor uses."""


class StreamError(Fault, frozen=True, kw_only=True):
    """Break off with an error frame, in the form of `like` (see the list of in-stream errors; left out, the usual)."""

    needs_stream: ClassVar[bool] = True

    at: At = "50%"
    like: str = ""

    def __post_init__(self) -> None:
        """Refuse a form that nobody knows."""
        super().__post_init__()
        in_stream_named(self.like or USUAL["chat"])

    def strike(self, scene: Scene) -> Play | None:
        """Put the error at its place and end the body behind it."""
        halves = self.split(scene)
        return None if halves is None else break_off(halves[0], self.like, scene)


def break_off(before: Play, like: str, scene: Scene) -> Play | None:
    """Return the play with an error frame at its end; None if the wire has no such error."""
    error = in_stream_named(like or USUAL[scene.wire])
    if scene.wire not in error.wires:
        return None
    opened = next((e for beat in before if isinstance(e := event_of(beat), StreamOpened)), StreamOpened())
    # Numbered frames go on counting; an odd number is better than an unknown one.
    frames = error.written(id=opened.id, model=opened.model, number=len(before) + 2)
    return [*before, Bytes(frames), Finish()]
