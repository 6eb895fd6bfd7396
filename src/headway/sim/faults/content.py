"""Replies that a provider does not let through, cuts at its own limit, or never fills."""

import re
from typing import Literal

from headway.events import (
    CallClosed,
    CallOpened,
    Event,
    RefusalDelta,
    Stop,
    StreamEnded,
    StreamOpened,
    ThinkingDelta,
    Usage,
)
from headway.sim.answers import in_stream_named
from headway.sim.fault import Fault, check_pattern
from headway.sim.faults.errors import break_off
from headway.sim.manners import Trouble
from headway.sim.place import At, split_at
from headway.sim.play import Finish, Head, Play, Silence, answer, event_of, words
from headway.sim.scene import Scene


class ContentFilter(Fault, frozen=True, kw_only=True):
    """Stop at content that matches `pattern`, in the `output` or in the `input`.

    It shows as a `finish` reason, an in-stream `error` (in the form of `like`), an `http` error, a silent `cut`, or
    a `stall`. What matches in the input, or shows as `http`, stops the whole reply.
    """

    pattern: str = "."
    looks_at: Literal["output", "input"] = "output"
    shows: Literal["finish", "error", "http", "cut", "stall"] = "finish"
    like: str = ""

    def __post_init__(self) -> None:
        """Refuse a pattern that cannot be read, and a form that nobody knows."""
        super().__post_init__()
        check_pattern("pattern", self.pattern)
        in_stream_named(self.like or _FILTERED["chat"])

    def strike(self, scene: Scene) -> Play | None:
        """Look for the pattern, and stop behind it."""
        found = re.search(self.pattern, words(scene.play) if self.looks_at == "output" else scene.input)
        if found is None:
            return None
        if self.shows == "http":
            said = Trouble(400, "Output blocked by content filtering policy", "content_filter")
            return answer(said.status, scene.manners.refuse(said))
        at: At = found.end() if self.looks_at == "output" else "opened"
        halves = split_at(scene.play, at, scene.dice) or split_at(scene.play, "end", scene.dice)
        return None if halves is None else self._shown(halves[0], scene)

    def _shown(self, before: Play, scene: Scene) -> Play | None:
        match self.shows:
            case "error":
                return break_off(before, self.like or _FILTERED[scene.wire], scene)
            case "cut":
                return [*before, Finish()]
            case "stall":
                return [*before, Silence()]
            case _:
                return end_with(before, scene, StreamEnded(Stop.FILTERED))


class Refusal(Fault, frozen=True, kw_only=True):
    """Let the model say no, in the way the wire marks it, with `text`."""

    text: str = "I can't help with that."

    def strike(self, scene: Scene) -> Play | None:
        """Say it instead of the reply."""
        refused = Stop.REFUSED if scene.wire == "anthropic" else Stop.END
        return instead(scene, RefusalDelta(self.text), StreamEnded(refused))


class OutputLimit(Fault, frozen=True, kw_only=True):
    """Stop at a place, after `characters` or after `tokens` (of four characters), and say that it is the limit."""

    at: At = 8_000
    characters: int = 0
    tokens: int = 0

    def strike(self, scene: Scene) -> Play | None:
        """Cut there with the finish reason for it."""
        halves = split_at(scene.play, self.tokens * 4 or self.characters or self.at, scene.dice)
        return None if halves is None else end_with(halves[0], scene, StreamEnded(Stop.LENGTH))


class FalseFinish(Fault, frozen=True, kw_only=True):
    """Stop at a place and end as if all had been said, half a call included: the lie that gets half a file written."""

    at: At = "50%"

    def strike(self, scene: Scene) -> Play | None:
        """Close what is open and claim success."""
        halves = self.split(scene)
        if halves is None:
            return None
        before = halves[0]
        opened = [event.call for beat in before if isinstance(event := event_of(beat), CallOpened)]
        closed = {event.call for beat in before if isinstance(event := event_of(beat), CallClosed)}
        closing = [CallClosed(call) for call in opened if call not in closed]
        return end_with([*before, *closing], scene, StreamEnded(Stop.CALLS if opened else Stop.END))


class EmptyReply(Fault, frozen=True, kw_only=True):
    """Say nothing, and end as if all were well."""

    def strike(self, scene: Scene) -> Play | None:
        """Leave all content out."""
        return instead(scene, StreamEnded(Stop.END))


class ThinkingOnly(Fault, frozen=True, kw_only=True):
    """Think `text` and say nothing; with `spent`, because the output limit went on thinking."""

    text: str = "Let me think about this. I should look at the files first, and then decide."
    spent: bool = False

    def strike(self, scene: Scene) -> Play | None:
        """Keep only a thought."""
        thought: list[Event] = [ThinkingDelta(self.text), *scene.manners.proof(self.text)]
        return instead(scene, *thought, StreamEnded(Stop.LENGTH if self.spent else Stop.END))


def end_with(before: Play, scene: Scene, end: StreamEnded) -> Play:
    """Return a play that ends earlier and says so, with its usage if it has any."""
    usage = [beat for beat in scene.play if isinstance(event_of(beat), Usage)]
    return [*before, *usage, end, Finish()]


def instead(scene: Scene, *events: Event) -> Play:
    """Return a play with other content between its opening and its end; the last event is the end."""
    opening = [beat for beat in scene.play if isinstance(event_of(beat), Head | StreamOpened)]
    *content, end = events
    assert isinstance(end, StreamEnded)
    return end_with([*opening, *content], scene, end)


_FILTERED = {"chat": "minimax_1027", "responses": "responses_filter", "anthropic": "minimax_1027"}
