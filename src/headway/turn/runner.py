"""One model reply, whatever happens on the way: ask, read, decide, and again, until there is an end.

`Turn.run` returns with a decision (finish, run tools, give up) and never hangs: every wait has a limit, every decision
but an end makes the ledger smaller. Cancelling it closes the connection at once; what had come is in the ledger.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from random import random
from typing import TypeAlias

from msgspec.structs import replace

from headway.failure import Failure, FailureKind, InvalidInput, Plan, Scope
from headway.history.project import project
from headway.messages import ModelRequest
from headway.received import Received
from headway.recovery.continuation import next_request
from headway.recovery.decisions import END, Again, Decision, FailOver, GiveUp
from headway.recovery.ledger import Ask, Ledger, Policy, Strategy, open_ledger
from headway.recovery.machine import Answered, Broken, Outcome, decide
from headway.recovery.seams import SeamFilter
from headway.recovery.settle import settle
from headway.transport.clock import Awake
from headway.transport.gaps import Gaps
from headway.transport.http import HttpClient
from headway.transport.limits import RequestFacts, effective, within
from headway.transport.message import HttpRequest, target_of
from headway.transport.watchdog import Quiet
from headway.turn import notices
from headway.turn.adjusting import Adjustments
from headway.turn.attempt import Forwarding, Item, Line, Reading, Refused, Sink, attempt
from headway.turn.crew import NO_LESSONS, Lessons
from headway.turn.endpoint import Endpoint
from headway.wire.json_text import encode
from headway.wire.table import wire_named

CHARACTERS_A_TOKEN = 4
"""About; for whoever has no count."""
_CANCELLED = Failure(FailureKind.CANCELLED, Scope.REQUEST, Plan.GIVE_UP, "The turn was interrupted.")
Shorten: TypeAlias = Callable[[ModelRequest, Ledger, Failure], Awaitable[ModelRequest | None]]
"""Makes a request that its upstream has no room for shorter, in a better way than by leaving out; None: it cannot.

It gets the ledger of the turn, whose time it spends."""


async def _nobody_listens(_: Sequence[Item]) -> None:
    pass


class Turn:
    """The state of one reply. `ledger` holds what was saved, at any time and after any end."""

    def __init__(
        self,
        client: HttpClient,
        endpoints: Sequence[Endpoint],
        sink: Sink,
        *,
        ledger: Ledger | None = None,
        lessons: Lessons = NO_LESSONS,
        shorten: Shorten | None = None,
        forwarding: Forwarding | None = None,
        chance: Callable[[], float] = random,
    ) -> None:
        """Ask the endpoints in their order; `ledger` may begin with what an earlier turn left open.

        `forwarding`: for a listener that passes on what is said, frame by frame.
        """
        if not endpoints:
            raise InvalidInput("a turn", "there is no endpoint to ask", "Configure a provider, or try: headway demo")
        self._client, self._sink, self._lessons, self._chance = client, sink, lessons, chance
        self._shorten, self._forwarding = shorten, forwarding
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self.ledger = ledger or open_ledger(Policy(), tuple(endpoint.upstream() for endpoint in endpoints))
        self.attempts = list[Received]()
        """What each attempt brought, for usage and traces."""
        self.sent: ModelRequest | None = None
        """What the last attempt asked, as it went out."""
        self._adjusted = Adjustments()
        self._reading: Reading | None = None
        self._goes_on = False
        """Is the last reading to go on with a generation that is taken up on the server?"""
        self._awake: Awake
        self._clock = 0.0

    async def run(self, request: ModelRequest) -> Decision:
        """Bring the reply to an end."""
        try:
            with Awake() as self._awake:
                self._clock = self._awake.time()
                return await self._until_end(request)
        finally:
            # Who listened mostly holds this turn: the two would keep each other, and all that was asked, in memory.
            self._sink, self._forwarding = _nobody_listens, None

    async def _until_end(self, request: ModelRequest) -> Decision:
        while True:
            outcome = await self._attempted(request)
            before = self.ledger
            self.ledger, decision = decide(before, outcome)
            await self._tell(before, outcome, decision)
            if isinstance(decision, END):
                return decision
            request = await self._prepare(before, outcome, decision, request)

    @property
    def endpoint(self) -> Endpoint:
        """Return the endpoint in use."""
        return self._endpoints[self.ledger.upstream.name]

    def quiet(self) -> Quiet | None:
        """Return how long the stream that is open has been quiet, for a status line; None while none is open."""
        return self._reading.quiet() if self._reading is not None else None

    @property
    def refused(self) -> Refused | None:
        """Return the last answer that was no stream, if the last attempt got one."""
        return self._reading.refused if self._reading is not None else None

    async def _attempted(self, request: ModelRequest) -> Outcome:
        line, http, reading = await self._ready(request)
        try:
            failure = await attempt(line, http, reading)
        except asyncio.CancelledError:
            self._lessons.left(self.endpoint.name)
            self.ledger, _ = decide(self.ledger, Broken(_CANCELLED, reading.received(), self._took()))
            raise
        received = reading.received()
        self.attempts.append(received)
        settled = settle(received, self.ledger.salvage.draft, request.tools)
        if failure is None or self._is_meant(failure, received):
            failure = settled.failure
        if failure is None:
            return Answered(settled.received, self._took())
        return Broken(
            failure,
            settled.received,
            self._took(),
            self._chance(),
            draft=settled.draft,
            problem=settled.problem,
        )

    def _is_meant(self, failure: Failure, received: Received) -> bool:
        """Say whether a reply that ran into its limit is as long as whoever set the limit wants it."""
        limit = failure.kind is FailureKind.OUTPUT_LIMIT and self.ledger.policy.limit_ends_text
        return limit and received.is_complete and not received.fragments

    async def _ready(self, request: ModelRequest) -> tuple[Line, HttpRequest, Reading]:
        """Build what is sent now: the first request, what was saved, what was learnt, in the endpoint's own words."""
        endpoint, ledger = self.endpoint, self.ledger
        wire, dialect = wire_named(endpoint.wire), self._adjusted.dialect(endpoint.dialect)
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        headers |= endpoint.headers_with(ledger.upstream.keys)
        if self._goes_on and self._reading is not None:
            reading, self._goes_on = self._reading, False
            body, url = b"", endpoint.below(wire.reattach(reading.decoder))
            http = HttpRequest("GET", url, tuple(headers.items()), body)
            reading.reopen()
        else:
            reading = self._reading = self._new_reading()
            short = self._adjusted.shorter(request)
            asked = self._adjusted.apply(next_request(short, ledger, dialect, endpoint.output_limit))
            projection = project(replace(asked, model=endpoint.model, stream=True), dialect)
            self.sent = projection.request
            if projection.repairs:
                await self._sink([notices.Healed(endpoint.name, projection.repairs)])
            body = encode(endpoint.fit(wire.render_request(projection.request)))
            http = HttpRequest("POST", endpoint.url, tuple(headers.items()), body)
        await self._sink([notices.Asking(endpoint.name, len(self.attempts) + 1)])
        facts = RequestFacts(len(body) // CHARACTERS_A_TOKEN, endpoint.reasoning, target_of(endpoint.url).host)
        limits = within(effective(endpoint.limits, facts, self._lessons.gaps(endpoint.name)), ledger.patience_seconds)
        waited = self._awake.time() - self._clock  # a wait before this request is part of the turn
        ends_at = asyncio.get_running_loop().time() + max(0.0, ledger.seconds_left - waited)
        return Line(self._client, endpoint, wire, limits, ends_at, self._sink, self._forwarding), http, reading

    def _new_reading(self) -> Reading:
        ledger, endpoint = self.ledger, self.endpoint
        seam = SeamFilter(ledger.salvage.text, trimmed=True) if ledger.ask is Ask.CONTINUE_TEXT else None
        taped = (
            self._forwarding is not None
            and self._forwarding.taped
            and ledger.ask is Ask.PLAIN
            and not ledger.salvage.size
        )
        return Reading(wire_named(endpoint.wire), endpoint.dialect.issuer, seam, taped=taped)

    async def _prepare(
        self, before: Ledger, outcome: Outcome, decision: Decision, request: ModelRequest
    ) -> ModelRequest:
        """Do what a decision asks for before the next request, and return what that one is made of."""
        if isinstance(decision, FailOver):
            self._adjusted = replace(self._adjusted, healed=0, output_tokens=None)
            return request
        if not isinstance(decision, Again):
            return request
        compact = await self._compacted(outcome, decision, request)
        if compact is None:
            self._adjusted = self._adjusted.after(decision, request)
        if decision.strategy is Strategy.REATTACH:
            # The same reading goes on, so what it has must not be counted as saved besides.
            self.ledger = replace(self.ledger, salvage=before.salvage)
            self._goes_on = True
        if decision.wait_seconds > 0:
            await asyncio.sleep(decision.wait_seconds)
        return compact or request

    async def _compacted(self, outcome: Outcome, decision: Again, request: ModelRequest) -> ModelRequest | None:
        """Have a request made shorter that really was too long; a guess at that is not worth forgetting anything."""
        if self._shorten is None or decision.strategy is not Strategy.COMPACT or not isinstance(outcome, Broken):
            return None
        if outcome.failure.kind is not FailureKind.CONTEXT_FULL:
            return None
        return await self._shorten(request, self.ledger, outcome.failure)

    async def _tell(self, before: Ledger, outcome: Outcome, decision: Decision) -> None:
        """Say what is happening, on its own channel."""
        name, told = before.upstream.name, list[notices.Notice]()
        draft = self.ledger.salvage.draft
        goes_on = isinstance(decision, Again) and decision.strategy is Strategy.REATTACH
        if isinstance(outcome, Broken):
            told.append(self._broke(before, outcome, goes_on=goes_on))
            withdrawn = outcome.failure.kind is FailureKind.REFUSED and not before.policy.shown_stays
            if withdrawn and (before.salvage.text or outcome.received.text):
                told.append(notices.Withdrawn(name))
            if draft is not None and draft != before.salvage.draft and not goes_on:
                told.append(notices.DraftHeld(draft))
        match decision:
            case Again(strategy=strategy, wait_seconds=wait):
                told.append(notices.TryingAgain(name, strategy, wait))
            case FailOver(to=to, because=failure):
                told.append(notices.FailedOver(name, to, failure))
            case GiveUp(failure=failure, why=why):
                told.append(notices.GaveUp(failure, why))
            case _:
                told.append(notices.Answered(name))
        told += self._learn(before, outcome)
        await self._sink(told)

    def _broke(self, before: Ledger, outcome: Broken, *, goes_on: bool) -> notices.Broke:
        kept, brought = self.ledger.salvage.size, outcome.received.size
        gained = brought if goes_on else min(brought, max(0, kept - before.salvage.size))
        usage = outcome.received.usage
        return notices.Broke(before.upstream.name, outcome.failure, kept, goes_on, brought, gained, usage)

    def _learn(self, before: Ledger, outcome: Outcome) -> Sequence[notices.Notice]:
        used = before.upstream
        gaps = self._reading.gaps if self._reading is not None else Gaps()
        if isinstance(outcome, Broken):
            return self._lessons.failed(used.name, used.keys, outcome.failure, gaps)
        return self._lessons.answered(used.name, used.keys, gaps)

    def _took(self) -> float:
        now = self._awake.time()
        took, self._clock = now - self._clock, now
        return took
