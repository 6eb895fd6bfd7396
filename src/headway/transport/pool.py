"""Connections that wait for their next request: few, not for long, and only while the peer keeps them open."""

from collections.abc import Hashable
from typing import TYPE_CHECKING

from headway.transport.connection import Connection

if TYPE_CHECKING:
    from asyncio import TimerHandle


class IdlePool:
    """Idle connections by where they lead. The latest is taken first; when there are too many, the oldest is closed."""

    def __init__(self, most: int, idle_seconds: float) -> None:
        """Keep at most `most` connections, none longer than `idle_seconds`."""
        self._most, self._idle_seconds = most, idle_seconds
        self._idle: dict[Connection, tuple[Hashable, TimerHandle]] = {}

    def __len__(self) -> int:
        return len(self._idle)

    def put(self, route: Hashable, connection: Connection) -> None:
        """Keep a connection for the next request to the same place."""
        if connection.lost is not None:
            return
        connection.rest()
        connection.when_lost = lambda: self._forget(connection)
        timer = connection.loop.call_later(self._idle_seconds, connection.close)
        self._idle[connection] = (route, timer)
        if len(self._idle) > self._most:
            next(iter(self._idle)).close()

    def take(self, route: Hashable, loop: object) -> Connection | None:
        """Return a connection that leads there and is still open, if there is one."""
        for connection in reversed(self._idle):
            known, _ = self._idle[connection]
            if known == route and connection.loop is loop:
                self._forget(connection)
                connection.when_lost = None
                return connection
        return None

    def close(self) -> None:
        """Close them all."""
        for connection in tuple(self._idle):
            connection.close()

    def _forget(self, connection: Connection) -> None:
        _, timer = self._idle.pop(connection)
        timer.cancel()
