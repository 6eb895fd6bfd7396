"""Where a stream of chunks stands: what an encoder must know to begin it, or to go on with it."""

from enum import Enum

from msgspec import Struct

from headway.events import Usage


class Phase(Enum):
    """How far a stream has come. `CONCLUDED` is after its finish word, before `[DONE]`."""

    WAITING = "waiting"
    SAYING = "saying"
    CONCLUDED = "concluded"
    OVER = "over"


class OpenCall(Struct, frozen=True):
    """A call that was not closed. One without an index came in a form in which nobody can go on with it."""

    name: str
    index: int | None
    freeform: bool = False


class Standing(Struct, frozen=True):
    """A stream at one moment."""

    phase: Phase = Phase.WAITING
    head: dict[str, object] = {}
    """What every chunk says of itself: id, model and the like."""
    thinking: str = "reasoning_content"
    """The name under which this stream tells its reasoning."""
    next_detail: int = 0
    next_call: int = 0
    calls: dict[int, OpenCall] = {}
    halves: tuple[str, ...] = ()
    """The names of calls that will never be whole."""
    usage: Usage | None = None


FRESH = Standing()
