"""The library for programs that are not asynchronous: the same methods, which wait; iterators are ordinary ones."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from headway.events import TextDelta
from headway.library.agent import Agent
from headway.library.asking import Prompt
from headway.library.bridge import Bridge
from headway.library.client import Headway
from headway.library.provider import Provider
from headway.library.reply import Item, Reply
from headway.library.tools import Approve, OwnTool
from headway.library.turn import Turn
from headway.messages import Message
from headway.settings.schema import Limits


class SyncTurn:
    """A `Turn` to iterate over with a plain `for`, or to wait for with `wait`."""

    def __init__(self, bridge: Bridge, turn: Turn) -> None:
        """Show a turn that runs beyond the bridge."""
        self._bridge, self._turn = bridge, turn

    @property
    def inner(self) -> Turn:
        """Return the turn itself."""
        return self._turn

    @property
    def reply(self) -> Reply:
        """Return the reply of a turn that is over, or raise why there is none."""
        return self._turn.reply

    @property
    def text(self) -> str:
        """Return the words of the reply, as far as they have come."""
        return self._turn.text

    def wait(self) -> Reply:
        """Wait for the reply, and return it."""

        async def waited() -> Reply:
            return await self._turn

        return self._bridge.run(waited)

    def __iter__(self) -> Iterator[Item]:
        self._turn.refuse_if_used()
        try:
            while batch := self._bridge.run(self._turn.next_items):
                yield from batch
        finally:
            self._bridge.leave(self._turn.aclose)
        _ = self._turn.reply  # or why there is none

    def close(self) -> None:
        """End it now, if it is not over; the connection to the provider is closed."""
        self._bridge.leave(self._turn.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncAgent:
    """An `Agent` whose methods wait."""

    def __init__(self, bridge: Bridge, agent: Agent) -> None:
        """Show an agent that works beyond the bridge."""
        self._bridge, self._agent = bridge, agent

    @property
    def session(self) -> str:
        """Return the id of its session, to take it up again; empty before the first task of a new one."""
        return self._agent.session

    @property
    def history(self) -> tuple[Message, ...]:
        """Return the conversation so far."""
        return self._agent.history

    def ask(self, words: str | Message) -> Reply:
        """Give it a task and return its last words; see `Agent.ask`."""
        return self._bridge.run(lambda: self._agent.ask(words))

    def turn(self, words: str | Message) -> SyncTurn:
        """Prepare a task, to be iterated over; see `Agent.turn`."""
        return SyncTurn(self._bridge, self._agent.turn(words))

    def close(self) -> None:
        """End what it does now, and close its session."""
        self._bridge.leave(self._agent.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncHeadway:
    """`Headway` for programs without a loop: it has one of its own, in a thread that ends with `close`.

    Threads may share it. Ctrl-C while it waits ends what it waits for, and closes the connection to the provider.
    """

    def __init__(
        self,
        *chain: Provider | str,
        config: str | Path | None = None,
        route: str | None = None,
        limits: Limits | None = None,
        store: str = "memory:",
    ) -> None:
        """Find the way; see `Headway`."""
        self._client = Headway(*chain, config=config, route=route, limits=limits, store=store)
        self._bridge = Bridge()

    @property
    def chain(self) -> tuple[str, ...]:
        """Return who is asked, in order."""
        return self._client.chain

    def text(
        self,
        prompt: Prompt,
        *,
        system: str | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
    ) -> str:
        """Ask, and return the words of the answer; see `Headway.text`."""
        return self._bridge.run(
            lambda: self._client.text(
                prompt, system=system, max_output_tokens=max_output_tokens, temperature=temperature
            )
        )

    def stream_text(
        self,
        prompt: Prompt,
        *,
        system: str | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
    ) -> Iterator[str]:
        """Ask, and give the words of the answer as they come; see `Headway.stream_text`."""
        with self.turn(
            prompt, system=system, max_output_tokens=max_output_tokens, temperature=temperature, shown_stays=True
        ) as turn:
            for item in turn:
                if isinstance(item, TextDelta):
                    yield item.text

    def turn(
        self,
        prompt: Prompt,
        *,
        tools: Iterable[OwnTool] = (),
        system: str | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
        after: SyncTurn | None = None,
        shown_stays: bool = False,
    ) -> SyncTurn:
        """Prepare one reply: iterate over it, or `wait` for it; see `Headway.turn`."""
        turn = self._client.turn(
            prompt,
            tools=tools,
            system=system,
            max_output_tokens=max_output_tokens,
            temperature=temperature,
            after=after.inner if after is not None else None,
            shown_stays=shown_stays,
        )
        return SyncTurn(self._bridge, turn)

    def agent(
        self,
        *,
        tools: Iterable[OwnTool] = (),
        system: str = "",
        workspace: str | Path | None = None,
        approve: Approve = "edits",
        session: str = "",
        steps: int = 200,
    ) -> SyncAgent:
        """Have an agent that runs its tools itself; see `Headway.agent`."""
        agent = self._client.agent(
            tools=tools, system=system, workspace=workspace, approve=approve, session=session, steps=steps
        )
        return SyncAgent(self._bridge, agent)

    def close(self) -> None:
        """End everything that is under way, and the thread. Closing twice is fine."""
        self._bridge.leave(self._client.aclose)
        self._bridge.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Sync{repr(self._client)[1:]}"
