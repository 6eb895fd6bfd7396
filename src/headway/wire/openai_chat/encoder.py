"""Events to chunks. The envelope is built once; a delta is its text between prepared bytes.

A stream has one id and one model, those of its first `StreamOpened`. Usage is held until the finish chunk, where this
wire has its place. A cut is said as an error if it was one, and otherwise not at all: an end is never invented.

A heartbeat is a chunk with an empty delta, which every client must know because the finish chunk has one too. A comment
is worse: clients that count events do not see it, some parse it as JSON, and an empty `choices` breaks those that take
the first without looking.
"""

from typing import Any, TypeAlias, assert_never

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
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
from headway.wire.json_text import BadJson, encode
from headway.wire.openai_chat.evidence import write_error, write_half_a_call
from headway.wire.openai_chat.raw import own
from headway.wire.openai_chat.standing import FRESH, OpenCall, Phase, Standing
from headway.wire.openai_chat.thinking import DETAILS, write_detail, write_sealed
from headway.wire.openai_chat.tokens import write_usage
from headway.wire.openai_chat.words import FINISH_WORDS, SUCCESS
from headway.wire.sse import write_comment, write_frame

_TAIL = b',"finish_reason":null}]}\n\n'
_TEXT_TAIL = b"}" + _TAIL
_ARGUMENTS_TAIL = b"}}]}" + _TAIL
_DONE = write_frame(b"[DONE]")
_KEEP_ALIVE = write_comment()
_AFTER_THE_FINISH = (KeepAlive, Usage, StreamEnded, StreamCut)
_VOUCHING = SUCCESS | {Stop.SEQUENCE, Stop.PAUSE}
"""Ends at which everything said before is whole."""


_Said: TypeAlias = (
    TextDelta
    | RefusalDelta
    | ThinkingDelta
    | ThinkingSigned
    | ThinkingSealed
    | CallOpened
    | CallArguments
    | StreamEnded
)


class ChatEncoder:
    """Writes one stream."""

    def __init__(self, *, created: int = 0, standing: Standing = FRESH) -> None:
        """Begin a stream whose chunks are stamped `created`, in seconds since the epoch; or go on where one stands."""
        self._created = created
        self._phase = standing.phase
        self._envelope = self._delta = self._text = b""
        if standing.head:
            self._speak_as(standing.head)
        self._thinking = standing.thinking.encode()
        self._usage = standing.usage
        self._thought: list[str] = []
        self._details = standing.next_detail
        self._next_call = standing.next_call
        self._calls = dict(standing.calls)
        """The calls that are not closed, by number."""
        self._halves = list(standing.halves)
        """The names of calls that will never be whole."""
        self._is_joined = standing is not FRESH
        """Is this the work of several? Then it vouches for no call that nobody closed."""
        self._arguments = {
            number: self._piece_head(call.index, freeform=call.freeform)
            for number, call in standing.calls.items()
            if call.index is not None
        }

    def write(self, event: Event) -> bytes:
        """Return the bytes that say this event; empty when the wire has no word for it."""
        if self._phase is Phase.SAYING:
            kind = type(event)
            if kind is TextDelta:
                if self._thought:
                    self._thought.clear()
                return self._text + _quoted(event.text) + _TEXT_TAIL  # type: ignore[union-attr]
            if kind is CallArguments and event.call in self._arguments:  # type: ignore[union-attr]
                return self._arguments[event.call] + _quoted(event.text) + _ARGUMENTS_TAIL  # type: ignore[union-attr]
        return self._write_rarer(event)

    def seam(self, keeping: int | None = None) -> bytes:
        """Say that another attempt goes on with this stream; see `Encoder`. On this wire it takes no bytes."""
        self._thought.clear()
        self._is_joined = True
        self._halves += [call.name for number, call in self._calls.items() if number != keeping]
        self._calls = {number: call for number, call in self._calls.items() if number == keeping}
        self._arguments = {number: self._arguments[number] for number in self._calls if number in self._arguments}
        return b""

    def heartbeat(self) -> bytes:
        """Return what keeps a client waiting."""
        if self._phase is Phase.OVER:
            return b""
        return self._chunk({}) if self._phase is Phase.SAYING else _KEEP_ALIVE

    def _write_rarer(self, event: Event) -> bytes:
        if self._phase is Phase.OVER or (self._phase is Phase.CONCLUDED and not isinstance(event, _AFTER_THE_FINISH)):
            return b""
        match event:
            case KeepAlive():
                return _KEEP_ALIVE
            case Usage():
                self._usage = event
                return b""
            case StreamCut():
                self._phase = Phase.OVER
                return write_frame(encode(write_error(event))) if event.cause is Cut.ERROR else b""
            case CallClosed():
                self._calls.pop(event.call, None)
                return b""
            case OpaqueBlock() | Unread():
                return b""
            case StreamOpened():
                return self._open(event)
            case _:
                return self._open(StreamOpened()) + self._say(event)

    def _open(self, opened: StreamOpened) -> bytes:
        """Begin the stream; a later attempt of the same stream goes on under the first one's name."""
        if self._phase is not Phase.WAITING:
            return b""
        self._phase = Phase.SAYING
        self._speak_as(
            {
                "id": opened.id,
                "object": "chat.completion.chunk",
                "created": opened.created or self._created,
                "model": opened.model,
            }
        )
        return self._chunk({"role": "assistant", "content": ""})

    def _speak_as(self, head: dict[str, object]) -> None:
        self._envelope = b"data: " + encode(head)[:-1]
        self._delta = self._envelope + b',"choices":[{"index":0,"delta":'
        self._text = self._delta + b'{"content":'

    def _say(self, event: _Said) -> bytes:
        if isinstance(event, ThinkingDelta):
            self._thought.append(event.text)
            return self._words(self._thinking, event.text)
        thought = "".join(self._thought)
        self._thought.clear()
        match event:
            case TextDelta(text=text):
                return self._words(b"content", text)
            case RefusalDelta(text=text):
                return self._words(b"refusal", text)
            case ThinkingSigned(signature=signature):
                return self._detail([write_detail(thought, signature)])
            case ThinkingSealed(sealed=sealed, raw=raw):
                return self._detail(write_sealed(sealed, raw))
            case CallOpened():
                return self._open_call(event)
            case CallArguments(call=number):
                return self._miss(number)
            case StreamEnded():
                return self._end(event)
            case _:
                assert_never(event)

    def _open_call(self, opened: CallOpened) -> bytes:
        self._miss(opened.call)
        kind, words = ("custom", "input") if opened.freeform else ("function", "arguments")
        index, self._next_call = self._next_call, self._next_call + 1
        self._calls[opened.call] = OpenCall(opened.name, index, opened.freeform)
        self._arguments[opened.call] = self._piece_head(index, freeform=opened.freeform)
        call = {"index": index, "id": opened.id, "type": kind, kind: {"name": opened.name, words: ""}}
        return self._chunk({"tool_calls": [{**own(opened.raw), **call}]})

    def _piece_head(self, index: int, *, freeform: bool) -> bytes:
        kind, words = ("custom", "input") if freeform else ("function", "arguments")
        return self._delta + f'{{"tool_calls":[{{"index":{index},"{kind}":{{"{words}":'.encode()

    def _miss(self, number: int) -> bytes:
        """Note that an open call will never be whole: what belongs to it cannot be said, or its number is taken."""
        if call := self._calls.pop(number, None):
            self._halves.append(call.name)
        return b""

    def _detail(self, details: list[dict[str, Any]]) -> bytes:
        """Write a whole block of reasoning, numbered, because clients join details by their index."""
        numbered = [{"index": self._details + i, **detail} for i, detail in enumerate(details)]
        self._details += len(details)
        return self._chunk({DETAILS: numbered})

    def _end(self, ended: StreamEnded) -> bytes:
        said, self._phase = self._phase is Phase.CONCLUDED, Phase.OVER
        halves = self._halves + [c.name for c in self._calls.values() if self._is_joined and ended.stop in _VOUCHING]
        if halves and not said:
            return write_frame(encode(write_half_a_call(halves[0])))
        is_call = self._is_joined and self._next_call > 0 and ended.stop is Stop.END  # an earlier attempt called
        word = FINISH_WORDS[Stop.CALLS if is_call else ended.stop].encode()
        finish = b"" if said else self._delta + b'{},"finish_reason":"' + word + b'"}]}\n\n'
        if self._usage is None:
            return finish + _DONE
        usage = self._envelope + b',"choices":[],"usage":' + encode(write_usage(self._usage)) + b"}\n\n"
        return finish + usage + _DONE

    def _words(self, key: bytes, text: str) -> bytes:
        return self._delta + b'{"' + key + b'":' + _quoted(text) + _TEXT_TAIL

    def _chunk(self, delta: dict[str, Any]) -> bytes:
        return self._delta + encode(delta) + _TAIL


def _quoted(text: str) -> bytes:
    """Return text as JSON; half a character, which no JSON can hold, is replaced."""
    try:
        return encode(text)
    except BadJson:
        return encode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
