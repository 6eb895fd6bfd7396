"""The way to a host, made: resolve, connect, pass the proxy, agree on TLS. `phase` says how far it is.

Left at any point, for any reason, it leaves no socket behind.
"""

import ssl
from asyncio import AbstractEventLoop
from collections.abc import Callable
from contextlib import ExitStack

from msgspec import Struct

from headway.transport.connection import Connection, tuned
from headway.transport.dial import Resolve, connect, known_addresses
from headway.transport.errors import Phase, failure_of
from headway.transport.limits import Limits
from headway.transport.message import Target
from headway.transport.proxy import Proxy
from headway.transport.tunnel import open_tunnel


class Route(Struct, frozen=True):
    """Where a connection leads and by which way; connections of equal routes are interchangeable."""

    scheme: str
    host: str
    port: int
    proxy: Proxy | None

    @property
    def asks_proxy(self) -> bool:
        """Say whether the proxy itself gets the request and passes it on, instead of a tunnel."""
        return self.proxy is not None and not self.proxy.is_socks and self.scheme == "http"


class Opening:
    """Makes one connection."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        route: Route,
        limits: Limits,
        context: Callable[[], ssl.SSLContext],
        resolve: Resolve,
        reached: dict[Phase, float],
    ) -> None:
        """Prepare a way; nothing happens before `run`. When each phase begins is noted in `reached`."""
        self._loop, self._route, self._limits = loop, route, limits
        self._context, self._resolve, self._reached = context, resolve, reached
        self._connection: Connection | None = None
        self._phase = Phase.DNS
        self.host = route.proxy.host if route.proxy else route.host
        """Whom the present phase is about."""

    @property
    def phase(self) -> Phase:
        """Return how far it is."""
        return self._phase if self._connection is None else self._connection.phase

    async def run(self) -> Connection:
        """Return the open connection; raises `TransportFailed`."""
        try:
            return await self._run()
        except OSError as exc:
            raise failure_of(exc, self.phase, self.host) from exc

    async def _run(self) -> Connection:
        route, proxy = self._route, self._route.proxy
        port = proxy.port if proxy else route.port
        self._reached[Phase.DNS] = self._loop.time()
        addresses = known_addresses(self.host, port) or await self._resolve(self.host, port)
        self._phase = Phase.CONNECT
        self._reached[Phase.CONNECT] = self._loop.time()
        sock = await connect(self._loop, addresses)
        with ExitStack() as undo:
            connection = Connection(self._loop, tuned(sock, self._limits.first_byte_seconds), self.host)
            undo.callback(connection.abort)
            connection.reached = self._reached
            self._connection = connection
            await connection.open()
            if proxy is not None and proxy.scheme == "https":
                await self._start_tls(connection)
            if proxy is not None and not route.asks_proxy:
                self.host = connection.host = route.host
                await open_tunnel(connection, proxy, Target(route.scheme, route.host, route.port, ""))
            if route.scheme == "https":
                await self._start_tls(connection)
            self.host = connection.host = route.host
            undo.pop_all()
        return connection

    async def _start_tls(self, connection: Connection) -> None:
        await connection.start_tls(self._context(), self.host, self._limits.connect_seconds)
