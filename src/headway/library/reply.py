"""What comes out of a turn, and what was heard on the way to it."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import Struct, structs

from headway.agent.happenings import AgentItem
from headway.events import TextDelta, Usage
from headway.messages import Message, ToolCall
from headway.turn import notices

Item: TypeAlias = AgentItem
"""What a turn gives while it runs: events (what is said) and notices (what happens)."""


class Reply(Struct, frozen=True):
    """A whole answer. `str(reply)` are its words."""

    message: Message
    """What was said, to be put into a history as it is."""
    upstream: str
    """Who had the last word, as `provider/model`."""
    requests: int
    """How many requests it took."""
    usage: Usage = Usage()
    """Tokens of all of these, as far as the providers told."""

    @property
    def text(self) -> str:
        """Return the words."""
        return self.message.text

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that the model wants run, all of them whole."""
        return self.message.calls

    def __str__(self) -> str:
        return self.text


class Heard:
    """What went by: the words of the reply in the making, and who was asked."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.upstreams: list[str] = []
        """Whom each request went to."""
        self._words: list[str] = []

    @property
    def text(self) -> str:
        """Return the words of the latest reply, as far as they came."""
        return "".join(self._words)

    @property
    def tried(self) -> tuple[str, ...]:
        """Return who was asked, each once."""
        return tuple(dict.fromkeys(self.upstreams))

    def take(self, items: Sequence[Item]) -> None:
        """Note what goes by."""
        for item in items:
            if type(item) is TextDelta:
                self._words.append(item.text)
            elif isinstance(item, notices.Asking):
                self.upstreams.append(item.upstream)
                if item.number == 1:
                    self._words.clear()
            elif isinstance(item, notices.Withdrawn):
                self._words.clear()


def total(usages: Iterable[Usage | None]) -> Usage:
    """Return all tokens together."""
    counted = [structs.astuple(usage) for usage in usages if usage is not None]
    return Usage(*map(sum, zip(*counted, strict=True))) if counted else Usage()
