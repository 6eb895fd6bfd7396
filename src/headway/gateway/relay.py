"""What a turn says, as one continuous stream in the client's wire. Pure: items in, bytes out.

A stream of the client's own wire is forwarded frame by frame, as it came, while nothing is wrong; once something is,
the wire's encoder takes it over where the last forwarded frame left off. Three rules keep every stream one that can
still be finished:

- Only content pulls: a frame that says nothing waits for the next one that does, or for the end. So nothing that
  closes, stops or finishes is forwarded before it is decided that the turn ends.
- Calls are held from the first one on until the turn ends (`HOLD`), or forwarded up to the last safe cut (`LIVE`).
- The end is written when the turn has ended, from what the turn has, and never because a stream stopped.
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec.structs import replace

from headway.events import (
    CONTENT,
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    KeepAlive,
    RefusalDelta,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    Usage,
)
from headway.gateway.call_ids import CallIds
from headway.gateway.live_calls import LiveCalls
from headway.gateway.manners import Calls, Manners
from headway.gateway.retelling import events_of
from headway.messages import ToolCall
from headway.recovery.ledger import Salvage
from headway.wire.base import Encoder, Follower, Order, Wire
from headway.wire.sse import Comment, Frame

Heard: TypeAlias = Event | Frame | Comment
_CALL = (CallOpened, CallArguments, CallClosed)
_PULLS = tuple(kind for kind in CONTENT if kind is not CallClosed)
"""A call's end may stand in one frame with the finish of the reply, so it waits."""
_WORDS = frozenset({TextDelta, RefusalDelta, ThinkingDelta})
_NO_CHOICES = (b'"choices":[]', b'"choices": []')


class Relay:
    """The client's stream. `visible` says whether the client has got anything of the reply."""

    def __init__(
        self, wire: Wire, manners: Manners, opened: StreamOpened, free_tools: frozenset[str] = frozenset()
    ) -> None:
        """Write in a wire, by the manners of a route; `opened` is for a reply whose upstream does not name itself.

        `free_tools` take free text: a call of one that comes as JSON can only be told once it is whole.
        """
        self._wire, self._manners, self._opened, self._free_tools = wire, manners, opened, free_tools
        self._follower: Follower = wire.follower()
        self._order: Order = wire.order()
        self._encoder: Encoder | None = None
        self._live = LiveCalls()
        self._ids = CallIds(opened.id)
        self._pending: list[tuple[Frame | Comment, list[Event]]] = []
        self._opening = b""
        self._passes = False
        self._comments = False
        self._holds = False
        self._ended = False
        self.visible = False
        self.seams = 0

    # One attempt

    def begins(self, wire: str, upstream: str, *, comments: bool = False) -> bytes:
        """Note that an attempt begins. `comments`: what it says besides calls is not part of the reply."""
        self._pending.clear()
        self._comments, self._holds, self._ended = comments, False, False
        if not self.visible:
            self._follower, self._encoder, self._opening = self._wire.follower(), None, b""
            self._order = self._wire.order()
            self._live = LiveCalls()
            self._passes = wire == self._wire.name and not comments
            return b""
        self.seams += 1
        self._live.forget_unseen()
        self._holds = self._live.open_call is not None
        joint = self._take_over().seam(keeping=self._live.open_call)
        mark = f": headway: {upstream} goes on\n\n".encode() if self._manners.marks_seams else b""
        return joint + mark

    def hear(self, items: Sequence[Heard]) -> bytes:
        """Return what the client gets of what was said. Every token of every stream comes by here."""
        if len(items) == 2 and self._passes and type(items[0]) is TextDelta and type(items[1]) is Frame:
            return self._judge(items[1], [items[0]])  # nearly always, of somebody who speaks slowly
        out: list[bytes] = []
        said: list[Event] = []
        for item in items:
            kind = type(item)
            if kind is not Frame and kind is not Comment:
                said.append(item)  # type: ignore[arg-type]
            elif self._passes:
                out.append(self._judge(item, said))  # type: ignore[arg-type]
                said = []
        if said:
            self._say(said, out)
        return b"".join(out)

    def breaks(self) -> None:
        """Note that the attempt broke: its own end, if it had one, is not the client's."""
        self._ended = False

    # The end

    def ends(self, ended: StreamEnded, salvage: Salvage, usage: Usage | None) -> bytes | None:
        """Return the rest of the reply and its end; None when what the client has does not belong to it."""
        if self._passes and self._ended:
            return b"".join(_bytes_of(frame) for frame, _ in self._pending)
        calls = self._live.rest_of(salvage.calls)
        if calls is None:
            return None
        encoder = self._take_over()
        unsaid = map(self._ids.named, self._unsaid(salvage))
        out = [self._open(encoder), *map(encoder.write, calls), *map(encoder.write, unsaid)]
        if usage is not None and self._manners.tells_usage:
            out.append(encoder.write(usage))
        out.append(encoder.write(ended))
        return b"".join(out)

    def fails(self, cut: StreamCut) -> bytes:
        """Return the error that ends a stream which cannot be finished."""
        return self._take_over().write(cut)

    def heartbeat(self) -> bytes:
        """Return what keeps a client's own clocks from running out.

        Some count events and not bytes, and start when the head of the answer has come: so the stream is opened first.
        """
        opening = b"" if self.visible else self._show_opening()
        return opening + (self._follower.heartbeat() if self._encoder is None else self._encoder.heartbeat())

    def _show_opening(self) -> bytes:
        """Open the stream before anything was said: as the upstream did, or else in our own words."""
        opens = (at for at, (_, said) in enumerate(self._pending, 1) if any(type(one) is StreamOpened for one in said))
        heads = self._pending[: next(opens, 0)]
        self.visible = self._passes and bool(heads) and not self._order.finished
        if self.visible:
            del self._pending[: len(heads)]
            for frame, said in heads:
                self._follower.passed((frame,), said)
            return b"".join(_bytes_of(frame) for frame, _ in heads)
        opening = self._open(self._take_over())
        self._opening, self.visible = b"", True
        return opening

    # Forwarding

    def _judge(self, frame: Frame | Comment, said: list[Event]) -> bytes:
        """Return what the client gets of a frame of its own wire now: nearly always a word, and the frame as it is."""
        order = self._order
        fits = order.takes(frame, said)
        if (
            fits
            and len(said) == 1
            and type(said[0]) is TextDelta
            and not (self._pending or self._holds or order.finished)
        ):
            self._follower.passed((frame,), said)
            self.visible = True
            return frame.wire_bytes  # type: ignore[union-attr]  # a comment says no words
        out: list[bytes] = []
        self._judge_rarer(frame, said, out, fits=fits)
        return b"".join(out)

    def _judge_rarer(self, frame: Frame | Comment, said: list[Event], out: list[bytes], *, fits: bool) -> None:
        """Forward a frame, or let it wait.

        One that is out of order is told anew, and so are words that come in one frame with the finish.
        """
        if not fits or (self._order.finished and not self._holds and any(type(event) in _WORDS for event in said)):
            waited = [event for _, before in self._pending for event in before]
            self._say([*waited, *said], out)
        elif type(frame) is Comment or (said and all(type(event) is KeepAlive for event in said)):
            if self.visible and not self._pending:
                self._follower.passed((frame,), said)
                out.append(_bytes_of(frame))
            elif type(frame) is Frame:
                self._pending.append((frame, said))  # it may say what only this wire knows
        elif not self._is_unwanted(frame, said):
            self._note(said)
            self._pending.append((frame, said))
            if self._pulls(said):
                self._flush(out)

    def _note(self, said: list[Event]) -> None:
        for event in said:
            if isinstance(event, StreamEnded):
                self._ended = True
            elif isinstance(event, StreamOpened):
                self._opened = replace(event, created=self._opened.created)

    def _pulls(self, said: list[Event]) -> bool:
        """Say whether something was said that the client is to have now."""
        calls = [event for event in said if isinstance(event, _CALL)]
        if calls and self._manners.calls is Calls.HOLD:
            self._holds = True
        if self._holds:
            return False
        for event in calls:
            self._live.take(event)
        is_open = self._live.is_safe and not self._order.finished
        return is_open and any(isinstance(event, _PULLS) for event in said)

    def _flush(self, out: list[bytes]) -> None:
        for frame, said in self._pending:
            self._follower.passed((frame,), said)
            out.append(_bytes_of(frame))
            for event in said:
                self._live.showed(event)
        self._pending.clear()
        self.visible = True

    def _is_unwanted(self, frame: Frame | Comment, said: list[Event]) -> bool:
        """Say whether a frame only counts tokens for a client that did not ask."""
        if self._manners.tells_usage or type(frame) is not Frame or not said:
            return False
        return all(type(event) is Usage for event in said) and any(mark in frame.data for mark in _NO_CHOICES)

    # Encoding

    def _say(self, said: list[Event], out: list[bytes]) -> None:
        """Write what came without frames, or from another wire."""
        encoder = self._take_over()
        self._note(said)
        for event in said:
            if isinstance(event, CONTENT) and not self._comments:
                self._say_one(encoder, event, out)

    def _say_one(self, encoder: Encoder, event: Event, out: list[bytes]) -> None:
        told = [event]
        if isinstance(event, _CALL):
            if self._manners.calls is Calls.HOLD or self._comes_as_json(event):
                self._holds = True
            elif not self._holds:
                self._live.take(event)
                told = [self._ids.named(one) for one in self._live.safe_part(event)]
        if self._holds or self._live.spoiled:
            return
        opening = self._open(encoder)
        if data := b"".join(map(encoder.write, told)):
            out += (opening, data)
            self.visible = True

    def _comes_as_json(self, event: CallOpened | CallArguments | CallClosed) -> bool:
        return type(event) is CallOpened and not event.freeform and event.name in self._free_tools

    def _open(self, encoder: Encoder) -> bytes:
        """Return what begins the stream, for as long as nobody has it."""
        if not self.visible and not self._opening:
            self._opening = encoder.write(self._opened)
        return b"" if self.visible else self._opening

    def _take_over(self) -> Encoder:
        """Return the encoder; from now on nothing is forwarded as it came."""
        if self._encoder is None:
            self._encoder = self._follower.encoder() if self.visible else self._wire.encoder()
        self._passes = False
        self._pending.clear()
        return self._encoder

    def _unsaid(self, salvage: Salvage) -> list[Event]:
        """Return what was held of the reply: the calls that the client has nothing of, and what is behind them."""
        parts, shown = salvage.parts, self._live.shown
        at = [at for at, part in enumerate(parts) if isinstance(part, ToolCall)]
        if shown >= len(at):
            return []
        return list(events_of(parts[at[shown] :], first_call=shown))


def _bytes_of(frame: Frame | Comment) -> bytes:
    return frame.wire_bytes if isinstance(frame, Frame) else frame.raw + b"\n\n"
