"""A loop in a thread of its own, for programs that are not asynchronous.

`run` waits for work as an ordinary call does. Ctrl-C, or whatever else is raised while it waits, cancels the work and
waits until it has ended: then nothing of it is left, and the exception goes its way. Work is given as what makes a
coroutine, and made in the thread of the loop: an interrupt here can never leave one behind that nobody awaits.
"""

import asyncio
import sys
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias, TypeVar

from headway.library.errors import Misused

T = TypeVar("T")
Work: TypeAlias = Callable[[], Coroutine[Any, Any, T]]
LOOK_SECONDS = 0.5
"""How often a wait looks up, where a signal alone does not end it."""


class Bridge:
    """The thread, started with the first call and ended by `close`."""

    def __init__(self) -> None:
        """Prepare it; nothing runs yet."""
        self._lock = threading.Lock()
        # A daemon, so that a program that forgets to close does not hang at its end.
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="headway", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ready = threading.Event()
        self._stop = asyncio.Event()
        self._closed = False

    def run(self, work: Work[T]) -> T:
        """Do work on the loop and return what it returns, or raise what it raises."""
        waiting = _Waiting(work)
        try:
            self._begin(waiting)
            waiting.wait()
        finally:
            if waiting.loop is not None and not waiting.over.is_set():
                with suppress(RuntimeError):  # the loop is closed, and with it everything that ran there
                    waiting.loop.call_soon_threadsafe(waiting.cancel)
                waiting.wait()
        result: T = waiting.result()
        return result

    def leave(self, work: Work[None]) -> None:
        """Do what ends something, from wherever that is let go of; after `close` nothing is left to end.

        When the interpreter itself ends, the thread has stopped for good, and the system closes what was open.
        """
        if self._closed or sys.is_finalizing():
            return
        if self._is_inside:
            task = asyncio.get_running_loop().create_task(work())
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
        else:
            self.run(work)

    def close(self) -> None:
        """Stop the loop, which cancels what still runs there, and wait for the thread to end."""
        with self._lock:
            self._closed = True
            if not self._thread.is_alive():
                return
            with suppress(RuntimeError):  # it is closed
                self._started().call_soon_threadsafe(self._stop.set)
        if not self._is_inside:
            self._thread.join()

    @property
    def _is_inside(self) -> bool:
        """Say whether this is the thread of the loop itself."""
        return threading.current_thread() is self._thread

    def _begin(self, waiting: "_Waiting") -> None:
        """Begin under the lock, so that whatever begins does so before the loop is told to stop."""
        if self._is_inside:
            hint = "In a coroutine use Headway; a plain function has a thread of its own, where SyncHeadway works."
            raise Misused("SyncHeadway", "it would wait for itself: this is its own loop", hint)
        with self._lock:
            if self._closed:
                raise Misused("SyncHeadway", "it is closed", "Make another one.")
            waiting.loop = self._started()
            waiting.loop.call_soon_threadsafe(waiting.begin)

    def _started(self) -> asyncio.AbstractEventLoop:
        """Return the loop; a start that was interrupted is waited for by whoever comes next."""
        if self._loop is None:
            if self._thread.ident is None:
                self._thread.start()
            self._ready.wait()
        assert self._loop is not None, "a thread that is ready has its loop"
        return self._loop

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()
        await self._stop.wait()


class _Waiting:
    """Some work, and the thread that waits for it."""

    def __init__(self, work: Work[Any]) -> None:
        self.over = threading.Event()
        self.loop: asyncio.AbstractEventLoop | None = None
        """Where it is done, as soon as it may have begun."""
        self._work = work
        self._task: asyncio.Task[Any] | None = None

    def begin(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._done())
        self._task.add_done_callback(lambda _: self.over.set())

    async def _done(self) -> Any:
        return await self._work()

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
        else:  # it was interrupted before it was sent here
            self.over.set()

    def wait(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            pass

    def result(self) -> Any:
        task = self._task
        assert task is not None, "what is over has begun"
        if task.cancelled():
            raise Misused("SyncHeadway", "it was closed meanwhile")
        return task.result()
