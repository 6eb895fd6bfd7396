"""Plays a world in the lab: the same agent, engine, sockets and journal as everywhere, in virtual time."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from msgspec.structs import replace

from headway.agent.approval import Approvals, Kind, Mode
from headway.agent.happenings import Ending
from headway.agent.loop import Agent, Brief
from headway.agent.tools.tool import Tool, ToolContext
from headway.agent.workspace import Workspace
from headway.failure import InvalidInput
from headway.messages import ToolSpec
from headway.store.memory import MemoryStore
from headway.store.rows import Row
from headway.store.sessions import Sessions
from support.lab import TOOLS, Lab
from support.worlds import Day, Upset, World
from support.worlds_account import Account
from support.worlds_chain import endpoint_of, muster_of

LETTER = ToolSpec(
    "send_letter",
    "Send a letter.",
    {
        "type": "object",
        "properties": {"to": {"type": "string"}, "words": {"type": "string"}},
        "required": ["to", "words"],
    },
)
POST_SECONDS = 0.4
REST_SECONDS = 0.1
STEPS = 60
"""More than any script needs; only a model that was lied to goes on for so long."""


class Killed(BaseException):
    """The process is gone, at this very point."""


class Player:
    """A world that is being played: what lasts from day to day."""

    def __init__(self, world: World, lab: Lab) -> None:
        self.world, self.lab = world, lab
        self.letters: list[dict[str, str]] = []
        """The effects that can be counted: a letter sent twice is there twice."""
        self.tools = (*TOOLS, Tool(LETTER, Kind.RUNS, self._send))
        self._processes = 0
        self._ticks = count(1_700_000_000.0)
        self._day: Day | None = None
        self._heard: list[tuple[float, Any]] = []
        self._upset_at: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[Ending] | None = None
        self._left: tuple[Row, ...] | None = None
        """What stood in the journal when the process was killed."""

    async def begin(self) -> None:
        """Start the providers and the session."""
        self.endpoints = [await endpoint_of(one, self.world, self.lab) for one in self.world.chain]
        self.sessions = self._sessions(MemoryStore())
        self.session = await self.sessions.create(str(self.lab.folder))
        self._begin_process()

    def _begin_process(self) -> None:
        self._processes += 1
        self.muster = muster_of(self.world, self.endpoints)

    async def live(self, day: Day) -> Account:
        """Play one day to its end."""
        if day.reopens:
            await self.session.close()
            self.session = await self.sessions.resume(self.session.id)
        for sim, sky, upstream in zip(self.lab.sims, day.skies, self.world.chain, strict=True):
            sim.use(replace(self.world.script, faults=sky, prefill=upstream.prefill))
        self._day, self._heard, self._upset_at = day, [], None
        logged = [len(sim.log) for sim in self.lab.sims]
        before = len(self.session.state.messages)
        began_at = self._now()
        ending = await self._asked()
        ended_at = self._now()
        await self._come_to_rest()
        return Account(
            day=day,
            ending=ending,
            heard=self._heard,
            exchanges=[sim.log[start:] for sim, start in zip(self.lab.sims, logged, strict=True)],
            messages=self.session.state.messages[before:],
            process=self._processes,
            began_at=began_at,
            upset_at=self._upset_at,
            ended_at=ended_at,
        )

    async def _asked(self) -> Ending | None:
        """Ask, and give the agent other keys if it has ruled out all that it had."""
        try:
            return await self._ask()
        except InvalidInput:
            self._begin_process()
            return await self._ask()

    async def _ask(self) -> Ending | None:
        context = ToolContext(Workspace(self.lab.folder), Approvals(Mode.AUTO), environment={})
        world = self.world
        brief = Brief("You are an agent.", world.policy, max_output_tokens=world.max_output_tokens, steps=STEPS)
        agent = Agent(self.lab.client, self.muster, self.session, self.tools, context, self._hear, brief)
        self._task = asyncio.ensure_future(agent.ask(self.world.script.prompt))
        await asyncio.wait({self._task})
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._left is not None:
            await self._revive(self._left)
            return None
        return None if self._task.cancelled() else self._task.result()

    async def _come_to_rest(self) -> None:
        """Give providers the moment in which they notice who has left; then every request must have ended.

        One that was answered in full may still wait for its client, who keeps the connection for the next request.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(REST_SECONDS):
                for sim in self.lab.sims:
                    await sim.quiet()
                return
        self.lab.client.idle.close()
        async with asyncio.timeout(REST_SECONDS):
            for sim in self.lab.sims:
                await sim.quiet()

    async def _hear(self, items: Sequence[Any]) -> None:
        now, day = self._now(), self._day
        self._heard += [(now, item) for item in items]
        if day is None or day.upset is Upset.NONE or self._timer or self._upset_at is not None:
            return
        if len(self._heard) >= day.upset_after:
            if day.upset_late:
                self._timer = asyncio.get_running_loop().call_later(day.upset_late, self._upset)
            else:
                self._upset()
                if day.upset is Upset.KILL:
                    raise Killed

    def _upset(self) -> None:
        assert self._day is not None
        assert self._task is not None
        self._upset_at = self._now()
        if self._day.upset is Upset.KILL:
            self._left = tuple(self.sessions.store.read(self.session.id))
        if self._day.upset is Upset.INTERRUPT or self._day.upset_late:
            self._task.cancel()

    async def _revive(self, rows: tuple[Row, ...]) -> None:
        """Take the session up in another process: all it knows is what stood in the journal."""
        assert self._task is not None
        self._task.cancelled() or self._task.exception()
        store, name = MemoryStore(), self.session.id
        store.create(name, rows)
        await self.session.close()
        self.sessions, self._left = self._sessions(store), None
        self.session = await self.sessions.resume(name)
        self._begin_process()

    async def _send(self, arguments: dict[str, Any], context: ToolContext) -> str:
        await asyncio.sleep(POST_SECONDS)
        self.letters.append(arguments)
        await asyncio.sleep(POST_SECONDS)
        return f"Sent to {arguments['to']}."

    def _sessions(self, store: MemoryStore) -> Sessions:
        return Sessions(store, wall=lambda: next(self._ticks), chance=random.random)

    def _now(self) -> float:
        return asyncio.get_running_loop().time()
