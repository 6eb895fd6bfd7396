"""The listening side: sockets, connections, and an end in order. New connections stop first, streams may finish."""

import asyncio
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from headway.failure import InvalidInput
from headway.gateway.connection import Connection, Desk
from headway.gateway.message import Limits

if TYPE_CHECKING:
    from collections.abc import Callable

BACKLOG = 1024


class Server:
    """Serves a desk on one address."""

    def __init__(self, desk: Desk, limits: Limits | None = None) -> None:
        """Have requests answered at `desk`."""
        self._desk, self._limits = desk, limits or Limits()
        self._server: asyncio.Server | None = None
        self._idle: Callable[[], None] = lambda: None
        self.connections: set[Connection] = set()

    async def start(self, host: str, port: int) -> tuple[str, int]:
        """Listen; return where. Port 0 is any that is free."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(self._connected, host, port, backlog=BACKLOG, reuse_address=True)
        except OSError as exc:
            hint = "Is another gateway running there? Choose another address with --listen."
            raise InvalidInput(f"{host}:{port}", f"cannot listen there: {exc.strerror or exc}", hint) from None
        for sock in self._server.sockets:
            self._tune(sock)
        name = self._server.sockets[0].getsockname()
        return str(name[0]), int(name[1])

    def stop_listening(self) -> None:
        """Take nothing new."""
        if self._server is not None:
            self._server.close()

    async def drain(self, seconds: float) -> int:
        """Take nothing new, let what is open finish for so long, and close the rest; return how many that were."""
        self.stop_listening()
        for connection in tuple(self.connections):
            connection.close_when_idle()
        done = asyncio.get_running_loop().create_future()
        self._idle = lambda: None if done.done() else done.set_result(None)
        if self.connections:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await done
        left = [connection for connection in self.connections if connection.busy]
        for connection in tuple(self.connections):
            connection.abort()
        if self.connections:
            await asyncio.sleep(0)
        return len(left)

    def _connected(self) -> Connection:
        welcome = len(self.connections) < self._limits.connections
        connection = Connection(self._desk, self._limits, self._closed, welcome=welcome)
        self.connections.add(connection)
        return connection

    def _closed(self, connection: Connection) -> None:
        self.connections.discard(connection)
        if not self.connections:
            self._idle()

    def _tune(self, sock: socket.socket) -> None:
        """Free what a client that vanished would hold: connections inherit this from their listener."""
        option = getattr(socket, "TCP_USER_TIMEOUT", None)
        if option is not None:
            sock.setsockopt(socket.IPPROTO_TCP, option, int(self._limits.write_seconds * 1000))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
