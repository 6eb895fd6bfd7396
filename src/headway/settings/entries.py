"""An entry of [providers] to the provider it means, or an error that says what is missing."""

from urllib.parse import urlsplit

from msgspec.structs import replace

from headway.failure import InvalidInput
from headway.messages import WireName
from headway.providers.catalog import Auth, Provider
from headway.providers.models import ModelFacts, Price, Source, facts_for
from headway.providers.presets import PRESETS, preset_named, provider_at
from headway.settings.reading import closest
from headway.settings.schema import ModelEntry, ProviderEntry
from headway.transport.limits import is_local

_KEY_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"})
WIRES: tuple[WireName, ...] = ("chat", "responses", "anthropic")


def preset_of(name: str, entry: ProviderEntry) -> Provider | None:
    """Return the preset that an entry starts from; None when it has its own wire and address, or nothing."""
    if entry.preset:
        return preset_named(entry.preset, entry.wire)
    if entry.wire and entry.base_url:
        found = provider_at(entry.base_url, entry.wire, name)
        return found if found.vendor else None
    return preset_named(name, entry.wire)


def provider_of(name: str, entry: ProviderEntry, origin: str) -> Provider:
    """Return the provider that an entry means."""
    place = f"{origin}: providers.{name}"
    if entry.base_url:
        check_url(entry.base_url, f"{place}.base_url")
    provider = _base(name, entry, place)
    if not provider.base_url:
        raise InvalidInput(place, "it has no address of its own", 'Add base_url = "https://…".')
    if entry.reattach and not provider.reattach_body:
        raise InvalidInput(f"{place}.reattach", f"the wire {provider.wire!r} has no way to do that", "Leave it out.")
    for header in entry.headers:
        if header.lower() in _KEY_HEADERS:
            hint = 'Write keys = ["env:NAME"] and, if need be, auth.'
            raise InvalidInput(f"{place}.headers.{header}", "a key does not belong in a header written here", hint)
    overridden = {header.lower() for header in entry.headers}
    kept = tuple((header, value) for header, value in provider.headers if header not in overridden)
    return replace(
        provider,
        name=name,
        path=entry.path or provider.path,
        auth=entry.auth or provider.auth,
        headers=(*kept, *((header.lower(), value) for header, value in entry.headers.items())),
        betas=(*provider.betas, *entry.betas),
        reattaches=provider.reattaches if entry.reattach is None else entry.reattach,
        model=entry.model or provider.model,
    )


def _base(name: str, entry: ProviderEntry, place: str) -> Provider:
    if entry.preset and entry.preset not in PRESETS:
        near = closest(entry.preset, PRESETS)
        hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(PRESETS)}"
        raise InvalidInput(f"{place}.preset", f"there is no preset {entry.preset[:80]!r}", hint)
    if not entry.preset and entry.wire and entry.base_url:
        host = urlsplit(entry.base_url).hostname or ""
        return provider_at(entry.base_url, entry.wire, name, local=is_local(host))
    known = entry.preset or name
    found = preset_named(known, entry.wire)
    if found is not None:
        return replace(found, base_url=entry.base_url or found.base_url)
    if known in PRESETS and entry.wire:
        if entry.base_url:
            return provider_at(entry.base_url, entry.wire, name)
        spoken = ", ".join(wire for wire in WIRES if preset_named(known, wire))
        raise InvalidInput(f"{place}.wire", f"{known} is known to speak {spoken}", 'Add base_url = "https://…".')
    near = closest(name, PRESETS)
    meant = f' Or did you mean the preset "{near}"?' if near else ""
    missing = "base_url" if entry.wire else "wire" if entry.base_url else "preset, or a wire and a base_url"
    hint = f'wire = "chat", "responses" or "anthropic"; base_url = "https://…".{meant}'
    raise InvalidInput(place, f"it has no {missing}", hint)


def check_url(url: str, place: str) -> None:
    """Refuse an address that cannot be asked; it is not shown, since it may hold a password."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not host:
        raise InvalidInput(place, "it is no address of a server", 'It looks like "https://api.example.com/v1".')
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(place, "a password does not belong in an address", 'Write keys = ["env:NAME"].')


def is_bare_to_listeners(provider: Provider) -> bool:
    """Say whether a key for this provider would cross a network in the clear."""
    parts = urlsplit(provider.base_url)
    return parts.scheme == "http" and not is_local(parts.hostname or "") and provider.auth is not Auth.NONE


def facts_of(provider: Provider, model: str, entry: ModelEntry | None) -> ModelFacts:
    """Return the facts about a model; what somebody set counts for more than what is listed."""
    facts = facts_for(provider.vendor, model, local=provider.local)
    if entry is None:
        return facts
    names = ("context", "output_limit", "reasoning", "images", "prefill")
    said = {name: getattr(entry, name) for name in names if getattr(entry, name) is not None}
    prices = facts.prices
    if entry.input_price is not None or entry.output_price is not None:
        prices = (Price(0, entry.input_price or 0.0, entry.output_price or 0.0),)
    return replace(facts, **said, prices=prices, source=Source.SET)
