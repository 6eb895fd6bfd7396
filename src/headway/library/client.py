"""The client: a way to answers, for as long as it is open. Many turns and agents may use it at once."""

from collections.abc import AsyncGenerator, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

from headway.agent.loop import Brief
from headway.events import TextDelta
from headway.library.agent import SYSTEM, Agent, Terms
from headway.library.asking import Asking, Prompt, Wishes, policy_for, request_of
from headway.library.errors import Misused
from headway.library.provider import Provider
from headway.library.running import Running
from headway.library.tools import Approve, OwnTool, context_for, own_tools, with_builtin, words_for
from headway.library.turn import Turn
from headway.library.way import way_of
from headway.settings.schema import Limits


class Headway:
    """Ask models, and have agents, through whatever their providers do.

    The chain says whom to ask, first choice first: `Provider(…)`s, or names like `"provider/model"`. Without one,
    settings count as for the command line: `headway.toml`, or the usual keys in the environment. Use it in an
    `async with`, on one loop; leaving the block ends everything that is under way.
    """

    def __init__(
        self,
        *chain: Provider | str,
        config: str | Path | None = None,
        route: str | None = None,
        limits: Limits | None = None,
        store: str = "memory:",
    ) -> None:
        """Find the way; nothing is opened yet.

        `config` is a settings file, `route` one of its routes, `limits` count before those of the file. `store` keeps
        the sessions of agents: `sqlite:PATH`, or `memory:` for as long as the client is open.
        """
        self._way = way_of(chain, config, route, limits)
        self._store = store
        self._running: Running | None = None
        self._closed = False

    @property
    def chain(self) -> tuple[str, ...]:
        """Return who is asked, in order; who cannot be asked, for want of a key, is left out."""
        return self._way.chain

    async def text(
        self,
        prompt: Prompt,
        *,
        system: str | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
    ) -> str:
        """Ask, and return the words of the answer; raises `TurnFailed`, with what had come, if there is none."""
        turn = self.turn(prompt, system=system, max_output_tokens=max_output_tokens, temperature=temperature)
        return (await turn).text

    async def stream_text(
        self,
        prompt: Prompt,
        *,
        system: str | None = None,
        max_output_tokens: int | None = None,
        temperature: float | None = None,
    ) -> AsyncGenerator[str, None]:
        """Ask, and give the words of the answer as they come, each of them once, whatever happens to the stream.

        What was given cannot be taken back: where a provider withdraws its words, they are gone on from all the same.
        """
        async with self.turn(
            prompt, system=system, max_output_tokens=max_output_tokens, temperature=temperature, shown_stays=True
        ) as turn:
            async for item in turn:
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
        after: Turn | None = None,
        shown_stays: bool = False,
    ) -> Turn:
        """Prepare one reply: await it, or iterate it. Tools are offered, and their calls left to the program to run.

        `after` is an earlier turn; what it left open, the draft of a tool call that was cut, is gone on with.
        `shown_stays` is for those who cannot take back what they have shown: where a provider withdraws its words, they
        are gone on from, and not said anew.
        """
        wishes = Wishes(system=system, max_output_tokens=max_output_tokens, temperature=temperature)
        own = own_tools(tools)
        policy = policy_for(self._way.plan.policy, wishes, own, shown_stays=shown_stays)
        left = after.ledger if after is not None else None
        asking = Asking(self._open, request_of(prompt, wishes, own), policy, left)
        return Turn(lambda work: self._open().start(work), asking)

    def agent(
        self,
        *,
        tools: Iterable[OwnTool] = (),
        system: str = "",
        workspace: str | Path | None = None,
        approve: Approve = "edits",
        session: str = "",
        steps: int = 200,
    ) -> Agent:
        """Have an agent that runs its tools itself: your own, and in a `workspace` also those for files and commands.

        `approve` says what the built-in tools may do; your own just run. `session` takes up an earlier one of the
        store; `steps` limits the rounds of calls in one task.
        """
        own, plan = own_tools(tools), self._way.plan
        context = context_for(own, workspace, approve, self._way.loaded)
        usual = f"{SYSTEM} {words_for(context)}" if workspace is not None else ""
        terms = Terms(
            tools=with_builtin(own, workspace),
            context=context,
            brief=Brief(system or usual, plan.policy, route=plan.route, steps=steps),
            session=session,
        )
        return Agent(self._open, terms)

    async def aclose(self) -> None:
        """End everything that is under way and close every connection. Closing twice is fine."""
        running = self._running
        if running is not None:
            running.check_loop()
        self._running, self._closed = None, True
        if running is not None:
            await running.close()

    async def __aenter__(self) -> Self:
        self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _open(self) -> Running:
        """Return what is open; opens it at the first use."""
        if self._closed:
            raise Misused("Headway", "it is closed", "Make another one.")
        if self._running is None:
            self._running = Running(self._way, self._store)
        self._running.check_loop()
        return self._running

    def __repr__(self) -> str:
        return f"<Headway {', '.join(self.chain)}{' (closed)' if self._closed else ''}>"
