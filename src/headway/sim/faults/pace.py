"""Replies that come whole, but in an unusual rhythm. All of these are healthy for whoever waits long enough."""

from collections.abc import Iterator

from msgspec.structs import replace

from headway.sim.fault import Fault
from headway.sim.place import At
from headway.sim.play import Beat, ChunkSize, Pause, Play, delta_of
from headway.sim.scene import Scene


class Drip(Fault, frozen=True, kw_only=True):
    """Crawl from some place on: `characters` at a time, with `seconds` before each."""

    at: At = "opened"
    characters: int = 1
    seconds: float = 10.0

    def strike(self, scene: Scene) -> Play | None:
        """Cut the deltas small and put a pause before each."""
        halves = self.split(scene)
        return None if halves is None else [*halves[0], *self._dripping(halves[1])]

    def _dripping(self, rest: Play) -> Iterator[Beat]:
        for beat in rest:
            delta = delta_of(beat)
            if delta is None:
                yield beat
                continue
            for start in range(0, len(delta.text), self.characters):
                yield Pause(self.seconds)
                yield replace(delta, text=delta.text[start : start + self.characters])


class SlowSteady(Fault, frozen=True, kw_only=True):
    """Wait `seconds` before each delta: slow, but steady and healthy."""

    seconds: float = 2.0

    def strike(self, scene: Scene) -> Play | None:
        """Put a pause before each delta."""
        return [one for beat in scene.play for one in ((Pause(self.seconds), beat) if delta_of(beat) else (beat,))]


class Burst(Fault, frozen=True, kw_only=True):
    """Hold the reply back for `seconds`, then send it at once, as servers do that check arguments first."""

    at: At = "opened"
    seconds: float = 5.0

    def strike(self, scene: Scene) -> Play | None:
        """Wait once and nowhere else."""
        halves = self.split(scene)
        if halves is None:
            return None
        return [*halves[0], Pause(self.seconds), *(beat for beat in halves[1] if not isinstance(beat, Pause))]


class Fragments(Fault, frozen=True, kw_only=True):
    """Send the body in chunks of `bytes`, across characters and line ends."""

    bytes: int = 7

    def strike(self, scene: Scene) -> Play | None:
        """Set the size of all chunks."""
        return [ChunkSize(self.bytes), *scene.play]
