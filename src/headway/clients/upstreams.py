"""Whom a client's doors lead to when nobody wrote a route: its own usual provider, with the key it would have used.

A request that shows the key of this run is answered with the keys that were in the environment. One that shows another
key is passed on with that key and no other: so a login of the client's own works, and nobody else on this machine can
use a key that is not theirs.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from headway.clients.client import Client, Door
from headway.gateway.ways import Offer, Way, Ways
from headway.messages import WireName
from headway.providers.catalog import Auth, Provider
from headway.providers.presets import PRESETS, preset_named
from headway.providers.secret import Secret
from headway.settings.layers import DEFAULT, From
from headway.settings.loading import Loaded
from headway.settings.schema import ProviderEntry, RouteEntry, Settings
from headway.settings.ways import SettingsWays

_WRITTEN = (From.FILE, From.CODE, From.FLAG)
_OWN = "-own-key"
_LOGIN = "-login"


def has_routes(loaded: Loaded) -> bool:
    """Say whether somebody wrote down whom to ask."""
    return any(
        path[0] in {"providers", "routes"} and origin.kind in _WRITTEN for path, origin in loaded.origins.items()
    )


class Upstream(Struct, frozen=True):
    """Where a door leads, for each of its wires."""

    door: Door
    keyed: dict[str, Loaded]
    """Settings by wire, with the keys of the environment; none when there is no key."""
    own: dict[str, Loaded]
    """The same for a client that shows its own key; none when it never does."""
    login: dict[str, Loaded]

    @property
    def is_keyed(self) -> bool:
        """Say whether the environment had a key for it."""
        return bool(self.keyed)


def upstreams_of(client: Client, loaded: Loaded) -> tuple[Upstream, ...]:
    """Return where each door of a client leads; a door to which nobody has a key is left out."""
    found = (_upstream(client, door, loaded) for door in client.doors)
    return tuple(one for one in found if one.keyed or one.own)


def together(upstreams: Sequence[Upstream], loaded: Loaded) -> Loaded:
    """Return settings with the providers of all doors: one pool of keys and health for the whole run."""
    providers: dict[str, ProviderEntry] = {}
    for one in upstreams:
        for settings in (*one.keyed.values(), *one.own.values(), *one.login.values()):
            providers |= settings.settings.providers
    return replace(loaded, settings=replace(loaded.settings, providers=providers, routes={}))


class UpstreamWays(Ways):
    """The ways behind one door: by the key that is shown, and by the wire."""

    def __init__(self, upstream: Upstream, key: Secret) -> None:
        """Take `key` for the key of this run."""
        self._key, self._header = key, upstream.door.login_header
        self._keyed = {wire: SettingsWays(one) for wire, one in upstream.keyed.items()}
        self._own = {wire: SettingsWays(one) for wire, one in upstream.own.items()}
        self._login = {wire: SettingsWays(one) for wire, one in upstream.login.items()}

    def way(self, asked: str, wire: str, headers: Mapping[str, str]) -> Way:
        """Return the way of a request."""
        return self._ways(wire, headers).way(asked, wire, headers)

    def offers(self) -> Sequence[Offer]:
        """Return nothing: whatever the provider has can be asked for, and only it knows what that is."""
        return ()

    def _ways(self, wire: str, headers: Mapping[str, str]) -> SettingsWays:
        if self._keyed and self._key.matches(shown_key(headers)):
            return self._keyed[wire]
        if self._login and self._header in headers:
            return self._login[wire]
        return (self._own or self._keyed)[wire]


def shown_key(headers: Mapping[str, str]) -> str:
    """Return the key that a client shows, wherever it stands."""
    scheme, _, bearer = headers.get("authorization", "").partition(" ")
    return headers.get("x-api-key", "") or (bearer.strip() if scheme.lower() == "bearer" else "")


def _upstream(client: Client, door: Door, loaded: Loaded) -> Upstream:
    reference, auth = _key_of(door, loaded)
    keyed, own, login = {}, {}, {}
    for wire in ("chat", "responses", "anthropic"):
        if reference:
            entry = replace(_entry(door, wire, loaded), keys=(reference,), auth=auth)
            keyed[wire] = _with_route(loaded, _name(door, wire), entry)
        if client.logs_in:
            entry = replace(_entry(door, wire, loaded), keys=(), client_key=True)
            own[wire] = _with_route(loaded, _name(door, wire) + _OWN, entry)
            if door.login_url:
                entry = replace(entry, base_url=door.login_url)
                login[wire] = _with_route(loaded, _name(door, wire) + _LOGIN, entry)
    return Upstream(door, keyed, own, login)


def _key_of(door: Door, loaded: Loaded) -> tuple[str, Auth | None]:
    """Return a reference to the key in the environment, and where such a key stands."""
    for variable in PRESETS[door.provider].key_variables:
        if loaded.around.variable(variable.name):
            return f"env:{variable.name}", variable.auth
    return "", None


def _preset(door: Door, wire: WireName) -> Provider:
    """Return the provider for a wire: the same vendor's that speaks it, or else the one that there is."""
    return preset_named(door.provider, wire) or PRESETS[door.provider]


def _name(door: Door, wire: WireName) -> str:
    return _preset(door, wire).name


def _entry(door: Door, wire: WireName, loaded: Loaded) -> ProviderEntry:
    """Return the provider, where the environment says that it is."""
    preset = _preset(door, wire)
    url = next((value for name in preset.url_variables if (value := loaded.around.variable(name))), "")
    # By its address, a provider is known even if its variables are another's.
    return ProviderEntry(wire=preset.wire, base_url=url or preset.base_url)


def _with_route(loaded: Loaded, name: str, entry: ProviderEntry) -> Loaded:
    settings: Settings = replace(
        loaded.settings, providers={name: entry}, routes={"default": RouteEntry(chain=(f"{name}/*",))}
    )
    origins = {**loaded.origins, ("routes", "default", "chain"): DEFAULT}
    return replace(loaded, settings=settings, origins=origins)
