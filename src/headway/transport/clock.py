"""Time, and a loop on which hours of stalls pass in milliseconds.

Every clock of Headway is `loop.time()`: monotonic, so setting the wall clock moves nothing. It stands still while a
Linux or macOS machine sleeps; where a clock runs on through a pause, the watchdog sees its timer come late and
forgives. `VirtualLoop` keeps real sockets and jumps over waits: when nothing is ready to run or to read, time is the
next timer's. Peers must live on the same loop; threads are waited for at their real pace.
"""

import asyncio
import selectors
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, Self, TypeVar

T = TypeVar("T")
GRACE_SECONDS = 0.0002
"""Real time given to bytes on their way over loopback before virtual time jumps …"""
UNSEEN_SECONDS = 0.1
"""… further than this. Bytes that are late over a shorter jump come that much later, which ends no limit."""
LATE_SECONDS = 1.0
"""A timer that comes later than this says that the process stood still, not the world."""
PULSE_SECONDS = 15.0
"""How often somebody who waits looks whether the process stood still meanwhile."""


async def sleep(seconds: float, interrupt: asyncio.Event) -> bool:
    """Wait on the loop's clock; return at once, and False, when `interrupt` is set meanwhile."""
    try:
        async with asyncio.timeout(seconds):
            await interrupt.wait()
    except TimeoutError:
        return True
    return False


class Awake:
    """The time that this process was awake: the loop's clock without the pauses of the process or its machine.

    A pause is known by a timer that comes late, so up to `PULSE_SECONDS` of each count as awake. Leave the block to end
    the timer.
    """

    def __init__(self) -> None:
        """Begin to listen to the running loop."""
        self._loop = asyncio.get_running_loop()
        self._slept = 0.0
        self._pulse = self._loop.call_later(PULSE_SECONDS, self.time)

    def time(self) -> float:
        """Return the time, on a clock that stands still while nobody is awake to see it."""
        now = self._loop.time()
        late = now - self._pulse.when()
        if late >= 0:
            self._slept += late if late > LATE_SECONDS else 0.0
            self._pulse.cancel()
            self._pulse = self._loop.call_later(PULSE_SECONDS, self.time)
        return now - self._slept

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pulse.cancel()


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for real sockets as long as they have something, and turns all other waiting into a jump."""

    def __init__(self, grace_seconds: float) -> None:
        super().__init__()
        self.now = 0.0
        self.outside = 0
        self._grace_seconds = grace_seconds
        self._unseen = 0.0
        """How far the time has jumped since the kernel was last given its moment."""
        self._waited = 0.0
        """How long was really waited since the time last moved."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(0)
        if ready:
            return ready
        if self.outside:
            return self._wait_really(timeout)
        if self._unseen + timeout > UNSEEN_SECONDS and (ready := self._look_again()):
            return ready
        self._unseen += timeout
        self._move(timeout)
        return []

    def _look_again(self) -> list[tuple[selectors.SelectorKey, int]]:
        """Let the kernel deliver what is on its way: epoll's own timeout is too coarse for this."""
        self._unseen = 0.0
        time.sleep(self._grace_seconds)
        return super().select(0)

    def _wait_really(self, timeout: float) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait for a thread. Time moves only when the next timer is due, so that the same work takes the same time."""
        began = time.monotonic()
        ready = super().select(max(0.0, timeout - self._waited))
        self._waited += time.monotonic() - began
        if not ready:
            self._move(timeout)
        return ready

    def _move(self, seconds: float) -> None:
        self.now += seconds
        self._waited = 0.0


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop with real sockets and virtual time. It starts at 0 and jumps when everybody waits."""

    def __init__(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Give bytes in flight `grace_seconds` of real time before each jump."""
        self._jumping = _JumpingSelector(grace_seconds)
        super().__init__(self._jumping)

    def time(self) -> float:
        """Return the virtual time."""
        return self._jumping.now

    def skip(self, seconds: float) -> None:
        """Move the clock as a machine's pause does: timers that fell due meanwhile come late."""
        self._jumping.now += seconds

    @contextmanager
    def at_real_pace(self) -> Iterator[None]:
        """Do not jump while this is open: something that the loop cannot see is at work."""
        self._jumping.outside += 1
        try:
            yield
        finally:
            self._jumping.outside -= 1

    def run_in_executor(  # type: ignore[override]  # the stub leaves the result's type open
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run in a thread; time does not jump until it is done."""
        future: asyncio.Future[T] = super().run_in_executor(executor, func, *args)
        self._jumping.outside += 1
        future.add_done_callback(self._returned)
        return future

    def _returned(self, _: asyncio.Future[Any]) -> None:
        self._jumping.outside -= 1

    async def shutdown_default_executor(self, *args: Any) -> None:
        """Wait for the threads as long as they really take."""
        with self.at_real_pace():
            await super().shutdown_default_executor(*args)


def run_virtual(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time, as `asyncio.run` does in real time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(coroutine)
