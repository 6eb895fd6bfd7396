"""How a model's speech becomes the events of a reply: deltas of the script's pace, ids, usage, and the output limit."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    Stop,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from headway.messages import ModelRequest
from headway.sim.manners import Manners
from headway.sim.reading import CHARACTERS_A_TOKEN, words_of
from headway.wire.json_text import encode_text


class Thought(Struct, frozen=True):
    """Something the model thinks."""

    text: str


class Words(Struct, frozen=True):
    """Something the model says."""

    text: str


class Calling(Struct, frozen=True):
    """A call that the model makes."""

    tool: str
    arguments: dict[str, Any]
    text: str | None = None
    """Free text instead of arguments."""


Speech: TypeAlias = Thought | Words | Calling


def speak(speech: list[Speech], request: ModelRequest, manners: Manners, name: str, size: int) -> list[Event]:
    """Return the events of a reply, up to the request's own output limit; `name` tells its ids from all others."""
    stop = Stop.CALLS if any(isinstance(part, Calling) for part in speech) else Stop.END
    events: list[Event] = [StreamOpened(f"{manners.reply_id}-{name}", request.model)]
    limit = (request.max_output_tokens or 0) * CHARACTERS_A_TOKEN
    said = thought = 0
    for event in _spoken(speech, manners, name, size):
        length = len(event.text) if isinstance(event, TextDelta | ThinkingDelta | CallArguments) else 0
        if limit and said + length > limit:
            stop = Stop.LENGTH
            break
        said += length
        thought += length if isinstance(event, ThinkingDelta) else 0
        events.append(event)
    heard = len(words_of(request))
    counted = Usage(_tokens(heard), _tokens(said), reasoning_tokens=_tokens(thought))
    return [*events, counted, StreamEnded(stop)]


def _spoken(speech: Iterable[Speech], manners: Manners, name: str, size: int) -> Iterator[Event]:
    """Put a speech into events, in deltas of the script's pace."""
    call = 0
    for part in speech:
        match part:
            case Words(text=text):
                yield from (TextDelta(piece) for piece in _pieces(text, size))
            case Thought(text=text):
                yield from (ThinkingDelta(piece) for piece in _pieces(text, size))
                yield from manners.proof(text)
            case Calling(tool=tool, arguments=arguments, text=free):
                digest = sha256(f"{name}/{call}".encode()).hexdigest()[:20]
                yield CallOpened(call, f"{manners.call_id}{digest}", tool, freeform=free is not None)
                given = encode_text(arguments) if free is None else free
                yield from (CallArguments(call, piece) for piece in _pieces(given, size))
                yield CallClosed(call)
                call += 1


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def _tokens(characters: int) -> int:
    return -(-characters // CHARACTERS_A_TOKEN)
