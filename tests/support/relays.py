"""Turns in small, for the relay alone: a reply on some wire, cut after some frame, and what a turn does about that."""

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st
from msgspec.structs import replace

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    Stop,
    StreamEnded,
    StreamOpened,
    TextDelta,
    Usage,
)
from headway.gateway.relay import Heard, Relay
from headway.messages import ToolCall
from headway.received import Received
from headway.wire.assembly import assemble
from headway.wire.base import Wire
from headway.wire.sse import Comment, Frame, FrameReader
from support.streams import event_streams
from support.takeovers import encoded, open_calls, wire_bytes

Steps = list[list[Heard]]
"""What is heard at once: the events of a frame, and the frame."""


def _completed(events: list[Event]) -> list[Event]:
    """Return a stream as it would be if it had ended well; a call that was cut had never begun."""
    half = set(open_calls(events))
    told = [one for one in events[:-1] if getattr(one, "call", None) not in half and not isinstance(one, Usage)]
    calls = any(isinstance(event, CallOpened) for event in told)
    return [*told, Usage(10, 20), StreamEnded(Stop.CALLS if calls else Stop.END)]


whole_replies: st.SearchStrategy[list[Event]] = event_streams(refusals=False).map(_completed)


def steps_of(wire: Wire, events: Iterable[Event]) -> Steps:
    """Return a reply as it comes on a wire, frame by frame."""
    decoder = wire.decoder()
    decoder.taped = True
    return [list(decoder.feed(wire_bytes(frame))) for frame in FrameReader().feed(encoded(wire, events))]


def events_in(steps: Steps) -> list[Event]:
    return [item for step in steps for item in step if not isinstance(item, Frame | Comment)]


def untaped(steps: Steps) -> Steps:
    """Return steps as they are heard where something is gone on with: neither frames nor ends."""
    return [[event for event in events_in([step]) if not isinstance(event, StreamEnded)] for step in steps]


def heard(relay: Relay, steps: Sequence[Sequence[Heard]], batch: int) -> bytes:
    """Let a relay hear steps, so many at a time."""
    together = ([one for step in steps[at : at + batch] for one in step] for at in range(0, len(steps), batch))
    return b"".join(map(relay.hear, together))


def cut_short(reply: list[Event], share: float) -> list[Event]:
    """Return a reply that runs into a limit within the arguments of its last call."""
    last = assemble(reply).calls[-1].arguments
    number = max(event.call for event in reply if isinstance(event, CallOpened))
    at = next(at for at, event in enumerate(reply) if isinstance(event, CallOpened) and event.call == number)
    half = last[: int(share * len(last))]
    said = [CallArguments(number, piece) for piece in (half[:7], half[7:]) if piece]
    return [*reply[: at + 1], *said, Usage(10, 20), StreamEnded(Stop.LENGTH)]


def last_call(reply: list[Event], received: Received) -> ToolCall:
    """Return the call of a reply that was cut in what was received."""
    return replace(assemble(reply).calls[len(received.calls)], id="again")


def told_again(call: ToolCall) -> list[Event]:
    opened = CallOpened(0, call.id, call.name)
    return [StreamOpened("another"), opened, CallArguments(0, call.arguments), CallClosed(0), StreamEnded(Stop.CALLS)]


def rest_behind(reply: list[Event], said: int) -> list[Event]:
    """Return a reply behind so many characters of its text, as another attempt goes on with it."""
    rest: list[Event] = []
    for event in reply:
        if isinstance(event, TextDelta) and said:
            rest += [TextDelta(event.text[said:])] if event.text[said:] else []
            said = max(0, said - len(event.text))
        elif not said:
            rest.append(event)
    return [StreamOpened("another"), *(event for event in rest if not isinstance(event, StreamOpened))]
