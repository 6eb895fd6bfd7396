"""What the frames of a Responses stream mean.

Only `response.completed` and `response.incomplete` end a response; `response.failed`, a cancelled response and any
error event cut it. `[DONE]` says nothing: official servers never send it, and others send it after broken streams too.
Events that nobody here knows keep the connection alive; what they are about comes again with the finished item.
"""

from typing import TYPE_CHECKING, Any

from headway.events import CallArguments, Cut, Event, KeepAlive, StreamCut, StreamOpened, TextDelta
from headway.wire.decoding import EVIDENCE
from headway.wire.json_text import decode, excerpt
from headway.wire.openai_responses.ending import (
    is_broken,
    is_complete,
    is_incomplete,
    read_end,
    read_failure,
    read_usage,
)
from headway.wire.openai_responses.growing import NOWHERE, Items, Phase, Words
from headway.wire.openai_responses.heads import BLANK, STREAMS, UNREADABLE, Head, Stream, decode_head, head_of
from headway.wire.openai_responses.parts import objects, string
from headway.wire.openai_responses.repeats import LONG, decode_repeat
from headway.wire.openai_responses.speech import Speech
from headway.wire.sse import Frame

if TYPE_CHECKING:
    from headway.wire.pieces import Pieces

_KEEP_ALIVE = KeepAlive()
_PROGRESS = ("response.created", "response.queued", "response.in_progress")


class ResponsesMeaning:
    """Reads the frames of one response. `response_id` and `sequence_number` are what a server needs to resume it."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self.response_id = ""
        self.sequence_number: int | None = None
        self._opened = False
        self._items = Items()
        self._speech = Speech()
        self._going: Pieces | None = None  # the words of the place that the last delta went to …
        self._going_head = BLANK  # … how that delta named it …
        self._going_call = NOWHERE  # … and the call whose arguments they are, if they are any

    def read(self, frame: Frame, out: list[Event]) -> None:
        """Append what the frame says; see `FrameMeaning`."""
        try:
            head = decode_head(frame.data)
        except UNREADABLE:
            self._read_oddity(frame, out)
            return
        last = self._going_head
        if (  # the usual case, and the only one that must be fast: more of the same
            self._going is not None
            and head.type == last.type
            and head.item_id == last.item_id
            and head.output_index == last.output_index
            and head.content_index == last.content_index
            and head.delta
        ):
            if head.sequence_number >= 0:
                self.sequence_number = head.sequence_number
            self._going.add(head.delta)
            call = self._going_call
            out.append(TextDelta(head.delta) if call == NOWHERE else CallArguments(call, head.delta))
        else:
            self._read(head, frame, out)

    def finish(self, out: list[Event]) -> None:
        """Append the verdict: bytes that end without a terminal event are cut, whatever they said last."""
        out.append(StreamCut(Cut.EOF))

    def read_response(self, response: dict[str, Any], out: list[Event]) -> None:
        """Append what a whole response says that was not said before, without its end."""
        self._open(response, out)
        for item, value in self._items.of_list(objects(response.get("output"))):
            if item.phase is Phase.OPEN:
                self._speech.finish(item, value, out)
        if is_complete(response):
            for item in self._items.all:
                self._speech.close_call(item, out)
        if usage := read_usage(response):
            out.append(usage)

    def end(self, response: dict[str, Any], out: list[Event]) -> None:
        """Append what is left to say and the end of a response that did not fail."""
        self.read_response(response, out)
        out.append(read_end(response, has_calls=self._speech.has_calls))

    def _read_oddity(self, frame: Frame, out: list[Event]) -> None:
        """Read a frame that is no ordinary event: a blank, a word, an error in plain text, fields of wrong types."""
        if frame.data.strip() in (b"", b"[DONE]"):
            out.append(_KEEP_ALIVE)
        elif frame.event == b"error":
            out.append(StreamCut(Cut.ERROR, excerpt(frame.data, EVIDENCE), "error"))
        else:
            self._read(head_of(decode(frame.data)), frame, out)

    def _read(self, head: Head, frame: Frame, out: list[Event]) -> None:
        if head.sequence_number >= 0:
            self.sequence_number = head.sequence_number
        head.type = head.type or frame.event.decode("utf-8", "replace")
        family, _, step = head.type.rpartition(".")
        stream = STREAMS.get(family)
        before = len(out)
        if stream is not None and step == "delta":
            self._read_delta(stream, head, out)
        elif stream is not None and step == "done":
            self._going = None
            item = self._items.of_delta(stream.item, head.output_index, head.item_id)
            self._speech.finish_part(item, stream.place(head), self._decode(frame.data).get(stream.field), out)
        else:
            self._read_envelope(head, self._decode(frame.data), out)
        if len(out) == before:
            out.append(_KEEP_ALIVE)

    def _decode(self, data: bytes) -> Any:
        return decode(data) if len(data) < LONG else decode_repeat(data, self._items.longest_text())

    def _read_delta(self, stream: Stream, head: Head, out: list[Event]) -> None:
        item = self._items.of_delta(stream.item, head.output_index, head.item_id)
        place = stream.place(head)
        self._speech.say(item, place, head.delta, out)
        if stream.words is Words.TEXT or (stream.words is Words.ARGUMENTS and item.call != NOWHERE):
            self._going, self._going_head, self._going_call = item.said.get(place), head, item.call

    def _read_envelope(self, head: Head, value: dict[str, Any], out: list[Event]) -> None:
        response, item = value.get("response"), value.get("item")
        response = response if isinstance(response, dict) else {}
        if head.type == "error" or value.get("error"):
            out.append(read_failure(value, "error"))
        elif head.type in ("response.failed", "response.cancelled") or is_broken(response):
            self._fail(head.type, value, response, out)
        elif head.type in _PROGRESS:
            self._open(response, out)
        elif head.type == "response.completed":
            self.end({**response, "status": "incomplete" if is_incomplete(response) else "completed"}, out)
        elif head.type == "response.incomplete":
            self.end({**response, "status": "incomplete"}, out)
        elif isinstance(item, dict):
            self._read_item(head, item, out)

    def _read_item(self, head: Head, value: dict[str, Any], out: list[Event]) -> None:
        if head.type == "response.output_item.added":
            self._going = None
            self._speech.begin(self._items.announce(value, head.output_index), value, out)
        elif head.type == "response.output_item.done":
            self._going = None
            self._speech.finish(self._items.of_object(value, head.output_index), value, out)

    def _open(self, response: dict[str, Any], out: list[Event]) -> None:
        if not self._opened:
            self._opened = True
            self.response_id = string(response.get("id"))
            out.append(StreamOpened(self.response_id, string(response.get("model"))))

    def _fail(self, said: str, value: dict[str, Any], response: dict[str, Any], out: list[Event]) -> None:
        self._open(response, out)
        if usage := read_usage(response):
            out.append(usage)
        out.append(read_failure(value, said))
