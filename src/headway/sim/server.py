"""The simulator on real sockets: a provider behind a listening port, for as long as an `async with` lasts.

async with SimServer(load_script("pings_only"), seed=7) as sim:
    client = Client(base_url=sim.url + "/v1")
    ...
    assert [one.ending for one in sim.log] == [Ending.CLIENT_LEFT, Ending.ANSWERED]
"""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from headway.messages import WireName
from headway.sim.connection import Connection, Request
from headway.sim.exchange import Ending, Exchange
from headway.sim.manners import EVERY_WIRE
from headway.sim.performer import Performer
from headway.sim.play import HangUp
from headway.sim.provider import Provider
from headway.sim.script import Script


class SimServer:
    """Serves a script. Everything that was asked and what became of it is in `log`."""

    def __init__(
        self,
        script: Script | None = None,
        *,
        seed: int = 0,
        host: str = "127.0.0.1",
        port: int = 0,
        wires: frozenset[WireName] = EVERY_WIRE,
        watch: Callable[[Exchange], None] | None = None,
    ) -> None:
        """Prepare to serve on a host and port (0 is any that is free).

        `watch` is called with each exchange when a fault is about to strike it, and when it has ended.
        """
        self.provider = Provider(script or Script(), seed, wires)
        self.log: list[Exchange] = []
        self._host, self._port = host, port
        self._watch = watch or (lambda _: None)
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        self._made = 0
        self._busy = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    async def __aenter__(self) -> Self:
        """Begin to listen."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Connection(self._serve), self._host, self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close everything."""
        await self.close()

    @property
    def port(self) -> int:
        """Return the port that it listens on."""
        return self._port

    @property
    def url(self) -> str:
        """Return the address, without a path."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def open_connections(self) -> int:
        """Return how many connections are open now."""
        return len(self._connections)

    @property
    def connections_made(self) -> int:
        """Return how many connections there have been."""
        return self._made

    @property
    def generated(self) -> int:
        """Return how many characters the model has said in all."""
        return sum(exchange.generated for exchange in self.log)

    def use(self, script: Script) -> None:
        """Follow another script from the next request on."""
        self.provider.use(script)

    async def quiet(self) -> list[Exchange]:
        """Wait until every exchange has ended, and return the log. A client that left is noticed a moment later."""
        await self._quiet.wait()
        return self.log

    async def close(self) -> None:
        """Stop listening, drop every connection, and wait until nothing is left."""
        if self._server is not None:
            self._server.close()
        tasks = [connection.task for connection in self._connections if connection.task is not None]
        for connection in tuple(self._connections):
            connection.reset()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    async def _serve(self, connection: Connection) -> None:
        """Answer one request after another."""
        self._connections.add(connection)
        self._made += 1
        number = self._made
        try:
            while True:
                await self._answer(connection, await connection.next_request(), number)
        finally:
            self._connections.discard(connection)
            connection.hang_up()

    async def _answer(self, connection: Connection, request: Request, connection_number: int) -> None:
        now = asyncio.get_running_loop().time
        exchange = Exchange(
            number=len(self.log) + 1,
            method=request.method,
            path=request.path,
            connection=connection_number,
            started_at=now(),
            headers=request.headers,
        )
        self.log.append(exchange)
        self._busy += 1
        self._quiet.clear()
        performer: Performer | None = None
        try:
            play, manners = self.provider.respond(request, exchange, now())
            if exchange.faults:
                self._watch(exchange)
            performer = Performer(connection, exchange, manners)
            await performer.perform(play if request.keeps_alive else [*play, HangUp()])
        finally:
            exchange.ended_at = now()
            if exchange.ending is Ending.OPEN:
                exchange.ending = self._ending(connection, performer)
            self._busy -= 1
            if not self._busy:
                self._quiet.set()
            self._watch(exchange)

    def _ending(self, connection: Connection, performer: Performer | None) -> Ending:
        if performer is not None and performer.is_finished:
            return Ending.ANSWERED
        if not connection.closed_by_us:
            return Ending.CLIENT_LEFT
        return Ending.CUT if self._server is not None and self._server.is_serving() else Ending.STOPPED
