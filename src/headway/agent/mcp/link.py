"""The way to a server, whatever it is made of. It carries messages and knows nothing of what they mean."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from headway.agent.mcp.troubles import ServerFailed

if TYPE_CHECKING:
    from asyncio import Future

LARGEST_MESSAGE = 16 * 1024 * 1024
Hear: TypeAlias = Callable[[bytes], Iterable[bytes]]
"""Takes what came, and returns what is to be sent back for it."""


class Ask(Struct, frozen=True):
    """A request, and what a link may have to say about it beside its body."""

    method: str
    body: bytes
    name: str = ""
    """Of the tool, if it calls one."""


class Link(Protocol):
    """One way to one server. After `close`, nothing of it is left: no process, no socket, no task."""

    hear: Hear
    lost: ServerFailed | None
    """Why it is of no more use, once it is."""
    version: str
    """What was agreed on, once it was."""

    async def open(self) -> None:
        """Get ready to carry."""

    async def exchange(self, ask: Ask, answered: "Future[object]") -> None:
        """Carry a request, and come back when it is answered; raises `ServerFailed` when it cannot be any more."""

    async def tell(self, body: bytes) -> None:
        """Carry what needs no answer."""

    async def close(self) -> None:
        """End it; a cancellation only makes that faster."""

    def evidence(self) -> str:
        """Return the last that the server said beside its messages, in one line."""
