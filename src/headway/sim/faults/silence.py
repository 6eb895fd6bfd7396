"""Streams that go on without saying anything: silence, and the many ways to fill it."""

from typing import ClassVar

from headway.events import KeepAlive
from headway.sim.fault import Fault
from headway.sim.place import At
from headway.sim.play import Forever, Idle, Pause, Play, Silence
from headway.sim.scene import Scene


class Stall(Fault, frozen=True, kw_only=True):
    """Go silent and keep the connection open: for `seconds`, then the reply goes on; 0 is for ever."""

    at: At = "50%"
    seconds: float = 0

    def strike(self, scene: Scene) -> Play | None:
        """Put the silence at its place."""
        halves = self.split(scene)
        if halves is None:
            return None
        before, rest = halves
        return [*before, Pause(self.seconds), *rest] if self.seconds else [*before, Silence()]


class NoHeaders(Stall, frozen=True, kw_only=True):
    """Accept the request and never answer."""

    at: At = "start"


class SlowHeaders(Stall, frozen=True, kw_only=True):
    """Answer well, but only after `seconds`."""

    at: At = "start"
    seconds: float = 5.0


class _Idles(Fault, frozen=True, kw_only=True):
    """Frames that say nothing, one each `interval` seconds, for ever."""

    needs_stream: ClassVar[bool] = True
    idle: ClassVar[Idle]

    at: At = "50%"
    interval: float = 1.0

    def strike(self, scene: Scene) -> Play | None:
        """Go on with nothing but idle frames."""
        halves = self.split(scene)
        return None if halves is None else [*halves[0], Forever((self.idle, Pause(self.interval)))]


class PingsOnly(_Idles, frozen=True, kw_only=True):
    """Send nothing but pings from some place on (chunks without choices where a wire has none), each `interval`."""

    idle: ClassVar[Idle] = Idle.PING


class CommentsOnly(_Idles, frozen=True, kw_only=True):
    """Send nothing but comment lines from some place on, each `interval`."""

    idle: ClassVar[Idle] = Idle.COMMENT


class EmptyDeltas(_Idles, frozen=True, kw_only=True):
    """Send nothing but deltas without words from some place on, each `interval`."""

    idle: ClassVar[Idle] = Idle.EMPTY_DELTA


class RoleOnly(_Idles, frozen=True, kw_only=True):
    """Send the opening of the reply again and again, each `interval`, and nothing else."""

    idle: ClassVar[Idle] = Idle.ROLE_ONLY

    at: At = "opened"


class SilentThinking(Fault, frozen=True, kw_only=True):
    """Think for `seconds` under nothing but a ping each `interval`, then answer well: healthy, and often killed."""

    needs_stream: ClassVar[bool] = True

    at: At = "opened"
    seconds: float = 60.0
    interval: float = 10.0

    def strike(self, scene: Scene) -> Play | None:
        """Put the pings in front of the content."""
        halves = self.split(scene)
        if halves is None:
            return None
        pings = max(1, int(self.seconds / self.interval))
        beats: Play = [beat for _ in range(pings) for beat in (Pause(self.seconds / pings), KeepAlive())]
        return [*halves[0], *beats, *halves[1]]
