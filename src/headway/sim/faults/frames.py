"""Frames that cannot be read, or come twice."""

from typing import ClassVar

from headway.sim.fault import Fault
from headway.sim.frames import split_frames
from headway.sim.place import At
from headway.sim.play import Bytes, Play, altered, delta_of
from headway.sim.scene import Scene


class GarbageFrame(Fault, frozen=True, kw_only=True):
    """Send a frame whose data is not JSON, in the middle of the reply."""

    needs_stream: ClassVar[bool] = True

    at: At = "50%"
    text: str = "data: <!-- upstream connect error -->\n\n"

    def strike(self, scene: Scene) -> Play | None:
        """Put the frame at its place."""
        halves = self.split(scene)
        return None if halves is None else [*halves[0], Bytes(self.text.encode()), *halves[1]]


class _SpoiltDelta(Fault, frozen=True, kw_only=True):
    """The delta at a place is written in another way."""

    needs_stream: ClassVar[bool] = True

    at: At = "50%"

    def strike(self, scene: Scene) -> Play | None:
        """Change the first delta behind the place."""
        halves = self.split(scene)
        if halves is None:
            return None
        before, rest = halves
        found = next((i for i, beat in enumerate(rest) if delta_of(beat)), None)
        if found is None:
            return None
        return [*before, *rest[:found], altered(rest[found], self.spoil), *rest[found + 1 :]]

    def spoil(self, data: bytes) -> bytes:
        """Return the frame as it should not be; here, as it should."""
        return data


class BrokenJson(_SpoiltDelta, frozen=True, kw_only=True):
    """Cut the JSON of one delta short, and go on as if nothing had happened."""

    def spoil(self, data: bytes) -> bytes:
        """Leave the end of the last line out."""
        return data[: -len(b'"}}]}\n\n')] + b"\n\n" if data else data


class BadUtf8(_SpoiltDelta, frozen=True, kw_only=True):
    """Put a byte into one delta that cannot stand in UTF-8."""

    def spoil(self, data: bytes) -> bytes:
        """Put it before the last quote mark; frames that count themselves end with a number."""
        at = data.rfind(b'"}') if b'"}' in data else data.rfind(b'"')
        return data[:at] + b"\xff" + data[at:] if at >= 0 else data


class DuplicateDelta(_SpoiltDelta, frozen=True, kw_only=True):
    """Send one delta twice, byte for byte."""

    def spoil(self, data: bytes) -> bytes:
        """Send the last frame again."""
        return data + split_frames(data)[-1] if data else data
