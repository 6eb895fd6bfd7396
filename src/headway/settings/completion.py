"""What nobody wrote: the usual keys of each provider, and a default route of whoever can be asked. With its origin.

Nothing is done behind anybody's back: what is added here is an ordinary entry, and `config show` shows it.
"""

from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from headway.providers.catalog import Provider
from headway.providers.presets import PRESETS
from headway.settings.entries import preset_of
from headway.settings.layers import DEFAULT, From, KeyPath, Origin
from headway.settings.places import Surroundings
from headway.settings.schema import ProviderEntry, RouteEntry, Settings

DEFAULT_ROUTE = "default"


class Completed(Struct, frozen=True):
    """Settings in which every provider of a chain has an entry, and where the added values came from."""

    settings: Settings
    origins: dict[KeyPath, Origin]


def completed(
    settings: Settings, origins: dict[KeyPath, Origin], around: Surroundings, strange: frozenset[str] = frozenset()
) -> Completed:
    """Return the settings with what the environment adds to them. `strange` are files that nobody has said to trust."""
    entries = dict(settings.providers)
    wanted = [text.partition("/")[0] for route in settings.routes.values() for text in route.chain]
    if not entries:
        wanted += [preset.name for preset in _with_keys(around)]
    for name in wanted:
        if name in PRESETS:
            entries.setdefault(name, ProviderEntry())
    added = dict(origins)
    for name, entry in entries.items():
        is_strange = origins.get(("providers", name, "base_url"), DEFAULT).name in strange
        entries[name] = _with_the_usual(name, entry, around, added, keys=not is_strange)
    routes = dict(settings.routes)
    chain = () if DEFAULT_ROUTE in routes else tuple(_askable(entries))
    if chain:
        routes[DEFAULT_ROUTE] = RouteEntry(chain=chain)
        added["routes", DEFAULT_ROUTE, "chain"] = Origin(From.DEFAULT, "made of the providers that have keys")
    return Completed(replace(settings, providers=entries, routes=routes), added)


def _with_keys(around: Surroundings) -> list[Provider]:
    """Return the presets that a default route can be made of, each account once."""
    found: dict[str, Provider] = {}
    for preset in PRESETS.values():
        variable = next((known.name for known in preset.key_variables if around.variable(known.name)), None)
        if variable and preset.base_url and preset.model:
            found.setdefault(variable, preset)
    return list(found.values())


def _with_the_usual(
    name: str, entry: ProviderEntry, around: Surroundings, origins: dict[KeyPath, Origin], *, keys: bool
) -> ProviderEntry:
    """Fill in the keys and the address that are kept in the usual variables; what was written stays.

    Without `keys`, only where the preset itself is asked: a key that nobody has named goes to no stranger's address.
    """
    preset = preset_of(name, entry)
    if preset is None:
        return entry
    if entry.keys is None and (keys or _is_at_home(entry, preset)):
        variable = next((known for known in preset.key_variables if around.variable(known.name)), None)
        if variable is not None:
            entry = replace(entry, keys=(f"env:{variable.name}",), auth=entry.auth or variable.auth)
            origins["providers", name, "keys"] = Origin(From.ENVIRONMENT, variable.name)
    if not entry.base_url:
        place = next((known for known in preset.url_variables if around.variable(known)), None)
        if place is not None:
            entry = replace(entry, base_url=around.variable(place))
            origins["providers", name, "base_url"] = Origin(From.ENVIRONMENT, place)
    return entry


def _is_at_home(entry: ProviderEntry, preset: Provider) -> bool:
    """Say whether an entry asks where its preset does."""
    return not entry.base_url or urlsplit(entry.base_url).hostname == urlsplit(preset.base_url).hostname


def _askable(entries: dict[str, ProviderEntry]) -> list[str]:
    """Return the providers that have a model of their own, and keys if they want any."""
    chain = []
    for name, entry in entries.items():
        preset = preset_of(name, entry)
        wants_keys = preset is not None and bool(preset.key_variables)
        if (entry.model or (preset and preset.model)) and (entry.keys is not None or not wants_keys):
            chain.append(name)
    return chain
