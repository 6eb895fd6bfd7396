"""A lab: simulated providers, an agent with real tools in a real folder, and virtual time, in one process."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from headway.agent.approval import Approvals, Mode
from headway.agent.happenings import Ending
from headway.agent.loop import Agent, Brief
from headway.agent.tools.listing import list_files
from headway.agent.tools.reading import read_file
from headway.agent.tools.tool import Tool, ToolContext
from headway.agent.tools.writing import write_file
from headway.agent.workspace import Workspace
from headway.dialect import DIALECTS
from headway.recovery.ledger import Policy
from headway.sim.script import Script
from headway.sim.server import SimServer
from headway.store.memory import MemoryStore
from headway.store.sessions import Sessions
from headway.transport.clock import run_virtual
from headway.transport.http import HttpClient
from headway.transport.limits import Overrides
from headway.turn.crew import Crew
from headway.turn.endpoint import Endpoint

PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages"}
TOOLS: tuple[Tool, ...] = (write_file, list_files, read_file)
LIMITS = Overrides(silence_seconds=20, first_content_seconds=30, dead_seconds=15, turn_seconds=1800)


def headers_for(wire: str, key: str = "k") -> dict[str, str]:
    if wire == "anthropic":
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}
    return {"authorization": f"Bearer {key}"}


class Lab:
    """Everything a scenario needs; see `in_lab`."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self.folder = folder
        self.items: list[Any] = []
        self.sims: list[SimServer] = []
        self.client = HttpClient()
        self.sessions = Sessions(MemoryStore())
        self._stack = stack

    async def provider(self, script: Script, wire: str, *, seed: int = 0, keys: Sequence[str] = ("k",)) -> Endpoint:
        sim = await self._stack.enter_async_context(SimServer(script, seed=seed))
        self.sims.append(sim)
        number = len(self.sims)
        return Endpoint(
            f"p{number}/{wire}",
            wire,
            sim.url + PATHS[wire],
            f"model-{number}",
            DIALECTS[wire],
            tuple(headers_for(wire, key) for key in keys),
            limits=LIMITS,
        )

    async def agent(self, *endpoints: Endpoint, policy: Policy | None = None) -> Agent:
        self.session = await self.sessions.create(str(self.folder))
        return self.again(*endpoints, policy=policy)

    def again(self, *endpoints: Endpoint, policy: Policy | None = None) -> Agent:
        """Go on in the same session."""

        async def hear(items: Sequence[Any]) -> None:
            self.items += items

        context = ToolContext(Workspace(self.folder), Approvals(Mode.AUTO))
        brief = Brief(system="You are an agent.", policy=policy or Policy())
        return Agent(self.client, lambda: Crew(endpoints), self.session, TOOLS, context, hear, brief)

    def told(self, kind: type) -> list[Any]:
        return [item for item in self.items if isinstance(item, kind)]

    def file(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")


def in_lab(folder: Path, work: Callable[[Lab], Awaitable[None]]) -> None:
    """Run a scenario in virtual time, and see that nothing of it is left behind."""
    troubles: list[dict[str, Any]] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, trouble: troubles.append(trouble))
        async with AsyncExitStack() as stack:
            lab = Lab(folder, stack)
            await work(lab)
            assert not lab.client.streams, "a stream was left open"
            lab.client.close()
            for _ in range(50):
                if not any(sim.open_connections for sim in lab.sims):
                    break
                await asyncio.sleep(0.01)
            assert [sim.open_connections for sim in lab.sims] == [0] * len(lab.sims), "a socket was left open"
            assert asyncio.all_tasks() == {asyncio.current_task()}, "a task was left running"

    try:
        run_virtual(run())
    except BaseException as exc:
        for trouble in troubles:
            exc.add_note(f"before that: {trouble['message']}: {trouble.get('exception')!r}")
        raise
    assert troubles == [], "a task or a callback failed, and nobody was told"


async def asked(lab: Lab, script: Script, *endpoints: Endpoint, **given: Any) -> Ending:
    agent = await lab.agent(*endpoints, **given)
    return await agent.ask(script.prompt)
