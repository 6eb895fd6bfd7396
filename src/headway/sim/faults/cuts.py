"""Connections that end before the reply does, each in its own way, and some that end in an odd way after it."""

from collections.abc import Callable
from typing import Literal

from msgspec.structs import replace

from headway.events import CallOpened, StreamEnded, StreamOpened
from headway.sim.fault import Fault
from headway.sim.place import At
from headway.sim.play import DELTAS, Beat, Bytes, Finish, HangUp, Head, Play, Reset, Torn, delta_of, event_of
from headway.sim.scene import Scene


class _Cut(Fault, frozen=True, kw_only=True):
    """The reply stops at a place, and the connection ends in some way."""

    at: At = "50%"

    def strike(self, scene: Scene) -> Play | None:
        """Stop at the place."""
        halves = self.split(scene)
        return None if halves is None else [*halves[0], self.ending()]

    def ending(self) -> Beat:
        """Return the beat that ends the connection."""
        raise AssertionError("each cut has an ending of its own")


class Rst(_Cut, frozen=True, kw_only=True):
    """Tear the connection down with a TCP reset."""

    def ending(self) -> Beat:
        """Return the reset."""
        return Reset()


class Fin(_Cut, frozen=True, kw_only=True):
    """End the body as if it were complete, without the mark that ends the reply.

    With `framing = "open"` the connection is closed without ending the chunked body.
    """

    framing: Literal["ended", "open"] = "ended"

    def ending(self) -> Beat:
        """Return the end of the body, or of the connection."""
        return Finish() if self.framing == "ended" else HangUp()


class TruncatedChunk(Fault, frozen=True, kw_only=True):
    """Close the connection inside a chunk of the body that promised more bytes."""

    at: At = "50%"

    def strike(self, scene: Scene) -> Play | None:
        """Send half of the next frame in a chunk that is too large for it."""
        halves = self.split(scene)
        if halves is None:
            return None
        torn = _torn(*halves, scene, lambda data: len(data) // 2, in_chunk=True)
        return None if torn is None else [*torn, HangUp()]


class CutUtf8(Fault, frozen=True, kw_only=True):
    """End the body inside a character, at the first one after the place that has more than one byte."""

    at: At = 0

    def strike(self, scene: Scene) -> Play | None:
        """Look for such a character and keep its first byte."""
        halves = self.split(scene)
        if halves is None:
            return None
        before, rest = halves
        found = next((i for i, b in enumerate(rest) if (delta := delta_of(b)) and not delta.text.isascii()), None)
        if found is None:
            return None
        torn = _torn([*before, *rest[:found]], rest[found:], scene, _inside_character)
        return None if torn is None else [*torn, Finish()]


class LateBytes(Fault, frozen=True, kw_only=True):
    """Send more after the end of the reply: another frame in the body or, with `where = "connection"`, after the body.

    `text` is what comes late.
    """

    where: Literal["body", "connection"] = "body"
    text: str = 'data: {"late": true}\n\n'

    def strike(self, scene: Scene) -> Play | None:
        """Put the bytes around the end of the body."""
        play, late = scene.play, self.text.encode()
        if Finish() not in play:
            return None
        at = play.index(Finish())
        end: Play = [Bytes(late), Finish()] if self.where == "body" else [Finish(late)]
        return [*play[:at], *end, *play[at + 1 :]]


class CloseAfterEach(Fault, frozen=True, kw_only=True):
    """Answer well, say `Connection: close`, and close the connection after the answer."""

    def strike(self, scene: Scene) -> Play | None:
        """Say so in the head, and do it."""
        return [*(_closing(beat) for beat in scene.play), HangUp()]


def _closing(beat: Beat) -> Beat:
    return replace(beat, headers=(*beat.headers, ("connection", "close"))) if isinstance(beat, Head) else beat


def _torn(
    before: Play, rest: Play, scene: Scene, keep: Callable[[bytes], int], *, in_chunk: bool = False
) -> Play | None:
    """Return the play up to the next frame, which is torn; a reply that does not stream has bytes only at its end."""
    spoken = (StreamOpened, CallOpened, StreamEnded, *DELTAS) if scene.request.stream else (StreamEnded,)
    for i, beat in enumerate(rest):
        event = event_of(beat)
        if isinstance(event, spoken):
            return [*before, *rest[:i], Torn(event, keep, in_chunk)]
    return None


def _inside_character(data: bytes) -> int:
    return next((i + 1 for i, byte in enumerate(data) if byte >= 0xC0), len(data))
