"""What is happening, apart from what is said: facts for a status line, a log, a trace. Never part of the reply."""

from typing import TypeAlias

from msgspec import Struct

from headway.failure import Failure
from headway.history.edits import Repair
from headway.recovery.decisions import Why
from headway.recovery.drafts import Draft
from headway.recovery.ledger import Strategy


class Asking(Struct, frozen=True, tag="asking"):
    """A request goes out; the first one of a turn has number 1."""

    upstream: str
    number: int


class Broke(Struct, frozen=True, tag="broke"):
    """An attempt failed; `received` characters of it are kept."""

    upstream: str
    failure: Failure
    received: int


class DraftHeld(Struct, frozen=True, tag="draft_held"):
    """A cut call is kept; nothing of it has run."""

    draft: Draft


class TryingAgain(Struct, frozen=True, tag="trying_again"):
    """The same upstream is asked once more, by this strategy, after a wait."""

    upstream: str
    strategy: Strategy
    wait_seconds: float


class FailedOver(Struct, frozen=True, tag="failed_over"):
    """Another upstream goes on."""

    upstream: str
    to: str
    failure: Failure


class Healed(Struct, frozen=True, tag="healed"):
    """The history was repaired on its way out; what is stored is untouched."""

    upstream: str
    repairs: tuple[Repair, ...]


class GaveUp(Struct, frozen=True, tag="gave_up"):
    """The turn ends without an answer; what was saved is kept."""

    failure: Failure
    why: Why


class Answered(Struct, frozen=True, tag="answered"):
    """The turn ends with an answer or with calls, from this upstream."""

    upstream: str


Notice: TypeAlias = Asking | Broke | DraftHeld | TryingAgain | FailedOver | Healed | GaveUp | Answered
