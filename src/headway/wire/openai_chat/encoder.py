"""Events to chunks. The envelope is built once; a delta is its text between prepared bytes.

A stream has one id and one model, those of its first `StreamOpened`. Usage is held until the finish chunk, where this
wire has its place. A cut is said as an error if it was one, and otherwise not at all: an end is never invented.
"""

from enum import Enum
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
from headway.wire.openai_chat.evidence import write_error
from headway.wire.openai_chat.raw import own
from headway.wire.openai_chat.thinking import DETAILS, write_detail, write_sealed
from headway.wire.openai_chat.tokens import write_usage
from headway.wire.openai_chat.words import FINISH_WORDS
from headway.wire.sse import write_comment, write_frame

_TAIL = b',"finish_reason":null}]}\n\n'
_TEXT_TAIL = b"}" + _TAIL
_ARGUMENTS_TAIL = b"}}]}" + _TAIL
_DONE = write_frame(b"[DONE]")
_KEEP_ALIVE = write_comment()


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


class _Phase(Enum):
    WAITING = "waiting"
    SAYING = "saying"
    OVER = "over"


class ChatEncoder:
    """Writes one stream."""

    def __init__(self, *, created: int = 0) -> None:
        """Stamp every chunk with `created`, in seconds since the epoch."""
        self._created = created
        self._phase = _Phase.WAITING
        self._envelope = self._delta = self._text = b""
        self._arguments: dict[int, bytes] = {}
        self._usage: Usage | None = None
        self._thought: list[str] = []
        self._details = 0

    def write(self, event: Event) -> bytes:
        """Return the bytes that say this event; empty when the wire has no word for it."""
        if self._phase is _Phase.SAYING:
            kind = type(event)
            if kind is TextDelta:
                if self._thought:
                    self._thought.clear()
                return self._text + _quoted(event.text) + _TEXT_TAIL  # type: ignore[union-attr]
            if kind is CallArguments and event.call in self._arguments:  # type: ignore[union-attr]
                return self._arguments[event.call] + _quoted(event.text) + _ARGUMENTS_TAIL  # type: ignore[union-attr]
        return self._write_rarer(event)

    def _write_rarer(self, event: Event) -> bytes:
        if self._phase is _Phase.OVER:
            return b""
        match event:
            case KeepAlive():
                return _KEEP_ALIVE
            case Usage():
                self._usage = event
                return b""
            case StreamCut():
                self._phase = _Phase.OVER
                return write_frame(encode(write_error(event))) if event.cause is Cut.ERROR else b""
            case CallClosed() | OpaqueBlock() | Unread():
                return b""
            case StreamOpened():
                return self._open(event)
            case _:
                return self._open(StreamOpened()) + self._say(event)

    def _open(self, opened: StreamOpened) -> bytes:
        """Begin the stream; a later attempt of the same stream goes on under the first one's name."""
        if self._phase is not _Phase.WAITING:
            return b""
        self._phase = _Phase.SAYING
        head = {"id": opened.id, "object": "chat.completion.chunk", "created": self._created, "model": opened.model}
        self._envelope = b"data: " + encode(head)[:-1]
        self._delta = self._envelope + b',"choices":[{"index":0,"delta":'
        self._text = self._delta + b'{"content":'
        return self._chunk({"role": "assistant", "content": ""})

    def _say(self, event: _Said) -> bytes:
        if isinstance(event, ThinkingDelta):
            self._thought.append(event.text)
            return self._words(b"reasoning_content", event.text)
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
            case CallArguments():
                return b""  # of a call that never opened
            case StreamEnded():
                return self._end(event)
            case _:
                assert_never(event)

    def _open_call(self, opened: CallOpened) -> bytes:
        kind, words = ("custom", "input") if opened.freeform else ("function", "arguments")
        start = f'{{"tool_calls":[{{"index":{opened.call},"{kind}":{{"{words}":'
        self._arguments[opened.call] = self._delta + start.encode()
        call = {"index": opened.call, "id": opened.id, "type": kind, kind: {"name": opened.name, words: ""}}
        return self._chunk({"tool_calls": [{**own(opened.raw), **call}]})

    def _detail(self, details: list[dict[str, Any]]) -> bytes:
        """Write a whole block of reasoning, numbered, because clients join details by their index."""
        numbered = [{"index": self._details + i, **detail} for i, detail in enumerate(details)]
        self._details += len(details)
        return self._chunk({DETAILS: numbered})

    def _end(self, ended: StreamEnded) -> bytes:
        self._phase = _Phase.OVER
        word = FINISH_WORDS[ended.stop].encode()
        finish = self._delta + b'{},"finish_reason":"' + word + b'"}]}\n\n'
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
