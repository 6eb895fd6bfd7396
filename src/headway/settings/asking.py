"""Links to endpoints that a turn can ask: keys are opened here, at the last moment, and live only in headers."""

from collections.abc import Sequence
from functools import partial

from headway.failure import InvalidInput
from headway.providers.catalog import body_for, request_headers
from headway.providers.links import Link
from headway.providers.models import cost
from headway.providers.pool import Pool
from headway.providers.secret import Secret
from headway.settings.loading import Loaded
from headway.settings.planning import Plan
from headway.transport.limits import Overrides
from headway.turn.endpoint import Endpoint
from headway.turn.fleet import Ready, Route


def route_for(loaded: Loaded, plan: Plan, *, betas: Sequence[str] = ()) -> Route:
    """Return a plan as the fleet takes it. `betas` are those that a client asked for."""

    def make_ready(pool: Pool, links: Sequence[Link], now: float) -> tuple[Ready, ...]:
        return made_ready(loaded, plan, pool, links, now, betas=betas)

    return Route(plan.route, plan.chain, make_ready, plan.policy)


def made_ready(
    loaded: Loaded, plan: Plan, pool: Pool, links: Sequence[Link], now: float, *, betas: Sequence[str] = ()
) -> tuple[Ready, ...]:
    """Return what can be asked, in the order of the links, with every key that is fit, best first.

    A link whose keys can no longer be opened is left out.
    """
    ready = []
    for link in links:
        names = pool.keys_for(link, now)
        secrets = _opened(loaded, names)
        if secrets or not pool.ring(link).keys:
            endpoint = _endpoint(link, secrets, plan.limits.get(link.name, Overrides()), betas)
            ready.append(Ready(link, endpoint, tuple(secret.name for secret in secrets)))
    return tuple(ready)


def _opened(loaded: Loaded, names: Sequence[str]) -> list[Secret]:
    secrets = []
    for name in names:
        try:
            secrets.append(loaded.keychain.open(name))
        except InvalidInput:
            continue
    return secrets


def _endpoint(link: Link, secrets: Sequence[Secret], limits: Overrides, betas: Sequence[str]) -> Endpoint:
    provider = link.provider
    return Endpoint(
        name=link.name,
        wire=provider.wire,
        url=link.url,
        model=link.model,
        dialect=link.dialect,
        headers=tuple(dict(request_headers(provider, key, betas=betas)) for key in secrets or (None,)),
        vendor=provider.vendor,
        output_limit=link.facts.output_limit,
        context=link.facts.context,
        reasoning=link.facts.reasoning,
        reattaches=provider.reattaches,
        limits=limits,
        fit=partial(body_for, provider),
        cost=partial(cost, link.facts),
    )
