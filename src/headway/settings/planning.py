"""Settings to what a turn runs on: a chain of links, a policy, limits for each link, and the pool that all turns share.

A provider none of whose keys is there is left out of a chain with a notice, so that one file serves people with
different keys. When nobody is left, that is an error with every reason in it.
"""

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from headway.failure import InvalidInput
from headway.providers.breaker import BreakerLimits
from headway.providers.catalog import Auth, Provider
from headway.providers.health import Health
from headway.providers.keys import KeyLimits, KeyRing
from headway.providers.links import Link
from headway.providers.pool import Pool
from headway.providers.presets import PRESETS
from headway.recovery.ledger import Policy, Strategy
from headway.settings.completion import DEFAULT_ROUTE
from headway.settings.entries import facts_of, is_bare_to_listeners, provider_of
from headway.settings.loading import Loaded
from headway.settings.schema import ProviderEntry, RouteEntry, StreamLimits, TurnLimits
from headway.transport.limits import Overrides

ANY_MODEL = "*"
_Notice: TypeAlias = tuple[str, str]
"""A provider, and what a person should know about it."""
_STREAM = frozenset(Overrides.__struct_fields__)
_POLICY = ("attempts", "attempts_per_upstream", "continuations", "turn_seconds", "longest_wait_seconds")


class Plan(Struct, frozen=True):
    """How one request to a route, or to a single model, is carried out."""

    route: str
    chain: tuple[Link, ...]
    policy: Policy
    limits: dict[str, Overrides]
    """What was set for each link, by its name."""
    notices: tuple[str, ...] = ()
    """What a person should know before it starts."""


def plan_for(loaded: Loaded, name: str = DEFAULT_ROUTE) -> Plan:
    """Return the plan for a route, for `provider/model`, or, for a name that nobody knows, for the default route.

    A link to `provider/*` is to the model of that name, then.
    """
    settings = loaded.settings
    provider, slash, model = name.partition("/")
    if name in settings.routes:
        return _plan(loaded, name, settings.routes[name])
    if slash and model and provider in settings.providers:
        return _plan(loaded, name, RouteEntry(chain=(name,)))
    if DEFAULT_ROUTE not in settings.routes:
        raise _nobody_to_ask(loaded)
    asked = "" if name == DEFAULT_ROUTE else name
    return _plan(loaded, DEFAULT_ROUTE, settings.routes[DEFAULT_ROUTE], asked)


def open_pool(loaded: Loaded) -> Pool:
    """Return the pool for all turns of a process: everybody well, every key that is there fit."""
    limits = loaded.settings.limits
    rings = {}
    for name in loaded.settings.providers:
        keys, _ = _keys(loaded, name)
        rings[name] = KeyRing(name, keys)
    breaker = BreakerLimits(
        failures=limits.unwell_after,
        open_seconds=limits.unwell_seconds,
        longest_seconds=max(limits.unwell_seconds, limits.longest_unwell_seconds),
    )
    return Pool(rings, Health(breaker), KeyLimits(rest_seconds=limits.key_rest_seconds))


def _plan(loaded: Loaded, name: str, route: RouteEntry, asked: str = "") -> Plan:
    chain: list[Link] = []
    limits: dict[str, Overrides] = {}
    notices: list[_Notice] = []
    for text in route.chain:
        wanted, _, model = text.partition("/")
        entry = loaded.settings.providers[wanted]
        provider = provider_of(wanted, entry, "settings")
        keys, problems = _keys(loaded, wanted)
        notices += ((wanted, problem) for problem in problems)
        if _wants_key(provider, entry) and not keys:
            notices += ((wanted, words) for words in _why_no_key(loaded, provider, are_told=bool(problems)))
            continue
        if is_bare_to_listeners(provider) and keys:
            notices.append((wanted, "its address begins with http://, so its key crosses the network in the clear"))
        model = (asked if model == ANY_MODEL else model) or provider.model
        if not model:
            notices.append((wanted, "no model was asked for by name, and it has none of its own"))
            continue
        link = Link(provider, model, facts_of(provider, model, entry.models.get(model)))
        chain.append(link)
        limits[link.name] = Overrides(**_chosen(_STREAM, route.limits, entry.limits, loaded.settings.limits))
    if not chain:
        raise InvalidInput(f"routes.{name}", "nobody in its chain can be asked", "; ".join(_told_once(notices)))
    return Plan(name, tuple(chain), _policy(loaded, route), limits, _told_once(notices))


def _keys(loaded: Loaded, name: str) -> tuple[tuple[str, ...], list[str]]:
    """Return the references that can be opened, and what is wrong with the others."""
    given = loaded.settings.providers[name].keys or ()
    problems = {reference: loaded.keychain.problem(reference) for reference in given}
    good = tuple(reference for reference, problem in problems.items() if problem is None)
    return good, [problem for problem in problems.values() if problem is not None]


def _wants_key(provider: Provider, entry: ProviderEntry) -> bool:
    """Say whether it must not be asked without a key; an empty list of keys says that it may."""
    named = provider.key_variables if entry.keys is None else entry.keys
    return provider.auth is not Auth.NONE and bool(named)


def _why_no_key(loaded: Loaded, provider: Provider, *, are_told: bool = False) -> Iterator[str]:
    """Say why there is no key; `are_told`: what is wrong with those that are named is said already."""
    names = [variable.name for variable in provider.key_variables]
    there = next((name for name in names if loaded.around.variable(name)), "")
    origin, before = loaded.entry_origin("providers", provider.name), loaded.replaced.get(provider.name)
    if before is not None:
        yield f"its entry in {origin} replaced the one in {before}, and the keys in that"
    if are_told:
        return
    if there:  # it is not taken for an address that a strange file names
        way = f'If you trust it, write keys = ["env:{there}"] there, or: headway config trust'
        yield f"no key; {origin} came with this folder and names the address, which does not get {there}. {way}"
    else:
        yield f'no key; set {" or ".join(names)}, or write keys = ["env:NAME"]'


def _told_once(notices: Sequence[_Notice]) -> tuple[str, ...]:
    """Return each of them once, with the names of all whom it is about."""
    whose: dict[str, dict[str, None]] = {}
    for name, words in notices:
        whose.setdefault(words, {})[name] = None
    return tuple(f"{', '.join(names)}: {words}" for words, names in whose.items())


def _policy(loaded: Loaded, route: RouteEntry) -> Policy:
    said = _chosen(frozenset(_POLICY), route.limits, loaded.settings.limits)
    forbidden = frozenset(route.forbid) | (frozenset() if route.drafts else frozenset({Strategy.CONTINUE_DRAFT}))
    return Policy(**said, forbidden=forbidden, stays_home=frozenset(route.stay_home))  # type: ignore[arg-type]


def _chosen(names: frozenset[str], *tables: StreamLimits | TurnLimits) -> dict[str, float]:
    """Return what was set, by the first table that says something about it."""
    said: dict[str, float] = {}
    for table in reversed(tables):
        said.update({name: value for name, value in asdict(table).items() if name in names and value is not None})
    return said


def _nobody_to_ask(loaded: Loaded) -> InvalidInput:
    without_keys = [
        (name, words)
        for name, entry in loaded.settings.providers.items()
        if (provider := provider_of(name, entry, "settings")).model and entry.keys is None
        for words in _why_no_key(loaded, provider)
    ]
    if without_keys:
        why = "; ".join(_told_once(without_keys))
        return InvalidInput("routes.default", "there is none, and whoever could be in it has no key", why)
    if loaded.settings.providers:
        first = next(iter(loaded.settings.providers))
        hint = (
            f'Add to {loaded.files[0] if loaded.files else "headway.toml"}: [routes.default] chain = ["{first}/MODEL"].'
        )
        return InvalidInput("routes.default", "there is none, and no provider has a model of its own", hint)
    usual = ", ".join(preset.key_variables[0].name for preset in list(PRESETS.values())[:2])
    hint = f"Set {usual} or another provider's key, or run `headway config init`. `headway demo` needs no key."
    return InvalidInput("settings", "there is nobody to ask", hint)
