"""A turn as a program sees it: await it for the reply, or iterate it to see everything on the way.

It begins when it is first awaited or iterated, and is over when its reply or failure is known. Leaving it early, by a
`break`, a cancellation, `aclose` or the end of an `async with`, closes the connection to the provider at once. Whoever
iterates sets the pace: nothing is read while nobody asks for more.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Sequence
from enum import Enum
from types import TracebackType
from typing import Any, Protocol, Self, TypeAlias

from headway.library.errors import Misused
from headway.library.reply import Heard, Item, Reply
from headway.recovery.ledger import Ledger


class Engine(Protocol):
    """What brings a reply about, or raises `TurnFailed`."""

    ledger: Ledger | None
    """What was left open, for another turn to go on from."""

    async def run(self, turn: "Turn") -> Reply:
        """Bring it about, and tell the turn everything as it comes."""
        ...


Start: TypeAlias = Callable[[Callable[[], Coroutine[Any, Any, Reply]]], "asyncio.Task[Reply]"]


class _Use(Enum):
    """What a program has done with a turn."""

    NONE = "not begun"
    ITERATED = "iterated"
    AWAITED = "awaited"
    CLOSED = "closed before it began"


class Turn:
    """One turn of a model or an agent. `Headway.turn` and `Agent.turn` make them."""

    def __init__(self, start: Start, engine: Engine) -> None:
        """Prepare it; `start` puts it to work on behalf of the client that owns it."""
        self.heard = Heard()
        self._start, self._engine = start, engine
        self._use = _Use.NONE
        self._task: asyncio.Task[Reply] | None = None
        self._waiting: list[Item] = []
        self._news, self._room = asyncio.Event(), asyncio.Event()

    @property
    def reply(self) -> Reply:
        """Return the reply of a turn that is over, or raise why there is none."""
        task = self._task
        if task is None or not task.done():
            raise Misused("the turn", "it is not over", "Await it, or iterate it to its end.")
        if task.cancelled():
            raise Misused("the turn", "it was closed before it was over", "What had come is in its `text`.")
        return task.result()

    @property
    def text(self) -> str:
        """Return the words of the reply, as far as they have come."""
        return self.heard.text

    @property
    def ledger(self) -> Ledger | None:
        """Return what the turn left open: the draft of a call that was cut, and what is known about sizes."""
        return self._engine.ledger

    def __await__(self) -> Generator[Any, None, Reply]:
        return self._until_over().__await__()

    async def __aiter__(self) -> AsyncIterator[Item]:
        self.refuse_if_used()
        try:
            while batch := await self.next_items():
                for item in batch:
                    yield item
        finally:
            await self.aclose()
        _ = self.reply  # or why there is none

    def refuse_if_used(self) -> None:
        """Refuse to be iterated a second time, or after something else."""
        if self._use is not _Use.NONE:
            raise Misused("the turn", f"it is {self._use.value} already", "Ask for another one.")

    async def next_items(self) -> Sequence[Item]:
        """Wait for what comes next and return all of it; nothing at all when the turn is over."""
        task = self._begun(_Use.ITERATED)
        while not self._waiting and not task.done():
            self._news.clear()
            await self._news.wait()
        batch, self._waiting = self._waiting, []
        self._room.set()
        return batch

    async def hear(self, items: Sequence[Item]) -> None:
        """Take what the engine tells, and keep it waiting until somebody has listened."""
        self.heard.take(items)
        if self._use is not _Use.ITERATED:
            return
        self._waiting += items
        self._news.set()
        while self._waiting and self._use is _Use.ITERATED:
            self._room.clear()
            await self._room.wait()

    async def aclose(self) -> None:
        """End it now, if it is not over, and wait until nothing of it is left."""
        if self._use is _Use.NONE:
            self._use = _Use.CLOSED
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait({self._task})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def _until_over(self) -> Reply:
        task = self._begun(_Use.AWAITED)
        self._use = _Use.AWAITED  # if it was iterated, the rest of the items is not wanted
        self._waiting.clear()
        self._room.set()
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self.aclose()
            raise
        return self.reply

    def _begun(self, use: _Use) -> "asyncio.Task[Reply]":
        if self._use is _Use.NONE:
            self._task = self._start(lambda: self._engine.run(self))
            self._task.add_done_callback(lambda _: self._news.set())
            self._use = use
        if self._task is None:
            raise Misused("the turn", f"it was {self._use.value}", "Ask for another one.")
        return self._task
