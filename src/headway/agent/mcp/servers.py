"""All servers of an agent, and their tools.

    async with Servers(specs, client, root, say) as servers:
        tools = await servers.tools()

They start side by side when their tools are first asked for. One that does not start is told in one line and left out;
it gets another chance the next time. Leaving the block ends them all.
"""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from headway.agent.mcp.offers import Offer
from headway.agent.mcp.results import content_of
from headway.agent.mcp.server import Server
from headway.agent.mcp.spec import ServerSpec
from headway.agent.mcp.troubles import Phase, ServerFailed, Trouble, advice
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.tool import Content, Tool, ToolContext
from headway.messages import Text
from headway.transport.http import HttpClient

MOST_TOOLS = 100
"""Of all servers together: some endpoints refuse a request with more than 128 tools, and models lose their way."""


class Servers:
    """The servers that settings name."""

    def __init__(self, specs: Iterable[ServerSpec], client: HttpClient, root: Path, say: Callable[[str], None]) -> None:
        """Prepare them; `say` is told once what a person should know of each."""
        self.all = tuple(Server(spec, client, root) for spec in specs)
        self._say = say
        self._said: set[str] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        async with asyncio.TaskGroup() as group:
            for server in self.all:
                group.create_task(server.close())

    async def tools(self) -> tuple[Tool, ...]:
        """Return the tools of all servers that can be reached, in the order of the settings."""
        async with asyncio.TaskGroup() as group:
            asking = [group.create_task(self._tools_of(server)) for server in self.all]
        tools = [one for asked in asking for one in asked.result()]
        if len(tools) > MOST_TOOLS:
            hint = "choose with `tools` in the tables of [mcp]"
            self._tell(f"the MCP servers have {len(tools)} tools; only the first {MOST_TOOLS} are offered ({hint})")
        return tuple(tools[:MOST_TOOLS])

    async def _tools_of(self, server: Server) -> list[Tool]:
        try:
            offers = await server.current_offers()
        except ServerFailed as failed:
            if failed.trouble is not Trouble.RESTING:
                self._tell(f"{failed}; it is left out. {advice(failed, server.spec)}")
            return []
        for notice in offers.notices:
            self._tell(f"the MCP server {server.spec.name}: {notice}")
        return [tool_of(server, offer) for offer in offers.tools]

    def _tell(self, words: str) -> None:
        words = "".join(one if one.isprintable() else " " for one in words)  # a stranger's words, for a terminal
        if words not in self._said:
            self._said.add(words)
            self._say(words)


def tool_of(server: Server, offer: Offer) -> Tool:
    """Return a tool of a server as one of the agent."""
    name = offer.spec.name

    async def run(arguments: dict[str, Any], context: ToolContext) -> Content:
        def progress(words: str) -> None:
            if context.on_output is not None:
                context.on_output(context.call_id, server.clean(words))

        try:
            result = await server.call(offer.own_name, arguments, progress)
            content = content_of(name, result)
        except ServerFailed as failed:
            raise ToolError(_words(name, failed)) from failed
        except ToolError as error:
            raise ToolError(server.clean(str(error))) from None
        if isinstance(content, str):
            return content
        return tuple(Text(server.clean(part.text)) if isinstance(part, Text) else part for part in content)

    return Tool(offer.spec, offer.kind, run)


def _words(tool: str, failed: ServerFailed) -> str:
    """Return what a model should know about a call that gave nothing."""
    if failed.trouble is Trouble.REFUSED and failed.phase is Phase.CALL:
        return f"`{tool}` was not done: {failed.detail}. Change what you ask for, or do without it."
    if failed.phase is not Phase.CALL or failed.trouble in {Trouble.NOT_LET_IN, Trouble.WRONG_ADDRESS}:
        return f"`{tool}` was not run, because its server cannot be used: {failed.detail}. Do without it for now."
    unknown = "What it has done until then is not known: check before you call it again."
    if failed.trouble is Trouble.HUNG:
        return f"`{tool}` was given up: {failed.detail}. {unknown}"
    return f"`{tool}` broke off: {failed.detail}. {unknown} Its server is started anew if it must be."
