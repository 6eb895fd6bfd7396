"""The gateway under test for clients that are not ours: real time, on a loop in a thread; uvloop, as in `serve`."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import uvloop

from headway.sim.script import Script
from headway.sim.server import SimServer
from support.gate import Gate

T = TypeVar("T")
PATIENCE_SECONDS = 30


class ThreadedGate:
    """A gateway and its simulated providers; methods may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, folder: Path) -> None:
        self._loop, self._folder = loop, folder
        self._stack = AsyncExitStack()
        self.mistakes: list[dict[str, Any]] = []
        """What reached the loop's exception handler: tracebacks of our own."""
        loop.set_exception_handler(lambda _, context: self.mistakes.append(context))

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_SECONDS)

    def open(self, *providers: tuple[Script, str], limits: str = "", **options: Any) -> str:
        """Serve on these providers, each a script and a wire; return the address of the gateway."""

        async def start() -> str:
            self.gate = Gate(self._stack, self._folder, limits)
            for script, wire in providers:
                await self.gate.provider(script, wire)
            await self.gate.open(**options)
            return self.gate.url

        return self.do(start())

    @property
    def sims(self) -> list[SimServer]:
        return self.gate.sims

    @property
    def traces(self) -> list[Any]:
        """Return the traces, once nothing is being answered any more."""

        async def settled() -> list[Any]:
            await _until(lambda: not self.gate.service.metrics.open)
            return list(self.gate.traces)

        return self.do(settled())

    def close(self) -> None:
        async def stop() -> None:
            if hasattr(self, "gate"):
                await self.gate.close()
                await _until(lambda: not self.gate.server.connections)
            await self._stack.aclose()
            await asyncio.sleep(0.005)  # uvloop closes its handles a turn or two later

        self.do(stop())
        assert not self.mistakes, self.mistakes


async def _until(holds: Callable[[], bool]) -> None:
    """Wait for what must be so in a moment."""
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.002)
    raise AssertionError("it did not come to rest")


@contextmanager
def looping() -> Iterator[asyncio.AbstractEventLoop]:
    """Run a loop in a thread for as long as the block lasts."""
    loop = uvloop.new_event_loop()
    thread = Thread(target=loop.run_forever, name="gateway", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
