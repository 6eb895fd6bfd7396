"""The servers of [mcp] that may be started, and what keeps the others from it.

Trust in a project's file is kept by a digest of the entry and of where it stands: an entry that changes is asked about
again.
"""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from enum import Enum
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from headway.agent.mcp.servers import Servers
from headway.agent.mcp.spec import ServerSpec
from headway.failure import InvalidInput
from headway.settings.layers import DEFAULT, From
from headway.settings.loading import Loaded
from headway.settings.mcp import spec_of
from headway.settings.trusting import forget_trusted, is_of_folder, keep_trusted, trusted
from headway.transport.http import HttpClient


class Standing(Enum):
    """Whether a server may be started."""

    READY = "ready"
    OFF = "off"
    NOT_TRUSTED = "not trusted"
    NOT_COMPLETE = "not complete"


class Named(Struct, frozen=True):
    """A server of the settings: what is to be started, or why it is not."""

    name: str
    standing: Standing
    origin: str
    why: str = ""
    spec: ServerSpec | None = None


def servers_named(loaded: Loaded, workspace: Path) -> tuple[Named, ...]:
    """Return every server of the settings, in their order."""
    known = trusted(loaded.around)
    return tuple(_named(loaded, name, workspace, known) for name in loaded.settings.mcp)


@asynccontextmanager
async def mcp_servers(
    loaded: Loaded, workspace: Path, client: HttpClient, say: Callable[[str], None]
) -> AsyncIterator[Servers]:
    """Give the servers of the settings for a while. None of them runs before its tools are asked for."""
    named = servers_named(loaded, workspace) if loaded.settings.mcp else ()
    for one in named:
        if one.why and one.standing is not Standing.OFF:
            say(f"the MCP server {one.name} is left out: {one.why}")
    async with Servers([one.spec for one in named if one.spec is not None], client, workspace, say) as servers:
        yield servers


def trust(loaded: Loaded, names: Iterable[str]) -> None:
    """Keep that servers of the project's file may be started as they are now."""
    keep_trusted([_digest(loaded, name) for name in names], loaded.around)


def untrust(loaded: Loaded, names: Iterable[str]) -> tuple[str, ...]:
    """Forget that servers of the project's file may be started as they are now; return those that could be."""
    digests = {_digest(loaded, name): name for name in names if _may_be_doubted(loaded, name)}
    gone = forget_trusted(digests, loaded.around)
    return tuple(name for digest, name in digests.items() if digest in gone)


def _may_be_doubted(loaded: Loaded, name: str) -> bool:
    if _is_of_project(loaded, name):
        return True
    hint = f"To keep it from starting, write enabled = false in [mcp.{name}]."
    raise InvalidInput(name, f"it stands in {_origin(loaded, name)}, which is your own word", hint)


def _named(loaded: Loaded, name: str, workspace: Path, known: frozenset[str]) -> Named:
    entry = loaded.settings.mcp[name]
    origin = _origin(loaded, name)
    if not entry.enabled:
        return Named(name, Standing.OFF, origin, "`enabled` is false")
    if _is_of_project(loaded, name) and _digest(loaded, name) not in known:
        why = f"{origin} is of this project, and you have not said that you trust it. Try: headway mcp trust {name}"
        return Named(name, Standing.NOT_TRUSTED, origin, why)
    try:
        spec = spec_of(name, entry, workspace, loaded.around.environ, loaded.keychain)
    except InvalidInput as error:
        return Named(name, Standing.NOT_COMPLETE, origin, str(error))
    return Named(name, Standing.READY, origin, spec=spec)


def _is_of_project(loaded: Loaded, name: str) -> bool:
    """Say whether an entry comes with the folder that is worked in, and not from the user's own file."""
    kinds = {found.kind for path, found in loaded.origins.items() if path[:2] == ("mcp", name)}
    return From.FILE in kinds and is_of_folder(Path(_origin(loaded, name)), loaded.around)


def _origin(loaded: Loaded, name: str) -> str:
    found = (origin for path, origin in loaded.origins.items() if path[:2] == ("mcp", name))
    return str(next(found, DEFAULT))


def _digest(loaded: Loaded, name: str) -> str:
    said = msgspec.json.encode([_origin(loaded, name), name, loaded.settings.mcp[name]], order="sorted")
    return sha256(said).hexdigest()
