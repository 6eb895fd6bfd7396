"""Events to the bytes of a Messages stream: blocks one after another, each closed before the next begins.

Where the wire has no word: a refusal's words are text (here a model that says no says so in plain words, and
`refusal` means that a classifier stopped it and the text is void); blocks and seals of other wires are not written;
a plain cut writes nothing, so that no end is invented; a reply that failed, or that claims to be whole around half a
call, ends in an error event. While a call is open, what belongs elsewhere waits until it is closed.
"""

from collections import deque
from typing import Any, Final, assert_never

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Content,
    Cut,
    End,
    Event,
    KeepAlive,
    OpaqueBlock,
    RefusalDelta,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
    Unread,
    Usage,
)
from headway.messages import Raw
from headway.wire.anthropic.blocks import NAME, ours
from headway.wire.anthropic.errors import error_object, half_a_call
from headway.wire.anthropic.stops import VOUCHING, has_word, write_end, write_usage
from headway.wire.json_text import encode
from headway.wire.sse import write_frame

_PING: Final = write_frame(b'{"type":"ping"}', "ping")
_MESSAGE_STOP: Final = write_frame(b'{"type":"message_stop"}', "message_stop")
_DELTA: Final = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":'
_TEXT: Final = {"type": "text", "text": ""}
_THINKING: Final = {"type": "thinking", "thinking": "", "signature": ""}


class MessageEncoder:
    """Writes one stream. After its end it writes nothing."""

    def __init__(self) -> None:
        """Start before the first event."""
        self._started = False
        self._over = False
        self._index = 0
        self._kind: type[Event] | None = None
        """What the open block holds, by the event that fills it."""
        self._head = b""
        """How a delta of the open block begins."""
        self._call: CallOpened | None = None
        self._blank = True
        self._waiting: deque[Content] = deque()
        """What belongs after the open call, in order."""
        self._rest_of: dict[int, list[Content]] = {}
        """What came so far of each waiting call."""
        self._unclosed: dict[int, str] = {}
        self._usage: Usage | None = None

    def write(self, event: Event) -> bytes:
        """Return the bytes that say this event."""
        if self._over:
            return b""
        if type(event) is TextDelta and self._kind is TextDelta and event.text:
            return self._delta(event.text)
        if type(event) is CallArguments and self._call is not None and event.call == self._call.call:
            return self._arguments(event.text)
        match event:
            case KeepAlive():
                return _PING
            case Unread():
                return b""
            case Usage():
                self._usage = event
                return b""
            case StreamOpened():
                return self._start(event)
            case StreamEnded() | StreamCut():
                self._over = True
                return self._finish(event)
            case CallOpened():
                self._unclosed[event.call] = event.name
            case CallClosed():
                self._unclosed.pop(event.call, None)
        return self._start(StreamOpened()) + self._say(event) + self._go_on()

    # The frame of the reply

    def _start(self, opened: StreamOpened) -> bytes:
        if self._started:
            return b""
        self._started = True
        message: dict[str, Any] = {
            "id": opened.id,
            "type": "message",
            "role": "assistant",
            "model": opened.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": write_usage(None),
        }
        return _frame({"type": "message_start", "message": message})

    def _finish(self, end: End) -> bytes:
        if isinstance(end, StreamCut):
            return _frame(error_object(end)) if end.cause is Cut.ERROR else b""
        if not has_word(end.stop):
            return _frame(error_object(end))
        if self._unclosed and end.stop in VOUCHING:
            return _frame(half_a_call(next(iter(self._unclosed.values()))))
        out = [self._start(StreamOpened()), self._cut_call()]
        while self._waiting:
            out += [self._go_on(), self._cut_call()]
        conclusion = {"type": "message_delta", "delta": write_end(end), "usage": write_usage(self._usage)}
        return b"".join((*out, self._close(), _frame(conclusion), _MESSAGE_STOP))

    def _cut_call(self) -> bytes:
        """Close the block of a call that never arrived whole: the grammar wants it, the stop reason says the rest."""
        if self._call is None:
            return b""
        # An empty call that the reply goes on after reads as one without arguments; half an object does not.
        half = self._delta("{") if self._blank and self._waiting else b""
        return half + self._close()

    # Content

    def _say(self, event: Content) -> bytes:
        call = event.call if isinstance(event, CallOpened | CallArguments | CallClosed) else None
        if self._call is None or self._call.call == call:
            return self._say_now(event)
        if call is not None and call in self._rest_of:
            self._rest_of[call].append(event)
        else:
            self._waiting.append(event)
            if isinstance(event, CallOpened):
                self._rest_of[event.call] = []
        return b""

    def _go_on(self) -> bytes:
        """Say what waited, as far as no call is open."""
        out: list[bytes] = []
        while self._waiting and self._call is None:
            event = self._waiting.popleft()
            out.append(self._say_now(event))
            if isinstance(event, CallOpened):
                out += map(self._say_now, self._rest_of.pop(event.call, ()))
        return b"".join(out)

    def _say_now(self, event: Content) -> bytes:
        match event:
            case TextDelta(text=text) | RefusalDelta(text=text):
                return self._words(TextDelta, _TEXT, b'"text_delta","text":', text)
            case ThinkingDelta(text=text):
                return self._words(ThinkingDelta, _THINKING, b'"thinking_delta","thinking":', text)
            case CallArguments(text=text):
                return self._arguments(text)
            case CallOpened():
                return self._open_call(event)
            case CallClosed():
                return self._close_call()
            case ThinkingSigned(signature=signature):
                return self._sign(signature)
            case ThinkingSealed(sealed=sealed, raw=raw):
                return self._whole({**(ours(raw) or {}), "type": "redacted_thinking", "data": sealed}, raw)
            case OpaqueBlock(raw=raw):
                return self._whole(raw.value, raw)
            case _:
                assert_never(event)

    def _words(self, kind: type[Event], block: dict[str, Any], head: bytes, text: str) -> bytes:
        if not text:
            return b""
        if self._kind is kind:
            return self._delta(text)
        return self._open(kind, block, head) + self._delta(text)

    def _sign(self, signature: str) -> bytes:
        opening = b"" if self._kind is ThinkingDelta else self._open(ThinkingDelta, _THINKING, b"")
        self._head = _DELTA % self._index + b'"signature_delta","signature":'
        return opening + self._delta(signature) + self._close()

    def _whole(self, block: dict[str, Any], raw: Raw | None) -> bytes:
        """Write a block that is whole from its start; another wire's has no meaning here."""
        if raw is not None and raw.wire != NAME:
            return b""
        return self._open(OpaqueBlock, block, b"") + self._close()

    # Calls: free text travels as the one string of an object, escaped piece by piece.

    def _open_call(self, opened: CallOpened) -> bytes:
        block = {**(ours(opened.raw) or {}), "type": "tool_use", "id": opened.id, "name": opened.name, "input": {}}
        out = self._open(CallOpened, block, b'"input_json_delta","partial_json":')
        self._call, self._blank = opened, True
        return out + self._delta('{"input":"') if opened.freeform else out

    def _arguments(self, text: str) -> bytes:
        if self._call is None or not text:
            return b""
        self._blank = self._blank and text.isspace()
        return self._delta(encode(text).decode()[1:-1] if self._call.freeform else text)

    def _close_call(self) -> bytes:
        if self._call is None:
            return b""
        rest = '"}' if self._call.freeform else "{}" if self._blank else ""
        return (self._delta(rest) if rest else b"") + self._close()

    # Blocks

    def _open(self, kind: type[Event], block: dict[str, Any], head: bytes) -> bytes:
        closing = self._close()
        self._kind = kind
        self._head = _DELTA % self._index + head
        return closing + _frame({"type": "content_block_start", "index": self._index, "content_block": block})

    def _delta(self, text: str) -> bytes:
        return self._head + encode(text) + b"}}\n\n"

    def _close(self) -> bytes:
        if self._kind is None:
            return b""
        stop = _frame({"type": "content_block_stop", "index": self._index})
        self._index += 1
        self._kind = self._call = None
        return stop


def _frame(value: dict[str, Any]) -> bytes:
    return write_frame(encode(value), value["type"])
