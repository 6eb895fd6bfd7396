"""What a journal comes to: the conversation, and what was open when it stopped. Pure values."""

from collections.abc import Iterable

from msgspec import Struct
from msgspec.structs import replace

from headway.events import Usage
from headway.history.edits import Repair
from headway.history.exchanges import is_words
from headway.history.measure import Gauge
from headway.messages import Message, Text, ToolCall, ToolResult, assistant
from headway.recovery.drafts import worth_continuing
from headway.recovery.ledger import Ask, Break, Ledger, Policy, Salvage, Upstream, open_ledger
from headway.store.records import TurnBegan, TurnEnded

DIED = "the process died while it ran"
FORKED = "the conversation was copied while it ran"
ENDED = "the turn ended while it ran"


class Totals(Struct, frozen=True):
    """What a session has cost so far, and what the broken requests in it brought."""

    replies: int = 0
    usage: Usage = Usage()
    """Tokens of whole replies."""
    broken: int = 0
    """Requests that failed."""
    broken_usage: Usage = Usage()
    """Tokens of these, as far as their providers told."""
    salvaged: int = 0
    """Characters that broken requests brought and that were gone on from."""
    wasted: int = 0
    """Characters that they brought in vain."""


class SessionState(Struct, frozen=True):
    """A session as its records tell it, up to the record `last`."""

    id: str = ""
    workspace: str = ""
    title: str = ""
    created_at: float = 0.0
    origin: str = ""
    """The session that this one was copied from."""
    last: int = 0
    turn: int = 0
    """The number of the latest turn."""
    open_turn: TurnBegan | None = None
    """The turn that has begun and not ended."""
    ended: TurnEnded | None = None
    """How the latest turn that ended did so."""
    messages: tuple[Message, ...] = ()
    """What is settled. `history` is what to go on from."""
    places: tuple[int, ...] = ()
    """The record that each of these messages came from."""
    summary_at: int | None = None
    """Which of them is a summary of what was there before."""
    partial: str = ""
    """The words of a reply that is not whole; they are in no message."""
    unknown: tuple[ToolCall, ...] = ()
    """Calls that began and have no result. They may have taken effect and are never run again unasked."""
    waiting: tuple[ToolCall, ...] = ()
    """Calls of the latest reply that have not begun: running them is safe."""
    nudges: tuple[Message, ...] = ()
    """What Headway itself told the model within a turn, in the user's place."""
    salvage: Salvage = Salvage()
    """The draft that is open, and what is known about sizes; never parts."""
    ask: Ask = Ask.PLAIN
    broke: Break = Break.NETWORK
    totals: Totals = Totals()
    gauge: Gauge = Gauge()
    """How many characters a token has, by what providers counted in this session."""
    repairs: frozenset[Repair] = frozenset()
    """What has been reported as mended."""
    unreadable: int = 0
    """Records that this Headway does not know."""

    @property
    def is_open(self) -> bool:
        """Say whether something was going on when the journal stopped."""
        return self.open_turn is not None or bool(self.partial or self.unknown)

    @property
    def history(self) -> tuple[Message, ...]:
        """Return the conversation to go on from: every word received, once, and a result for every call begun."""
        results = (unknown_outcome(call.id, DIED) for call in self.unknown)
        words = (assistant(self.partial),) if self.partial else ()
        return (*self.messages, *results, *words)

    def is_said_by_user(self, message: Message) -> bool:
        """Say whether a message is the user's own words: no result, and nothing that Headway said in their place."""
        return is_words(message) and message not in self.nudges

    def unreported(self, repairs: Iterable[Repair]) -> tuple[Repair, ...]:
        """Return those repairs that the user has not been told about."""
        return tuple(dict.fromkeys(repair for repair in repairs if repair not in self.repairs))

    def ledger(self, policy: Policy, upstreams: tuple[Upstream, ...]) -> Ledger:
        """Return the ledger of the next reply: it starts with the open draft and what is known about sizes."""
        draft, ask = self.salvage.draft, self.ask
        if draft is not None and not worth_continuing(draft, tool_refuses=draft.tool in policy.never_drafted):
            ask = Ask.SMALLER_PIECES
        earlier = replace(open_ledger(policy, upstreams), salvage=self.salvage, ask=ask, broke=self.broke)
        return open_ledger(policy, upstreams, earlier)


def unknown_outcome(call_id: str, why: str) -> Message:
    """Return the answer to a call that nobody knows the outcome of."""
    words = f"unknown outcome: {why}; it may or may not have taken effect"
    return Message("user", (ToolResult(call_id, (Text(words),), is_error=True),))
