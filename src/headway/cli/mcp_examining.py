"""Servers, each tried by itself, all of them at once; what was found, as values."""

import asyncio
import shlex
from collections.abc import AsyncGenerator, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.mcp.server import Server
from headway.agent.mcp.troubles import ServerFailed, advice
from headway.settings import Loaded
from headway.settings.mcp_servers import Named, Standing
from headway.transport.http import HttpClient
from headway.transport.tls import trust_from


class State(Enum):
    """What became of a server."""

    WORKS = "works"
    FAILED = "failed"
    NOT_TRUSTED = "not trusted"
    OFF = "off"
    NOT_STARTED = "not started"


_LEFT_OUT = {
    Standing.OFF: State.OFF,
    Standing.NOT_TRUSTED: State.NOT_TRUSTED,
    Standing.NOT_COMPLETE: State.FAILED,
}
"""What becomes of those that are not started."""


class ToolLine(Struct, frozen=True):
    """A tool, in one line."""

    name: str
    kind: str
    words: str


class Examined(Struct, frozen=True, omit_defaults=True):
    """One server, as it was found."""

    name: str
    state: State
    way: str
    origin: str
    words: str = ""
    advice: str = ""
    version: str = ""
    server: str = ""
    seconds: dict[str, float] = {}
    tools: tuple[ToolLine, ...] = ()
    notices: tuple[str, ...] = ()


async def examine(loaded: Loaded, named: Sequence[Named], *, start: bool) -> AsyncGenerator[Examined, None]:
    """Try servers side by side; give each when it is its turn, in the order of the settings."""
    environment = loaded.around.environ
    async with (
        HttpClient(trust=trust_from(environment), environment=environment) as client,
        asyncio.TaskGroup() as group,
    ):
        trials = [group.create_task(_examined(loaded, one, client, start=start)) for one in named]
        for trial in trials:
            yield await trial


async def _examined(loaded: Loaded, named: Named, client: HttpClient, *, start: bool) -> Examined:
    entry = loaded.settings.mcp[named.name]
    found = Examined(named.name, State.NOT_STARTED, entry.url or shlex.join(entry.command), named.origin)
    if named.spec is None:
        return replace(found, state=_LEFT_OUT[named.standing], words=named.why)
    if not start:
        return found
    server = Server(named.spec, client, loaded.around.folder)
    try:
        offers = await server.current_offers()
    except ServerFailed as failed:
        words = f"{failed.detail} ({failed.phase.value})"
        return replace(found, state=State.FAILED, words=words, advice=advice(failed, named.spec))
    else:
        return _working(found, server, offers.notices)
    finally:
        await server.close()


def _working(found: Examined, server: Server, notices: tuple[str, ...]) -> Examined:
    times, welcome = server.timings, server.welcome
    assert times is not None, "it has started"
    assert welcome is not None, "it has started"
    return replace(
        found,
        state=State.WORKS,
        version=welcome.version,
        server=f"{welcome.name} {welcome.server_version}".strip(),
        seconds={
            "start": round(times.start_seconds, 3),
            "handshake": round(times.handshake_seconds, 3),
            "list": round(times.list_seconds, 3),
        },
        tools=tuple(
            ToolLine(one.spec.name, one.kind.value, (one.spec.description or "").split("\n", 1)[0])
            for one in server.offers.tools
        ),
        notices=notices,
    )
