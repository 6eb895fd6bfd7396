"""Where in a reply a fault strikes. People write places as `at = 2000`, `"50%"`, `"call+2000"`, `"end"`, ….

A place is found in a play, not in time: the delta in which it lies is split there, to the character. A reply that is
too short has no such place, and the fault passes it by.
"""

import re
from random import Random
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.events import CallArguments, CallOpened, RefusalDelta, StreamOpened, TextDelta, ThinkingDelta
from headway.failure import InvalidInput
from headway.sim.play import (
    DELTAS,
    Altered,
    Beat,
    Delta,
    Head,
    Play,
    altered,
    characters,
    delta_of,
    event_of,
    is_end,
    words,
)

At: TypeAlias = int | float | str
Halves: TypeAlias = tuple[Play, Play]

FORMS = {
    "2000": "after so many characters of the reply (text, thinking and arguments)",
    "50%": "after that share of the reply",
    "3 events": "after so many deltas",
    "start": "before the headers",
    "headers": "after the headers, before any event",
    "opened": "after the first event, before any content",
    "thinking, text": "where thinking or text begins; `text+200` and `text 50%` count from there",
    "call": "after the name of a call, before its arguments",
    "call+2000": "after so many characters of a call's arguments, in the first call that is longer",
    "call 50%": "after that share of a call's arguments; `call 2+100` and `call 2 50%` mean the second call",
    "string": "inside a call's arguments, right behind the first string value that is closed",
    "end": "after all content, before the mark of the end",
    "anywhere": "somewhere in the content; the seed decides",
}
"""Every form a place can have, for help and documentation."""

_FORM = re.compile(
    r"(?:(?P<anchor>thinking|text|call)(?:\s+(?P<number>\d+)(?!\d*%))?)?"
    r"(?:\s*\+?\s*(?P<offset>\d[\d_,]*)|\s*(?P<share>\d+(?:\.\d+)?)\s*%)?"
)
_EVENTS = re.compile(r"(\d+) events?")
_CLOSED_STRING = re.compile(r'[:,\[]\s*"(?:[^"\\]|\\.)*"')
_FIXED = ("start", "headers", "opened", "end", "anywhere", "string")
_KINDS: dict[str, tuple[type[Delta], ...]] = {"thinking": (ThinkingDelta,), "text": (TextDelta, RefusalDelta)}


class Place(Struct, frozen=True):
    """A place, as it was written."""

    anchor: str = ""
    """What is counted from; nothing for the whole reply."""
    number: int | None = None
    """Which call is meant; None is the first that reaches so far."""
    offset: int = 0
    share: float | None = None


def read_place(at: At) -> Place:
    """Read a place as people write it, or raise `InvalidInput`."""
    if isinstance(at, float) and 0 < at < 1:
        return Place(share=at)
    text = str(at).strip().lower()
    if text in _FIXED:
        return Place(text)
    if match := _EVENTS.fullmatch(text):
        return Place("events", offset=int(match[1]))
    match = _FORM.fullmatch(text)
    if not text or match is None:
        raise InvalidInput(f"at = {at!r}", "it is no place in a reply", f"Write one of: {', '.join(FORMS)}.")
    share = match["share"]
    return Place(
        match["anchor"] or "",
        int(match["number"]) if match["number"] else None,
        int(re.sub("[_,]", "", match["offset"] or "0")),
        float(share) / 100 if share else None,
    )


def split_at(play: Play, at: At, dice: Random) -> Halves | None:
    """Return the play before a place and from there on; None if the reply does not reach it."""
    place = read_place(at)
    match place.anchor:
        case "start":
            return [], list(play)
        case "headers":
            return _after(play, Head)
        case "opened":
            return _after(play, StreamOpened)
        case "end":
            return _cut(play, next((i for i, beat in enumerate(play) if is_end(beat)), len(play)))
        case "events":
            deltas = [i for i, beat in enumerate(play) if delta_of(beat) is not None]
            return _cut(play, deltas[place.offset]) if place.offset < len(deltas) else None
        case "string":
            return _after_string(play)
        case "call":
            return _in_calls(play, place)
        case "anywhere":
            place = Place(share=dice.uniform(0.02, 0.98))
    kinds = _KINDS.get(place.anchor, DELTAS)
    return _into(play, [i for i, beat in enumerate(play) if isinstance(delta_of(beat), kinds)], place)


def _after(play: Play, kind: type[Beat]) -> Halves | None:
    found = next((i for i, beat in enumerate(play) if isinstance(event_of(beat), kind)), None)
    return None if found is None else _cut(play, found + 1)


def _calls(play: Play) -> list[tuple[int, list[int]]]:
    """Return, for each call in order, where it opens and where its arguments stand."""
    found: dict[int, tuple[int, list[int]]] = {}
    for i, beat in enumerate(play):
        event = event_of(beat)
        if isinstance(event, CallOpened):
            found[event.call] = (i, [])
        elif isinstance(event, CallArguments) and event.call in found:
            found[event.call][1].append(i)
    return list(found.values())


def _in_calls(play: Play, place: Place) -> Halves | None:
    calls = _calls(play)
    if place.number is not None:
        calls = calls[place.number - 1 : place.number]
    if place.offset == 0 and place.share is None:
        return _cut(play, calls[0][0] + 1) if calls else None
    return next((halves for _, own in calls if (halves := _into(play, own, place)) is not None), None)


def _after_string(play: Play) -> Halves | None:
    for _, own in _calls(play):
        match = _CLOSED_STRING.search(words(play[i] for i in own))
        if match:
            return _into(play, own, Place(offset=match.end()))
    return None


def _into(play: Play, counted: list[int], place: Place) -> Halves | None:
    """Go into the counted deltas as far as the place says; something must be left behind it."""
    sizes = [characters((play[i],)) for i in counted]
    left = place.offset if place.share is None else int(sum(sizes) * place.share)
    if left >= sum(sizes):
        return None
    for i, size in zip(counted, sizes, strict=True):
        if left < size:
            return _split_delta(play, i, left)
        left -= size
    return None


def _split_delta(play: Play, at: int, offset: int) -> Halves:
    """Split the delta that stands `at`; one that cannot be split goes out whole."""
    beat = play[at]
    delta = delta_of(beat)
    if offset == 0 or delta is None:
        return _cut(play, at)
    if isinstance(beat, Altered) and beat.whole:
        return _cut(play, at + 1)
    pieces = (replace(delta, text=delta.text[:offset]), replace(delta, text=delta.text[offset:]))
    first, rest = (altered(piece, beat.alter) if isinstance(beat, Altered) else piece for piece in pieces)
    return [*play[:at], first], [rest, *play[at + 1 :]]


def _cut(play: Play, at: int) -> Halves:
    return play[:at], play[at:]
