"""The settings and the keys: which files count, what is wrong in them, and which keys are there. Nothing is sent."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from headway.cli.doctor.findings import Area, Finding, State
from headway.failure import InvalidInput
from headway.providers.catalog import Auth, Provider
from headway.providers.secret import MASK
from headway.settings import Loaded, Surroundings, plan_for
from headway.settings.completion import DEFAULT_ROUTE
from headway.settings.entries import is_bare_to_listeners, provider_of
from headway.settings.loading import files_for
from headway.settings.mistakes import mistakes_in
from headway.settings.planning import ANY_MODEL
from headway.settings.schema import ProviderEntry

_QUOTES = ("'", '"')


class Target(Struct, frozen=True):
    """A provider that is to be asked, and its models that routes name."""

    name: str
    provider: Provider
    entry: ProviderEntry
    models: tuple[str, ...]


def about_mistakes(error: InvalidInput, config: Path | None, around: Surroundings) -> Iterator[Finding]:
    """Tell what keeps settings from being read, and what else is wrong in their files."""
    found = {error.what: error}
    with suppress(InvalidInput):  # a file that is named and not there, which is the error already
        for path in files_for(config, around):
            found |= {one.what: one for one in mistakes_in(path) if one.what not in found}
    for one in found.values():
        advice = one.hint or "Correct it there; `headway config schema` gives editors a schema to check against."
        yield Finding(area=Area.SETTINGS, name=one.what, words=one.why, state=State.PROBLEM, advice=advice)


def about_settings(loaded: Loaded) -> Iterator[Finding]:
    """Tell which files count, and which routes lead to nobody."""
    files = [str(path) for path in loaded.files]
    words = f"read from {', then '.join(files)}" if files else "no file; what is in the environment counts"
    routes = loaded.settings.routes
    yield Finding(area=Area.SETTINGS, name="files", words=words, facts={"files": files, "routes": list(routes)})
    for name in routes or (DEFAULT_ROUTE,):
        yield _route(loaded, name)


def _route(loaded: Loaded, name: str) -> Finding:
    try:
        plan = plan_for(loaded, name)
    except InvalidInput as error:
        is_empty = name not in loaded.settings.routes
        return Finding(
            area=Area.SETTINGS,
            name=f"route {name}",
            words=error.why,
            state=State.PROBLEM,
            advice=error.hint if is_empty else f"Give one of them a key, or run `headway config init`: {error.hint}",
        )
    chain = [link.name for link in plan.chain]
    return Finding(area=Area.SETTINGS, name=f"route {name}", words=" → ".join(chain), facts={"chain": chain})


def targets(loaded: Loaded, wanted: Sequence[str]) -> list[Target]:
    """Return whom to look at: the providers that were named, or those of all routes."""
    settings = loaded.settings
    models: dict[str, list[str]] = {}
    for text in (text for route in settings.routes.values() for text in route.chain):
        name, _, model = text.partition("/")
        models.setdefault(name, []).append("" if model == ANY_MODEL else model)
    for name, _, model in (text.partition("/") for text in wanted):
        models[name] = [model] if model else models.get(name, [""])
    names = list(dict.fromkeys(text.partition("/")[0] for text in wanted)) or list(models)
    found = []
    for name in names:
        entry = settings.providers[name]
        provider = provider_of(name, entry, "settings")
        asked = dict.fromkeys(model or provider.model for model in models[name])
        found.append(Target(name, provider, entry, tuple(model for model in asked if model)))
    return found


def about_keys(loaded: Loaded, targets: Sequence[Target], missing: State) -> list[Finding]:
    """Tell which keys are there, and what it means when one is missing. Keyrings are opened: it may block."""
    return [finding for target in targets for finding in _keys(loaded, target, missing)]


def _keys(loaded: Loaded, target: Target, missing: State) -> Iterator[Finding]:
    provider, keys = target.provider, target.entry.keys or ()
    for reference in keys:
        yield _key(loaded, target.name, reference, missing)
    if keys and is_bare_to_listeners(provider):
        words = "its address begins with http://, so its key crosses the network in the clear"
        advice = f"Write https:// in `providers.{target.name}.base_url`."
        yield Finding(area=Area.KEYS, name=target.name, words=words, state=State.NOTE, advice=advice)
    if keys:
        return
    if target.entry.client_key:
        yield Finding(area=Area.KEYS, name=target.name, words="each client of the gateway brings its own")
    elif provider.auth is Auth.NONE or not provider.key_variables or target.entry.keys is not None:
        yield Finding(area=Area.KEYS, name=target.name, words="needs none")
    else:
        names = " or ".join(variable.name for variable in provider.key_variables)
        advice = f"Set {names}, or run `headway config init`."
        yield Finding(area=Area.KEYS, name=target.name, words="no key", state=missing, advice=advice)


def _key(loaded: Loaded, name: str, reference: str, missing: State) -> Finding:
    origin = str(loaded.origin("providers", name, "keys"))
    facts = {"reference": reference, "from": origin}
    try:
        value = loaded.keychain.open(reference).reveal()
    except InvalidInput as error:
        words = f"no key: {error.why} ({reference})"
        advice = error.hint or "Put one key into it, and nothing else."
        return Finding(area=Area.KEYS, name=name, words=words, state=missing, advice=advice, facts=facts)
    if value.startswith(_QUOTES) or value.endswith(_QUOTES):
        words = f"{reference} is there, but it has quotes around it"
        advice = "Take the quotes away: they are sent along."
        return Finding(area=Area.KEYS, name=name, words=words, state=State.PROBLEM, advice=advice, facts=facts)
    named = "" if reference == f"env:{origin}" else f", named in {origin}"
    words = f"{reference} is there: {MASK} ({len(value)} characters{named})"
    return Finding(area=Area.KEYS, name=name, words=words, facts=facts)
