"""An agent as a program sees it: one conversation, whose tools run by themselves."""

import asyncio
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self

from msgspec import Struct, structs

from headway.agent import loop
from headway.agent.happenings import Done, GaveUp, Stopped
from headway.agent.tools.tool import Tool, ToolContext
from headway.events import Usage
from headway.failure import InvalidInput, TurnFailed
from headway.library.errors import AgentStopped, Misused
from headway.library.reply import Item, Reply, total
from headway.library.running import Running
from headway.library.turn import Turn
from headway.messages import Message
from headway.recovery.ledger import Ledger
from headway.store.session import Session
from headway.store.state import Totals

SYSTEM = (
    "You are an agent that works in a folder of the user's computer through the tools you are given. Paths are "
    "relative to that folder. Do the task, check what you did, and end with a short report of what you did."
)
"""What an agent with a workspace is told when nobody tells it anything."""


class Terms(Struct, frozen=True):
    """What an agent works with."""

    tools: tuple[Tool, ...]
    context: ToolContext
    brief: loop.Brief
    session: str = ""
    """The session to take up; none begins one."""


class Agent:
    """A conversation with somebody who acts. `Headway.agent` makes them.

    It does one task after the other and remembers the ones before. Closing it closes its session; the client does so
    at the latest.
    """

    def __init__(self, running: Callable[[], Running], terms: Terms) -> None:
        """Prepare it; its session is opened with the first task."""
        self._running, self._terms = running, terms
        self._conversation: _Conversation | None = None
        self._one_at_a_time = asyncio.Lock()
        self._turns: set[Turn] = set()
        self._closed = False

    @property
    def session(self) -> str:
        """Return the id of its session, to take it up again; empty before the first task of a new one."""
        return self._conversation.session.id if self._conversation is not None else self._terms.session

    @property
    def history(self) -> tuple[Message, ...]:
        """Return the conversation so far."""
        return self._conversation.session.state.history if self._conversation is not None else ()

    def turn(self, words: str | Message) -> Turn:
        """Prepare a task: await it for the last words, or iterate it to see what is said and done on the way."""
        if not (words.strip() if isinstance(words, str) else words.parts):
            raise InvalidInput("the task", "it is empty", "Say something.")
        return Turn(lambda work: self._running().start(work), _Task(self, words))

    async def ask(self, words: str | Message) -> Reply:
        """Give it a task and return its last words.

        Raises `TurnFailed` when no answer could be had, and `AgentStopped` when it went round in circles; its session
        goes on from there with the next task.
        """
        return await self.turn(words)

    async def aclose(self) -> None:
        """End what it does now, and close its session."""
        self._closed = True
        for turn in tuple(self._turns):
            await turn.aclose()
        if self._conversation is not None:
            await self._conversation.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def work(self, turn: Turn, words: str | Message) -> Reply:
        """Do a task, for the turn that shows it."""
        if self._closed:
            raise Misused("the agent", "it is closed", "Have another one, with its `session`.")
        self._turns.add(turn)
        try:
            async with self._one_at_a_time:
                if self._conversation is None:
                    self._conversation = await _Conversation.begun(self._running(), self._terms)
                return await self._conversation.reply(turn, words)
        finally:
            self._turns.discard(turn)


class _Conversation:
    """A session that is open, and the agent at work in it."""

    def __init__(self, running: Running, terms: Terms, session: Session) -> None:
        self.session = session
        self._running = running
        self._turn: Turn | None = None
        self._worker = loop.Agent(
            running.http, running.crew, session, terms.tools, terms.context, self._hear, terms.brief
        )

    @classmethod
    async def begun(cls, running: Running, terms: Terms) -> Self:
        return cls(running, terms, await running.session(terms.session, str(terms.context.workspace.root)))

    async def reply(self, turn: Turn, words: str | Message) -> Reply:
        self._turn, before = turn, self.session.state.totals
        ending = await self._worker.ask(words)
        state, heard = self.session.state, turn.heard
        match ending:
            case Done():
                said = next(message for message in reversed(state.messages) if message.role == "assistant")
                return Reply(said, heard.upstreams[-1], len(heard.upstreams), _spent(before, state.totals))
            case GaveUp(failure=failure, why=why):
                raise TurnFailed(failure, heard.tried, heard.text, why.value)
            case Stopped(words=reason):
                raise AgentStopped(reason, heard.text)

    async def close(self) -> None:
        await self._running.close_session(self.session)

    async def _hear(self, items: Sequence[Item]) -> None:
        if self._turn is not None:
            await self._turn.hear(items)


class _Task:
    """The engine of one task; what it leaves open is in the session."""

    ledger: Ledger | None = None

    def __init__(self, agent: Agent, words: str | Message) -> None:
        self._agent, self._words = agent, words

    async def run(self, turn: Turn) -> Reply:
        return await self._agent.work(turn, self._words)


def _spent(before: Totals, after: Totals) -> Usage:
    then, now = total((before.usage, before.broken_usage)), total((after.usage, after.broken_usage))
    counts = zip(structs.astuple(now), structs.astuple(then), strict=True)
    return Usage(*(later - earlier for later, earlier in counts))
