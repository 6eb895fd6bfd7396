"""The frames of a Messages stream. Small deltas take a typed path; everything else is read as plain JSON.

The data's `type` says what a frame is, and the event's name stands in for it where it is missing. Frames of unknown
types say nothing. An error in any of its forms ends the stream, with the frame as the evidence.
"""

from typing import Any, Final

import msgspec
from msgspec import Struct

from headway.events import Cut, Event, KeepAlive, StreamCut, TextDelta, ThinkingDelta
from headway.wire.anthropic.errors import error_type, is_error
from headway.wire.anthropic.reader import NO_INDEX, ReplyReader
from headway.wire.decoding import EVIDENCE
from headway.wire.json_text import BadJson, decode, excerpt
from headway.wire.sse import Frame

_KEEP_ALIVE: Final = KeepAlive()


class _Words(Struct, tag_field="type", tag="text_delta", gc=False):
    text: str


class _Input(Struct, tag_field="type", tag="input_json_delta", gc=False):
    partial_json: str


class _Thought(Struct, tag_field="type", tag="thinking_delta", gc=False):
    thinking: str


class _Delta(Struct, tag_field="type", tag="content_block_delta", gc=False):
    """What most frames are. A frame of any other shape, an error among them, does not decode as one."""

    delta: _Words | _Input | _Thought
    index: int = NO_INDEX
    error: None = None
    base_resp: None = None


_read_delta = msgspec.json.Decoder(_Delta).decode


class MessageFrames:
    """What the frames of one stream mean."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self._reply = ReplyReader()

    def read(self, frame: Frame, out: list[Event]) -> None:
        """Append what one frame says."""
        try:
            said = _read_delta(frame.data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            self._read_any(frame, out)
            return
        delta, reply = said.delta, self._reply
        if type(delta) is _Input:
            reply.add_input(said.index, delta.partial_json, out)
        elif reply.collects:
            self._read_any(frame, out)
        elif type(delta) is _Words and delta.text:
            reply.spoke = True
            out.append(TextDelta(delta.text))
        elif type(delta) is _Thought and delta.thinking:
            reply.spoke = True
            out.append(ThinkingDelta(delta.thinking))
        else:
            out.append(_KEEP_ALIVE)

    def finish(self, out: list[Event]) -> None:
        """Append the verdict on the end of the bytes: only a stop reason that was seen makes it an end."""
        self._reply.ended(out, marked=False)

    def _read_any(self, frame: Frame, out: list[Event]) -> None:
        data = frame.data.strip()
        if frame.event == b"error":
            out.append(StreamCut(Cut.ERROR, excerpt(data, EVIDENCE), "error"))
        elif not data or frame.event == b"ping":
            out.append(_KEEP_ALIVE)
        elif data != b"[DONE]":  # a habit of other wires; it proves nothing here
            value = decode(data)
            if not isinstance(value, dict):
                raise BadJson("the frame is not an object")
            if is_error(value):
                out.append(StreamCut(Cut.ERROR, excerpt(data, EVIDENCE), error_type(value) or "error"))
            else:
                self._read_step(value, value.get("type") or frame.event.decode("utf-8", "replace"), out)

    def _read_step(self, value: dict[str, Any], kind: Any, out: list[Event]) -> None:
        reply = self._reply
        match kind:
            case "content_block_delta":
                reply.added(_index(value), _object(value, "delta"), out)
            case "content_block_start":
                reply.started(_index(value), _object(value, "content_block"), out)
            case "content_block_stop":
                reply.stopped(_index(value), out)
            case "message_start":
                reply.opened(_object(value, "message"), out)
            case "message_delta":
                reply.concluded(_object(value, "delta"), value.get("usage"), out)
            case "message_stop":
                reply.ended(out, marked=True)
            case _:
                out.append(_KEEP_ALIVE)


def _index(value: dict[str, Any]) -> int:
    index = value.get("index")
    return index if isinstance(index, int) else NO_INDEX


def _object(value: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an object that may be missing; anything else in its place cannot be passed over safely."""
    found = value.get(name)
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise BadJson(f"{name} is not an object")
    return found
