"""Agents of the lab that differ from the usual one, and listeners who know when they were told what."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from headway.agent.approval import Approvals, Asker, Mode
from headway.agent.loop import Agent, Brief
from headway.agent.tools.tool import Tool, ToolContext
from headway.agent.workspace import Workspace
from headway.settings import Loaded, Surroundings, load, open_pool, plan_for, route_for
from headway.transport.limits import Overrides
from headway.turn.crew import Crew
from headway.turn.endpoint import Endpoint
from headway.turn.fleet import Fleet
from support.lab import TOOLS, Lab

Hear = Callable[[Sequence[Any]], Awaitable[None]]


class Listener:
    """Keeps what it is told, with the moment at which it was told."""

    def __init__(self, lab: Lab) -> None:
        self.heard: list[tuple[float, Any]] = []
        self._lab = lab

    async def __call__(self, items: Sequence[Any]) -> None:
        self._lab.items += items
        self.heard += [(now(), item) for item in items]

    def of(self, *kinds: type) -> list[tuple[float, Any]]:
        return [(at, item) for at, item in self.heard if isinstance(item, kinds)]

    def last(self, before: float, *kinds: type) -> float:
        """Return when something of a kind was told for the last time before a moment."""
        return max(at for at, _ in self.of(*kinds) if at < before)


async def nobody(items: Sequence[Any]) -> None:
    """Listen to nothing: nobody looks at a screen."""


def now() -> float:
    return asyncio.get_running_loop().time()


async def agent_of(
    lab: Lab,
    *endpoints: Endpoint,
    hear: Hear | None = None,
    mode: Mode = Mode.AUTO,
    asker: Asker | None = None,
    tools: Sequence[Tool] = TOOLS,
    **brief: Any,
) -> Agent:
    """Return an agent in a new session; what is not said is as in the lab."""
    lab.session = await lab.sessions.create(str(lab.folder))
    context = ToolContext(Workspace(lab.folder), Approvals(mode, asker=asker))
    said = Brief(system="You are an agent.", **brief)
    return Agent(lab.client, lambda: Crew(endpoints), lab.session, tools, context, hear or Listener(lab), said)


def with_limits(endpoint: Endpoint, **limits: float) -> Endpoint:
    """Return the endpoint with these limits set and no others."""
    return replace(endpoint, limits=Overrides(**limits))


async def agent_by_settings(lab: Lab, loaded: Loaded, *, hear: Hear | None = None, betas: Sequence[str] = ()) -> Agent:
    """Return an agent as the commands make it: settings, keys from the environment, and a fleet that learns."""
    plan = plan_for(loaded)
    lab.fleet = Fleet(open_pool(loaded), asyncio.get_running_loop().time)
    crew = partial(lab.fleet.crew, route_for(loaded, plan, betas=betas))
    lab.session = await lab.sessions.create(str(lab.folder))
    context = ToolContext(Workspace(lab.folder), Approvals(Mode.AUTO))
    brief = Brief(system="You are an agent.", policy=plan.policy)
    return Agent(lab.client, crew, lab.session, TOOLS, context, hear or Listener(lab), brief)


def settings(folder: Path, text: str, **environ: str) -> Loaded:
    """Load settings as in a process that was given this file and these variables, and no others."""
    file = folder / "headway.toml"
    file.write_text(text, encoding="utf-8")
    return load(file, around=Surroundings(environ, folder, folder))
