"""Follows a stream of chunks that is forwarded as it comes. Words need no look; the first chunk and calls do.

What is rarely wanted is read when somebody asks: the last chunks that said thinking for how it is told, and the last
few of all for a finish word, which no event tells.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    Event,
    KeepAlive,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
    Usage,
)
from headway.wire.json_text import BadJson, decode
from headway.wire.openai_chat.encoder import ChatEncoder
from headway.wire.openai_chat.shapes import CallDelta, FirstChunk, mended_chunk
from headway.wire.openai_chat.standing import OpenCall, Phase, Standing
from headway.wire.openai_chat.thinking import FLAT
from headway.wire.sse import Comment, Frame

_KEPT: Final = 8
"""How many frames are kept: a finish word, the usage and a few that a server adds."""
_CALLS: Final = re.compile(rb'"(?:tool_calls|function_call)"')
_OLD_FORM: Final = -1
"""Stands for the index of a call in the form that had none."""
_OF_ONE_CHUNK: Final = frozenset({"choices", "usage", "error", "obfuscation"})
_HEAD: Final[dict[str, object]] = {"id": "", "object": "chat.completion.chunk", "created": 0, "model": ""}


class ChatFollower:
    """Knows where one forwarded stream stands."""

    def __init__(self) -> None:
        """Start before the first chunk."""
        self._recent: deque[Frame | Comment] = deque(maxlen=_KEPT)
        self._head: dict[str, object] = {}
        self._thinking: Sequence[Frame | Comment] = ()
        self._calls: dict[int, OpenCall] = {}
        self._taken: set[int] = set()
        """The indexes of calls that were opened."""
        self._opened = 0
        self._announced: dict[int, str] = {}
        """The names of calls that a client has seen and no event has opened, by index: more was to come."""
        self._next_call = 0
        self._usage: Usage | None = None
        self._is_over = False
        self._after_word = False
        """Did the last frame say a word?"""

    def passed(self, frames: Sequence[Frame | Comment], events: Sequence[Event]) -> None:
        """Note frames that were forwarded, and the events that they said."""
        if not frames:
            return
        is_word = len(events) == 1 and type(events[0]) is TextDelta and len(frames) == 1
        if is_word and self._after_word:  # nearly always: it tells all that the frame of the last word did
            self._recent[-1] = frames[0]
            return
        self._after_word = is_word
        self._recent.extend(frames)
        for event in events:
            kind = type(event)
            if kind is TextDelta or kind is CallArguments:
                continue
            if kind is ThinkingDelta or kind is ThinkingSigned or kind is ThinkingSealed:
                self._thinking = frames if len(frames) < _KEPT else frames[-_KEPT:]
            else:
                self._note(event, frames)

    def encoder(self) -> ChatEncoder:
        """Return an encoder that goes on where the last forwarded chunk left off."""
        phase = self._phase()
        return ChatEncoder(
            standing=Standing(
                phase=phase,
                head=self._head,
                thinking=self._thinking_name(),
                next_detail=self._next_detail(),
                next_call=self._next_call,
                calls=self._calls,
                halves=tuple(self._announced.values()),
                usage=None if phase is Phase.CONCLUDED else self._usage,
            )
        )

    def heartbeat(self) -> bytes:
        """Return what keeps a client waiting: it has no number, so what comes next may still be forwarded."""
        return ChatEncoder(standing=Standing(phase=self._phase(), head=self._head)).heartbeat()

    def _phase(self) -> Phase:
        if self._is_over:
            return Phase.OVER
        if not self._head:
            return Phase.WAITING
        return Phase.CONCLUDED if _is_concluded(_chunks(self._recent)) else Phase.SAYING

    def _note(self, event: Event, frames: Sequence[Frame | Comment]) -> None:
        match event:
            case KeepAlive():
                self._look_for_calls(frames)
            case StreamOpened():
                self._head = next(map(_head, _opening(frames)), {})
                self._look_for_calls(frames)
            case CallOpened():
                index = self._index_of(event, frames)
                self._calls[event.call] = OpenCall(event.name, index, event.freeform)
                self._opened += 1
                place = self._next_call if index is None else index
                self._taken.add(place)
                self._next_call = max(self._next_call, self._opened, place + 1)
            case CallClosed():
                self._calls.pop(event.call, None)
            case Usage():
                self._usage = event
            case StreamEnded() | StreamCut(cause=Cut.ERROR):
                self._is_over = True
            case _:
                pass

    def _look_for_calls(self, frames: Sequence[Frame | Comment]) -> None:
        """Look at frames that said nothing yet: half of what announces a call is no event, but a client has seen it."""
        for call in _calls(frame for frame in frames if isinstance(frame, Frame) and _CALLS.search(frame.data)):
            if call.name:
                index = self._next_call if call.index is None else call.index
                if index not in self._taken:
                    self._announced[index] = call.name
                    self._next_call = max(self._next_call, index + 1)

    def _index_of(self, opened: CallOpened, frames: Sequence[Frame | Comment]) -> int | None:
        """Return the index under which a call stands on the wire; `None` if it came in the form that has none.

        Its id tells. A server that gives no ids is taken at its word by the name, or else by the order.
        """
        found = chain(
            (call.index for call in _calls(frames) if call.id and call.id == opened.id),
            (call.index for call in _calls(self._recent) if call.id and call.id == opened.id),
            (index for index, name in self._announced.items() if name == opened.name),
            (call.index for call in _calls(frames) if call.name == opened.name and call.index not in self._taken),
            (self._next_call,),
        )
        index = next(index for index in found if index is not None)
        self._announced.pop(index, None)
        return None if index == _OLD_FORM else index

    def _thinking_name(self) -> str:
        """Return the name under which this server tells its reasoning, if it told any as plain text."""
        for chunk in _chunks(self._thinking):
            for choice in chunk.choices or ():
                if choice.delta is not None and choice.delta.reasoning and not choice.delta.reasoning_content:
                    return FLAT[1]
        return FLAT[0]

    def _next_detail(self) -> int:
        """Return a number that no detail of reasoning has yet: clients join those of the same number."""
        numbers = [
            number
            for chunk in _chunks(self._thinking)
            for choice in chunk.choices or ()
            for detail in (choice.delta.reasoning_details if choice.delta else None) or ()
            if isinstance(number := detail.get("index", 0), int)
        ]
        return max(numbers, default=-1) + 1


def _values(frames: Iterable[Frame | Comment]) -> Iterator[dict[str, Any]]:
    for frame in frames:
        if isinstance(frame, Frame):
            try:
                value = decode(frame.data)
            except BadJson:
                continue  # `[DONE]`, or what ended the stream: the events say so
            if isinstance(value, list) and len(value) == 1:
                value = value[0]
            if isinstance(value, dict):
                yield value


def _chunks(frames: Iterable[Frame | Comment]) -> Iterator[FirstChunk]:
    for value in _values(frames):
        try:
            yield mended_chunk(value)
        except BadJson:
            continue


def _calls(frames: Iterable[Frame | Comment]) -> Iterator[CallDelta]:
    for chunk in _chunks(frames):
        for choice in chunk.choices or ():
            delta = choice.delta or choice.message
            if delta is not None:
                yield from delta.tool_calls or ()
                if delta.function_call is not None:
                    yield CallDelta(_OLD_FORM, function=delta.function_call)


def _opening(frames: Sequence[Frame | Comment]) -> Iterator[dict[str, Any]]:
    """Give the chunks that open a stream; a preamble without choices and names does not."""
    return (value for value in _values(frames) if value.get("choices") or value.get("id") or value.get("model"))


def _head(chunk: dict[str, Any]) -> dict[str, object]:
    """Return what a chunk says of the whole stream. Lists and objects are about this one chunk."""
    said = {
        name: value
        for name, value in chunk.items()
        if name not in _OF_ONE_CHUNK and not isinstance(value, dict | list) and (value or name not in _HEAD)
    }
    return said | {name: value for name, value in _HEAD.items() if name not in said}


def _is_concluded(chunks: Iterator[FirstChunk]) -> bool:
    """Say whether the finish word was said; one server says it early and goes on, and then it was not."""
    finished = False
    for chunk in chunks:
        for choice in chunk.choices or ():
            delta = choice.delta
            if choice.finish_reason and not choice.index:
                finished = True
            elif delta is not None and (delta.content or delta.refusal or delta.tool_calls):
                finished = False
    return finished
