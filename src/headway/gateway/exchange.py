"""One request of a client, from its body to the last byte of its answer, whatever happens upstream meanwhile."""

import asyncio
from collections.abc import Sequence
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from headway.events import Stop, StreamEnded, StreamOpened, Usage
from headway.failure import FailureKind, Where
from headway.gateway.call_ids import CallIds
from headway.gateway.connection import Answer
from headway.gateway.errors import CLIENTS_OWN, Trouble, error_answer, error_event, trouble_of
from headway.gateway.manners import Manners
from headway.gateway.outlet import Outlet
from headway.gateway.relay import Heard, Relay
from headway.gateway.retelling import events_of, freed, names_of_free
from headway.gateway.trace import Tracing
from headway.messages import Message, ModelRequest, Text, Thinking, ToolCall
from headway.received import Received
from headway.recovery.decisions import Decision, GiveUp, RunTools
from headway.recovery.ledger import Ask, Policy, Salvage, open_ledger
from headway.transport.http import HttpClient
from headway.turn import notices
from headway.turn.attempt import Forwarding, Item
from headway.turn.crew import Crew
from headway.turn.runner import Turn
from headway.wire.base import Wire
from headway.wire.json_text import encode

_HONEST_ENDS = frozenset({Stop.FILTERED, Stop.REFUSED, Stop.LENGTH, Stop.WINDOW})
"""Ends that are no success and still the provider's own word: when nothing else could be had, a client gets that."""
_NOTICES = frozenset(get_args(notices.Notice))
_GOES_ON = frozenset({Ask.CONTINUE_TEXT, Ask.CONTINUE_DRAFT})
_ANSWERS = frozenset({Stop.END, Stop.SEQUENCE, Stop.PAUSE, Stop.LENGTH})


class Order(Struct, frozen=True):
    """What a client asked for, read and routed."""

    wire: Wire
    request: ModelRequest
    crew: Crew
    policy: Policy
    manners: Manners
    request_id: str
    heartbeat_seconds: float
    created: int
    """When it came, in whole seconds since 1970."""


class Exchange:
    """Brings one order to its end."""

    def __init__(self, client: HttpClient, order: Order, answer: Answer, tracing: Tracing) -> None:
        """Answer an order by `answer`."""
        self._order, self._answer, self._tracing = order, answer, tracing
        self._loop = asyncio.get_running_loop()
        prefix = {"anthropic": "msg_", "responses": "resp_"}.get(order.wire.name, "chatcmpl-")
        self._opened = StreamOpened(f"{prefix}{order.request_id}", order.request.model, order.created)
        self._relay = Relay(order.wire, order.manners, self._opened, names_of_free(order.request.tools))
        self._headers = {"x-headway-request": order.request_id}
        self._outlet = (
            Outlet(answer, self._headers, self._relay.heartbeat, order.heartbeat_seconds)
            if order.request.stream
            else None
        )
        upstreams = tuple(endpoint.upstream() for endpoint in order.crew.endpoints)
        self._turn = Turn(
            client,
            order.crew.endpoints,
            self._hear,
            ledger=open_ledger(order.policy, upstreams),
            lessons=order.crew.lessons,
            forwarding=Forwarding(self._hear_at_once, taped=order.request.stream),
        )

    async def run(self) -> None:
        """Answer. Cancelled when the client goes, which closes the upstream."""
        trace = self._tracing.trace
        try:
            self._tracing.hear(self._order.crew.changes, self._loop.time())
            decision = await self._turn.run(_relabelled(self._order))
            await self._conclude(decision)
        finally:
            if self._outlet is not None:
                self._outlet.close()
                trace.heartbeats = self._outlet.heartbeats
            trace.seams = self._relay.seams
            self._tracing.counted([received.usage for received in self._turn.attempts])
            trace.cost_dollars = self._cost()

    def said(self) -> str:
        """Return what was answered so far, calls as the model wrote them, for whoever keeps that."""
        return "\n".join(
            f"{part.name}({part.arguments})" if isinstance(part, ToolCall) else part.text
            for part in self._turn.ledger.salvage.parts
            if isinstance(part, ToolCall | Text | Thinking)
        )

    async def _hear(self, items: Sequence[Item]) -> None:
        """Pass on what is said; note what happens. Every token of every stream comes by here."""
        said: Sequence[Heard] = items  # type: ignore[assignment]  # what is no notice was said
        if not _NOTICES.isdisjoint(map(type, items)):
            said = [item for item in items if type(item) not in _NOTICES]  # type: ignore[misc]
            await self._note(items)
        if not said:
            return
        if self._tracing.awaits_content:
            self._tracing.saw_content(said, self._loop.time())
        if self._outlet is not None and (data := self._relay.hear(said)):
            await self._outlet.write(data)

    def _hear_at_once(self, items: Sequence[Item]) -> bool:
        """Pass on what is said, if the client has room for it and nothing else is to be done."""
        if self._tracing.awaits_content or not _NOTICES.isdisjoint(map(type, items)):
            return False
        if self._outlet is None:
            return True
        if self._answer.is_ahead:
            return False
        if data := self._relay.hear(items):  # type: ignore[arg-type]  # there are no notices among them
            self._outlet.write_at_once(data)
        return True

    async def _note(self, items: Sequence[Item]) -> None:
        for item in items:
            if isinstance(item, notices.Asking):
                await self._write(self._begins(item))
            elif isinstance(item, notices.Broke):
                self._relay.breaks()
        self._tracing.hear(items, self._loop.time())

    def _begins(self, asking: notices.Asking) -> bytes:
        ledger = self._turn.ledger
        commented = ledger.ask is Ask.CONTINUE_DRAFT
        if ledger.ask in _GOES_ON:
            self._tracing.went_on()
        return self._relay.begins(self._turn.endpoint.wire, asking.upstream, comments=commented)

    async def _write(self, data: bytes) -> None:
        if data and self._outlet is not None:
            await self._outlet.write(data)

    async def _conclude(self, decision: Decision) -> None:
        end = self._end(decision)
        if isinstance(end, Trouble):
            await self._fail(end)
        elif self._outlet is None:
            self._whole(end)
        else:
            rest = self._relay.ends(end, self._salvage(), self._usage())
            if rest is None:
                await self._fail(Trouble(502, "The tool call that was begun could not be finished.", "call_cut"))
                return
            await self._outlet.finish(rest)
        if not isinstance(end, Trouble):
            self._tracing.trace.outcome = "called" if isinstance(decision, RunTools) else "answered"
            self._tracing.trace.status = 200

    def _end(self, decision: Decision) -> StreamEnded | Trouble:
        """Return how the client's reply ends."""
        last = self._turn.attempts[-1] if self._turn.attempts else Received()
        said = last.end if isinstance(last.end, StreamEnded) else StreamEnded(Stop.END)
        if isinstance(decision, RunTools):
            return said if said.stop is Stop.CALLS else StreamEnded(Stop.CALLS)
        if not isinstance(decision, GiveUp):
            return said if said.stop in _ANSWERS else StreamEnded(Stop.END)
        failure = decision.failure
        if (
            said.stop in _HONEST_ENDS
            and failure.where is Where.FINISH_REASON
            and failure.kind is not FailureKind.PAUSED
        ):
            return said
        return trouble_of(failure, self._turn.ledger.tried)

    def _whole(self, end: StreamEnded) -> None:
        """Answer a client that did not want a stream."""
        turn, wire = self._turn, self._order.wire
        last = turn.attempts[-1] if turn.attempts else Received()
        opened = StreamOpened(last.id or self._opened.id, last.model or self._opened.model)
        usage = self._usage()
        told = map(CallIds(opened.id).named, events_of(self._salvage().parts))
        events = [opened, *told, *([usage] if usage else []), end]
        reply = wire.render_reply(events)
        for name in ("created", "created_at"):
            if reply.get(name) == 0:
                reply[name] = self._order.created
        self._answer.whole(200, {**self._headers, "content-type": "application/json"}, encode(reply))

    async def _fail(self, trouble: Trouble) -> None:
        """Say that there is no answer, and why, in the form that is still possible."""
        order, trace = self._order, self._tracing.trace
        trace.outcome, trace.status = "failed", trouble.status
        if self._outlet is not None and self._outlet.begun:
            await self._outlet.finish(self._relay.fails(error_event(order.wire.name, trouble, order.request_id)))
            return
        refused = self._turn.refused
        own = CLIENTS_OWN | {401, 403} if self._turn.endpoint.clients_key else CLIENTS_OWN
        if refused is not None and refused.wire == order.wire.name and refused.status in own and refused.body:
            headers = {"content-type": "application/json", "x-headway-upstream": self._turn.endpoint.name}
            self._answer.whole(refused.status, {**self._headers, **headers}, refused.body)
            return
        headers, body = error_answer(order.wire.name, trouble, order.request_id)
        self._answer.whole(trouble.status, {**self._headers, **headers}, body)

    def _cost(self) -> float | None:
        """Return what all attempts cost together, as far as anybody knows."""
        costs = [
            endpoint.cost(received.usage)
            for tried, received in zip(self._tracing.trace.attempts, self._turn.attempts, strict=False)
            for endpoint in self._order.crew.endpoints
            if endpoint.name == tried.upstream and received.usage is not None
        ]
        known = [cost for cost in costs if cost is not None]
        return sum(known) if known else None

    def _salvage(self) -> Salvage:
        """Return what all attempts brought, its calls in the form that the client offered their tools in."""
        salvage = self._turn.ledger.salvage
        return replace(salvage, parts=freed(salvage.parts, self._order.request.tools))

    def _usage(self) -> Usage | None:
        """Return what all attempts used together: that is what was paid for."""
        used = [received.usage for received in self._turn.attempts if received.usage is not None]
        if len(used) <= 1:
            return used[0] if used else None
        return Usage(*(sum(getattr(one, name) for one in used) for name in Usage.__struct_fields__))


def _relabelled(order: Order) -> ModelRequest:
    """Return the request with its thinking marked as issued by whoever is asked first, where that is the same wire.

    A client sends back what it got, and does not say from whom; wires with signatures find out by themselves.
    """
    first, name = order.crew.endpoints[0], order.wire.name
    if first.wire != name or first.dialect.issuer == name:
        return order.request

    def relabel(message: Message) -> Message:
        if not any(isinstance(part, Thinking) and part.issuer == name for part in message.parts):
            return message
        issuer = first.dialect.issuer
        parts: list[Any] = [
            replace(part, issuer=issuer) if isinstance(part, Thinking) and part.issuer == name else part
            for part in message.parts
        ]
        return replace(message, parts=tuple(parts))

    return replace(order.request, messages=tuple(map(relabel, order.request.messages)))
