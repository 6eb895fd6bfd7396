"""What to do next. `Finish`, `RunTools` and `GiveUp` end a reply; the others lead to one more request.

The request itself is built from the ledger (`continuation.next_request`): a decision says what changes on the way.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from headway.failure import Failure
from headway.messages import ToolCall
from headway.recovery.ledger import Strategy


class Finish(Struct, frozen=True, tag="finish"):
    """The answer is complete; it is in the ledger's salvage."""


class RunTools(Struct, frozen=True, tag="run_tools"):
    """These calls are whole: run them. If the stream broke behind them, the ledger says what to ask next."""

    calls: tuple[ToolCall, ...]


class Again(Struct, frozen=True, tag="again"):
    """Send one more request to the upstream in use, after a wait, by this strategy."""

    strategy: Strategy
    wait_seconds: float = 0.0
    repair: str | None = None
    """What the provider's answer said must be repaired."""
    limit_tokens: int | None = None
    """What the provider's answer said is the limit."""


class FailOver(Struct, frozen=True, tag="fail_over"):
    """Send the next request to the next upstream, with everything that was saved."""

    to: str
    because: Failure


class Why(Enum):
    """Why a turn is given up."""

    HOPELESS = "nothing automatic helps"
    SPENT = "every way that could help was tried"
    ATTEMPTS = "no attempts are left"
    DEADLINE = "the time for this turn is over"
    CANCELLED = "it was cancelled"


class GiveUp(Struct, frozen=True, tag="give_up"):
    """End the turn with a clear error; what was saved stays in the ledger."""

    failure: Failure
    why: Why


Decision: TypeAlias = Finish | RunTools | Again | FailOver | GiveUp
END = (Finish, RunTools, GiveUp)
