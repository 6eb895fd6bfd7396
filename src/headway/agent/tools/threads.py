"""Blocking work beside the loop, in a thread that nobody has to wait for.

A thread cannot be stopped, only left behind. So a caller that is cancelled gives the work a moment to come to its end
(a file is written within it) and then goes; neither the loop nor the interpreter waits for a thread that hangs.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextvars import copy_context
from threading import Thread
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
SETTLE_SECONDS = 0.3


async def in_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a blocking function in a thread of its own and return what it returns, or raise what it raises."""
    work = start_thread(function, *args, **kwargs)
    try:
        await asyncio.wait({work})
    except asyncio.CancelledError:
        await asyncio.wait({work}, timeout=SETTLE_SECONDS)
        raise
    return work.result()


def start_thread(function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> asyncio.Future[T]:
    """Start a blocking function in a thread; what it raises after it was left behind is not lost noise."""
    context = copy_context()
    work: asyncio.Future[T] = asyncio.get_running_loop().run_in_executor(
        _Detached(), lambda: context.run(function, *args, **kwargs)
    )
    work.add_done_callback(lambda done: done.cancelled() or done.exception())
    return work


class _Detached(Executor):
    """Runs each job in a daemon thread."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future: Future[T] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                with _Carrying(future):
                    future.set_result(fn(*args, **kwargs))

        Thread(target=work, name="headway-tool", daemon=True).start()
        return future


class _Carrying:
    """Carries what is raised in a thread over to the one who waits; what would end a loop arrives as an error."""

    def __init__(self, future: Future[Any]) -> None:
        self._future = future

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        if not isinstance(error, Exception) or isinstance(error, StopIteration):
            cause, error = error, RuntimeError(f"{type(error).__name__}: {error}")
            error.__cause__ = cause
        self._future.set_exception(error)
        return True
