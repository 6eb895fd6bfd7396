"""Follows a Messages stream that is forwarded as it comes. Only the frames around blocks are looked at.

What deltas say is of no concern here, but for two things: whether any input of the open call came, which the events
tell, and whether the open thinking is signed already, which the last frame tells when somebody asks.
"""

from collections.abc import Sequence
from typing import Any, Final

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    OpaqueBlock,
    StreamCut,
    StreamEnded,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from headway.wire.anthropic.blocks import text_of
from headway.wire.anthropic.encoder import MessageEncoder
from headway.wire.anthropic.reader import NO_INDEX
from headway.wire.anthropic.standing import NO_CALL, Phase, Standing
from headway.wire.json_text import BadJson, decode
from headway.wire.sse import Comment, Frame

_DELTA: Final = b"content_block_delta"
_NAMELESS_DELTA: Final = b'{"type":"content_block_delta"'
_KINDS: Final[dict[str, type[Event]]] = {"text": TextDelta, "thinking": ThinkingDelta, "tool_use": CallOpened}


class MessageFollower:
    """Knows where one forwarded stream stands."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self._phase = Phase.WAITING
        self._open: dict[int, type[Event]] = {}
        """The blocks that were not stopped, by index. The last one is where words go on."""
        self._seen: set[int] = set()
        self._blocks = 0
        self._next_index = 0
        self._call = NO_CALL
        self._awaits_input = False
        self._unclosed: dict[int, str] = {}
        self._has_calls = False
        self._usage: Usage | None = None
        self._last: Frame | Comment | None = None

    def passed(self, frames: Sequence[Frame | Comment], events: Sequence[Event]) -> None:
        """Note frames that were forwarded, and the events that they said."""
        if not frames:
            return
        self._last = frames[-1]
        usual = True
        for frame in frames:
            if type(frame) is Frame and frame.event != _DELTA and not _is_nameless_delta(frame):
                usual = False
                self._look_at(frame)
        if not usual or self._awaits_input:
            for event in events:
                self._note(event)

    def encoder(self) -> MessageEncoder:
        """Return an encoder that goes on where the last forwarded frame left off."""
        index, kind = next(reversed(self._open.items()), (0, None))
        if kind is ThinkingDelta and self._last is not None and b'"signature_delta"' in _data(self._last):
            kind = OpaqueBlock
        return MessageEncoder(
            Standing(
                phase=self._phase,
                kind=kind if self._phase is Phase.SAYING else None,
                index=index,
                next_index=self._next_index,
                call=self._call,
                is_blank=self._awaits_input,
                unclosed=self._unclosed,
                has_calls=self._has_calls,
                usage=self._usage,
            )
        )

    def heartbeat(self) -> bytes:
        """Return what keeps a client waiting: it has no number, so what comes next may still be forwarded."""
        return self.encoder().heartbeat()

    def _note(self, event: Event) -> None:
        match event:
            case CallOpened():
                self._call, self._awaits_input = event.call, True
                self._unclosed[event.call] = event.name
            case CallArguments(text=text):
                self._awaits_input = self._awaits_input and text.isspace()
            case CallClosed():
                self._unclosed.pop(event.call, None)
                self._has_calls = True
            case Usage():
                self._usage = event
            case StreamEnded() | StreamCut(cause=Cut.ERROR):
                self._phase = Phase.OVER
            case _:
                pass

    def _look_at(self, frame: Frame) -> None:
        try:
            value = decode(frame.data)
        except BadJson:
            return  # a ping without data, or the frame that ends all: the events say so
        if not isinstance(value, dict):
            return
        match value.get("type") or frame.event.decode("utf-8", "replace"):
            case "message_start" if self._phase is Phase.WAITING:
                self._phase = Phase.SAYING
            case "content_block_start":
                self._started(value.get("index"), value.get("content_block"))
            case "content_block_stop":
                self._stopped(value.get("index"))
            case "message_delta" if self._phase is Phase.SAYING and _stops(value.get("delta")):
                self._phase = Phase.CONCLUDED
            case _:
                pass

    def _started(self, given: Any, block: Any) -> None:
        """Note a block. Its index may be missing, or have been used before: the next one must still be new."""
        index = given if isinstance(given, int) and given >= 0 else self._next_index
        self._blocks += 1
        self._next_index = max(self._next_index, index + 1, self._blocks)
        self._seen.add(index)
        self._open.pop(index, None)
        self._open[index] = _KINDS.get(text_of(block.get("type")) if isinstance(block, dict) else "", OpaqueBlock)
        self._awaits_input = False

    def _stopped(self, given: Any) -> None:
        """Note the end of a block; one that names none of those that were started means the last."""
        index = given if isinstance(given, int) else NO_INDEX
        if index in self._open:
            del self._open[index]
        elif self._open and index not in self._seen:
            self._open.popitem()
        self._awaits_input = False


def _is_nameless_delta(frame: Frame) -> bool:
    return not frame.event and frame.data.startswith(_NAMELESS_DELTA)


def _data(frame: Frame | Comment) -> bytes:
    return frame.data if isinstance(frame, Frame) else b""


def _stops(delta: Any) -> bool:
    return isinstance(delta, dict) and bool(delta.get("stop_reason"))
