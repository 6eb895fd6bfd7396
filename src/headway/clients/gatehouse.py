"""The gateway of one run: a doorway for each provider that the client asks, behind one port of this machine.

With routes in the settings there is one doorway, and they decide. Without, each provider of the client has its own,
told apart by the first segment of the path.
"""

import asyncio
from collections.abc import Mapping
from secrets import token_urlsafe

from msgspec import Struct
from msgspec.structs import replace

from headway.clients.client import Client
from headway.clients.pointing import Doorway
from headway.clients.upstreams import Upstream, UpstreamWays, has_routes, together, upstreams_of
from headway.failure import InvalidInput
from headway.gateway.connection import Answer
from headway.gateway.doors import Doors
from headway.gateway.doors import Limits as DoorLimits
from headway.gateway.message import Limits, Request
from headway.gateway.metrics import Metrics
from headway.gateway.server import Server
from headway.gateway.service import Keep, Service, Setup
from headway.gateway.ways import Ways
from headway.providers.presets import PRESETS
from headway.providers.secret import Secret
from headway.settings import Loaded, open_pool
from headway.settings.ways import SettingsWays
from headway.transport.http import HttpClient
from headway.turn.fleet import Fleet

HOST = "127.0.0.1"
_ROUTES = ""
"""The doorway to the routes of the settings: it has no segment of its own."""


class Plan(Struct, frozen=True):
    """Whom the requests of a run go to."""

    loaded: Loaded
    """The settings, with every provider that is asked."""
    upstreams: tuple[Upstream, ...] = ()
    """Where each doorway leads; none: the routes of the settings decide."""
    notes: tuple[str, ...] = ()


def plan_run(client: Client, loaded: Loaded) -> Plan:
    """Return whom to ask; raises `InvalidInput` when there is nobody."""
    if has_routes(loaded):
        return Plan(loaded)
    upstreams = upstreams_of(client, loaded)
    if upstreams:
        return Plan(together(upstreams, loaded), upstreams)
    usual = " or ".join(PRESETS[door.provider].key_variables[0].name for door in client.doors)
    route = loaded.settings.routes.get("default")
    if route is None:
        hint = f"Set {usual or 'the key of a provider'}, or write a headway.toml with [routes.default]."
        raise InvalidInput(client.title, "there is nobody to ask for it", hint)
    note = f"there is no {usual}; {' → '.join(route.chain)} will answer, whatever model is asked for"
    return Plan(loaded, notes=(note,) if usual else ())


class Gatehouse:
    """Serves one client for as long as it runs. Needs a running loop."""

    def __init__(self, client: Client, plan: Plan, http: HttpClient, keep: Keep) -> None:
        """Ask through `http`; give each finished trace to `keep`."""
        self._client, self._plan = client, plan
        self._key = Secret(token_urlsafe(24), "this run's")
        self._fleet = Fleet(open_pool(plan.loaded), asyncio.get_running_loop().time)
        ways: dict[str, Ways] = {one.door.provider: UpstreamWays(one, self._key) for one in plan.upstreams}
        metrics = Metrics()
        self._services = {
            name: Service(http, self._setup(one), keep, metrics)
            for name, one in (ways or {_ROUTES: SettingsWays(plan.loaded)}).items()
        }
        self._first = next(iter(self._services.values()))
        self.url = ""

    @property
    def key(self) -> str:
        """Return the key of this run."""
        return self._key.reveal()

    async def open(self, limits: Limits | None = None) -> Server:
        """Listen on a port that is free."""
        server = Server(self, limits)
        host, port = await server.start(HOST, 0)
        self.url = f"http://{host}:{port}"
        return server

    def doorways(self) -> tuple[Doorway, ...]:
        """Return where each door of the client leads now."""
        if not self._plan.upstreams:
            given = None if self._passes_keys() else self.key
            return tuple(Doorway(door, self.url, given) for door in self._client.doors)
        return tuple(
            Doorway(one.door, f"{self.url}/{one.door.provider}", self.key if one.is_keyed else None)
            for one in self._plan.upstreams
        )

    async def handle(self, request: Request, answer: Answer) -> None:
        """Answer a request by the service behind its doorway."""
        if _ROUTES in self._services:
            await self._services[_ROUTES].handle(request, answer)
            return
        name, slash, rest = request.path.removeprefix("/").partition("/")
        service = self._services.get(name)
        if service is None:  # said to the client in the words of a path that is not there
            service, slash, rest = self._first, "", request.path
        await service.handle(replace(request, path=f"{slash}{rest}" or "/"), answer)

    def refuse(self, status: int, words: str, target: str) -> tuple[Mapping[str, str], bytes]:
        """Return what to say about a request that could not even be read."""
        return self._first.refuse(status, words, target)

    def knows(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request with these headers may come in: all services have one key."""
        return self._first.knows(headers)

    def _setup(self, ways: Ways) -> Setup:
        gateway = self._plan.loaded.settings.gateway
        limits = DoorLimits(gateway.streams)
        # Who shows another key than this run's gets on with that key alone, and with none of ours.
        shows_own = self._client.logs_in if self._plan.upstreams else self._client.keeps_key or self._passes_keys()
        doors = Doors(() if shows_own else (self._key,), limits)
        return Setup(ways, self._fleet, doors, gateway.heartbeat_seconds, gateway.trace_content)

    def _passes_keys(self) -> bool:
        return any(entry.client_key for entry in self._plan.loaded.settings.providers.values())
