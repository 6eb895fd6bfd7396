"""A program that embeds Headway: simulated providers on real sockets, virtual time, and nothing left behind."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

from headway import Headway, Provider
from headway.sim.catalog import read_fault
from headway.sim.exchange import Ending
from headway.sim.script import Final, Script
from headway.sim.server import SimServer
from headway.transport.clock import run_virtual

KEY = "sk-test-0123456789abcdef"
WORDS = " ".join(f"Sentence {number} of the answer, with “quotes”, é and 😀." for number in range(40))


def script(*steps: Any, faults: tuple[str, ...] = (), **more: Any) -> Script:
    return Script(steps=steps or (Final(WORDS),), faults=tuple(read_fault(fault) for fault in faults), **more)


def provider_at(sim: SimServer, wire: str, name: str = "main", **more: Any) -> Provider:
    base_url = sim.url if wire == "anthropic" else f"{sim.url}/v1"
    given = {"key": KEY, "model": "model-1", **more}
    return Provider(name, wire=wire, base_url=base_url, **given)


class Program:
    """Simulated providers for one test; see `in_program`."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self.sims: list[SimServer] = []
        self._stack = stack

    async def provider(self, wire: str, played: Script, **more: Any) -> Provider:
        sim = await self._stack.enter_async_context(SimServer(played))
        self.sims.append(sim)
        return provider_at(sim, wire, f"p{len(self.sims)}", **more)

    async def client(self, wire: str, played: Script, **more: Any) -> Headway:
        """Return an open client of one provider."""
        made = await self.provider(wire, played)
        return await self._stack.enter_async_context(Headway(made, **more))

    async def all_left(self) -> None:
        """Wait until every provider has seen its clients leave; that must not take time."""
        for sim in self.sims:
            async with asyncio.timeout(0.5):
                await sim.quiet()

    @property
    def endings(self) -> list[Ending]:
        return [one.ending for sim in self.sims for one in sim.log]


def in_program(work: Callable[[Program], Awaitable[None]]) -> None:
    """Run a program in virtual time, and see that it leaves no stream, no socket and no task behind."""

    async def run() -> None:
        async with AsyncExitStack() as stack:
            program = Program(stack)
            await work(program)
        assert [sim.open_connections for sim in program.sims] == [0] * len(program.sims), "a socket was left open"
        assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left running"

    run_virtual(run())
