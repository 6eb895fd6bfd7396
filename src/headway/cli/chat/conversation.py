"""The conversation behind the screen: a session, a way to answers, and what may happen. It draws nothing.

Sessions, routes and modes change while it lives; the pool of upstreams and what was learnt about them stays.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from headway.agent.approval import Allow, Approvals, Asker, Deny, Kind, Mode, Rules
from headway.agent.checkpoints import Checkpoints
from headway.agent.compacting import Compactor
from headway.agent.happenings import AgentSink, Ending
from headway.agent.loop import Agent, Brief
from headway.agent.places import Place
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.cli.chat.tally import Tally
from headway.cli.keeping import Held
from headway.cli.run import SYSTEM, limits_for
from headway.failure import InvalidInput
from headway.history.exchanges import size_of
from headway.messages import ToolCall
from headway.providers.models import ModelFacts
from headway.settings import Loaded, Plan, open_pool, plan_for, route_for
from headway.settings.entries import facts_of, provider_of
from headway.store.rows import entries_of
from headway.store.session import Session
from headway.transport.http import HttpClient
from headway.transport.watchdog import Quiet
from headway.turn.fleet import Fleet

CHECKPOINTS = "checkpoints"
"""The folder beside the journal that has what files were before, by session."""


class LiveApprovals(Approvals, frozen=True, kw_only=True):
    """Approvals whose mode can be switched while a turn goes on."""

    current: Callable[[], Mode]

    async def decide(self, kind: Kind, call: ToolCall, place: Place | None = None) -> Allow | Deny:
        """Judge by the mode of this moment."""
        return await Approvals(self.current(), self.rules, self.asker).decide(kind, call, place)


class Hooks:
    """Who is told and asked; set by whoever shows the conversation."""

    def __init__(self, sink: AgentSink, asker: Asker, on_output: Callable[[str, str], None] | None = None) -> None:
        """Tell `sink` what happens, ask `asker` what may, and give `on_output` what commands print."""
        self.sink, self.asker, self.on_output = sink, asker, on_output


class Conversation:
    """Asks, and remembers in a session."""

    def __init__(self, loaded: Loaded, client: HttpClient, held: Held, workspace: Path, route: str) -> None:
        """Go on in the session that is held."""
        self.loaded, self.held, self.folder = loaded, held, workspace
        self.workspace = Workspace(workspace)
        self.mode, self.rules = Mode(loaded.settings.agent.approve), Rules()
        self._client = client
        self._fleet = Fleet(open_pool(loaded), asyncio.get_running_loop().time)
        self.plan: Plan = plan_for(loaded, route)
        self.tally = Tally(self.facts)
        self._hooks: Hooks | None = None
        self._agent: Agent | None = None
        self._compactor: Compactor | None = None
        self._begin()

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
        self._hooks, self._agent = hooks, None

    async def ask(self, words: str) -> Ending:
        """Say something and bring it to an end."""
        self.tally.begin_turn()
        self._agent = self._agent or self._made()
        try:
            return await self._agent.ask(words)
        finally:
            self.tally.end_turn()

    def quiet(self) -> Quiet | None:
        """Return how long the stream that is open now has been quiet."""
        if self._compactor is not None:
            return self._compactor.turn.quiet() if self._compactor.turn is not None else None
        return self._agent.quiet() if self._agent is not None else None

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
        await self._switch(await self.held.sessions.resume(self.held.sessions.fork(before)))
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
        self.checkpoints = Checkpoints(self.loaded.around.data_folder / CHECKPOINTS / self.session.id)
        self.tally.begin(entries_of(self.held.sessions.store.read(self.session.id)))

    def _made(self) -> Agent:
        assert self._hooks is not None, "somebody must be told"
        settings, hooks = self.loaded.settings.agent, self._hooks
        approvals = LiveApprovals(rules=self.rules, asker=hooks.asker, current=lambda: self.mode)
        limits = limits_for(settings.shell_seconds)
        context = ToolContext(
            self.workspace, approvals, limits, on_output=hooks.on_output, checkpoints=self.checkpoints
        )
        brief = Brief(SYSTEM, self.plan.policy, route=self.plan.route, steps=settings.steps)
        crew = partial(self._fleet.crew, route_for(self.loaded, self.plan))
        return Agent(self._client, crew, self.session, BUILTIN, context, hooks.sink, brief)
