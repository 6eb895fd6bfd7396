"""The providers: who is asked with which key, all at once and each bounded in time, and what came of it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from headway.cli.doctor.about_settings import Target
from headway.cli.doctor.advice import advice_for, happened
from headway.cli.doctor.findings import Area, Finding, State
from headway.cli.doctor.probing import PATIENCE_SECONDS, Outcome, Probe, ask, knock, one_key_each
from headway.failure import FailureKind, InvalidInput
from headway.providers.links import Link
from headway.settings import Loaded, made_ready, open_pool, plan_for
from headway.transport.http import HttpClient
from headway.transport.message import target_of
from headway.transport.proxy import proxy_for
from headway.transport.tls import trust_from

AT_ONCE = 8
MOST_PROBES = 64
_WAITED = frozenset({FailureKind.STALLED, FailureKind.TIMED_OUT})


class Manner(Struct, frozen=True):
    """How providers are asked."""

    asks: bool = True
    """A real request for a few tokens; otherwise it is only seen whether somebody answers there."""
    patience_seconds: float = PATIENCE_SECONDS


def unasked(targets: Sequence[Target]) -> list[Finding]:
    """Tell of those who have no model to be asked for: their routes take whatever a client of the gateway names."""
    return [
        Finding(
            area=Area.PROVIDERS,
            name=target.name,
            words="not asked: no route names a model of it, and it has none of its own",
            state=State.NOTE,
            advice=f"Name one: headway doctor {target.name}/MODEL",
        )
        for target in targets
        if not target.models
    ]


def probes_for(loaded: Loaded, targets: Sequence[Target]) -> list[Probe]:
    """Return the questions: each model with the first key, and the first model with every key. Opens keys; blocks."""
    pool, found = open_pool(loaded), list[Probe]()
    for target in targets:
        for at, model in enumerate(target.models):
            try:
                plan = plan_for(loaded, f"{target.name}/{model}")
            except InvalidInput:
                break  # there is no key, which is told among the keys
            for ready in made_ready(loaded, plan, pool, plan.chain, 0.0):
                each = one_key_each(Probe(ready.link, ready.endpoint), ready.keys)
                found += each if at == 0 else each[:1]
    return found[:MOST_PROBES]


async def about_providers(loaded: Loaded, probes: Sequence[Probe], manner: Manner) -> AsyncGenerator[Finding, None]:
    """Ask them all at once; tell of them in their order."""
    environment = loaded.around.environ
    turns = asyncio.Semaphore(AT_ONCE)
    question: Callable[[HttpClient, Probe, float], Awaitable[Outcome]] = ask if manner.asks else knock

    async def asked(client: HttpClient, probe: Probe) -> Outcome:
        async with turns:
            return await question(client, probe, manner.patience_seconds)

    # Nothing is kept, so that each probe makes its own way.
    async with HttpClient(trust=trust_from(environment), environment=environment, max_idle=0) as client:
        tasks = [asyncio.ensure_future(asked(client, probe)) for probe in probes]
        try:
            for probe, task in zip(probes, tasks, strict=True):
                yield _finding(probe, await task, environment, asked=manner.asks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _finding(probe: Probe, outcome: Outcome, environment: Mapping[str, str], *, asked: bool) -> Finding:
    link = probe.link
    abilities = _abilities(link)
    way = _way(probe, environment)
    facts = {
        "url": probe.endpoint.url.partition("?")[0],
        "key": probe.key,
        "seconds": round(outcome.seconds, 4),
        "steps": {name: round(seconds, 4) for name, seconds in outcome.steps.items()},
        "supports": _supports(link),
    }
    more = tuple(line for line in (_timed(outcome), way, abilities) if line)
    if outcome.failure is None:
        did = "answers" if asked else "is there"
        with_key = f" with {probe.key}" if asked and probe.key else ""
        words = f"{did} in {_time(outcome.seconds)}{with_key}"
        return Finding(area=Area.PROVIDERS, name=link.name, words=words, more=more, facts=facts)
    failure = outcome.failure
    return Finding(
        area=Area.PROVIDERS,
        name=link.name,
        words=happened(failure),
        state=State.PROBLEM,
        advice=advice_for(probe, outcome),
        more=more[:-1],
        facts={**facts, "kind": failure.kind.value, "status": failure.status, "code": failure.code},
    )


def _timed(outcome: Outcome) -> str:
    steps = [f"{name.replace('_', ' ')} {_time(seconds)}" for name, seconds in outcome.steps.items()]
    if outcome.failure is not None and outcome.failure.kind in _WAITED:
        steps[-1] = f"then waited {_time(outcome.steps[outcome.reached])} for {outcome.reached.replace('_', ' ')}"
    return " · ".join(steps)


def _way(probe: Probe, environment: Mapping[str, str]) -> str:
    target = target_of(probe.endpoint.url)
    with suppress(InvalidInput):  # a proxy that cannot be used is told about the network
        proxy = proxy_for(target.scheme, target.host, target.port, environment)
        return f"through the proxy {proxy.host}:{proxy.port}" if proxy is not None else ""
    return ""


def _supports(link: Link) -> dict[str, object]:
    facts = link.facts
    return {
        "wire": link.provider.wire,
        "streaming": True,
        "tools": facts.tools,
        "images": link.dialect.images,
        "prefill": link.dialect.prefill,
        "reasoning": facts.reasoning,
        "reattach": link.provider.reattaches,
        "context": facts.context,
        "output_limit": facts.output_limit,
        "known_by": facts.source.value,
    }


def _abilities(link: Link) -> str:
    facts = link.facts
    can = {
        "tools": facts.tools,
        "thinks": facts.reasoning,
        "images": link.dialect.images,
        "prefill": link.dialect.prefill,
        "takes streams up again": link.provider.reattaches,
    }
    words = [f"{link.provider.wire} wire", "streams", *(name for name, does in can.items() if does)]
    sizes = f"context {facts.context:,}, output {facts.output_limit:,} tokens (by {facts.source.value})"
    return " · ".join([*words, sizes])


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
