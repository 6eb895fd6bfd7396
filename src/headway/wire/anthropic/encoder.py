"""Events to the bytes of a Messages stream: blocks one after another, each closed before the next begins.

Where the wire has no word: a refusal's words are text (here a model that says no says so in plain words, and
`refusal` means that a classifier stopped it and the text is void); blocks and seals of other wires are not written;
a plain cut writes nothing, so that no end is invented; a reply that failed, or that claims to be whole around half a
call, ends in an error event. While a call is open, what belongs elsewhere waits until it is closed.

A heartbeat is an empty delta of the open block, as the vendor's own servers send them, because the official SDKs drop
pings, and a client whose watchdog counts what its SDK gives it never sees them; where no block is open, a ping.
"""

from typing import Any, Final, assert_never

from msgspec.structs import replace

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
    Stop,
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
from headway.wire.anthropic.standing import FRESH, NO_CALL, Phase, Standing
from headway.wire.anthropic.stops import VOUCHING, has_word, write_end, write_usage
from headway.wire.anthropic.waiting import Waiting
from headway.wire.json_text import encode
from headway.wire.sse import write_frame

_PING: Final = write_frame(b'{"type":"ping"}', "ping")
_MESSAGE_STOP: Final = write_frame(b'{"type":"message_stop"}', "message_stop")
_DELTA: Final = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":'
_TEXT: Final = {"type": "text", "text": ""}
_THINKING: Final = {"type": "thinking", "thinking": "", "signature": ""}
_HEADS: Final[dict[type[Event] | None, bytes]] = {
    TextDelta: b'"text_delta","text":',
    ThinkingDelta: b'"thinking_delta","thinking":',
    CallOpened: b'"input_json_delta","partial_json":',
}
"""How the deltas begin that fill a block."""
_AFTER_THE_STOP: Final = (KeepAlive, StreamEnded, StreamCut)


class MessageEncoder:
    """Writes one stream. After its end it writes nothing."""

    def __init__(self, standing: Standing = FRESH) -> None:
        """Begin a stream, or go on with one where it stands."""
        self._phase = standing.phase
        self._index, self._next_index = standing.index, standing.next_index
        self._kind = standing.kind
        """What the open block holds, by the event that fills it."""
        self._head = _DELTA % self._index + _HEADS.get(self._kind, b"")
        """How a delta of the open block begins."""
        self._call: CallOpened | None = None
        if self._kind is CallOpened:
            self._call = CallOpened(standing.call, "", standing.unclosed.get(standing.call, ""))
        self._blank = standing.is_blank
        self._waiting = Waiting()
        self._unclosed = dict(standing.unclosed)
        """The names of the calls that nobody vouched for yet, by number."""
        self._halves: list[str] = []
        """The names of those that will never be whole."""
        self._has_calls = standing.has_calls
        self._is_joined = standing is not FRESH
        """Is this the work of several?"""
        self._usage = standing.usage

    def write(self, event: Event) -> bytes:
        """Return the bytes that say this event."""
        if type(event) is TextDelta and self._kind is TextDelta and event.text:
            return self._delta(event.text)
        if type(event) is CallArguments and self._call is not None and event.call == self._call.call:
            return self._arguments(event.text)
        if self._phase is Phase.OVER or (self._phase is Phase.CONCLUDED and not isinstance(event, _AFTER_THE_STOP)):
            return b""
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
                return self._finish(event)
            case CallOpened():
                self._leave(event.call)
                self._unclosed[event.call] = event.name
            case CallClosed():
                self._has_calls |= self._unclosed.pop(event.call, None) is not None
        return self._start(StreamOpened()) + self._say(event) + self._go_on()

    def seam(self, keeping: int | None = None) -> bytes:
        """Say that another attempt goes on with this stream; see `Encoder`."""
        if self._phase is not Phase.SAYING:
            return b""
        self._is_joined = True
        for number in self._waiting.seam(self._unclosed, keeping):
            del self._unclosed[number]
        for number in [number for number in self._unclosed if number != keeping]:
            self._leave(number)
        return self._part_ways()

    def heartbeat(self) -> bytes:
        """Return what keeps a client waiting."""
        if self._phase is Phase.OVER:
            return b""
        return self._delta("") if self._kind in _HEADS else _PING

    # The frame of the reply

    def _start(self, opened: StreamOpened) -> bytes:
        if self._phase is not Phase.WAITING:
            return b""
        self._phase = Phase.SAYING
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
        phase = self._phase
        written = _MESSAGE_STOP if phase is Phase.CONCLUDED and isinstance(end, StreamEnded) else self._conclude(end)
        self._phase, self._kind, self._call = Phase.OVER, None, None
        return written

    def _conclude(self, end: End) -> bytes:
        if isinstance(end, StreamCut):
            return _frame(error_object(end)) if end.cause is Cut.ERROR else b""
        if not has_word(end.stop):
            return _frame(error_object(end))
        halves = self._halves + (list(self._unclosed.values()) if end.stop in VOUCHING else [])
        if halves:
            return _frame(half_a_call(halves[0]))
        if self._is_joined and self._has_calls and end.stop is Stop.END:
            end = StreamEnded(Stop.CALLS)  # this attempt called nothing, but an earlier one did
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

    # Seams

    def _leave(self, number: int) -> None:
        """Leave an open call for good, if there is one of that number: it will never be whole."""
        if number not in self._unclosed:
            return
        name = self._unclosed.pop(number)
        if number in self._waiting:
            self._waiting.forget(number)  # the client has not seen it
            return
        self._halves.append(name)
        if self._call is not None and self._call.call == number:
            self._call = replace(self._call, call=NO_CALL)

    def _part_ways(self) -> bytes:
        """Close a block that the next attempt cannot go on with."""
        return self._close() if self._kind in (ThinkingDelta, OpaqueBlock) else b""

    # Content

    def _say(self, event: Content) -> bytes:
        call = event.call if isinstance(event, CallOpened | CallArguments | CallClosed) else None
        if self._call is None or self._call.call == call:
            return self._say_now(event)
        if self._call.call != NO_CALL:  # else nobody will ever close it, and nothing can be said after it
            self._waiting.add(event)
        return b""

    def _go_on(self) -> bytes:
        """Say what waited, as far as no call is open."""
        out: list[bytes] = []
        while self._waiting and self._call is None:
            out += [self._part_ways() if event is None else self._say_now(event) for event in self._waiting.take()]
        return b"".join(out)

    def _say_now(self, event: Content) -> bytes:
        match event:
            case TextDelta(text=text) | RefusalDelta(text=text):
                return self._words(TextDelta, _TEXT, text)
            case ThinkingDelta(text=text):
                return self._words(ThinkingDelta, _THINKING, text)
            case CallArguments(call=number, text=text):
                if self._call is None and text.strip():
                    self._leave(number)  # its block was stopped: what comes now cannot be said, and is missed
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

    def _words(self, kind: type[Event], block: dict[str, Any], text: str) -> bytes:
        if not text:
            return b""
        if self._kind is kind:
            return self._delta(text)
        return self._open(kind, block) + self._delta(text)

    def _sign(self, signature: str) -> bytes:
        opening = b"" if self._kind is ThinkingDelta else self._open(ThinkingDelta, _THINKING)
        self._head = _DELTA % self._index + b'"signature_delta","signature":'
        return opening + self._delta(signature) + self._close()

    def _whole(self, block: dict[str, Any], raw: Raw | None) -> bytes:
        """Write a block that is whole from its start; another wire's has no meaning here."""
        if raw is not None and raw.wire != NAME:
            return b""
        return self._open(OpaqueBlock, block) + self._close()

    # Calls: free text travels as the one string of an object, escaped piece by piece.

    def _open_call(self, opened: CallOpened) -> bytes:
        block = {**(ours(opened.raw) or {}), "type": "tool_use", "id": opened.id, "name": opened.name, "input": {}}
        out = self._open(CallOpened, block)
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

    def _open(self, kind: type[Event], block: dict[str, Any]) -> bytes:
        closing = self._close()
        self._kind = kind
        self._index = self._next_index
        self._next_index += 1
        self._head = _DELTA % self._index + _HEADS.get(kind, b"")
        return closing + _frame({"type": "content_block_start", "index": self._index, "content_block": block})

    def _delta(self, text: str) -> bytes:
        return self._head + encode(text) + b"}}\n\n"

    def _close(self) -> bytes:
        if self._kind is None:
            return b""
        stop = _frame({"type": "content_block_stop", "index": self._index})
        self._kind = self._call = None
        return stop


def _frame(value: dict[str, Any]) -> bytes:
    return write_frame(encode(value), value["type"])
