"""One attempt: one request, one stream, read to its end or its break. Everything it learns is in its `Reading`."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TypeAlias

from msgspec import Struct

from headway.events import (
    CONTENT,
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    RefusalDelta,
    Stop,
    StreamCut,
    StreamEnded,
    TextDelta,
    ThinkingDelta,
)
from headway.failure import Failure, FailureKind, Plan, Scope, Where
from headway.received import Received
from headway.recovery.drafts import CONTINUE_DRAFT
from headway.recovery.failures.classify import classify, failure_of_end
from headway.recovery.failures.facts import OPEN_TOOL_CALL, TEXT_ONLY, Facts
from headway.recovery.seams import SeamFilter
from headway.transport.errors import Stalled, TransportFailed, facts_of
from headway.transport.gaps import Gaps
from headway.transport.http import HttpClient, Stream
from headway.transport.limits import Limits
from headway.transport.message import HttpRequest
from headway.transport.response import Response
from headway.transport.watchdog import Quiet
from headway.turn.endpoint import Endpoint
from headway.turn.notices import DraftGrows, Notice
from headway.wire.assembly import Assembler
from headway.wire.base import Decoder, Wire
from headway.wire.sse import Comment, Frame

ERROR_BODY = 256 * 1024
_SPOKEN = frozenset({TextDelta, ThinkingDelta, RefusalDelta, CallArguments})
_OF_CALLS = frozenset({CallOpened, CallArguments, CallClosed})
_CONTENT = frozenset(CONTENT)
_ABOUT_WHAT_WAS_ASKED = frozenset({Scope.REQUEST, Scope.HISTORY, Scope.MODEL})
Item: TypeAlias = Event | Notice | Frame | Comment
Sink: TypeAlias = Callable[[Sequence[Item]], Awaitable[None]]
"""Takes what is said and what is happening, as it comes, a network read at a time; awaiting it is the back-pressure."""


class Forwarding(Struct, frozen=True):
    """How somebody listens who passes a stream on."""

    at_once: Callable[[Sequence[Item]], bool]
    """Takes what the sink would get, without waiting, and says True; False: nothing was taken, it would have to wait.

    What is taken so costs no switch of tasks."""
    taped: bool = False
    """Is each frame of a stream that answers the request as it is passed on, too?"""


class Line(Struct, frozen=True):
    """What an attempt needs besides its request."""

    client: HttpClient
    endpoint: Endpoint
    wire: Wire
    limits: Limits
    turn_ends_at: float
    sink: Sink
    forwarding: Forwarding | None = None


class Refused(Struct, frozen=True):
    """An answer that was no stream, as it came."""

    wire: str
    status: int
    body: bytes


_WHOLE = frozenset({Stop.END, Stop.CALLS, Stop.SEQUENCE})
"""The ends behind which nothing is missing. At any other, what looks like the beginning of a repeat may well be one."""


class Reading:
    """What has been read of a reply. A stream that is taken up again on the server goes on in the same reading."""

    def __init__(self, wire: Wire, issuer: str, seam: SeamFilter | None = None, *, taped: bool = False) -> None:
        """Read by `wire`; `seam` removes what a continuation repeats; `taped` passes on each frame, too."""
        self.decoder: Decoder = wire.decoder()
        self.decoder.taped = taped
        self.ended = False
        self.gaps = Gaps()
        """The longest silences that ended, once the stream has."""
        self.stream: Stream | None = None
        """What it is read from."""
        self.refused: Refused | None = None
        """The answer, where it was no stream."""
        self._assembler = Assembler(issuer)
        self._seam = seam
        self._hidden: dict[int, CallOpened] = {}

    def take(self, events: Sequence[Event | Frame | Comment]) -> tuple[Sequence[Item], int]:
        """Keep events; return what to pass on, and how many characters of content the events hold.

        Every token of every stream comes by here.
        """
        if len(events) == 2 and type(events[0]) is TextDelta and type(events[1]) is Frame and self._seam is None:
            self._assembler.add(events[0])  # nearly always: a word, and the frame that said it
            return events, len(events[0].text)
        passed: list[Item] = []
        chars = 0
        for event in events:
            kind = type(event)
            if kind is Frame or kind is Comment:
                passed.append(event)
                continue
            if kind in _SPOKEN:
                chars += len(event.text)  # type: ignore[union-attr]
                if kind is TextDelta and self._seam is not None:
                    passed += self._beyond_seam(self._seam.feed(event.text))  # type: ignore[union-attr]
                    continue
            elif kind is StreamEnded or kind is StreamCut:
                self.ended = True
                passed += self._flushed(ended=kind is StreamEnded and event.stop in _WHOLE)  # type: ignore[union-attr]
                self._assembler.add(event)  # type: ignore[arg-type]
                if self.decoder.taped:
                    passed.append(event)
                continue
            elif kind in _CONTENT:
                chars += 1
            self._assembler.add(event)  # type: ignore[arg-type]
            if kind not in _OF_CALLS or not self._is_hidden(event):  # type: ignore[arg-type]
                passed.append(event)
            elif kind is CallArguments:
                opened = self._hidden[event.call]  # type: ignore[union-attr]
                passed.append(DraftGrows(opened.call, opened.id, event.text))  # type: ignore[union-attr]
        return passed, chars

    def reopen(self) -> None:
        """Go on after a cut with the same stream, taken up again on the server."""
        self.decoder.reopen()
        self._assembler.reopen()
        if self._seam is not None:
            self._seam.reopen()
        self.ended = False

    def quiet(self) -> Quiet | None:
        """Return how long the stream has been quiet, while it is open."""
        return self.stream.quiet() if self.stream is not None else None

    def received(self) -> Received:
        """Return what has come so far, seams removed."""
        return self._assembler.received()

    def _beyond_seam(self, text: str) -> list[Event]:
        if not text:
            return []
        self._assembler.add(TextDelta(text))
        return [TextDelta(text)]

    def _flushed(self, *, ended: bool) -> list[Event]:
        return self._beyond_seam(self._seam.flush(ended=ended)) if self._seam is not None else []

    def _is_hidden(self, event: Event) -> bool:
        """Say whether an event of a call belongs to the continuation of a draft: it is Headway's own business."""
        if type(event) is CallOpened and event.name == CONTINUE_DRAFT.name:
            self._hidden[event.call] = event
        return event.call in self._hidden  # type: ignore[union-attr]


async def attempt(line: Line, request: HttpRequest, reading: Reading) -> Failure | None:
    """Send a request and read its stream; None means that it ended as an answer."""
    broke: TransportFailed | None = None
    try:
        stream = line.client.stream(request, line.limits, line.turn_ends_at)
        reading.stream = stream
        async with stream as response:
            if not 200 <= response.status < 300:
                failure = await _refused(line, response, reading)
                return _forgotten(failure, reading.received()) if request.method == "GET" else failure
            try:
                await _read(line, response, reading)
            finally:
                reading.gaps = response.watchdog.gaps
    except TransportFailed as failed:
        broke = failed
    passed, _ = reading.take(reading.decoder.close())
    if passed:
        await line.sink(passed)
    received = reading.received()
    assert received.end is not None, "a closed decoder has given its verdict"
    if broke is not None and isinstance(received.end, StreamCut):
        return (
            _stalled(broke, received)
            if isinstance(broke, Stalled)
            else classify(_facts_of_break(line, broke, received))
        )
    return failure_of_end(received.end, received, line.wire.name, line.endpoint.vendor)


async def _read(line: Line, response: Response, reading: Reading) -> None:
    decoder, watchdog = reading.decoder, response.watchdog
    at_once = line.forwarding.at_once if line.forwarding is not None else None
    held: list[Item] = []

    def take(data: bytes) -> bool:
        """Take what came; say whether nothing has to be waited for. Every token of every stream comes by here."""
        passed, chars = reading.take(decoder.feed(data))
        if chars:
            watchdog.saw_content(chars)
        else:
            watchdog.saw_bytes()
        if not reading.ended and (not passed or (at_once is not None and at_once(passed))):
            return True
        held.extend(passed)
        return False

    while await response.each(take):
        if held:
            await line.sink(tuple(held))
            held.clear()
        if reading.ended:
            await response.settle()
            return


async def _refused(line: Line, response: Response, reading: Reading) -> Failure:
    held = bytearray()
    with suppress(TransportFailed):  # the status has said what it is, whatever becomes of the words
        async for data in response.bytes():
            held += data
            if len(held) >= ERROR_BODY:
                break
    body = bytes(held[:ERROR_BODY])
    reading.refused = Refused(line.wire.name, response.status, body)
    return classify(
        Facts(
            wire=line.wire.name,
            vendor=line.endpoint.vendor,
            where=Where.HTTP_ERROR,
            status=response.status,
            headers=response.headers.as_dict(),
            body=body.decode("utf-8", "replace"),
        )
    )


def _forgotten(failure: Failure, received: Received) -> Failure:
    """Judge a refusal to go on with a broken reply: about the model or the next request, it says nothing."""
    if failure.scope not in _ABOUT_WHAT_WAS_ASKED:
        return failure
    reason = f"The provider no longer has the reply that broke off (HTTP {failure.status})."
    plan = _plan_to_go_on(received)
    return Failure(
        FailureKind.SERVER_FAULT, Scope.PROVIDER, plan, reason, Plan.FAILOVER_NOW, failure.where, failure.status
    )


def _stalled(stalled: Stalled, received: Received) -> Failure:
    """Judge our own verdict: nobody else's words are needed for it."""
    words = str(stalled)
    plan, reason = _plan_to_go_on(received), f"{words[:1].upper()}{words[1:]}."
    return Failure(FailureKind.STALLED, Scope.PROVIDER, plan, reason, then=Plan.FAILOVER_NOW, where=Where.TIMEOUT)


def _plan_to_go_on(received: Received) -> Plan:
    return Plan.ASK_SMALLER_CHUNKS if received.fragments else Plan.RESUME if received.text else Plan.RETRY_SAME


def _facts_of_break(line: Line, broke: TransportFailed, received: Received) -> Facts:
    known = facts_of(broke)
    return Facts(
        wire=line.wire.name,
        vendor=line.endpoint.vendor,
        context=OPEN_TOOL_CALL if received.fragments else TEXT_ONLY if received.parts else "",
        after_output=bool(received.parts),
        **known,
    )
