"""Where a Messages stream stands: what an encoder must know to begin it, or to go on with it."""

from enum import Enum

from msgspec import Struct

from headway.events import Event, Usage

NO_CALL = -1


class Phase(Enum):
    """How far a stream has come. `CONCLUDED` is after its stop reason, before its last mark."""

    WAITING = "waiting"
    SAYING = "saying"
    CONCLUDED = "concluded"
    OVER = "over"


class Standing(Struct, frozen=True):
    """A stream at one moment. `kind` is what the open block holds, by the event that fills it; `None`: none is open.

    A block in which nothing more can be said, and which only waits to be stopped, counts as an `OpaqueBlock`.
    """

    phase: Phase = Phase.WAITING
    kind: type[Event] | None = None
    index: int = 0
    next_index: int = 0
    call: int = NO_CALL
    """The number of the call that is open."""
    is_blank: bool = True
    """Is its input still empty?"""
    unclosed: dict[int, str] = {}
    """The names of the calls that nobody vouched for yet, by their numbers."""
    has_calls: bool = False
    """Is there a call that is whole?"""
    usage: Usage | None = None


FRESH = Standing()
