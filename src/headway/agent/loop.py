"""The agent: ask the model, run what it calls, and again, until it has nothing more to call.

Everything is written down before it counts: the user's words before the first request, an intent before its effect, a
result before the next request. Whatever kills the process, the next one goes on from there.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.answering import Answering
from headway.agent.approval import Kind
from headway.agent.compacting import Compactor
from headway.agent.compaction import room_for
from headway.agent.context.guidance import Guidance
from headway.agent.context.mentions import attach
from headway.agent.context.room import SHARE
from headway.agent.happenings import (
    AgentSink,
    Done,
    Ending,
    GaveUp,
    LoopNoticed,
    Noted,
    NotKept,
    Stopped,
    ToolBegan,
    ToolEnded,
)
from headway.agent.loops import End, LoopWatch, Tell
from headway.agent.running import run_calls
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import Tool, ToolContext, refusing_drafts
from headway.events import CallArguments, CallOpened, TextDelta
from headway.failure import Failure, FailureKind
from headway.history.measure import request_size
from headway.messages import Message, ModelRequest, Text, ToolCall, ToolResult, user
from headway.recovery import decisions
from headway.recovery.drafts import CONTINUE_DRAFT
from headway.recovery.ledger import Ledger, Policy
from headway.store.errors import StoreFailed
from headway.store.records import (
    ArgumentsReceived,
    AttemptBroken,
    DraftKept,
    How,
    Record,
    Repaired,
    ReplyReceived,
    TextReceived,
    TextWithdrawn,
    ToolFinished,
    ToolIntended,
    TurnBegan,
    TurnEnded,
    UserSaid,
    ledger_closed,
)
from headway.store.session import Session
from headway.transport.http import HttpClient
from headway.transport.watchdog import Quiet
from headway.turn import notices
from headway.turn.attempt import Item
from headway.turn.crew import Crew, Muster
from headway.turn.runner import Turn

_OBJECTIONS = frozenset({FailureKind.CONTENT_FILTERED, FailureKind.REFUSED})


class Brief(Struct, frozen=True):
    """What an agent is told, and what it is allowed."""

    system: str = ""
    policy: Policy = Policy()
    max_output_tokens: int | None = None
    """None leaves it to the endpoint."""
    route: str = ""
    """The name of the way to an answer, for the journal."""
    steps: int = 200
    """Rounds of calls in one task."""
    guide: Callable[[], Guidance] | None = None
    """Gives what is told besides, looked up anew for each turn. It may block."""
    mentions: bool = False
    """Is what the user mentions, as `@path`, attached to the user's words?"""
    images: bool = True
    """Does anybody who may be asked take pictures?"""
    compact_at: float = SHARE
    """The share of a window at which the conversation is summed up; 0: when a provider refuses it."""


class Agent:
    """One conversation: a session, whoever answers, and the tools they may call."""

    def __init__(
        self,
        client: HttpClient,
        muster: Muster,
        session: Session,
        tools: Sequence[Tool],
        context: ToolContext,
        sink: AgentSink,
        brief: Brief | None = None,
    ) -> None:
        """Converse in a session with whom `muster` gives; `sink` is told what is said and what happens, as it comes."""
        self._client, self._muster, self._session = client, muster, session
        self._tools, self._context, self._sink = tuple(tools), context, sink
        self._brief = brief or Brief()
        self._guidance = Guidance()
        self._noted: set[str] = set()
        self._open_calls: dict[int, CallOpened] = {}
        self._turn = 0
        self._keeps = True
        self._asking: Turn | None = None
        self._compactor = Compactor(client, session, sink)
        self._answering = Answering()
        self._begun: set[str] = set()
        self._objecting: set[str] = set()
        """Who would not take this task: what was filtered or refused stands in the history of every later request."""

    async def ask(self, words: str | Message) -> Ending:
        """Say something to the agent and bring it to an end; while another turn of the session goes on, wait for it."""
        async with self._session.one_turn_at_a_time:
            return await self._ask(words)

    async def _ask(self, words: str | Message) -> Ending:
        session = self._session
        self._turn = session.state.turn + 1
        self._objecting.clear()
        message = user(words) if isinstance(words, str) else words
        began, cancelled = TurnBegan(self._turn, self._brief.route), TurnEnded(self._turn, How.CANCELLED)
        try:
            prepared = await self._prepared(message)
        except asyncio.CancelledError:
            await self._write(UserSaid(message), began, cancelled)
            raise
        await self._write(UserSaid(prepared), began)
        try:
            ending = await self._until_done()
        except asyncio.CancelledError:
            await self._write(cancelled)
            raise
        how = How.ANSWERED if isinstance(ending, Done) else How.FAILED
        await self._write(TurnEnded(self._turn, how, ending.failure if isinstance(ending, GaveUp) else None))
        return ending

    async def _prepared(self, message: Message) -> Message:
        """Look up what goes with the turn; return the user's words with what they mention."""
        notices = list[str]()
        if self._brief.guide is not None:
            self._guidance = await in_thread(self._brief.guide)
            notices += (one for one in self._guidance.notices if one not in self._noted)
            self._noted.update(notices)
        if self._brief.mentions:
            attached = await attach(message, self._context, images=self._brief.images)
            message, notices = attached.message, [*notices, *attached.notices]
        await self._sink([Noted(words) for words in notices])
        return message

    @property
    def _offered(self) -> tuple[Tool, ...]:
        return (*self._tools, *self._guidance.tools)

    @property
    def size(self) -> int:
        """Return how long the next request would be as things are, in characters."""
        return request_size(self._request())

    def quiet(self) -> Quiet | None:
        """Return how long the stream that is open now has been quiet, for a status line; None if none is."""
        turn = self._compactor.turn or self._asking
        return turn.quiet() if turn is not None else None

    async def _until_done(self) -> Ending:
        watch = LoopWatch()
        for _ in range(self._brief.steps):
            turn = await self._reply()
            if isinstance(turn, GaveUp | Done):
                return turn
            calls, results = turn
            watch, verdict = watch.after(tuple(zip(calls, results, strict=True)))
            if isinstance(verdict, End):
                return Stopped(verdict.reason)
            if isinstance(verdict, Tell):
                await self._write(UserSaid(user(verdict.text)))
                await self._sink([LoopNoticed(verdict.text)])
        return Stopped(f"The agent took {self._brief.steps} steps without coming to an end.")

    async def _reply(self) -> GaveUp | Done | tuple[tuple[ToolCall, ...], tuple[ToolResult, ...]]:
        """Get one reply; an answer ends the loop, calls are run."""
        crew = await self._mustered()
        ledger = self._ledger(crew)
        if await self._compactor.before_overflow(crew, ledger, self._request(), self._brief.compact_at):
            crew = await self._mustered()  # whoever was asked for a summary may have failed, or lost a key
            ledger = self._ledger(crew)
        shorten = partial(self._shorten, crew)
        turn = Turn(self._client, crew.endpoints, self._hear, ledger=ledger, lessons=crew.lessons, shorten=shorten)
        self._asking = turn
        decision = await turn.run(self._request())
        self._asking = None
        closed, salvage = ledger_closed(self._turn, turn.ledger), turn.ledger.salvage
        if isinstance(decision, decisions.GiveUp):
            await self._write(closed)
            return GaveUp(decision.failure, decision.why)
        usage = turn.attempts[-1].usage
        reply, asked = Message("assistant", salvage.parts), request_size(turn.sent) if turn.sent is not None else 0
        model, upstream = turn.endpoint.model, turn.endpoint.name
        await self._write(ReplyReceived(self._turn, reply, model, upstream, usage, asked), closed)
        await self._sink(self._answering.after(crew, turn.endpoint))
        if not isinstance(decision, decisions.RunTools):
            return Done(salvage.text)
        results = await run_calls(decision.calls, self._offered, self._context, self._intend, self._finish)
        return decision.calls, results

    async def _shorten(
        self, crew: Crew, request: ModelRequest, ledger: Ledger, failure: Failure
    ) -> ModelRequest | None:
        """Have the conversation summed up, for a request that was too long."""
        self._compactor.learn(ledger.upstream.name, failure)
        model = next((one.model for one in crew.endpoints if one.name == ledger.upstream.name), "")
        room = room_for(request, failure, self._session.state.gauge.characters_a_token(model))
        if not await self._compactor.compact(crew, ledger, room):
            return None
        return replace(request, messages=self._session.state.messages)

    async def _mustered(self) -> Crew:
        crew = self._muster().asking_last(self._objecting)
        await self._sink(self._answering.news(crew.changes))
        return crew

    def _ledger(self, crew: Crew) -> Ledger:
        given = self._brief.policy
        policy = replace(given, never_drafted=given.never_drafted | refusing_drafts(self._offered))
        return self._session.state.ledger(policy, tuple(endpoint.upstream() for endpoint in crew.endpoints))

    def _request(self) -> ModelRequest:
        told = "\n\n".join(filter(None, (self._brief.system, self._guidance.words)))
        return ModelRequest(
            model="",
            messages=self._session.state.history,
            system=(Text(told),) if told else (),
            tools=tuple(tool.spec for tool in self._offered),
            max_output_tokens=self._brief.max_output_tokens,
        )

    async def _hear(self, items: Sequence[Item]) -> None:
        """Write down what comes, and pass it on; what was mended is told once."""
        told: list[Item] = []
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
                case notices.DraftGrows(call=number, id=name, text=text):
                    self._session.note(ArgumentsReceived(self._turn, number, name, CONTINUE_DRAFT.name, text))
                case notices.Broke(brought=brought, gained=gained, goes_on=goes_on):
                    self._session.note(
                        AttemptBroken(self._turn, item.upstream, item.failure, brought, gained, item.usage, goes_on)
                    )
                    if not goes_on:
                        self._open_calls.clear()
                case notices.Withdrawn():
                    self._session.note(TextWithdrawn(self._turn))
                case notices.DraftHeld(draft=draft):
                    await self._write(DraftKept(self._turn, draft))
                case notices.Healed(upstream=upstream, repairs=repairs):
                    if new := self._session.state.unreported(repairs):
                        await self._write(Repaired(new))
                        told.append(notices.Healed(upstream, new))
                    continue
                case _:
                    pass
            told.append(item)
        self._objecting |= _who_objected(items)
        await self._sink(told)

    async def _write(self, *records: Record) -> None:
        """Secure records; while a disk refuses them, the session goes on in memory, and that is told once."""
        kept = await self._session.keep(*records)
        if not kept and self._keeps and (trouble := self._session.trouble) is not None:
            await self._sink([NotKept(trouble.happened)])
        self._keeps = kept

    async def _intend(self, call: ToolCall) -> None:
        """Secure the intent of a call. What could take effect does not run without: a crash could make it run twice."""
        intent = ToolIntended(self._turn, call)
        if next((tool.kind for tool in self._offered if tool.name == call.name), None) is Kind.READS:
            await self._write(intent)
        else:
            try:
                await self._session.commit(intent)
            except StoreFailed as failed:
                why = f"{failed.detail}; {call.name} was not run, because that could not be written down first"
                raise StoreFailed(failed.trouble, failed.path, why, failed.owner) from failed
        self._begun.add(call.id)
        await self._sink([ToolBegan(call)])

    async def _finish(self, call: ToolCall, result: ToolResult) -> None:
        await self._write(ToolFinished(self._turn, result))
        ran = call.id in self._begun
        self._begun.discard(call.id)
        await self._sink([ToolEnded(call, result, ran)])


def _who_objected(items: Sequence[Item]) -> set[str]:
    """Return who was left because of what the conversation holds."""
    return {one.upstream for one in items if isinstance(one, notices.FailedOver) and one.failure.kind in _OBJECTIONS}
