"""A server that a person has named: how it is reached, what of it is offered, and how long it may take."""

from enum import Enum
from pathlib import Path

from msgspec import Struct

from headway.providers.secret import Secret


class Trust(Enum):
    """How far a server is believed about its tools."""

    RUNS = "runs"
    """Each tool can do anything."""
    HINTED = "hinted"
    """A tool only reads if the server says so."""
    READS = "reads"
    """All of them only read."""


class ServerSpec(Struct, frozen=True):
    """One server. It has a command or a URL; its secrets are open, so it is never shown or written down as a whole."""

    name: str
    command: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    """All that its process sees."""
    folder: Path = Path()
    """Where its process starts."""
    url: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    secrets: dict[str, Secret] = {}
    """What must not come back out of it, by where it stands."""
    tools: tuple[str, ...] = ("*",)
    trust: Trust = Trust.RUNS
    call_seconds: float = 60.0
    start_seconds: float = 30.0
    """Start, handshake and the list of tools together."""

    def __repr__(self) -> str:
        return f"ServerSpec({self.name!r}, {self.command[0] if self.command else self.url!r})"
