"""The record of one request: what came, what was done about it on purpose, and how it ended. Times are the loop's."""

from enum import Enum
from typing import Any

from msgspec import Struct


class Ending(Enum):
    """How an exchange ended."""

    OPEN = "open"
    """It has not ended."""
    ANSWERED = "answered"
    """The answer was sent to its end, whatever it was."""
    REFUSED = "refused"
    """The request broke a rule and was told so."""
    CUT = "cut"
    """The provider broke the connection."""
    CLIENT_LEFT = "client_left"
    """The client closed the connection before the answer was over."""
    STOPPED = "stopped"
    """The simulator was closed first."""


class Exchange(Struct, kw_only=True):
    """One request and what became of it."""

    number: int
    method: str
    path: str
    connection: int
    """Connections are numbered from 1, so requests that shared one can be told."""
    started_at: float
    wire: str = ""
    model: str = ""
    key: str = ""
    headers: dict[str, str] = {}
    body: dict[str, Any] = {}
    faults: tuple[str, ...] = ()
    """The names of the faults that struck."""
    status: int = 0
    refusal: str = ""
    """Why the request was refused, in the provider's words."""
    generated: int = 0
    """Characters that the model said, thinking and arguments included, received or not."""
    generated_bytes: int = 0
    sent_bytes: int = 0
    """Bytes of the body that went out."""
    ending: Ending = Ending.OPEN
    ended_at: float | None = None

    @property
    def client_left_at(self) -> float | None:
        """Return when the client closed the connection, if it did so before the answer was over."""
        return self.ended_at if self.ending is Ending.CLIENT_LEFT else None

    @property
    def seconds(self) -> float:
        """Return how long it took, once it is over."""
        return (self.ended_at if self.ended_at is not None else self.started_at) - self.started_at
