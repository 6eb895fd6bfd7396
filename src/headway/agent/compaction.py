"""What is summed up when a conversation has outgrown its model, and what stays as it is. Pure.

The latest exchanges stay whole, and no call is parted from its result. The words of the user stay too, the first and
the newest before all others; an open draft is in the ledger and not touched. Sizes are in characters, and shares of
the room there is.
"""

from collections.abc import Sequence

from msgspec import Struct

from headway.agent.tools.bounds import clip
from headway.failure import Failure
from headway.history.exchanges import is_words, size_of, tail_within
from headway.history.measure import UNKNOWN
from headway.messages import Message, ModelRequest, Refusal, Text, ToolCall, ToolResult, user

LATEST_SHARE = 0.25
WORDS_SHARE = 0.125
SUMMARY_SHARE = 0.125
RECORD_SHARE = 0.5
"""What is shown to be summed up: it must fit where the whole did not, with a summary to come."""
LONGEST_PIECES = (4_000, 1_000, 250)
"""How long one text, call or result may be in a record; the next is tried when the record is too long."""


class Parting(Struct, frozen=True):
    """A conversation in two: the messages before `at` are summed up, the others stay."""

    at: int
    old: tuple[Message, ...]
    words: tuple[Message, ...]
    """What the user said in the old part, as far as it stays word for word."""


def room_for(request: ModelRequest, failure: Failure, characters_a_token: float = UNKNOWN) -> int:
    """Return how many characters there is room for where a request found none: what was named, or what it has."""
    size = size_of(request.messages)
    return size if failure.limit_tokens is None else min(size, int(failure.limit_tokens * characters_a_token))


def part(messages: Sequence[Message], room: int, summary_at: int | None = None) -> Parting | None:
    """Return where to part a conversation; None if there is too little to sum up. An old summary is no user's word."""
    at = tail_within(messages, room * LATEST_SHARE)
    old = tuple(messages[:at])
    said = [message for i, message in enumerate(old) if is_words(message) and i != summary_at]
    words = _words_that_stay(said, int(room * WORDS_SHARE))
    gain = size_of(old) - size_of(words)
    return Parting(at, old, words) if gain > room * SUMMARY_SHARE else None


def record_of(messages: Sequence[Message], most: int) -> str:
    """Return a conversation as a text of at most about `most` characters: long pieces cut first, then its middle."""
    record = ""
    for longest in LONGEST_PIECES:
        record = "\n\n".join(line for message in messages for line in _lines(message, longest))
        if len(record) <= most:
            return record
    return clip(record, most)


def _words_that_stay(said: Sequence[Message], most: int) -> tuple[Message, ...]:
    """Return the first words, and of the others the newest that there is room for; both are cut rather than lost."""
    stay, held = list[Message](), 0
    for message in reversed(said[1:]):
        held += size_of((message,))
        if held > most and stay:
            break
        stay.insert(0, _cut(message, most))
    return (*(_cut(message, most) for message in said[:1]), *stay)


def _cut(message: Message, most: int) -> Message:
    if size_of((message,)) <= most:
        return message
    return user(clip(message.text, most))


def _lines(message: Message, longest: int) -> list[str]:
    """Return what a message says and does, each as a paragraph. Thinking is left to the one who thought it."""
    speaker = {"user": "I said", "assistant": "You said", "system": "You were told"}[message.role]
    lines: list[str] = []
    for one in message.parts:
        match one:
            case Text(text=text) | Refusal(text=text) if text.strip():
                lines.append(f"{speaker}: {clip(text, longest)}")
            case ToolCall(name=name, arguments=arguments):
                lines.append(f"You called `{name}`: {clip(arguments, longest)}")
            case ToolResult():
                came = "It failed" if one.is_error else "It gave"
                lines.append(f"{came}: {clip(one.text, longest) or '[nothing in words]'}")
            case _:
                continue
    return lines
