"""One model reply, whatever happens on the way: ask, read, decide, and again, until there is an end.

`Turn.run` returns with a decision (finish, run tools, give up) and never hangs: every wait has a limit, every decision
but an end makes the ledger smaller. Cancelling it closes the connection at once; what had come is in the ledger.
"""

import asyncio
from collections.abc import Callable, Sequence
from random import random

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
from headway.transport.gaps import Gaps
from headway.transport.http import HttpClient
from headway.transport.limits import RequestFacts, effective
from headway.transport.message import HttpRequest, target_of
from headway.turn import notices
from headway.turn.adjusting import Adjustments
from headway.turn.attempt import Line, Reading, Sink, attempt
from headway.turn.endpoint import Endpoint
from headway.wire.json_text import encode
from headway.wire.table import wire_named

CHARACTERS_A_TOKEN = 4
_CANCELLED = Failure(FailureKind.CANCELLED, Scope.REQUEST, Plan.GIVE_UP, "The turn was interrupted.")


class Turn:
    """The state of one reply. `ledger` holds what was saved, at any time and after any end."""

    def __init__(
        self,
        client: HttpClient,
        endpoints: Sequence[Endpoint],
        sink: Sink,
        *,
        ledger: Ledger | None = None,
        gaps: Gaps | None = None,
        chance: Callable[[], float] = random,
    ) -> None:
        """Ask the endpoints in their order; `ledger` may begin with what an earlier turn left open."""
        if not endpoints:
            raise InvalidInput("a turn", "there is no endpoint to ask", "Configure a provider, or try: headway demo")
        self._client, self._sink, self._gaps, self._chance = client, sink, gaps, chance
        self._endpoints = {endpoint.name: endpoint for endpoint in endpoints}
        self.ledger = ledger or open_ledger(Policy(), tuple(endpoint.upstream() for endpoint in endpoints))
        self.attempts = list[Received]()
        """What each attempt brought, for usage and traces."""
        self._adjusted = Adjustments()
        self._reading: Reading | None = None
        self._goes_on = False
        """Is the last reading to go on with a generation that is taken up on the server?"""
        self._clock = 0.0

    async def run(self, request: ModelRequest) -> Decision:
        """Bring the reply to an end."""
        self._clock = asyncio.get_running_loop().time()
        while True:
            outcome = await self._attempted(request)
            before = self.ledger
            self.ledger, decision = decide(before, outcome)
            await self._tell(before, outcome, decision)
            if isinstance(decision, END):
                return decision
            await self._prepare(before, decision, request)

    @property
    def endpoint(self) -> Endpoint:
        """Return the endpoint in use."""
        return self._endpoints[self.ledger.upstream.name]

    async def _attempted(self, request: ModelRequest) -> Outcome:
        line, http, reading = await self._ready(request)
        try:
            failure = await attempt(line, http, reading)
        except asyncio.CancelledError:
            self.ledger, _ = decide(self.ledger, Broken(_CANCELLED, reading.received(), self._took()))
            raise
        received = reading.received()
        self.attempts.append(received)
        if failure is not None:
            return Broken(failure, received, self._took(), self._chance())
        settled = settle(received, self.ledger.salvage.draft, request.tools)
        if settled.failure is None:
            return Answered(settled.received, self._took())
        return Broken(
            settled.failure,
            settled.received,
            self._took(),
            self._chance(),
            draft=settled.draft,
            problem=settled.problem,
        )

    async def _ready(self, request: ModelRequest) -> tuple[Line, HttpRequest, Reading]:
        """Build what is sent now: the first request, what was saved, what was learnt, in the endpoint's own words."""
        endpoint, ledger = self.endpoint, self.ledger
        wire, dialect = wire_named(endpoint.wire), self._adjusted.dialect(endpoint.dialect)
        headers = {"content-type": "application/json", "accept": "text/event-stream"}
        headers |= endpoint.headers_with(ledger.upstream.keys)
        if self._goes_on and self._reading is not None:
            reading, self._goes_on = self._reading, False
            body, url = b"", endpoint.url + wire.reattach(reading.decoder)
            http = HttpRequest("GET", url, tuple(headers.items()), body)
            reading.reopen()
        else:
            reading = self._reading = self._new_reading()
            asked = self._adjusted.apply(next_request(request, ledger, dialect, endpoint.output_limit))
            projection = project(replace(asked, model=endpoint.model, stream=True), dialect)
            if projection.repairs:
                await self._sink([notices.Healed(endpoint.name, projection.repairs)])
            body = encode(endpoint.fit(wire.render_request(projection.request)))
            http = HttpRequest("POST", endpoint.url, tuple(headers.items()), body)
        await self._sink([notices.Asking(endpoint.name, len(self.attempts) + 1)])
        facts = RequestFacts(len(body) // CHARACTERS_A_TOKEN, endpoint.reasoning, target_of(endpoint.url).host)
        limits = effective(endpoint.limits, facts, self._gaps)
        ends_at = asyncio.get_running_loop().time() + max(0.0, ledger.seconds_left)
        return Line(self._client, endpoint, wire, limits, ends_at, self._sink), http, reading

    def _new_reading(self) -> Reading:
        ledger, endpoint = self.ledger, self.endpoint
        seam = SeamFilter(ledger.salvage.text, trimmed=True) if ledger.ask is Ask.CONTINUE_TEXT else None
        return Reading(wire_named(endpoint.wire), endpoint.dialect.issuer, seam)

    async def _prepare(self, before: Ledger, decision: Decision, request: ModelRequest) -> None:
        """Do what a decision asks for before the next request."""
        if isinstance(decision, FailOver):
            self._adjusted = replace(self._adjusted, healed=0, output_tokens=None)
            return
        if not isinstance(decision, Again):
            return
        self._adjusted = self._adjusted.after(decision, request)
        if decision.strategy is Strategy.REATTACH:
            # The same reading goes on, so what it has must not be counted as saved besides.
            self.ledger = replace(self.ledger, salvage=before.salvage)
            self._goes_on = True
        if decision.wait_seconds > 0:
            await asyncio.sleep(decision.wait_seconds)

    async def _tell(self, before: Ledger, outcome: Outcome, decision: Decision) -> None:
        """Say what is happening, on its own channel."""
        name, told = before.upstream.name, list[notices.Notice]()
        draft = self.ledger.salvage.draft
        if isinstance(outcome, Broken):
            told.append(notices.Broke(name, outcome.failure, self.ledger.salvage.size))
            if draft is not None and draft != before.salvage.draft:
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
        await self._sink(told)

    def _took(self) -> float:
        now = asyncio.get_running_loop().time()
        took, self._clock = now - self._clock, now
        return took
