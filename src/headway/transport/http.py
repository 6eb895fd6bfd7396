"""An HTTP/1.1 client that owns its sockets. One stream, one task, one connection; leaving the block closes it.

`async with client.stream(request, limits) as response` raises `TransportFailed` or lets a cancellation through, and
nothing else. On the way out, whatever the reason, nothing is awaited: the connection is kept if it stands at the end of
an answer, and reset otherwise. Redirects are answers like others. HTTP/2 is not spoken: one connection for each stream
means that a close reaches the provider, and that one black hole swallows one stream.
"""

import asyncio
import ssl
from asyncio import AbstractEventLoop
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Self

from headway.failure import InvalidInput
from headway.transport.connection import Connection
from headway.transport.dial import Resolve, resolve
from headway.transport.errors import Cause, Phase, Stalled, TransportFailed
from headway.transport.limits import Limits, Stall
from headway.transport.message import HttpRequest, Target, head_of, target_of
from headway.transport.opening import Opening, Route
from headway.transport.pool import IdlePool
from headway.transport.proxy import proxy_for
from headway.transport.response import Response
from headway.transport.tls import Trust, client_context
from headway.transport.watchdog import Quiet, Watchdog

MAX_IDLE = 16
IDLE_SECONDS = 60.0
STALE_SECONDS = 2.0
"""A connection that was dead before it was used says so at once; one that ends later had somebody at work."""
_STALE = frozenset({Cause.RESET, Cause.CLOSED_EARLY})


class HttpClient:
    """Streams, and the idle connections between them. Use it on one loop; close it when done."""

    def __init__(
        self,
        *,
        trust: Trust | None = None,
        environment: Mapping[str, str] | None = None,
        max_idle: int = MAX_IDLE,
        idle_seconds: float = IDLE_SECONDS,
        resolve: Resolve = resolve,
    ) -> None:
        """Take the proxies from `environment` (none: no proxies) and the certificates from `trust`."""
        self.environment = dict(environment or {})
        self.resolve = resolve
        self.idle = IdlePool(max_idle, idle_seconds)
        self.streams: set[Stream] = set()
        """The streams that are open now."""
        self._trust = trust or Trust()
        self._context: ssl.SSLContext | None = None

    def context(self) -> ssl.SSLContext:
        """Return the TLS context; it is made when first needed."""
        if self._context is None:
            self._context = client_context(self._trust)
        return self._context

    def stream(self, request: HttpRequest, limits: Limits | None = None, turn_ends_at: float | None = None) -> "Stream":
        """Prepare an exchange; entering it sends the request and waits for the head of the answer."""
        return Stream(self, request, limits or Limits(), turn_ends_at)

    def close(self) -> None:
        """Close every connection now: streams that are open get a failure, idle connections just go."""
        for stream in tuple(self.streams):
            stream.abort()
        self.idle.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


class Stream:
    """One exchange, as an `async with` block."""

    def __init__(self, client: HttpClient, request: HttpRequest, limits: Limits, turn_ends_at: float | None) -> None:
        """Prepare it; see `HttpClient.stream`."""
        self._client, self._request, self._limits, self._turn_ends_at = client, request, limits, turn_ends_at
        self._connection: Connection | None = None
        self._response: Response | None = None
        self._watchdog: Watchdog | None = None
        self._connecting: asyncio.Timeout | None = None
        self._why: TransportFailed | Stall | None = None
        self.reached: dict[Phase, float] = {}
        """When each phase began, on the loop's clock; a connection that was kept goes on from `SEND`."""
        self._route = Route("", "", 0, None)

    async def __aenter__(self) -> Response:
        loop = asyncio.get_running_loop()
        target = target_of(self._request.url)
        try:
            proxy = proxy_for(target.scheme, target.host, target.port, self._client.environment)
            self._route = Route(target.scheme, target.host, target.port, proxy)
            head = self._head(target)
            with ExitStack() as undo:
                undo.callback(self._leave)
                self._client.streams.add(self)
                self._watchdog = Watchdog(self._limits, loop, self._break_off, self._turn_ends_at)
                self._response = await self._answer(loop, self._watchdog, head)
                undo.pop_all()
        except InvalidInput as exc:  # a proxy's address or a file of certificates that cannot be used
            raise TransportFailed(Phase.PREPARE, Cause.INVALID, target.host, str(exc)) from exc
        return self._response

    async def __aexit__(self, *_: object) -> None:
        self._leave()

    def quiet(self) -> Quiet | None:
        """Return how long it has been quiet and how long it may be; None before and after the exchange."""
        return self._watchdog.quiet() if self._watchdog is not None else None

    def abort(self) -> None:
        """Close the connection now, from whatever task and in whatever phase."""
        phase = Phase.CONNECT if self._connection is None else self._connection.phase
        self._break_off(TransportFailed(phase, Cause.ABORTED, self._route.host))

    def _head(self, target: Target) -> bytes:
        route = self._route
        login = route.proxy.authorization if route.asks_proxy and route.proxy else ""
        return head_of(self._request, target, through_proxy=route.asks_proxy, proxy_authorization=login)

    async def _answer(self, loop: AbstractEventLoop, watchdog: Watchdog, head: bytes) -> Response:
        """Send the request over an idle connection, or a new one when there is none or it turns out to be dead."""
        self._connection = self._client.idle.take(self._route, loop)
        if self._connection is not None:
            began_at = loop.time()
            response = self._over(self._connection, watchdog)
            try:
                await response.begin(head, self._request.body)
            except TransportFailed as failed:
                at_once = loop.time() - began_at <= STALE_SECONDS
                if response.begun or failed.cause not in _STALE or not at_once:
                    raise
                self._connection.abort()
                self._connection = None
                watchdog.connecting()
            else:
                return response
        self._connection = await self._open(loop)
        response = self._over(self._connection, watchdog)
        await response.begin(head, self._request.body)
        return response

    def _over(self, connection: Connection, watchdog: Watchdog) -> Response:
        watchdog.connected()
        connection.reached = self.reached
        return Response(connection, watchdog, head_only=self._request.method == "HEAD")

    async def _open(self, loop: AbstractEventLoop) -> Connection:
        context, resolve = self._client.context, self._client.resolve
        opening = Opening(loop, self._route, self._limits, context, resolve, self.reached)
        try:
            async with asyncio.timeout(None) as self._connecting:  # it expires when `_break_off` says so
                return await opening.run()
        except TimeoutError:
            raise self._failure(opening.phase, opening.host) from None
        finally:
            self._connecting = None

    def _break_off(self, why: TransportFailed | Stall) -> None:
        """End the exchange for a reason of our own: the task that owns it gets that reason, not a cancellation."""
        if self._why is not None:
            return  # it is already on its way out
        self._why = why
        if self._connection is not None:
            self._connection.abort(self._failure(self._connection.phase, self._route.host))
        elif self._connecting is not None:
            self._connecting.reschedule(asyncio.get_running_loop().time())

    def _failure(self, phase: Phase, host: str) -> TransportFailed:
        why = self._why
        assert why is not None, "whoever breaks off says why"
        return Stalled(why, phase, host) if isinstance(why, Stall) else why

    def _leave(self) -> None:
        """Give up the connection: kept, or closed. Nothing here waits, so nothing can interrupt it."""
        self._client.streams.discard(self)
        watchdog, connection, response = self._watchdog, self._connection, self._response
        self._watchdog = self._connection = self._response = None
        if watchdog is not None:
            watchdog.stop()
        if connection is not None and response is not None and response.reusable:
            self._client.idle.put(self._route, connection)
        elif connection is not None:
            connection.abort()
        if response is not None:
            response.leave()
