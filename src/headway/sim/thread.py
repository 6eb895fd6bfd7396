"""The simulator for programs that are not asynchronous: the same server, on a loop in a thread of its own."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from headway.sim.script import Script
from headway.sim.server import SimServer


@contextmanager
def serving(script: Script | None = None, **options: Any) -> Iterator[SimServer]:
    """Serve for as long as the block lasts. `options` are those of `SimServer`; its log may be read at any time."""
    server = SimServer(script, **options)
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="headway sim", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
