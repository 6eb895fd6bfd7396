"""One server over the life of an agent: started when needed, started anew after it failed, waited for within limits.

A call is made at most once: one that broke off is told as such, and is the model's to make again. A server that fails
again and again gets pauses that grow, and in the end it is left alone.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from headway.agent.mcp.offers import Offers, offers_of
from headway.agent.mcp.session import OnProgress, Session, Welcome
from headway.agent.mcp.spec import ServerSpec
from headway.agent.mcp.stdio import StdioLink
from headway.agent.mcp.streamable import HttpLink
from headway.agent.mcp.troubles import Phase, ServerFailed, Trouble
from headway.agent.redaction import Redactor
from headway.transport.http import HttpClient

if TYPE_CHECKING:
    from headway.agent.mcp.link import Link

MOST_FAILURES = 5
"""In a row; then it is left alone for good."""
PAUSE_SECONDS = 2.0
"""After the second failure in a row, and twice as long after each further one."""
START_PAUSE_SECONDS = 60.0
"""After the first failure to start, and twice as long after each further one."""
RELIST_SECONDS = 10.0
STALE_SECONDS = 30.0
"""How old a list may be that its server could have changed without being able to say so."""


class Timings(Struct, frozen=True):
    """How long each phase of a start took."""

    start_seconds: float
    handshake_seconds: float
    list_seconds: float


class Server:
    """One server."""

    def __init__(self, spec: ServerSpec, client: HttpClient, root: Path) -> None:
        """Prepare it; nothing runs before it is needed."""
        self.spec = spec
        self.timings: Timings | None = None
        self.offers = Offers()
        self._client, self._root = client, root
        self._redactor = Redactor({name: secret.reveal() for name, secret in spec.secrets.items()})
        self._link: Link | None = None
        self._session: Session | None = None
        self._starting = asyncio.Lock()
        self._failures = 0
        self._rests_until = 0.0
        self._listed_at: float | None = None
        self._is_suspect = False
        self._now = asyncio.get_running_loop().time

    @property
    def welcome(self) -> Welcome | None:
        """Return what it said of itself, if it runs."""
        return self._session.welcome if self._session is not None else None

    async def current_offers(self) -> Offers:
        """Return its tools. It is started for its first list; one that has ended since is started by the next call."""
        if self._listed_at is None:
            async with self._counting():
                await self._running()
        elif self._session is not None and self._session.lost is None and self._has_news(self._session):
            try:
                await self._list(self._session, RELIST_SECONDS)
            except ServerFailed:
                self._is_suspect = True  # what is known of it still holds; the next call sees to it
        return self.offers

    async def call(self, own_name: str, arguments: dict[str, Any], on_progress: OnProgress | None) -> dict[str, Any]:
        """Call a tool. Only a server that has forgotten us, and so has done nothing, is asked a second time."""
        seconds = self.spec.call_seconds
        async with self._counting():
            session = await self._running()
            try:
                return await session.call(own_name, arguments, seconds, on_progress)
            except ServerFailed as failed:
                if failed.trouble is not Trouble.FORGOT_US:
                    raise
            session = await self._running()
            return await session.call(own_name, arguments, seconds, on_progress)

    def clean(self, text: str) -> str:
        """Return a text without the secrets that this server was given."""
        return self._redactor.clean(text)

    async def close(self) -> None:
        """End it."""
        link, self._link, self._session = self._link, None, None
        if link is not None:
            await link.close()

    @asynccontextmanager
    async def _counting(self) -> AsyncIterator[None]:
        """Count failures in a row, and take secrets out of what is said about them."""
        try:
            yield
        except ServerFailed as failed:
            if failed.trouble is Trouble.REFUSED and failed.phase is Phase.CALL:
                self._failures = 0  # it is well, it only does not want to
            elif failed.trouble is not Trouble.RESTING:
                self._failures += 1
            if failed.trouble is Trouble.HUNG:
                self._is_suspect = True
            if failed.trouble is not Trouble.RESTING:
                self._rests_until = self._now() + self._pause(failed.phase)
            raise ServerFailed(failed.trouble, failed.server, failed.phase, self.clean(failed.detail)) from None
        self._failures = 0

    async def _running(self) -> Session:
        """Return a session that can be asked. One start at a time: whoever comes meanwhile waits for it."""
        async with self._starting:
            if self._session is not None and self._is_suspect and self._session.lost is None:
                self._is_suspect = not await self._session.is_awake()
            if self._session is not None and self._session.lost is None and not self._is_suspect:
                return self._session
            await self.close()
            self._refuse_if_resting()
            return await self._start()

    def _pause(self, phase: Phase) -> float:
        """Return how long it rests after a failure: one that did not even start has kept everybody waiting."""
        if phase is not Phase.CALL and self._failures:
            return START_PAUSE_SECONDS * 2.0 ** (self._failures - 1)
        return PAUSE_SECONDS * 2.0 ** (self._failures - 2) if self._failures > 1 else 0.0

    def _refuse_if_resting(self) -> None:
        left = self._rests_until - self._now()
        if self._failures >= MOST_FAILURES:
            words = f"it has failed {self._failures} times in a row, and is left alone from now on"
        elif left > 0:
            words = f"it has failed {self._failures} times in a row; it is tried again in {left:.0f} s at the earliest"
        else:
            return
        raise ServerFailed(Trouble.RESTING, self.spec.name, Phase.START, words)

    async def _start(self) -> Session:
        link: Link = StdioLink(self.spec) if self.spec.command else HttpLink(self.spec, self._client)
        session = Session(self.spec.name, link, self._root)
        began, ends_at = self._now(), self._now() + self.spec.start_seconds
        async with AsyncExitStack() as undo:  # a half-started server is ended, whatever came between
            undo.push_async_callback(link.close)
            await link.open()
            started = self._now()
            await session.open(max(0.0, ends_at - started))
            greeted = self._now()
            await self._list(session, max(0.0, ends_at - greeted))
            undo.pop_all()
        self.timings = Timings(started - began, greeted - started, self._now() - greeted)
        self._link, self._session, self._is_suspect = link, session, False
        return session

    async def _list(self, session: Session, seconds: float) -> None:
        self.offers = offers_of(self.spec, await session.tools(seconds))
        self._listed_at = self._now()

    def _has_news(self, session: Session) -> bool:
        """Say whether the list has changed; a server at an address has no way to say so, as no stream is open."""
        is_old = self._now() - (self._listed_at or 0.0) > STALE_SECONDS
        return session.changed or (not self.spec.command and session.welcome.tells_changes and is_old)
