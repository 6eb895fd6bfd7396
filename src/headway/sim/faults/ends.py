"""Replies that are whole and say so badly: the mark of the end is missing, early, or comes alone."""

from typing import Any, ClassVar

from headway.events import Stop, StreamEnded, Usage
from headway.messages import WireName
from headway.sim.fault import Fault
from headway.sim.frames import DONE, change_frames, changed, split_frames
from headway.sim.manners import EVERY_WIRE
from headway.sim.play import Beat, Play, altered, delta_of, event_of
from headway.sim.scene import Scene


def _finishes(value: dict[str, Any]) -> bool:
    """Say whether a frame tells why the reply ended, on the wires where another frame may follow it."""
    choices = value.get("choices")
    return value.get("type") == "message_delta" or bool(choices and choices[0].get("finish_reason"))


def _without_finish(value: dict[str, Any]) -> dict[str, Any] | None:
    return None if _finishes(value) else value


def _ends(beat: Beat) -> bool:
    return isinstance(event_of(beat), StreamEnded)


def _is_done(frame: bytes) -> bool:
    return frame == DONE or b'"type":"message_stop"' in frame


class _BadEnd(Fault, frozen=True, kw_only=True):
    """The last frames of a reply are changed."""

    needs_stream: ClassVar[bool] = True
    wires: ClassVar[frozenset[WireName]] = frozenset({"chat", "anthropic"})

    def strike(self, scene: Scene) -> Play | None:
        """Change what the end of the reply is written as."""
        if not any(_ends(beat) for beat in scene.play):
            return None
        return [altered(beat, self.end) if _ends(beat) else beat for beat in scene.play]

    def end(self, data: bytes) -> bytes:
        """Return the last frames as they are sent; here, as they should be."""
        return data


class DoneWithoutFinish(_BadEnd, frozen=True, kw_only=True):
    """End with the last mark of the wire alone, or a foreign `[DONE]`: no finish reason and no usage before it."""

    wires: ClassVar[frozenset[WireName]] = EVERY_WIRE

    def end(self, data: bytes) -> bytes:
        """Keep only the last frame."""
        return b"".join(frame for frame in split_frames(data) if _is_done(frame)) or DONE


class MissingFinish(_BadEnd, frozen=True, kw_only=True):
    """End with the usage: no finish reason before it and no last mark after it."""

    def end(self, data: bytes) -> bytes:
        """Take the reason out, and the last frame away."""

        def without_reason(value: dict[str, Any]) -> dict[str, Any] | None:
            if value.get("type") == "message_delta":
                return {**value, "delta": {"stop_reason": None, "stop_sequence": None}}
            return _without_finish(value)

        frames = (frame for frame in split_frames(data) if not _is_done(frame))
        return change_frames(b"".join(frames), without_reason)


class FinishBeforeUsage(_BadEnd, frozen=True, kw_only=True):
    """End right behind the finish reason: no usage and no last mark."""

    def end(self, data: bytes) -> bytes:
        """Keep what comes before the usage."""

        def without_usage(value: dict[str, Any]) -> dict[str, Any] | None:
            is_bare_usage = value.get("choices") == []
            return None if is_bare_usage else {key: one for key, one in value.items() if key != "usage"}

        frames = (frame for frame in split_frames(data) if not _is_done(frame))
        return change_frames(b"".join(frames), without_usage)


class EarlyFinish(Fault, frozen=True, kw_only=True):
    """Give the finish reason with the last delta, and only usage and the last mark after it."""

    needs_stream: ClassVar[bool] = True
    wires: ClassVar[frozenset[WireName]] = frozenset({"chat"})

    def strike(self, scene: Scene) -> Play | None:
        """Move the reason from the end to the last delta."""
        last = max((i for i, beat in enumerate(scene.play) if delta_of(beat)), default=None)
        ends = [event for beat in scene.play if isinstance(event := event_of(beat), StreamEnded)]
        if last is None or not ends:
            return None
        reason = "tool_calls" if ends[0].stop is Stop.CALLS else "stop"

        def finish(value: dict[str, Any]) -> dict[str, Any]:
            return {**value, "choices": [{**value["choices"][0], "finish_reason": reason}]}

        moved = [changed(beat, finish) if i == last else beat for i, beat in enumerate(scene.play)]
        return [changed(beat, _without_finish) if _ends(beat) else beat for beat in moved]


class NoUsage(Fault, frozen=True, kw_only=True):
    """Never say what the reply cost."""

    def strike(self, scene: Scene) -> Play | None:
        """Leave the usage out."""
        return [beat for beat in scene.play if not isinstance(event_of(beat), Usage)]
