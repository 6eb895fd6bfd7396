"""The conversation behind the screen: a session, a way to answers, and what may happen. It draws nothing.

Sessions, routes and modes change while it lives; the pool of upstreams and what was learnt about them stays.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.approval import Allow, Approvals, Ask, Deny, Judgement, Kind, Mode, judge
from headway.agent.compacting import Compactor
from headway.agent.denials import why_denied
from headway.agent.happenings import AgentSink, Ending
from headway.agent.loop import Agent
from headway.agent.places import Place
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.threads import in_thread
from headway.cli.chat.tally import Tally
from headway.cli.first_command import before_commands
from headway.cli.keeping import Held
from headway.cli.run import SYSTEM, limits_for
from headway.failure import InvalidInput
from headway.history.exchanges import size_of
from headway.messages import ToolCall, user
from headway.providers.models import ModelFacts
from headway.settings import Loaded, Plan, open_pool, plan_for, route_for
from headway.settings.briefing import brief_for
from headway.settings.entries import facts_of, provider_of
from headway.settings.safety import Safety, checkpoints_for, copy_checkpoints
from headway.store.records import How, TurnBegan, TurnEnded, UserSaid
from headway.store.rows import entries_of
from headway.store.session import Session
from headway.transport.http import HttpClient
from headway.transport.watchdog import Quiet
from headway.turn.fleet import Fleet

if TYPE_CHECKING:
    from headway.agent.mcp.servers import Servers
    from headway.agent.tools.tool import Tool

LiveAsker: TypeAlias = Callable[[ToolCall, Ask, Callable[[], Judgement]], Awaitable[Allow | Deny]]
"""Asks about a call; the last argument judges it anew, as the mode may be switched while the question stands."""


class LiveApprovals(Approvals, frozen=True, kw_only=True):
    """Approvals whose mode can be switched while a turn goes on, and while a question stands."""

    current: Callable[[], Mode]
    live: LiveAsker
    denied: Callable[[ToolCall, str], None]
    """Told which call was denied, and why, in words for people; no words if whoever was asked has said no."""

    async def decide(self, kind: Kind, call: ToolCall, place: Place | None = None) -> Allow | Deny:
        """Judge by the mode of this moment, and ask if it says so."""

        def now() -> Judgement:
            return judge(self.current(), kind, self.rules, call, place)

        verdict = now()
        if isinstance(verdict, Ask):
            verdict = await self.live(call, replace(verdict, kind=kind), now)
        if isinstance(verdict, Deny):
            self.denied(call, why_denied(self.current(), kind, self.rules, call, place))
        return verdict


class Hooks(Struct, frozen=True):
    """Who is told and asked; set by whoever shows the conversation."""

    sink: AgentSink
    """Told what happens."""
    asker: LiveAsker
    """Asked what may."""
    warn: Callable[[str], None]
    """Says what a person should know before the first command runs."""
    denied: Callable[[ToolCall, str], None]
    """Told which call was denied, and why; no words if whoever was asked has said no."""
    on_output: Callable[[str, str], None] | None = None
    """Given what commands print."""


class Conversation:
    """Asks, and remembers in a session."""

    def __init__(self, loaded: Loaded, client: HttpClient, held: Held, safety: Safety, route: str) -> None:
        """Go on in the session that is held, within the bounds of `safety`."""
        self.loaded, self.held, self.safety = loaded, held, safety
        self.workspace = safety.workspace
        self.mode = Mode(loaded.settings.agent.approve)
        self._client = client
        self._fleet = Fleet(open_pool(loaded), asyncio.get_running_loop().time)
        self.plan: Plan = plan_for(loaded, route)
        self.tally = Tally(self.facts)
        self._hooks: Hooks | None = None
        self._unsaid: list[str] = []
        self.servers: Servers | None = None
        """Those that give more tools."""
        self._tools: tuple[Tool, ...] = BUILTIN
        self._agent: Agent | None = None
        self._compactor: Compactor | None = None
        self._begin()

    @property
    def folder(self) -> Path:
        """Return the folder that is worked in."""
        return self.workspace.roots[0]

    @property
    def session(self) -> Session:
        """Return the session that is talked in."""
        return self.held.session

    @property
    def is_kept(self) -> bool:
        """Say whether there is anything on disk to come back to."""
        return self.held.trouble is None and self.session.state.turn > 0

    def wire(self, hooks: Hooks) -> None:
        """Say who is told and asked."""
        sink = before_commands(hooks.sink, self.safety.notice, hooks.warn)
        self._hooks, self._agent = replace(hooks, sink=sink), None
        unsaid, self._unsaid = self._unsaid, []
        for words in unsaid:
            hooks.warn(words)

    def warn(self, words: str) -> None:
        """Say what a person should know, as soon as somebody can be told."""
        if self._hooks is not None:
            self._hooks.warn(words)
        else:
            self._unsaid.append(words)

    async def ask(self, words: str) -> Ending:
        """Say something and bring it to an end."""
        self.tally.begin_turn()
        before = self.session.state.turn
        try:
            await self._look_for_tools()
            self._agent = self._agent or self._made()
            return await self._agent.ask(words)
        except asyncio.CancelledError:
            if self.session.state.turn == before:  # servers were asked, and nothing was written down yet
                await self._keep_unanswered(words)
            raise
        finally:
            self.tally.end_turn()

    async def _keep_unanswered(self, words: str) -> None:
        """Write down what was said, as a turn that was stopped before anybody was asked."""
        turn = self.session.state.turn + 1
        said, began = UserSaid(user(words)), TurnBegan(turn, self.plan.route)
        await self.session.keep(said, began, TurnEnded(turn, How.CANCELLED))

    def quiet(self) -> Quiet | None:
        """Return how long the stream that is open now has been quiet."""
        if self._compactor is not None:
            return self._compactor.turn.quiet() if self._compactor.turn is not None else None
        return self._agent.quiet() if self._agent is not None else None

    def fullness(self) -> str:
        """Return how much of the window of whoever is asked first the conversation takes, by what was counted there."""
        state, first = self.session.state, self.plan.chain[0]
        tokens = state.gauge.tokens(first.model, self._agent.size if self._agent else size_of(state.messages))
        return f"about {tokens:,} of {first.facts.context:,} tokens ({tokens / first.facts.context:.0%})"

    async def compact(self) -> bool:
        """Have the older part of the conversation summed up; say whether that was done."""
        assert self._hooks is not None, "somebody must be told"
        state = self.session.state
        crew = self._fleet.crew(route_for(self.loaded, self.plan))
        ledger = state.ledger(self.plan.policy, tuple(endpoint.upstream() for endpoint in crew.endpoints))
        async with self.session.one_turn_at_a_time:
            self._compactor = Compactor(self._client, self.session, self._hooks.sink)
            try:
                return await self._compactor.compact(crew, ledger, size_of(state.messages))
            finally:
                self._compactor = None
                self._begin()  # what it has cost is in the journal

    def go_by(self, name: str) -> None:
        """Ask by another route, or one model by `provider/model`, from the next request on."""
        routes, providers = self.loaded.settings.routes, self.loaded.settings.providers
        provider, slash, model = name.partition("/")
        if name not in routes and not (slash and model and provider in providers):
            known = ", ".join((*routes, *(link.name for link in self.plan.chain)))
            raise InvalidInput(f"{name!r}", "is no route, and no provider/model", f"There is: {known}")
        self.plan, self._agent = plan_for(self.loaded, name), None

    async def begin_anew(self) -> None:
        """Begin a new session; the one before is kept."""
        await self._switch(await self.held.sessions.create(str(self.folder)))

    async def take_up(self, name: str) -> None:
        """Go on with another session, by the beginning of its name."""
        found = self.held.sessions.find(name).id
        if found != self.session.id:
            await self._switch(await self.held.sessions.resume(found))

    async def fork(self) -> str:
        """Copy the session and go on in the copy; return the name of the one that stays as it is."""
        before = self.session.id
        await self.session.keep()
        copied = self.held.sessions.fork(before)
        try:
            await in_thread(copy_checkpoints, self.loaded, before, copied)
        except OSError as error:
            self.held.sessions.delete(copied)
            what = f"what it has changed could not be copied ({error.strerror or error})"
            raise InvalidInput("/fork", what, "Nothing was done; make room, and try again") from error
        await self._switch(await self.held.sessions.resume(copied))
        return before

    async def forget_if_empty(self) -> None:
        """Remove the session if nothing was ever said in it."""
        if self.held.trouble is None and not self.session.state.turn and not self.session.state.messages:
            await self.session.close()
            self.held.sessions.delete(self.session.id)

    def facts(self, upstream: str) -> ModelFacts | None:
        """Return what is known about an upstream, by its name; None if it is not in the settings any more."""
        found = next((link.facts for link in self.plan.chain if link.name == upstream), None)
        name, _, model = upstream.partition("/")
        entry = self.loaded.settings.providers.get(name)
        if found is not None or entry is None:
            return found
        return facts_of(provider_of(name, entry, "settings"), model, entry.models.get(model))

    async def _switch(self, session: Session) -> None:
        await self.forget_if_empty()
        await self.session.close()
        self.held.session, self._agent = session, None
        self._begin()

    def _begin(self) -> None:
        self.checkpoints = checkpoints_for(self.loaded, self.session.id)
        self.tally.begin(entries_of(self.held.sessions.store.read(self.session.id)))

    async def _look_for_tools(self) -> None:
        """Take up what servers offer now: they may have come back, or offer something else."""
        offered = await self.servers.tools() if self.servers is not None else ()
        tools = (*BUILTIN, *offered)
        if [tool.spec for tool in tools] != [tool.spec for tool in self._tools]:
            self._tools, self._agent = tools, None

    def _made(self) -> Agent:
        assert self._hooks is not None, "somebody must be told"
        settings, hooks = self.loaded.settings.agent, self._hooks
        context = self.safety.context(
            approvals=LiveApprovals(
                rules=self.safety.rules, live=hooks.asker, current=lambda: self.mode, denied=hooks.denied
            ),
            limits=limits_for(settings.shell_seconds),
            on_output=hooks.on_output,
            checkpoints=self.checkpoints if self.held.trouble is None else None,
        )
        brief = brief_for(self.loaded, self.plan, self.safety, SYSTEM)
        crew = partial(self._fleet.crew, route_for(self.loaded, self.plan))
        return Agent(self._client, crew, self.session, self._tools, context, hooks.sink, brief)
