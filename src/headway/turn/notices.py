"""What is happening, apart from what is said: facts for a status line, a log, a trace. Never part of the reply."""

from typing import TypeAlias

from msgspec import Struct

from headway.events import Usage
from headway.failure import Failure
from headway.history.edits import Repair
from headway.providers.changes import Change
from headway.recovery.decisions import Why
from headway.recovery.drafts import Draft
from headway.recovery.ledger import Strategy


class Asking(Struct, frozen=True, tag="asking"):
    """A request goes out; the first one of a turn has number 1."""

    upstream: str
    number: int


class Broke(Struct, frozen=True, tag="broke"):
    """An attempt failed; `received` characters of the reply are kept, those of earlier attempts among them."""

    upstream: str
    failure: Failure
    received: int
    goes_on: bool = False
    """Is the same reply taken up again on the server, so that what is open of it stays open?"""
    brought: int = 0
    """Characters of words and calls that this attempt brought."""
    gained: int = 0
    """How many of these are kept and gone on from."""
    usage: Usage | None = None
    """What the attempt cost, as far as its provider told."""


class DraftGrows(Struct, frozen=True, tag="draft_grows"):
    """More of the continuation of a draft arrived. It is no part of the reply: who keeps a journal writes it down."""

    call: int
    id: str
    text: str


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


class Withdrawn(Struct, frozen=True, tag="withdrawn"):
    """The provider takes back what it has said in this reply; what comes next begins anew."""

    upstream: str


class Healed(Struct, frozen=True, tag="healed"):
    """The history was repaired on its way out; what is stored is untouched."""

    upstream: str
    repairs: tuple[Repair, ...]


class GaveUp(Struct, frozen=True, tag="turn_gave_up"):
    """The turn ends without an answer; what was saved is kept."""

    failure: Failure
    why: Why


class Answered(Struct, frozen=True, tag="answered"):
    """The turn ends with an answer or with calls, from this upstream."""

    upstream: str


Notice: TypeAlias = (
    Asking | Broke | DraftGrows | DraftHeld | Withdrawn | TryingAgain | FailedOver | Healed | GaveUp | Answered | Change
)
