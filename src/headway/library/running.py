"""What a client holds while it is open, all of it on one loop: connections, the pool, sessions, and work under way."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from headway.library.errors import Misused
from headway.library.way import Way
from headway.settings import open_pool, route_for
from headway.store.session import Session
from headway.store.sessions import Sessions, open_store
from headway.transport.http import HttpClient
from headway.transport.tls import trust_from
from headway.turn.crew import Crew
from headway.turn.fleet import Fleet

T = TypeVar("T")


def this_loop() -> asyncio.AbstractEventLoop:
    """Return the loop that is running."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        hint = "Call it from a coroutine under asyncio, or use SyncHeadway."
        raise Misused("Headway", "there is no asyncio loop here", hint) from None


class Running:
    """A client that is open."""

    def __init__(self, way: Way, store_url: str) -> None:
        """Open it on this loop."""
        self._loop = this_loop()
        environment = way.loaded.around.environ
        self._sessions = Sessions(open_store(store_url))
        self._open_sessions: set[Session] = set()
        self.http = HttpClient(trust=trust_from(environment), environment=environment)
        self.route = route_for(way.loaded, way.plan)
        self._fleet = Fleet(open_pool(way.loaded), self._loop.time)
        self._tasks: set[asyncio.Task[Any]] = set()

    def check_loop(self) -> None:
        """Refuse to work on another loop: connections and timers belong to the one they were made on."""
        if this_loop() is not self._loop:
            hint = "Make a client for each loop, or use SyncHeadway, which brings its own."
            raise Misused("Headway", "it was opened on another event loop", hint)

    def crew(self) -> Crew:
        """Return whom to ask now, by all that was learnt so far."""
        return self._fleet.crew(self.route)

    def start(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Start work that ends with the client at the latest."""
        task = self._loop.create_task(work())
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def session(self, name: str, workspace: str) -> Session:
        """Begin a session, or take up the one that `name` means; it is closed with the client at the latest."""
        sessions = self._sessions
        session = await (sessions.resume(sessions.find(name).id) if name else sessions.create(workspace))
        self._open_sessions.add(session)
        return session

    async def close_session(self, session: Session) -> None:
        """Close a session before the client is."""
        if session in self._open_sessions:
            self._open_sessions.remove(session)
            await session.close()

    async def close(self) -> None:
        """End all work, then close everything, whatever happens meanwhile."""
        async with AsyncExitStack() as undo:
            undo.callback(self._sessions.close)
            undo.callback(self.http.close)
            while self._open_sessions:
                undo.push_async_callback(self._open_sessions.pop().close)
            tasks = self._tasks - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it hears of it; if nobody does, nobody wants to
