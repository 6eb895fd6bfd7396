"""A loop in a thread of its own, for programs that are not asynchronous.

`run` waits for a coroutine as an ordinary call does. Ctrl-C, or whatever else is raised while it waits, cancels the
coroutine and waits until it has ended: then nothing of it is left, and the exception goes its way.
"""

import asyncio
import sys
import threading
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from headway.library.errors import Misused

T = TypeVar("T")
LOOK_SECONDS = 0.5
"""How often a wait looks up, where a signal alone does not end it."""


class Bridge:
    """The thread, started with the first call and ended by `close`."""

    def __init__(self) -> None:
        """Prepare it; nothing runs yet."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._closed = False

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and return what it returns, or raise what it raises."""
        waiting = _Waiting(coroutine)
        try:
            loop = self._begin(waiting)
        except Misused:
            coroutine.close()
            raise
        try:
            waiting.wait()
        finally:
            if not waiting.over.is_set():
                with suppress(RuntimeError):  # the loop is closed, and with it everything that ran there
                    loop.call_soon_threadsafe(waiting.cancel)
                waiting.wait()
        result: T = waiting.result()
        return result

    def leave(self, coroutine: Coroutine[Any, Any, None]) -> None:
        """Run what ends something, from wherever that is let go of; after `close` nothing is left to end.

        When the interpreter itself ends, the thread has stopped for good, and the system closes what was open.
        """
        if self._closed or sys.is_finalizing():
            coroutine.close()
        elif self._is_inside:
            task = asyncio.get_running_loop().create_task(coroutine)
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        else:
            self.run(coroutine)

    def close(self) -> None:
        """Stop the loop, which cancels what still runs there, and wait for the thread to end."""
        with self._lock:
            self._closed = True
            thread, loop = self._thread, self._loop
            if thread is None or loop is None or not thread.is_alive():
                return
            with suppress(RuntimeError):  # it is closed
                loop.call_soon_threadsafe(self._stop.set)
        if not self._is_inside:
            thread.join()

    @property
    def _is_inside(self) -> bool:
        """Say whether this is the thread of the loop itself."""
        return threading.current_thread() is self._thread

    def _begin(self, waiting: "_Waiting") -> asyncio.AbstractEventLoop:
        """Begin under the lock, so that whatever begins does so before the loop is told to stop."""
        if self._is_inside:
            hint = "In a coroutine use Headway; a plain function has a thread of its own, where SyncHeadway works."
            raise Misused("SyncHeadway", "it would wait for itself: this is its own loop", hint)
        with self._lock:
            if self._closed:
                raise Misused("SyncHeadway", "it is closed", "Make another one.")
            loop = self._loop or self._started()
            loop.call_soon_threadsafe(waiting.begin)
            return loop

    def _started(self) -> asyncio.AbstractEventLoop:
        ready = threading.Event()

        async def serve() -> None:
            self._loop = asyncio.get_running_loop()
            ready.set()
            await self._stop.wait()

        # A daemon, so that a program that forgets to close does not hang at its end.
        self._thread = threading.Thread(target=lambda: asyncio.run(serve()), name="headway", daemon=True)
        self._thread.start()
        ready.wait()
        assert self._loop is not None, "a thread that is ready has its loop"
        return self._loop


class _Waiting:
    """One coroutine, and the thread that waits for it."""

    def __init__(self, coroutine: Coroutine[Any, Any, Any]) -> None:
        self.over = threading.Event()
        self._coroutine = coroutine
        self._task: asyncio.Task[Any] | None = None

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._coroutine)
        self._task.add_done_callback(lambda _: self.over.set())

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def wait(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            pass

    def result(self) -> Any:
        task = self._task
        assert task is not None, "what is over has begun"
        if task.cancelled():
            raise Misused("SyncHeadway", "it was closed meanwhile")
        return task.result()
