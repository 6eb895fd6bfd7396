"""A reply as a play: a list of beats, performed one after another. A fault is a function that rewrites the play.

Events of the vocabulary are beats: they are encoded for the wire when their turn comes. The other beats are what a
server does with a connection. A play is a plain list of values, so it can be printed, compared and rewritten.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from headway.events import (
    CallArguments,
    Event,
    RefusalDelta,
    StreamEnded,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from headway.wire.json_text import encode

Headers: TypeAlias = tuple[tuple[str, str], ...]
Delta: TypeAlias = TextDelta | RefusalDelta | ThinkingDelta | CallArguments
DELTAS = (TextDelta, RefusalDelta, ThinkingDelta, CallArguments)
EVENT_STREAM: Headers = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))


class Head(Struct, frozen=True):
    """The status line and the headers. Without a length the body is chunked.

    `whole`: the reply does not stream. Events are gathered into one body, and the head waits for it.
    """

    status: int = 200
    headers: Headers = EVENT_STREAM
    length: int | None = None
    whole: bool = False


def head_of(*, streams: bool) -> Head:
    """Return the head of a reply that is well."""
    return Head() if streams else Head(headers=(("content-type", "application/json"),), whole=True)


class Bytes(Struct, frozen=True):
    """Bytes of the body that no event stands for."""

    data: bytes


class Idle(Enum):
    """Frames that say nothing, in the manner of the wire and of what was sent last."""

    PING = "ping"
    COMMENT = "comment"
    EMPTY_DELTA = "empty_delta"
    ROLE_ONLY = "role_only"


def _as_it_is(data: bytes) -> bytes:
    return data


class Altered(Struct, frozen=True):
    """An event whose bytes are changed after they were encoded.

    `whole`: it cannot be split, because the response is stored and its frames are numbered.
    """

    event: Event
    alter: Callable[[bytes], bytes] = _as_it_is
    whole: bool = False


class Pause(Struct, frozen=True):
    """Nothing happens for a while."""

    seconds: float


class Silence(Struct, frozen=True):
    """Nothing happens any more. The connection stays open until the client leaves."""


class Forever(Struct, frozen=True):
    """The same beats again and again, until the client leaves; among them must be a pause."""

    beats: tuple["Beat", ...]


class ChunkSize(Struct, frozen=True):
    """From here on, the body goes out in chunks of so many bytes."""

    bytes: int


class Torn(Struct, frozen=True):
    """The encoded bytes of an event, but only as many as `keep` says; `in_chunk`: in a chunk that promises them all."""

    event: Event
    keep: Callable[[bytes], int]
    in_chunk: bool = False


class Finish(Struct, frozen=True):
    """The body ends as HTTP wants it. Late bytes go out behind it, where nobody expects any."""

    late: bytes = b""


class HangUp(Struct, frozen=True):
    """The connection is closed with a FIN, whatever state the body is in."""


class Reset(Struct, frozen=True):
    """The connection is torn down with a RST."""


Act: TypeAlias = Head | Bytes | Idle | Altered | Pause | Silence | Forever | ChunkSize | Torn | Finish | HangUp | Reset
Beat: TypeAlias = Event | Act
Play: TypeAlias = list[Beat]


def event_of(beat: Beat) -> Beat:
    """Return the event of a beat, seen through what was altered about it."""
    return beat.event if isinstance(beat, Altered) else beat


def delta_of(beat: Beat) -> Delta | None:
    """Return the words of a beat, if it has any."""
    event = event_of(beat)
    return event if isinstance(event, DELTAS) else None


def altered(beat: Beat, alter: Callable[[bytes], bytes]) -> Beat:
    """Return the beat with one more change to its bytes; what is no event stays as it is."""
    if isinstance(beat, Altered):
        before = beat.alter
        return Altered(beat.event, lambda data: alter(before(data)), beat.whole)
    return Altered(beat, alter) if isinstance(beat, Event) else beat


def characters(play: Iterable[Beat]) -> int:
    """Return how much the model says in a play."""
    return sum(len(delta.text) for beat in play if (delta := delta_of(beat)) is not None)


def words(play: Iterable[Beat]) -> str:
    """Return everything that the model says in a play, arguments included."""
    return "".join(delta.text for beat in play if (delta := delta_of(beat)) is not None)


def is_end(beat: Beat) -> bool:
    """Say whether a beat belongs to the end of a reply rather than to its content."""
    return isinstance(event_of(beat), StreamEnded | Usage | Finish | HangUp | Reset)


def answer(status: int, body: object, headers: Headers = ()) -> Play:
    """Return the play of a plain answer: JSON for an object, a page or words for a text."""
    if isinstance(body, str):
        data, kind = body.encode(), "text/html" if body.lstrip().startswith("<") else "text/plain"
    else:
        data, kind = encode(body), "application/json"
    named = any(name == "content-type" for name, _ in headers)
    given = headers if named else (("content-type", kind), *headers)
    return [Head(status, given, len(data)), Bytes(data), Finish()]
