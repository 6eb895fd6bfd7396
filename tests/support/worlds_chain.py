"""Who is asked in a world: real endpoints on the lab's providers, in a fixed order or by what a fleet has learnt."""

import asyncio
from collections.abc import Sequence
from functools import partial

from msgspec.structs import replace

from headway.providers.catalog import body_for, custom
from headway.providers.keys import KeyRing
from headway.providers.links import Link, link
from headway.providers.pool import Pool
from headway.turn.crew import Crew, Muster
from headway.turn.endpoint import Endpoint
from headway.turn.fleet import Fleet, Ready, Route
from support.lab import Lab
from support.worlds import Upstream, World

SECRET = "secret-"
"""How every key of a world begins, so that one that got out can be found."""


async def endpoint_of(upstream: Upstream, world: World, lab: Lab) -> Endpoint:
    """Start the provider of an upstream and return the way to it."""
    name = f"p{len(lab.sims) + 1}"
    keys = [f"{SECRET}{name}-{number}" for number in range(1, upstream.keys + 1)]
    made = await lab.provider(world.script, upstream.wire, seed=upstream.seed, keys=keys)
    provider = replace(custom(name, upstream.wire, made.url), reattaches=upstream.reattaches)
    return replace(
        made,
        name=f"{name}/{made.model}",
        dialect=replace(made.dialect, prefill=upstream.prefill),
        reattaches=upstream.reattaches,
        fit=partial(body_for, provider),
        output_limit=4_000,
    )


def muster_of(world: World, endpoints: Sequence[Endpoint]) -> Muster:
    """Return who is asked: always the same, or by what a new process has learnt since it began."""
    if not world.has_fleet:
        return lambda: Crew(tuple(endpoints))
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    links = tuple(link(custom(one.name.partition("/")[0], one.wire, one.url), one.model) for one in endpoints)
    rings = {one.provider.name: _ring(one, by_name[one.name]) for one in links}

    def make_ready(pool: Pool, chosen: Sequence[Link], now: float) -> tuple[Ready, ...]:
        return tuple(_ready(one, by_name[one.name], pool.keys_for(one, now)) for one in chosen)

    fleet = Fleet(Pool(rings), asyncio.get_running_loop().time)
    return partial(fleet.crew, Route("default", links, make_ready, world.policy))


def _ring(one: Link, endpoint: Endpoint) -> KeyRing:
    return KeyRing(one.provider.name, tuple(map(str, range(len(endpoint.headers)))))


def _ready(one: Link, endpoint: Endpoint, keys: tuple[str, ...]) -> Ready:
    return Ready(one, replace(endpoint, headers=tuple(endpoint.headers[int(key)] for key in keys)), keys)
