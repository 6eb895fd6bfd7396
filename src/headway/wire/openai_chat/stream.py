"""Chunks to events. The finish word is remembered, and the end is told at `[DONE]` or at the end of the bytes.

So the usage chunk between the two is still seen. Without a finish word nothing vouches for the reply: `[DONE]` or
a closing usage chunk is accepted for words and for calls that prove themselves, the bare end of the bytes never.
"""

from typing import Any

from msgspec import DecodeError

from headway.events import (
    Cut,
    Event,
    KeepAlive,
    RefusalDelta,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    Unread,
)
from headway.wire.decoding import EVIDENCE
from headway.wire.json_text import BadJson, decode, excerpt
from headway.wire.openai_chat.evidence import error_words, failure_envelope, failure_in, said_in
from headway.wire.openai_chat.shapes import (
    CallDelta,
    Choice,
    Chunk,
    ChunkDecode,
    Delta,
    FirstChunk,
    decode_chunk,
    decode_first_chunk,
    mended_chunk,
)
from headway.wire.openai_chat.thinking import ThinkingReader
from headway.wire.openai_chat.tokens import read_usage
from headway.wire.openai_chat.tool_calls import Calls
from headway.wire.openai_chat.words import SUCCESS, stop_of
from headway.wire.sse import Frame

_KEEP_ALIVE = KeepAlive()
_WORDLESS = Chunk([Choice(Delta())])
"""What is left of an opened stream's usual chunk once its words are taken out."""
_LEGACY_INDEX = -1


class ChatMeaning:
    """What the chunks of one stream mean."""

    def __init__(self) -> None:
        """Expect the first chunk."""
        self._decode: ChunkDecode = decode_first_chunk
        self._calls = Calls()
        self._thinking = ThinkingReader()
        self._stop: Stop | None = None
        self._word = self._detail = ""
        self._answered = False
        self._closing = ""
        self._others_seen = False

    def read(self, frame: Frame, out: list[Event]) -> None:
        """Append what the frame says."""
        try:
            chunk = self._decode(frame.data)
        except (DecodeError, UnicodeError, RecursionError):
            self._read_odd(frame, out)
            return
        choices = chunk.choices
        if choices is None or frame.event == b"error":
            self._read_odd(frame, out)
            return
        if choices and (delta := choices[0].delta) is not None and (text := delta.content):
            delta.content = None
            if chunk == _WORDLESS and not self._calls.unsettled:  # the usual chunk: words and nothing else
                self._answered, self._closing = True, ""
                out.append(TextDelta(text))
                return
            delta.content = text
        elif choices and delta is not None and (calls := delta.tool_calls) is not None and len(calls) == 1:
            delta.tool_calls = None
            if chunk == _WORDLESS and self._calls.goes_on(calls[0], out):  # nearly as usual: more of a call's arguments
                self._closing = ""
                return
            delta.tool_calls = calls
        self._read_chunk(chunk, frame.data, out)

    def finish(self, out: list[Event]) -> None:
        """Append the verdict on a stream whose bytes ended."""
        if self._stop is None and not self._closing:
            self._calls.open_held(out)
            out.append(StreamCut(Cut.EOF))
        else:
            self.conclude(self._closing, out)

    def conclude(self, said: str, out: list[Event]) -> None:
        """Append the end: by the finish word, or without one by what the reply proves by itself."""
        calls = self._calls
        if self._stop is not None:
            if self._stop in SUCCESS:
                calls.close_whole(out)  # what a server said after its finish word
            else:
                calls.open_held(out)
            stop = Stop.CALLS if self._stop is Stop.END and calls.closed else self._stop
            out.append(StreamEnded(stop, self._word, self._detail))
        elif calls.close_whole(out) and (self._answered or calls.closed):
            out.append(StreamEnded(Stop.CALLS if calls.closed else Stop.END, said))
        else:
            out.append(StreamCut(Cut.EOF, said=said))

    def read_value(self, value: Any, data: bytes, out: list[Event]) -> None:
        """Append what a decoded frame or a whole reply says; raise `BadJson` when it cannot be read."""
        if isinstance(value, list) and len(value) == 1:
            value = value[0]
        if not isinstance(value, dict):
            raise BadJson("the frame is not an object")
        said = "" if value.get("choices") or value.get("usage") else failure_envelope(value)
        if said:
            self._fail(data, said, out)
        else:
            self._read_chunk(mended_chunk(value), data, out)

    def _read_odd(self, frame: Frame, out: list[Event]) -> None:
        data = frame.data.strip()
        if data == b"[DONE]":
            self.conclude("[DONE]", out)
        elif frame.event == b"error":
            self._fail(data, said_in(data), out)
        elif not data:
            out.append(_KEEP_ALIVE)
        else:
            self.read_value(decode(data), data, out)

    def _read_chunk(self, chunk: Chunk, data: bytes, out: list[Event]) -> None:
        known, word = len(out), self._word
        if (chunk.error or chunk.base_resp or chunk.x_groq or chunk.input_sensitive or chunk.output_sensitive) and (
            said := failure_in(chunk)
        ):
            self._fail(data, said, out)
            return
        if self._decode is decode_first_chunk and isinstance(chunk, FirstChunk):
            self._open(chunk, out)
        for choice in chunk.choices or ():
            if choice.index:
                self._pass_over(data, out)
            elif choice.error:
                self._fail(data, error_words(choice.error), out)
                return
            else:
                self._read_choice(choice, out)
        if chunk.usage is not None or chunk.x_groq is not None:
            self._read_usage(chunk, out)
        if len(out) == known and word is self._word:
            out.append(_KEEP_ALIVE)

    def _open(self, chunk: FirstChunk, out: list[Event]) -> None:
        """Tell who answers. A preamble without choices and names opens nothing."""
        if chunk.choices or chunk.id or chunk.model:
            self._decode = decode_chunk
            out.append(StreamOpened(chunk.id or "", chunk.model or ""))

    def _read_choice(self, choice: Choice, out: list[Event]) -> None:
        self._closing = ""
        delta = choice.delta
        if delta is None and not self._answered and not self._calls.opened:
            delta = choice.message  # a whole reply, or a server that streams one; later on it only repeats
        if delta is not None:
            text = delta.content
            if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
                self._read_thinking(delta, out)
            if text:
                if self._calls.unsettled:
                    self._calls.settle(out)
                self._answered = True
                out.append(TextDelta(text))
            if delta.refusal or delta.tool_calls or delta.function_call:
                self._read_rarer(delta, out)
        if choice.finish_reason:
            self._read_finish(choice, choice.finish_reason, out)

    def _read_thinking(self, delta: Delta, out: list[Event]) -> None:
        events = self._thinking.read(delta)
        if events:
            self._calls.settle(out)
            out += events

    def _read_rarer(self, delta: Delta, out: list[Event]) -> None:
        if delta.refusal:
            self._calls.settle(out)
            self._answered = True
            out.append(RefusalDelta(delta.refusal))
        if delta.tool_calls:
            self._calls.read(delta.tool_calls, out)
        if delta.function_call:
            self._calls.read((CallDelta(_LEGACY_INDEX, function=delta.function_call),), out)

    def _read_finish(self, choice: Choice, word: str, out: list[Event]) -> None:
        """Remember the word. A second one counts only if it takes back a success."""
        if self._stop is None or self._stop in SUCCESS:
            self._stop, self._word, self._detail = stop_of(word), word, choice.native_finish_reason or ""
            if self._stop in SUCCESS:
                self._calls.close_all(out)

    def _read_usage(self, chunk: Chunk, out: list[Event]) -> None:
        usage = chunk.usage or (chunk.x_groq or {}).get("usage")
        if usage:
            out.append(read_usage(usage))
            if not chunk.choices:
                self._closing = "usage"

    def _pass_over(self, data: bytes, out: list[Event]) -> None:
        if not self._others_seen:
            self._others_seen = True
            out.append(Unread("a choice other than the first", excerpt(data)))

    def _fail(self, data: bytes, said: str, out: list[Event]) -> None:
        self._calls.open_held(out)
        out.append(StreamCut(Cut.ERROR, excerpt(data, EVIDENCE), said))
