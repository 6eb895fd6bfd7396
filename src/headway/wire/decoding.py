"""The part of decoding that all text wires share: frames, bodies that are no event stream, and exactly one end.

A wire gives a `FrameMeaning`: what one frame says, and what the end of the bytes means. Everything that can be wrong
around it is handled here: a JSON or HTML body where events were promised, an event without bounds, bytes after the
end. A frame that cannot be read ends the stream: nobody knows what was in it, so nothing after it may be
joined to what came before.
"""

from collections.abc import Callable
from typing import Any, Protocol

from headway.events import Cut, End, Event, KeepAlive, StreamCut, StreamEnded
from headway.wire.json_text import BadJson, Contradiction, decode, excerpt
from headway.wire.sse import DEFAULT_LIMIT, Frame, FrameReader, FrameTooLarge

EVIDENCE = 64 * 1024
_KEEP_ALIVE = KeepAlive()
_ENDS = frozenset({StreamEnded, StreamCut})


class FrameMeaning(Protocol):
    """What the frames of one wire mean."""

    def read(self, frame: Frame, out: list[Event]) -> None:
        """Append what the frame says. Append an end event when it is the wire's terminal mark or an error.

        Raises `BadJson` when the frame cannot be read and passing over it would not be safe.
        """
        ...

    def finish(self, out: list[Event]) -> None:
        """Append the verdict on a stream whose bytes ended: exactly one end event, last."""
        ...


class StreamDecoder:
    """Bytes of one response to events. Never raises."""

    def __init__(
        self,
        meaning: FrameMeaning,
        parse_reply: Callable[[dict[str, Any]], list[Event]],
        *,
        limit: int = DEFAULT_LIMIT,
    ) -> None:
        """Read frames by `meaning`; read a whole JSON body, should one come instead, by `parse_reply`."""
        self._meaning = meaning
        self._parse_reply = parse_reply
        self._limit = limit
        self._frames = FrameReader(limit)
        self._start = b""
        self._body: bytearray | None = None
        self._sniffed = False
        self._framed = False
        self.end: End | None = None
        self.taped = False
        """Does `feed` give each frame too, behind what it says?"""

    def feed(self, data: bytes) -> list[Event]:
        """Return the events that these bytes complete; nothing after the end. Every token of every stream comes by."""
        if self.end is not None or not data:
            return []
        if not self._sniffed:
            data = self._sniff(data)
        if self._body is not None:
            return self._collect(data)
        out: list[Event] = []
        try:
            for frame in self._frames.feed(data):
                if type(frame) is Frame:
                    self._framed = True
                    try:
                        self._meaning.read(frame, out)
                    except BadJson as exc:
                        cause = Cut.CONTRADICTORY if isinstance(exc, Contradiction) else Cut.UNREADABLE
                        out.append(StreamCut(cause, excerpt(frame.wire_bytes), str(exc)))
                    if out and type(out[-1]) in _ENDS:
                        self.end = out[-1]  # type: ignore[assignment]  # the set holds both kinds of end only
                else:
                    out.append(_KEEP_ALIVE)
                if self.taped:
                    out.append(frame)  # type: ignore[arg-type]  # who asked for a tape knows what is on it
                if self.end is not None:
                    break
        except FrameTooLarge as exc:
            self._finish(out, StreamCut(Cut.TOO_LARGE, excerpt(exc.start), str(exc)))
        return out

    def close(self) -> list[Event]:
        """Say that no more bytes come."""
        out: list[Event] = []
        if self.end is not None:
            return out
        if self._body is not None:
            self._read_body(out)
        elif not self._framed and (self._start.strip() or self._frames.rest.strip()):
            evidence = self._start or self._frames.rest
            self._finish(out, StreamCut(Cut.NOT_EVENTS, excerpt(evidence, EVIDENCE), "no event among the bytes"))
        else:
            self._meaning.finish(out)
            self.end = out[-1] if out and isinstance(out[-1], StreamEnded | StreamCut) else None
            if self.end is None:
                self._finish(out, StreamCut(Cut.EOF))
        return out

    def reopen(self) -> None:
        """Go on after a cut with the same stream, taken up again on the server: half a frame is sent anew."""
        self._frames = FrameReader(self._limit)
        self.end = None

    def _sniff(self, data: bytes) -> bytes:
        """Decide by the first visible byte whether this is an event stream; give back all bytes held so far."""
        self._start += data
        visible = self._start.lstrip(b"\xef\xbb\xbf \t\r\n")
        if not visible:
            return data if len(self._start) < EVIDENCE else self._decide(data)
        if visible[:1] in (b"{", b"[", b"<"):
            self._body = bytearray(self._start[: -len(data)] if len(self._start) > len(data) else b"")
        return self._decide(data)

    def _decide(self, data: bytes) -> bytes:
        self._sniffed = True
        self._start = self._start[:EVIDENCE] if self._body is None else b""
        return data

    def _collect(self, data: bytes) -> list[Event]:
        out: list[Event] = []
        body = self._body
        if body is None:
            return out
        body += data
        if len(body) > self._limit:
            evidence = excerpt(bytes(body[:EVIDENCE]), EVIDENCE)
            body.clear()
            self._finish(out, StreamCut(Cut.TOO_LARGE, evidence, f"the body is larger than {self._limit} bytes"))
        return out

    def _read_body(self, out: list[Event]) -> None:
        """Read a body that came instead of events: a whole reply, an error object, or a page for people."""
        body = bytes(self._body or b"").strip(b"\xef\xbb\xbf \t\r\n")
        try:
            value = decode(body)
            if isinstance(value, list) and len(value) == 1:
                value = value[0]
            events = self._parse_reply(value) if isinstance(value, dict) else []
        except BadJson as exc:
            self._finish(out, StreamCut(Cut.NOT_EVENTS, excerpt(body, EVIDENCE), str(exc)))
            return
        out.extend(events)
        last = out[-1] if out else None
        if isinstance(last, StreamEnded | StreamCut):
            self.end = last
        else:
            self._finish(out, StreamCut(Cut.NOT_EVENTS, excerpt(body, EVIDENCE), "the body is no reply"))

    def _finish(self, out: list[Event], end: End) -> None:
        out.append(end)
        self.end = end
