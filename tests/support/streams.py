"""Strategies for well-formed event streams, and what to compare after a round trip through a wire."""

import json
from itertools import pairwise

from hypothesis import strategies as st
from msgspec.structs import replace

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    KeepAlive,
    RefusalDelta,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSigned,
    Usage,
)

words = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=40)
names = st.from_regex(r"[a-z][a-z_]{0,20}", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(words, json_values, max_size=4).map(lambda value: json.dumps(value, ensure_ascii=False))


@st.composite
def _pieces(draw: st.DrawFn, text: str) -> list[str]:
    """Split a text at random places into non-empty pieces."""
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=5)))
    edges = [0, *[cut for cut in cuts if cut < len(text)], len(text)]
    return [text[a:b] for a, b in pairwise(edges) if text[a:b]]


@st.composite
def _call(draw: st.DrawFn, number: int, *, whole: bool) -> list[Event]:
    text = draw(arguments)
    events: list[Event] = [CallOpened(number, f"call_{number}", draw(names))]
    if whole:
        events += [CallArguments(number, piece) for piece in draw(_pieces(text))]
        return [*events, CallClosed(number)]
    kept = text[: draw(st.integers(0, len(text) - 1))]
    return [*events, *(CallArguments(number, piece) for piece in draw(_pieces(kept)))]


@st.composite
def event_streams(
    draw: st.DrawFn, *, vouches_per_call: bool = True, signatures: bool = True, refusals: bool = True
) -> list[Event]:
    """Draw a whole, well-formed stream. `vouches_per_call`: the wire closes each call on its own."""
    kinds = ["text", "thinking", "call", "keep_alive", *(["refusal"] if refusals else [])]
    events: list[Event] = [StreamOpened("msg_1", "model-1")]
    blocks = draw(st.lists(st.sampled_from(kinds), max_size=6))
    calls = 0
    for kind in blocks:
        match kind:
            case "text":
                events += [TextDelta(piece) for piece in draw(st.lists(words, min_size=1, max_size=3))]
            case "refusal":
                events += [RefusalDelta(piece) for piece in draw(st.lists(words, min_size=1, max_size=2))]
            case "thinking":
                events += [ThinkingDelta(piece) for piece in draw(st.lists(words, min_size=1, max_size=3))]
                if signatures and draw(st.booleans()):
                    events.append(ThinkingSigned(draw(names)))
            case "call":
                events += draw(_call(calls, whole=True))
                calls += 1
            case _:
                events.append(KeepAlive())
    ending = draw(st.sampled_from(["ended", "length", "cut"]))
    if ending != "ended" and draw(st.booleans()):
        events += draw(_call(calls, whole=False))
    elif ending != "ended" and not vouches_per_call and calls:
        # Such a wire closes a call only by going on; make it go on.
        events.append(TextDelta("."))
    if ending == "cut":
        return [*events, StreamCut(Cut.EOF)]
    if draw(st.booleans()):
        events.append(Usage(*(draw(st.integers(1, 10**6)) for _ in range(2))))
    if ending == "length":
        return [*events, StreamEnded(Stop.LENGTH)]
    return [*events, StreamEnded(Stop.CALLS if calls else draw(st.sampled_from([Stop.END, Stop.FILTERED])))]


def without_words(events: list[Event]) -> list[Event]:
    """Blank what only the wire chose: its own word for the end."""
    return [
        replace(event, said="", detail="")
        if isinstance(event, StreamEnded)
        else replace(event, said="")
        if isinstance(event, StreamCut)
        else event
        for event in events
    ]
