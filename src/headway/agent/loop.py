"""The agent: ask the model, run what it calls, and again, until it has nothing more to call.

Everything is written down before it counts: the user's words before the first request, an intent before its effect, a
result before the next request. Whatever kills the process, the next one goes on from there.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.happenings import Done, Ending, GaveUp, Happening, LoopNoticed, Stopped, ToolBegan, ToolEnded
from headway.agent.loops import End, LoopWatch, Tell
from headway.agent.running import run_calls
from headway.agent.tools.tool import Tool, ToolContext, refusing_drafts
from headway.events import CallArguments, CallOpened, TextDelta
from headway.messages import Message, ModelRequest, Text, ToolCall, ToolResult, user
from headway.recovery import decisions
from headway.recovery.ledger import Policy
from headway.store.records import (
    ArgumentsReceived,
    AttemptBroken,
    DraftKept,
    How,
    Repaired,
    ReplyReceived,
    TextReceived,
    ToolFinished,
    ToolIntended,
    TurnBegan,
    TurnEnded,
    UserSaid,
    ledger_closed,
)
from headway.store.session import Session
from headway.transport.http import HttpClient
from headway.turn import notices
from headway.turn.attempt import Item
from headway.turn.endpoint import Endpoint
from headway.turn.runner import Turn

AgentItem: TypeAlias = Item | Happening
AgentSink: TypeAlias = Callable[[Sequence[AgentItem]], Awaitable[None]]
MOST_STEPS = 200


class Brief(Struct, frozen=True):
    """What an agent is told, and what it is allowed."""

    system: str = ""
    policy: Policy = Policy()
    max_output_tokens: int | None = None
    """None leaves it to the endpoint."""


class Agent:
    """One conversation: a session, the endpoints that answer, and the tools they may call."""

    def __init__(
        self,
        client: HttpClient,
        endpoints: Sequence[Endpoint],
        session: Session,
        tools: Sequence[Tool],
        context: ToolContext,
        sink: AgentSink,
        brief: Brief | None = None,
    ) -> None:
        """Converse in a session. `sink` is told what is said and what happens, as it comes."""
        self._client, self._endpoints, self._session = client, tuple(endpoints), session
        self._tools, self._context, self._sink = tuple(tools), context, sink
        self._brief = brief or Brief()
        given = self._brief.policy
        self._policy = replace(given, never_drafted=given.never_drafted | refusing_drafts(self._tools))
        self._open_calls: dict[int, CallOpened] = {}
        self._turn = 0

    async def ask(self, words: str | Message) -> Ending:
        """Say something to the agent and bring it to an end."""
        session = self._session
        self._turn = session.state.turn + 1
        message = user(words) if isinstance(words, str) else words
        await session.commit(UserSaid(message), TurnBegan(self._turn, ", ".join(e.name for e in self._endpoints)))
        try:
            ending = await self._until_done()
        except asyncio.CancelledError:
            await session.commit(TurnEnded(self._turn, How.CANCELLED))
            raise
        how = How.ANSWERED if isinstance(ending, Done) else How.FAILED
        await session.commit(TurnEnded(self._turn, how, ending.failure if isinstance(ending, GaveUp) else None))
        return ending

    async def _until_done(self) -> Ending:
        watch = LoopWatch()
        for _ in range(MOST_STEPS):
            turn = await self._reply()
            if isinstance(turn, GaveUp | Done):
                return turn
            calls, results = turn
            watch, verdict = watch.after(tuple(zip(calls, results, strict=True)))
            if isinstance(verdict, End):
                return Stopped(verdict.reason)
            if isinstance(verdict, Tell):
                await self._session.commit(UserSaid(user(verdict.text)))
                await self._sink([LoopNoticed(verdict.text)])
        return Stopped(f"The agent took {MOST_STEPS} steps without coming to an end.")

    async def _reply(self) -> GaveUp | Done | tuple[tuple[ToolCall, ...], tuple[ToolResult, ...]]:
        """Get one reply; an answer ends the loop, calls are run."""
        session, state = self._session, self._session.state
        ledger = state.ledger(self._policy, tuple(endpoint.upstream() for endpoint in self._endpoints))
        turn = Turn(self._client, self._endpoints, self._hear, ledger=ledger)
        decision = await turn.run(self._request(state.history))
        closed, salvage = ledger_closed(self._turn, turn.ledger), turn.ledger.salvage
        if isinstance(decision, decisions.GiveUp):
            await session.commit(closed)
            return GaveUp(decision.failure, decision.why)
        usage = turn.attempts[-1].usage
        reply = Message("assistant", salvage.parts)
        await session.commit(ReplyReceived(self._turn, reply, turn.endpoint.model, turn.endpoint.name, usage), closed)
        if not isinstance(decision, decisions.RunTools):
            return Done(salvage.text)
        results = await run_calls(decision.calls, self._tools, self._context, self._intend, self._finish)
        return decision.calls, results

    def _request(self, history: tuple[Message, ...]) -> ModelRequest:
        return ModelRequest(
            model="",
            messages=history,
            system=(Text(self._brief.system),) if self._brief.system else (),
            tools=tuple(tool.spec for tool in self._tools),
            max_output_tokens=self._brief.max_output_tokens,
        )

    async def _hear(self, items: Sequence[Item]) -> None:
        """Write down what comes, and pass it on."""
        for item in items:
            match item:
                case TextDelta(text=text):
                    self._session.note(TextReceived(self._turn, text))
                case CallOpened(call=number):
                    self._open_calls[number] = item
                case CallArguments(call=number, text=text) if number in self._open_calls:
                    opened = self._open_calls[number]
                    self._session.note(
                        ArgumentsReceived(self._turn, number, opened.id, opened.name, text, opened.freeform)
                    )
                case notices.Asking():
                    self._open_calls.clear()
                case notices.Broke(upstream=upstream, failure=failure, received=received):
                    self._session.note(AttemptBroken(self._turn, upstream, failure, received, received))
                case notices.DraftHeld(draft=draft):
                    await self._session.commit(DraftKept(self._turn, draft))
                case notices.Healed(repairs=repairs):
                    if new := self._session.state.unreported(repairs):
                        await self._session.commit(Repaired(new))
                case _:
                    pass
        await self._sink(items)

    async def _intend(self, call: ToolCall) -> None:
        await self._session.commit(ToolIntended(self._turn, call))
        await self._sink([ToolBegan(call)])

    async def _finish(self, call: ToolCall, result: ToolResult) -> None:
        await self._session.commit(ToolFinished(self._turn, result))
        await self._sink([ToolEnded(call, result)])
