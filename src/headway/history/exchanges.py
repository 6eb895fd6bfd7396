"""How a conversation can be cut: only where no call is parted from its result. Pure.

An exchange is what must stay together: the words of a user, or a reply with the results of its calls.
"""

from collections.abc import Sequence

from headway.messages import CallFragment, Document, Image, Message, Part, Refusal, Text, Thinking, ToolCall, ToolResult

MEDIUM_CHARACTERS = 6_000
"""What a picture or a file that is not text weighs, in characters: about fifteen hundred tokens."""


def cuts(messages: Sequence[Message]) -> tuple[int, ...]:
    """Return the places between exchanges, in order: at `i`, everything before message `i` can be left out."""
    joined = _joined_to_the_one_before(messages)
    return tuple(at for at in range(1, len(messages)) if not joined[at])


def tail_within(messages: Sequence[Message], most: float) -> int:
    """Return where the longest tail of no more than `most` characters begins; the last exchange stays in any case."""
    places = (0, *cuts(messages))
    held, found = 0, places[-1]
    for start, end in zip(reversed(places), (len(messages), *reversed(places)), strict=False):
        held += size_of(messages[start:end])
        if held > most:
            break
        found = start
    return found


def is_words(message: Message) -> bool:
    """Say whether a message is what a user said, and no result."""
    return message.role == "user" and not message.results


def size_of(messages: Sequence[Message]) -> int:
    """Return how long a conversation is, in characters."""
    return sum(_weight(part) for message in messages for part in message.parts)


def _joined_to_the_one_before(messages: Sequence[Message]) -> list[bool]:
    joined = [False] * len(messages)
    called: dict[str, int] = {}
    for at, message in enumerate(messages):
        # Some wires have a reply's thinking, words and calls in messages of their own.
        joined[at] = bool(message.results) or (
            at > 0 and message.role == "assistant" and messages[at - 1].role == "assistant"
        )
        for result in message.results:
            since = called.pop(result.call_id, at)
            joined[since + 1 : at + 1] = [True] * (at - since)
        called.update((call.id, at) for call in message.calls)
    return joined


def _weight(part: Part) -> int:
    match part:
        case Text() | Refusal() | Thinking():
            return len(part.text) + len(getattr(part, "sealed", None) or "")
        case ToolCall() | CallFragment():
            return len(part.name) + len(part.arguments)
        case ToolResult():
            return sum(_weight(one) for one in part.parts)
        case Image():
            return MEDIUM_CHARACTERS
        case Document():
            return MEDIUM_CHARACTERS if part.text is None else len(part.text)
        case _:
            return 0
