"""What a stream said, as facts, in no wire's words. The last event of every stream is its end, exactly one.

An ordinary stream reads: `StreamOpened`, content in the order it was said, `Usage`, `StreamEnded`.
Calls are numbered 0, 1, 2… in the order they open, whatever indexes the wire used. `CallClosed` means that the
wire vouches for the call being complete; whether its arguments parse is the assembler's question.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from headway.messages import Raw


class StreamOpened(Struct, frozen=True, tag="opened", gc=False):
    """The provider began to answer. It has said nothing yet."""

    id: str = ""
    model: str = ""
    created: int = 0
    """When, in whole seconds since 1970, for a wire that says so; decoders leave it to whoever has a clock."""


class TextDelta(Struct, frozen=True, tag="text", gc=False):
    """More words of the answer."""

    text: str


class RefusalDelta(Struct, frozen=True, tag="refusal", gc=False):
    """More words of a refusal, where the wire marks them as such."""

    text: str


class ThinkingDelta(Struct, frozen=True, tag="thinking", gc=False):
    """More words of readable reasoning."""

    text: str


class ThinkingSigned(Struct, frozen=True, tag="thinking_signed", gc=False):
    """The reasoning so far (it may be empty) is one whole block, with the issuer's signature."""

    signature: str


class ThinkingSealed(Struct, frozen=True, tag="thinking_sealed"):
    """A whole block of reasoning that only its issuer can read; readable text before it belongs to it."""

    sealed: str
    raw: Raw | None = None


class CallOpened(Struct, frozen=True, tag="call_opened"):
    """A tool call began."""

    call: int
    id: str
    name: str
    freeform: bool = False
    raw: Raw | None = None


class CallArguments(Struct, frozen=True, tag="call_arguments", gc=False):
    """More text of a call's arguments."""

    call: int
    text: str


class CallClosed(Struct, frozen=True, tag="call_closed", gc=False):
    """The wire says that this call is complete."""

    call: int


class OpaqueBlock(Struct, frozen=True, tag="opaque"):
    """A whole block that only this wire knows (a server tool's result, a compaction …)."""

    raw: Raw


class Usage(Struct, frozen=True, tag="usage", gc=False):
    """Tokens so far, cumulative: a later one replaces an earlier one.

    `input_tokens` counts all input, cached or not; `cache_read_tokens` and `cache_write_tokens` are parts of it,
    `reasoning_tokens` is a part of `output_tokens`.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0


class KeepAlive(Struct, frozen=True, tag="keep_alive", gc=False):
    """Bytes that say nothing: a comment, a ping, an empty delta, a chunk with only a role."""


class Unread(Struct, frozen=True, tag="unread", gc=False):
    """Something the decoder could not read and could safely pass over; `excerpt` is bounded."""

    why: str
    excerpt: str


class Stop(Enum):
    """Why a provider says that it stopped. Only the first five are an answer."""

    END = "end"
    CALLS = "calls"
    SEQUENCE = "stop_sequence"
    PAUSE = "pause"
    LENGTH = "length"
    FILTERED = "filtered"
    REFUSED = "refused"
    WINDOW = "context_full"
    FAILED = "failed"
    UNKNOWN = "unknown"


class StreamEnded(Struct, frozen=True, tag="ended", gc=False):
    """The wire's own terminal mark was seen; `said` is its word for it, `detail` what it added."""

    stop: Stop
    said: str = ""
    detail: str = ""


class Cut(Enum):
    """How a stream stopped without a terminal mark."""

    EOF = "end_of_bytes"
    ERROR = "error_in_stream"
    NOT_EVENTS = "not_an_event_stream"
    TOO_LARGE = "too_large"
    UNREADABLE = "unreadable"
    CONTRADICTORY = "contradictory"
    """What was finished is not what was streamed: pieces were lost or came twice."""


class StreamCut(Struct, frozen=True, tag="cut", gc=False):
    """The stream is over and nothing vouches for its end.

    `body` is the evidence for a classifier: the error frame's JSON, the page that came instead of events, or
    an excerpt of what could not be read. It is bounded, and empty for a plain end of bytes.
    """

    cause: Cut
    body: str = ""
    said: str = ""


Content: TypeAlias = (
    TextDelta
    | RefusalDelta
    | ThinkingDelta
    | ThinkingSigned
    | ThinkingSealed
    | CallOpened
    | CallArguments
    | CallClosed
    | OpaqueBlock
)
End: TypeAlias = StreamEnded | StreamCut
Event: TypeAlias = StreamOpened | Content | Usage | KeepAlive | Unread | End
CONTENT: tuple[type[Content], ...] = (
    TextDelta,
    RefusalDelta,
    ThinkingDelta,
    ThinkingSigned,
    ThinkingSealed,
    CallOpened,
    CallArguments,
    CallClosed,
    OpaqueBlock,
)
"""What counts as the model saying something: these feed the stall clock, nothing else does."""
