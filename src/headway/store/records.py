"""What is written down: one frozen record a fact, tagged, as JSON. What is written is never edited.

A field may be added if it has a default; a kind or a value that this Headway does not know is read as `Unreadable`,
kept, and passed over. A `Delta` is one of many, small and cheap: it survives a killed process and may be lost with the
power. Every other record is secured before it counts: an intent before its call runs, a result before the next request.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from headway.events import Usage
from headway.failure import Failure
from headway.history.edits import Repair
from headway.messages import Message, ToolCall, ToolResult
from headway.recovery.drafts import Draft
from headway.recovery.ledger import Ask, Break, Ledger

FORMAT = 1
"""The version of the records; a record that an older Headway would misread raises it."""


class How(Enum):
    """How a turn ended."""

    ANSWERED = "answered"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DIED = "died"
    """The process was gone; the next one that opened the journal wrote this."""


class _Fact(Struct, frozen=True, tag_field="kind"):
    """What every record is: frozen, and known by its kind."""


class SessionOpened(_Fact, frozen=True, tag="session_opened"):
    """The first record of every journal."""

    id: str
    workspace: str
    created_at: float
    title: str = ""
    format: int = FORMAT


class Imported(_Fact, frozen=True, tag="imported"):
    """Messages taken over from elsewhere, as they were there, broken or not."""

    messages: tuple[Message, ...]
    source: str = ""


class UserSaid(_Fact, frozen=True, tag="user_said"):
    """What the user wants next."""

    message: Message


class TurnBegan(_Fact, frozen=True, tag="turn_began"):
    """A model is about to be asked. Turns are numbered from 1."""

    turn: int
    route: str = ""


class TextReceived(_Fact, frozen=True, tag="text_received"):
    """More words of the answer, exactly once, whatever attempt they came in."""

    turn: int
    text: str


class ArgumentsReceived(_Fact, frozen=True, tag="arguments_received"):
    """More text of the arguments of a call that is not whole yet: if the process dies, they become a draft."""

    turn: int
    call: int
    id: str
    name: str
    text: str
    freeform: bool = False


class TextWithdrawn(_Fact, frozen=True, tag="text_withdrawn"):
    """The provider took back what it had said in this turn since the last whole reply."""

    turn: int


class AttemptBroken(_Fact, frozen=True, tag="attempt_broken", omit_defaults=True):
    """A request of the turn failed. Of the characters it brought, so many are kept and gone on from."""

    turn: int
    upstream: str
    failure: Failure
    received: int = 0
    kept: int = 0
    usage: Usage | None = None
    goes_on: bool = False
    """Was the same reply taken up again on the server? What is open of it stays open then."""


class DraftKept(_Fact, frozen=True, tag="draft_kept"):
    """A call was cut; this is what arrived of it. It takes the place of an earlier draft."""

    turn: int
    draft: Draft


class ReplyReceived(_Fact, frozen=True, tag="reply_received", omit_defaults=True):
    """A reply is in: it replaces the deltas since the last one, and closes an open draft."""

    turn: int
    message: Message
    model: str = ""
    upstream: str = ""
    usage: Usage | None = None
    asked: int = 0
    """Characters of the request that it answers, as Headway measures them; 0: nobody has."""


class LedgerClosed(_Fact, frozen=True, tag="ledger_closed"):
    """What the ledger of a reply hands on, so that "continue" starts with the draft and the advice."""

    turn: int
    ask: Ask = Ask.PLAIN
    broke: Break = Break.NETWORK
    draft: Draft | None = None
    survived: tuple[int, ...] = ()
    cut: tuple[int, ...] = ()


class ToolIntended(_Fact, frozen=True, tag="tool_intended"):
    """The call is about to run. From here on, and until its result, nobody knows what it did."""

    turn: int
    call: ToolCall


class ToolFinished(_Fact, frozen=True, tag="tool_finished"):
    """A call gave this, or was not run for the reason given."""

    turn: int
    result: ToolResult


class ToolUnknown(_Fact, frozen=True, tag="tool_unknown"):
    """A call was found begun and not finished, and this was reported; it is not run again."""

    turn: int
    call_id: str


class TurnEnded(_Fact, frozen=True, tag="turn_ended"):
    """The turn is over; what is still open of it is settled as it is."""

    turn: int
    how: How
    failure: Failure | None = None


class Repaired(_Fact, frozen=True, tag="repaired"):
    """What projection had to mend was reported to the user; the journal itself stays as it is."""

    repairs: tuple[Repair, ...]


class Compacted(_Fact, frozen=True, tag="compacted", omit_defaults=True):
    """From here on, the summary stands for everything up to and including the record `upto`."""

    summary: Message
    upto: int
    before: tuple[Message, ...] = ()
    """Words of the user that stay as they are, in front of the summary."""
    behind: tuple[Message, ...] = ()
    """Messages of the record `upto` that it does not stand for: a record may hold many."""
    usage: Usage | None = None
    """What it cost to have it written."""


class Renamed(_Fact, frozen=True, tag="renamed"):
    """The session has another title."""

    title: str


class Forked(_Fact, frozen=True, tag="forked"):
    """Everything before this was copied from another session, up to its record `at`."""

    id: str
    origin: str
    at: int


class Unreadable(Struct, frozen=True):
    """A record that this Headway cannot read, as it stands in the journal."""

    kind: str
    body: str


Delta: TypeAlias = TextReceived | ArgumentsReceived | TextWithdrawn | AttemptBroken | TurnBegan
Record: TypeAlias = (
    SessionOpened
    | Imported
    | UserSaid
    | Delta
    | DraftKept
    | ReplyReceived
    | LedgerClosed
    | ToolIntended
    | ToolFinished
    | ToolUnknown
    | TurnEnded
    | Repaired
    | Compacted
    | Renamed
    | Forked
)


def ledger_closed(turn: int, ledger: Ledger) -> LedgerClosed:
    """Return what is written down of a ledger."""
    kept = ledger.salvage
    return LedgerClosed(turn, ledger.ask, ledger.broke, kept.draft, kept.survived, kept.cut)
