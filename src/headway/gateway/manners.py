"""How a route relays to its clients: what may be spliced, held, shown and counted. Data."""

from enum import Enum

from msgspec import Struct


class Calls(Enum):
    """When a client gets a tool call."""

    HOLD = "hold"
    """When it is whole and the turn has ended: whatever happens to it before, nobody sees."""
    LIVE = "live"
    """As it comes, up to the last place where it can still be gone on from."""


class Manners(Struct, frozen=True):
    """How one stream is relayed."""

    calls: Calls = Calls.HOLD
    marks_seams: bool = False
    """Is there a comment in the stream where another attempt goes on?"""
    tells_usage: bool = True
    """Has the client asked for tokens to be counted?"""
