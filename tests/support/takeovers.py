"""A stream that is forwarded as far as it came, and then gone on with by an encoder: the gateway's work, in small."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from msgspec.structs import replace

from headway.events import CallArguments, CallClosed, CallOpened, End, Event, KeepAlive, StreamEnded, StreamOpened
from headway.received import Received
from headway.wire.assembly import assemble
from headway.wire.base import Follower, Wire
from headway.wire.json_text import encode
from headway.wire.sse import Comment, Frame, FrameReader, write_frame

NEXT = StreamOpened("another_id", "another-model")


class Step(NamedTuple):
    """One frame, and the events that it said."""

    frame: Frame | Comment
    events: list[Event]


def wire_bytes(frame: Frame | Comment) -> bytes:
    return frame.wire_bytes if isinstance(frame, Frame) else frame.raw + b"\n\n"


def encoded(wire: Wire, events: Iterable[Event]) -> bytes:
    encoder = wire.encoder()
    return b"".join(encoder.write(event) for event in events)


def decoded(wire: Wire, data: bytes) -> list[Event]:
    decoder = wire.decoder()
    return decoder.feed(data) + decoder.close()


def steps_of(wire: Wire, data: bytes) -> tuple[list[Step], list[Event]]:
    """Return the frames with what each said, and what the end of the bytes said."""
    decoder = wire.decoder()
    steps = [Step(frame, decoder.feed(wire_bytes(frame))) for frame in FrameReader().feed(data)]
    return steps, decoder.close()


def forwarded(wire: Wire, steps: Iterable[Step], batch: int = 1) -> tuple[Follower, bytes]:
    """Forward frames, `batch` at a time; return who followed them, and the bytes that the client got."""
    steps, follower = list(steps), wire.follower()
    for at in range(0, len(steps), batch):
        some = steps[at : at + batch]
        follower.passed([step.frame for step in some], [event for step in some for event in step.events])
    return follower, b"".join(wire_bytes(step.frame) for step in steps)


def open_calls(events: Iterable[Event]) -> list[int]:
    """Return the numbers of the calls that were opened and not closed, in order."""
    calls: dict[int, None] = {}
    for event in events:
        if isinstance(event, CallOpened):
            calls[event.call] = None
        elif isinstance(event, CallClosed):
            calls.pop(event.call, None)
    return list(calls)


def as_next_attempt(rest: Iterable[Event], kept: int | None) -> list[Event]:
    """Tell the rest of a stream as another attempt would: with its own opening, and with its own numbers of calls.

    The kept call goes on under its old number; what belongs to other calls that were open before is left out.
    """
    numbers = {} if kept is None else {kept: kept}
    told: list[Event] = [NEXT]
    count, is_kept_open = 0, kept is not None
    for event in rest:
        if isinstance(event, StreamOpened):
            continue
        if not isinstance(event, CallOpened | CallArguments | CallClosed):
            told.append(event)
            continue
        if isinstance(event, CallOpened):
            count += count == kept and is_kept_open
            numbers[event.call] = count
            count += 1
        if event.call in numbers:
            is_kept_open = is_kept_open and not (isinstance(event, CallClosed) and event.call == kept)
            told.append(replace(event, call=numbers[event.call]))
    return told


def joined(follower: Follower, sent: bytes, attempt: Iterable[Event], kept: int | None = None) -> bytes:
    """Return all that a client gets when the next attempt goes on after what was forwarded."""
    encoder = follower.encoder()
    return b"".join((sent, encoder.seam(kept), *map(encoder.write, attempt)))


class Sum(NamedTuple):
    """What a client has in the end."""

    text: str
    thinking: str
    calls: list[tuple[str, str, str]]
    end: object


def summed(received: Received) -> Sum:
    """Sum up; that thoughts are set apart is no part of them, and a refusal is text where a wire has no other word."""
    thinking = "".join(part.text for part in received.thinking).replace("\n\n", "")
    calls = [(call.id, call.name, call.arguments) for call in received.calls]
    return Sum(received.text + received.refusal, thinking, calls, _kind(received.end))


def sum_of(events: Iterable[Event]) -> Sum:
    return summed(assemble(event for event in events if not isinstance(event, KeepAlive)))


def _kind(end: End | None) -> object:
    return end.stop if isinstance(end, StreamEnded) else end and end.cause


def following(wire: Wire, *values: object) -> Follower:
    """Return who followed a stream of these frames: JSON for data, or words as they are."""
    data = b"".join(
        write_frame(value.encode() if isinstance(value, str) else encode(value), _name(wire, value)) for value in values
    )
    return forwarded(wire, steps_of(wire, data)[0])[0]


def values_of(data: bytes) -> list[Any]:
    """Return the data of each frame, parsed where it is JSON."""
    found = [frame.data for frame in FrameReader().feed(data) if isinstance(frame, Frame)]
    return [json.loads(one) if one.startswith(b"{") else one.decode() for one in found]


def _name(wire: Wire, value: object) -> str:
    return str(value.get("type", "")) if isinstance(value, dict) and wire.name != "chat" else ""
