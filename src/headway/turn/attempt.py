"""One attempt: one request, one stream, read to its end or its break. Everything it learns is in its `Reading`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from headway.events import (
    CONTENT,
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    RefusalDelta,
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
from headway.transport.http import HttpClient
from headway.transport.limits import Limits
from headway.transport.message import HttpRequest
from headway.transport.response import Response
from headway.turn.endpoint import Endpoint
from headway.turn.notices import Notice
from headway.wire.assembly import Assembler
from headway.wire.base import Decoder, Wire

ERROR_BODY = 256 * 1024
Item: TypeAlias = Event | Notice
Sink: TypeAlias = Callable[[Sequence[Item]], Awaitable[None]]
"""Takes what is said and what is happening, as it comes, a network read at a time; awaiting it is the back-pressure."""


class Line(Struct, frozen=True):
    """What an attempt needs besides its request."""

    client: HttpClient
    endpoint: Endpoint
    wire: Wire
    limits: Limits
    turn_ends_at: float
    sink: Sink


class Reading:
    """What has been read of a reply. A stream that is taken up again on the server goes on in the same reading."""

    def __init__(self, wire: Wire, issuer: str, seam: SeamFilter | None = None) -> None:
        """Read by `wire`; `seam` removes what a continuation repeats."""
        self.decoder: Decoder = wire.decoder()
        self.ended = False
        self._assembler = Assembler(issuer)
        self._seam = seam
        self._hidden: set[int] = set()

    def take(self, events: list[Event]) -> tuple[list[Event], int]:
        """Keep events; return the ones to pass on, and how many characters of content they hold."""
        passed: list[Event] = []
        chars = 0
        for event in events:
            kind = type(event)
            if kind is TextDelta and self._seam is not None:
                chars += len(event.text)  # type: ignore[union-attr]
                passed += self._beyond_seam(self._seam.feed(event.text))  # type: ignore[union-attr]
                continue
            if kind is StreamEnded or kind is StreamCut:
                self.ended = True
                passed += self._flushed(ended=kind is StreamEnded)
                self._assembler.add(event)
                continue
            self._assembler.add(event)
            chars += _weight(event)
            if not self._is_hidden(event):
                passed.append(event)
        return passed, chars

    def reopen(self) -> None:
        """Go on after a cut with the same stream, taken up again on the server."""
        self.decoder.reopen()
        self._assembler.reopen()
        self.ended = False

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
        """Say whether an event belongs to the continuation of a draft: it is Headway's own business."""
        if isinstance(event, CallOpened) and event.name == CONTINUE_DRAFT.name:
            self._hidden.add(event.call)
        return isinstance(event, CallOpened | CallArguments | CallClosed) and event.call in self._hidden


def _weight(event: Event) -> int:
    if isinstance(event, TextDelta | ThinkingDelta | RefusalDelta | CallArguments):
        return len(event.text)
    return 1 if isinstance(event, CONTENT) else 0


async def attempt(line: Line, request: HttpRequest, reading: Reading) -> Failure | None:
    """Send a request and read its stream; None means that it ended as an answer."""
    broke: TransportFailed | None = None
    try:
        async with line.client.stream(request, line.limits, line.turn_ends_at) as response:
            if not 200 <= response.status < 300:
                return await _refused(line, response)
            await _read(line, response, reading)
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
    async for data in response.bytes():
        passed, chars = reading.take(reading.decoder.feed(data))
        if chars:
            response.watchdog.saw_content(chars)
        if passed:
            await line.sink(passed)
        if reading.ended:
            await response.settle()
            return
        await asyncio.sleep(0)  # a flood must not keep the loop from its timers and from being cancelled


async def _refused(line: Line, response: Response) -> Failure:
    body = await response.read(ERROR_BODY)
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


def _stalled(stalled: Stalled, received: Received) -> Failure:
    """Judge our own verdict: nobody else's words are needed for it."""
    words = str(stalled)
    plan = Plan.ASK_SMALLER_CHUNKS if received.fragments else Plan.RESUME if received.text else Plan.RETRY_SAME
    reason = f"{words[:1].upper()}{words[1:]}."
    return Failure(FailureKind.STALLED, Scope.PROVIDER, plan, reason, then=Plan.FAILOVER_NOW, where=Where.TIMEOUT)


def _facts_of_break(line: Line, broke: TransportFailed, received: Received) -> Facts:
    known = facts_of(broke)
    return Facts(
        wire=line.wire.name,
        vendor=line.endpoint.vendor,
        context=OPEN_TOOL_CALL if received.fragments else TEXT_ONLY if received.parts else "",
        after_output=bool(received.parts),
        **known,
    )
