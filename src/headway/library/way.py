"""From what a program or a file says to a way to an answer: whom to ask, in which order, within which limits."""

import logging
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from headway.failure import InvalidInput
from headway.library.provider import Provider, code_of
from headway.settings import Loaded, Plan, load, plan_for
from headway.settings.completion import DEFAULT_ROUTE
from headway.settings.reading import closest
from headway.settings.schema import Limits

_log = logging.getLogger("headway.library")


class Way(Struct, frozen=True):
    """The settings in force and what they come to."""

    loaded: Loaded
    plan: Plan

    @property
    def chain(self) -> tuple[str, ...]:
        """Return who is asked, in order."""
        return tuple(link.name for link in self.plan.chain)

    def __repr__(self) -> str:
        return f"Way({', '.join(self.chain)})"


def way_of(chain: Sequence[Provider | str], config: str | Path | None, route: str | None, limits: Limits | None) -> Way:
    """Find the way that was asked for; what a person should know about it is logged as a warning."""
    for one in chain:
        if not isinstance(one, Provider | str):
            raise InvalidInput(
                "the chain", f"it holds a {type(one).__name__}", 'Give Provider(…)s, or names like "provider/model".'
            )
    if chain and route is not None:
        raise InvalidInput("the route", "there is a chain besides", "Give one of both.")
    path = Path(config).expanduser() if config is not None else None
    if path is not None and not path.is_file():
        raise InvalidInput(str(path), "there is no such file", "Check `config`.")
    loaded = load(path, code=code_of(chain, limits))
    plan = plan_for(loaded, _known(loaded, route) if route is not None else DEFAULT_ROUTE)
    for notice in plan.notices:
        _log.warning("%s", notice)
    return Way(loaded, plan)


def _known(loaded: Loaded, name: str) -> str:
    """Return the name of a route, or `provider/model`; one that nobody knows is not what was meant."""
    routes, providers = loaded.settings.routes, loaded.settings.providers
    provider, _, model = name.partition("/")
    if name in routes or (model and provider in providers):
        return name
    near = closest(name, (*routes, *(f"{known}/{model}" for known in providers if model)))
    hint = f"Did you mean {near!r}?" if near else f"There is: {', '.join(routes) or 'none'}."
    raise InvalidInput(f"the route {name!r}", "there is none of that name", hint)
