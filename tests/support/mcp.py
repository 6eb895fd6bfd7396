"""MCP servers for tests: how the scripted one is started, and a hand that uses its tools as a model would."""

import json
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

from headway.agent.approval import Approvals, Mode
from headway.agent.mcp.servers import Servers
from headway.agent.mcp.spec import ServerSpec
from headway.agent.running import run_calls
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.messages import ToolCall
from headway.transport.http import HttpClient
from support.peers import eventually

SCRIPT = Path(__file__).parent / "mcp_server.py"
PATIENCE_SECONDS = 30.0


def command(*words):
    return (sys.executable, "-I", "-S", str(SCRIPT), *words)


def stdio(name, folder, *words, **given):
    """Return a scripted server; what it is sent is in `folder/NAME.log`."""
    given.setdefault("environment", {"PATH": os.defpath})
    return ServerSpec(name, command(*words, f"log:{folder / name}.log"), folder=folder, **given)


def log_of(folder, name):
    """Return what a scripted server wrote down."""
    path = folder / f"{name}.log"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def pids(folder, name):
    return [one[key] for one in log_of(folder, name) for key in ("pid", "child") if key in one]


def is_alive(pid):
    """Say whether a process is there and is more than a name that nobody has collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


async def until(condition):
    """Wait for something that another process does."""
    await eventually(condition, PATIENCE_SECONDS)


class Hand:
    """Calls the tools of servers, each through the executor."""

    def __init__(self, servers, folder, said, mode=Mode.AUTO):
        self.servers, self.said = servers, said
        self.printed = []
        self.context = ToolContext(
            Workspace(folder), Approvals(mode), on_output=lambda _, text: self.printed.append(text)
        )

    async def names(self):
        return [tool.name for tool in await self.servers.tools()]

    async def call(self, name, **arguments):
        tools = await self.servers.tools()
        (result,) = await run_calls([ToolCall("c1", name, json.dumps(arguments))], tools, self.context)
        return result


@asynccontextmanager
async def hand(folder, *specs, mode=Mode.AUTO):
    said = []
    async with HttpClient() as client, Servers(specs, client, folder, said.append) as servers:
        yield Hand(servers, folder, said, mode)
