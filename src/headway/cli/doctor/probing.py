"""One small question to one provider, as a turn would ask it, and how long each step on the way took.

A probe is one request and one verdict: nothing is tried again, so that what is wrong is seen. Only a cap on the output
that a model does not take is left out, once.
"""

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from headway.events import CONTENT
from headway.failure import Failure, FailureKind
from headway.history.project import project
from headway.messages import ModelRequest, user
from headway.providers.links import Link
from headway.recovery.failures.classify import classify
from headway.recovery.failures.facts import Facts
from headway.transport.errors import Phase, TransportFailed, facts_of
from headway.transport.http import HttpClient
from headway.transport.limits import RequestFacts, effective, within
from headway.transport.message import HttpRequest, target_of
from headway.turn.attempt import Item, Line, Reading, attempt
from headway.turn.endpoint import Endpoint
from headway.wire.json_text import encode
from headway.wire.table import wire_named

QUESTION = "Reply with the word ok and nothing else."
OUTPUT_TOKENS = 16
"""The fewest that every provider takes. A model that thinks may use them up before it speaks, and is well."""
PATIENCE_SECONDS = 30.0
"""No quiet is waited for longer than this, whatever the settings allow a turn …"""
LONGEST_SECONDS = 60.0
"""… and no probe takes longer than this."""
_ABOUT_THE_CAP = frozenset({FailureKind.PARAMETER_REFUSED, FailureKind.OUTPUT_CAP_TOO_HIGH})
_STEPS = (
    ("dns", (Phase.DNS,)),
    ("connect", (Phase.CONNECT,)),
    ("proxy", (Phase.PROXY,)),
    ("tls", (Phase.TLS,)),
    ("first_byte", (Phase.SEND, Phase.FIRST_BYTE)),
    ("first_content", (Phase.BODY,)),
)


class Probe(Struct, frozen=True):
    """Whom to ask, with which key."""

    link: Link
    endpoint: Endpoint
    key: str = ""
    """The key's reference; empty where none is sent."""


class Outcome(Struct, frozen=True):
    """What came of a probe."""

    failure: Failure | None
    steps: dict[str, float]
    """How many seconds each step took, those that were reached; they add up."""
    seconds: float
    heard: bool
    """Was anything said?"""

    @property
    def reached(self) -> str:
        """Return the last step that was begun."""
        return next(reversed(self.steps), "")


async def ask(client: HttpClient, probe: Probe, patience_seconds: float = PATIENCE_SECONDS) -> Outcome:
    """Ask for a word, and read the answer to its end."""
    outcome = await _asked(client, probe, patience_seconds, OUTPUT_TOKENS)
    if outcome.failure is not None and outcome.failure.kind in _ABOUT_THE_CAP:
        outcome = await _asked(client, probe, patience_seconds, None)
    return outcome


async def knock(client: HttpClient, probe: Probe, patience_seconds: float = PATIENCE_SECONDS) -> Outcome:
    """Only see whether somebody answers there: no key is shown and no token spent, and any answer will do."""
    loop = asyncio.get_running_loop()
    limits = within(effective(probe.endpoint.limits, RequestFacts()), patience_seconds)
    stream = client.stream(HttpRequest("HEAD", probe.endpoint.url), limits, loop.time() + LONGEST_SECONDS)
    began_at, failure = loop.time(), None
    try:
        async with stream:
            pass
    except TransportFailed as failed:
        failure = classify(Facts(vendor=probe.endpoint.vendor, **facts_of(failed)))
    ended_at = loop.time()
    steps = _steps(stream.reached, ended_at)
    steps.pop("first_content", None)
    return Outcome(failure, steps, ended_at - began_at, heard=False)


async def _asked(client: HttpClient, probe: Probe, patience_seconds: float, cap: int | None) -> Outcome:
    loop, endpoint = asyncio.get_running_loop(), probe.endpoint
    wire, heard_at = wire_named(endpoint.wire), list[float]()

    async def hear(items: Sequence[Item]) -> None:
        if not heard_at and any(isinstance(item, CONTENT) for item in items):
            heard_at.append(loop.time())

    asked = ModelRequest(endpoint.model, (user(QUESTION),), max_output_tokens=cap, stream=True)
    body = encode(endpoint.fit(wire.render_request(project(asked, endpoint.dialect).request)))
    headers = {"content-type": "application/json", "accept": "text/event-stream"} | endpoint.headers[0]
    facts = RequestFacts(reasoning=endpoint.reasoning, host=target_of(endpoint.url).host)
    limits = within(effective(endpoint.limits, facts), patience_seconds)
    began_at = loop.time()
    line = Line(client, endpoint, wire, limits, began_at + LONGEST_SECONDS, hear)
    reading = Reading(wire, endpoint.dialect.issuer)
    failure = await attempt(line, HttpRequest("POST", endpoint.url, tuple(headers.items()), body), reading)
    ended_at = loop.time()
    if failure is not None and failure.kind is FailureKind.OUTPUT_LIMIT:
        failure = None  # the limit was ours
    reached = reading.stream.reached if reading.stream is not None else {}
    steps = _steps(reached, heard_at[0] if heard_at else ended_at)
    if not heard_at and reading.refused is not None:
        steps.pop("first_content", None)  # an answer came, and it was no stream
    return Outcome(failure, steps, ended_at - began_at, heard=bool(heard_at))


def _steps(reached: dict[Phase, float], ended_at: float) -> dict[str, float]:
    """Return how long each step took, by when the phases began."""
    begun = sorted(reached.items(), key=lambda entry: entry[1])
    ends = [at for _, at in begun[1:]] + [ended_at]
    took = {phase: max(0.0, end - at) for (phase, at), end in zip(begun, ends, strict=False)}
    return {
        name: sum(took.get(phase, 0.0) for phase in phases)
        for name, phases in _STEPS
        if any(phase in reached for phase in phases)
    }


def one_key_each(probe: Probe, keys: Sequence[str]) -> list[Probe]:
    """Return a probe for each key that an endpoint has, so that each is judged by itself."""
    headers = probe.endpoint.headers
    named = keys or ("",) * len(headers)
    return [
        Probe(probe.link, replace(probe.endpoint, headers=(one,)), key) for one, key in zip(headers, named, strict=True)
    ]
