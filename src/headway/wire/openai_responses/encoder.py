"""Events to the bytes of a Responses stream, in the shapes that the official clients accumulate.

Readable thinking is a reasoning summary, the form that clients show; another wire's signature travels as an extra field
of its reasoning item. A call that was not closed gets no `done` events, because clients run a call when they see those:
it stands in the final output as incomplete. A cut that is no error writes nothing: an end is never invented.

A heartbeat is `response.in_progress` once more: all clients know it, and it resets the timers of those that count
events, which give up under comments. The vendor's own `keepalive` is not in its documentation, and several fail on it.
"""

from typing import Any

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
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
from headway.wire.openai_responses.ending import write_end, write_error, write_half_a_call, write_usage
from headway.wire.openai_responses.numbering import Numbering
from headway.wire.openai_responses.output import Output
from headway.wire.openai_responses.parts import own, string
from headway.wire.openai_responses.shapes import REFUSAL, SUMMARY, TEXT, PartShape, response_object
from headway.wire.openai_responses.standing import Standing
from headway.wire.sse import write_comment


class ResponsesEncoder:
    """Writes the events of one response. After the end it writes nothing."""

    def __init__(self, created_at: int = 0, standing: Standing | None = None) -> None:
        """Begin a response dated `created_at`, in seconds since 1970; or go on where one stands."""
        self._is_joined = standing is not None
        """Is this the work of several? Then it vouches for no call that nobody closed."""
        standing = standing or Standing()
        self._created_at = created_at
        self._base = standing.response
        self._numbered = Numbering(standing.next_number)
        self._output = Output(standing, self._numbered)
        self._opened: StreamOpened | None = None
        if self._base:
            self._name(StreamOpened(string(self._base.get("id")), string(self._base.get("model"))))
        self._usage: Usage | None = None
        self._end: End | None = StreamCut(Cut.EOF) if standing.is_over else None

    def write(self, event: Event) -> bytes:
        """Return the bytes that say this event."""
        if self._end is not None:
            return b""
        kind = type(event)
        if kind is TextDelta:
            return self._say(TEXT, event.text)  # type: ignore[union-attr]
        if kind is CallArguments:
            return self._output.say_arguments(event.call, event.text)  # type: ignore[union-attr]
        return self._write_rarer(event)

    def seam(self, keeping: int | None = None) -> bytes:
        """Say that another attempt goes on with this stream; see `Encoder`."""
        if self._opened is None or self._end is not None:
            return b""
        self._is_joined = True
        return self._output.seam(keeping)

    def heartbeat(self) -> bytes:
        """Return what keeps a client waiting."""
        if self._end is not None:
            return b""
        if self._opened is None:
            return write_comment()
        response = self._response({"status": "in_progress", "output": [], "usage": None})
        return self._numbered.event("response.in_progress", {"response": response})

    def reply(self) -> dict[str, Any]:
        """Return the whole response that the events make; without an end it is one that was cut."""
        end = self._end or StreamCut(Cut.EOF)
        if self._opened is None and isinstance(end, StreamCut):
            return {"error": write_error(end)}
        self._output.close_words("incomplete")
        self._output.settle_calls()
        return self._response(write_end(end))

    def _write_rarer(self, event: Event) -> bytes:
        match event:
            case TextDelta(text=text):
                return self._say(TEXT, text)
            case RefusalDelta(text=text):
                return self._say(REFUSAL, text)
            case ThinkingDelta(text=text):
                return self._say(SUMMARY, text)
            case KeepAlive():
                return write_comment()
            case Usage():
                self._usage = event
                return b""
            case StreamOpened():
                return self._open(event)
            case StreamEnded() | StreamCut():
                self._end = event
                return self._finish(event)
            case CallArguments() | Unread():
                return b""
            case _:
                return self._open(StreamOpened()) + self._write_block(event)

    def _write_block(self, event: CallOpened | CallClosed | ThinkingSigned | ThinkingSealed | OpaqueBlock) -> bytes:
        match event:
            case CallOpened():
                return self._output.open_call(event)
            case CallClosed(call=number):
                return self._output.close_call(number)
            case ThinkingSigned(signature=signature):
                return self._output.seal({"signature": signature})
            case ThinkingSealed(sealed=sealed, raw=raw):
                return self._output.seal({**own(raw), "encrypted_content": sealed})
            case OpaqueBlock(raw=raw):
                return self._output.write_whole(own(raw))

    def _say(self, shape: PartShape, text: str) -> bytes:
        if not text:
            return b""
        if self._opened is None:
            return self._open(StreamOpened()) + self._output.say(shape, text)
        return self._output.say(shape, text)

    def _open(self, opened: StreamOpened) -> bytes:
        if self._opened is not None:
            return b""
        self._name(opened)
        response = {"response": self._response({"status": "in_progress"})}
        return self._numbered.event("response.created", response) + self._numbered.event(
            "response.in_progress", response
        )

    def _name(self, opened: StreamOpened) -> None:
        self._opened = opened
        self._output.response_id = opened.id

    def _finish(self, end: End) -> bytes:
        if isinstance(end, StreamCut):
            if end.cause is not Cut.ERROR:
                return b""
            if self._opened is None:
                return self._numbered.event("error", {**write_error(end), "param": None})
        written = self._open(StreamOpened()) + self._output.tidy_up()
        ending = self._ending(end)
        status = ending["status"]
        written += self._output.close_words("completed" if status == "completed" else "incomplete")
        self._output.settle_calls()
        return written + self._numbered.event(f"response.{status}", {"response": self._response(ending)})

    def _ending(self, end: End) -> dict[str, Any]:
        """Return how the response ends; around half a call, one that was pieced together never ends well."""
        ending = write_end(end)
        status = ending["status"]
        is_claimed = self._is_joined and status == "completed"
        halves = self._output.halves + [call.name for call in self._output.calls.values() if is_claimed]
        return write_half_a_call(halves[0]) if halves and status != "failed" else ending

    def _response(self, ending: dict[str, Any]) -> dict[str, Any]:
        opened = self._opened or StreamOpened()
        response = response_object(opened, opened.created or self._created_at)
        changing = {"output": self._output.items, "usage": write_usage(self._usage) if self._usage else None}
        return {**response, **self._base, "error": None, "incomplete_details": None, **changing, **ending}
