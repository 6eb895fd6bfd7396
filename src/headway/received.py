"""What one attempt brought: whole parts, fragments, usage, and how it ended. Whole and cut never mix."""

from msgspec import Struct

from headway.events import End, StreamCut, StreamEnded, Usage
from headway.messages import CallFragment, Part, Refusal, Text, Thinking, ToolCall


class Received(Struct, frozen=True):
    """The parts of a reply in the order they were said; a cut or unparsable call is a `CallFragment` among them."""

    parts: tuple[Part, ...] = ()
    end: End | None = None
    usage: Usage | None = None
    id: str = ""
    model: str = ""
    unread: int = 0

    @property
    def text(self) -> str:
        """Return the words of the answer."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def refusal(self) -> str:
        """Return the words of a refusal, if the wire marked any."""
        return "".join(part.text for part in self.parts if isinstance(part, Refusal))

    @property
    def thinking(self) -> tuple[Thinking, ...]:
        """Return the reasoning blocks."""
        return tuple(part for part in self.parts if isinstance(part, Thinking))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that arrived whole."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def fragments(self) -> tuple[CallFragment, ...]:
        """Return what arrived of calls that are not whole."""
        return tuple(part for part in self.parts if isinstance(part, CallFragment))

    @property
    def size(self) -> int:
        """Return how many characters of words and calls there are."""
        calls = sum(len(call.arguments) for call in self.calls)
        return len(self.text) + calls + sum(len(fragment.arguments) for fragment in self.fragments)

    @property
    def is_complete(self) -> bool:
        """Say whether the wire's own terminal mark was seen."""
        return isinstance(self.end, StreamEnded)

    @property
    def is_cut(self) -> bool:
        """Say whether the stream ended without its terminal mark."""
        return isinstance(self.end, StreamCut)
