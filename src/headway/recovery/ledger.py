"""What a turn has left and what it has saved: budgets that only shrink, and salvage that only grows.

One ledger serves one model reply, across all its attempts, keys and upstreams. It outlives the turn: the next one
is opened from it, so that "continue" after a give-up starts with the draft and the advice.
"""

from collections.abc import Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import FailureKind
from headway.messages import CallFragment, Opaque, Part, Refusal, Text, Thinking, ToolCall
from headway.received import Received
from headway.recovery.drafts import CONTINUE_DRAFT, Draft, draft_of, extend, is_whole_in, piece_advice
from headway.wire.json_text import is_whole_object

SIZES_KEPT = 16


class Strategy(Enum):
    """The ways to answer a failure. None of them meets the same failure at the same place twice."""

    REATTACH = "reattach"
    """Take up the same generation on the server, where a provider can."""
    CONTINUE_TEXT = "continue_text"
    CONTINUE_DRAFT = "continue_draft"
    SMALLER_PIECES = "smaller_pieces"
    SEND_BACK = "send_back"
    """Return a paused turn's content unchanged; the provider goes on."""
    NUDGE = "nudge"
    RETRY_NOW = "retry_now"
    RETRY_SOON = "retry_soon"
    RETRY_LATER = "retry_later"
    ROTATE_KEY = "rotate_key"
    HEAL = "heal"
    HEAL_HARDER = "heal_harder"
    COMPACT = "compact"
    """Have the older part of the conversation summed up, where somebody can; otherwise leave it out."""
    SHORTEN = "shorten"
    """Leave out old results and the oldest exchanges, about half of what there is."""
    LOWER_OUTPUT = "lower_output"
    FAIL_OVER = "fail_over"


class Ask(Enum):
    """What the next request asks of the model."""

    PLAIN = "plain"
    CONTINUE_TEXT = "continue_text"
    CONTINUE_DRAFT = "continue_draft"
    SMALLER_PIECES = "smaller_pieces"
    SEND_BACK = "send_back"
    NUDGE = "nudge"


class Break(Enum):
    """How the last stream broke, in the words a model is told."""

    LIMIT = "output_limit"
    NETWORK = "network_cut"


class Upstream(Struct, frozen=True):
    """One provider and model of the chain, as far as decisions care."""

    name: str
    keys: int = 1
    """Keys that have not been ruled out, the one in use included."""
    reattaches: bool = False
    """Can a broken generation be taken up again on the server?"""
    on_trial: bool = False
    """Is this one request to see whether it is well again? Others are asked next, if there are any."""


class Policy(Struct, frozen=True):
    """What the user allows. Every number is a limit that nothing in a turn can raise."""

    attempts: int = 6
    """Requests in all that may end without gaining ground."""
    attempts_per_upstream: int = 3
    continuations: int = 24
    """Requests that may follow one that gained ground but did not finish."""
    turn_seconds: float = 1800.0
    longest_wait_seconds: float = 120.0
    forbidden: frozenset[Strategy] = frozenset()
    stays_home: frozenset[FailureKind] = frozenset()
    """Kinds of failure that must not go to another upstream."""
    never_drafted: frozenset[str] = frozenset({"shell"})
    """Tools whose half-received calls are asked for again, never continued."""
    limit_ends_text: bool = False
    """Is a text that ran into the output limit an answer? So it is for a caller who set that limit on purpose."""
    shown_stays: bool = False
    """Can nothing that was said be taken back? Then a withdrawn text is gone on from like a cut one."""
    splices_models: bool = True
    """May another upstream go on with a text that one has begun?"""


class Signature(Struct, frozen=True):
    """What makes two failures the same one: where, what, and how far it had come."""

    upstream: str
    key: int
    kind: FailureKind
    tool: str
    place: int
    content: int
    """A digest of what had arrived, so that other content at the same length is another failure."""


class Salvage(Struct, frozen=True):
    """What all attempts so far have brought: whole parts, and at most one open draft."""

    parts: tuple[Part, ...] = ()
    draft: Draft | None = None
    survived: tuple[int, ...] = ()
    """Sizes of calls that arrived whole."""
    cut: tuple[int, ...] = ()
    """Sizes at which calls were cut."""

    @property
    def text(self) -> str:
        """Return the words so far."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Return the calls that arrived whole."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    @property
    def size(self) -> int:
        """Return how much there is that need not be written again."""
        whole = sum(len(part.arguments) for part in self.calls) + len(self.calls)
        return len(self.text) + whole + (len(self.draft.arguments) if self.draft else 0)

    @property
    def piece_size(self) -> int | None:
        """Return how many characters of arguments are known to survive here; None when nothing is known."""
        return piece_advice(self.survived, self.cut)

    @property
    def draft_piece_size(self) -> int | None:
        """Return in how large pieces to go on with a draft; None if it may come as it is.

        One cut says nothing, as all that came is kept. Two at about the same size are a limit, and to run into it
        again costs a failure each time, or a whole silence.
        """
        before, latest = (0, 0, *self.cut)[-2:]
        alike = 4 * min(before, latest) >= 3 * max(before, latest) > 0
        return self.piece_size if alike else None

    def after(self, received: Received, *, commented: bool = False) -> "Salvage":
        """Return the salvage with what a broken attempt brought.

        Thinking is kept only with the calls it led to; an attempt that is gone on from thinks anew. `commented`: words
        beside the continuation of a draft are a comment on it and not part of the answer.
        """
        kept: tuple[Part, ...] = received.parts if received.calls else tuple(_words(received, commented=commented))
        whole = tuple(part for part in kept if not isinstance(part, CallFragment))
        draft = self.draft
        if draft is not None and any(is_whole_in(call, draft) for call in received.calls):
            draft = None
        for fragment in received.fragments:
            draft = _drafted(draft, fragment)
        return replace(self._sized(received), parts=_joined(self.parts, whole), draft=draft)

    def completed_by(self, received: Received) -> "Salvage":
        """Return the salvage with the attempt that ended well: nothing is open any more."""
        whole = tuple(part for part in received.parts if not isinstance(part, CallFragment))
        return replace(self._sized(received), parts=_joined(self.parts, whole), draft=None)

    def _sized(self, received: Received) -> "Salvage":
        """Note at which sizes calls of this attempt came through or were cut."""
        survived = [_size_on_the_wire(call, self.draft) for call in received.calls]
        cut: list[int] = []
        for fragment in received.fragments:
            # A continuation that came whole, but did not complete its draft, was not cut.
            came_whole = fragment.name == CONTINUE_DRAFT.name and is_whole_object(fragment.arguments)
            (survived if came_whole else cut).append(len(fragment.arguments))
        return replace(
            self,
            survived=(*self.survived, *survived)[-SIZES_KEPT:],
            cut=(*self.cut, *filter(None, cut))[-SIZES_KEPT:],
        )


def _size_on_the_wire(call: ToolCall, draft: Draft | None) -> int:
    """Return how much of a call this attempt brought: of one that completes a draft, only the rest."""
    completes = draft is not None and call.name == draft.tool and call.arguments.startswith(draft.arguments)
    return len(call.arguments) - (len(draft.arguments) if draft is not None and completes else 0)


def _words(received: Received, *, commented: bool) -> Iterator[Part]:
    """Give the parts of a broken reply without calls that can be gone on from."""
    for part in received.parts:
        if isinstance(part, Text | Refusal):
            if part.text and not commented:
                yield part
        elif isinstance(part, Opaque):
            yield part


def _joined(before: tuple[Part, ...], more: tuple[Part, ...]) -> tuple[Part, ...]:
    """Put parts behind one another; a text that goes on from a text is one text."""
    if not (before and more):
        return (*before, *more)
    if isinstance(before[-1], Text) and isinstance(more[0], Text):
        return (*before[:-1], Text(before[-1].text + more[0].text), *more[1:])
    if isinstance(more[0], Thinking) and not any(isinstance(part, ToolCall) for part in more):
        # Thinking about how to go on belongs to the attempt that thought it, not to the answer.
        return _joined(before, more[1:])
    return (*before, *more)


def _drafted(draft: Draft | None, fragment: CallFragment) -> Draft | None:
    extended = extend(draft, fragment) if draft is not None else None
    return extended or draft_of(fragment, draft) or draft


class Ledger(Struct, frozen=True):
    """The state of one reply: what is left of every budget, what was saved, what was tried."""

    policy: Policy
    upstreams: tuple[Upstream, ...]
    """The one in use first, then the fallbacks."""
    attempts_left: int
    attempts_here_left: int
    continuations_left: int
    seconds_left: float
    ask: Ask = Ask.PLAIN
    broke: Break = Break.NETWORK
    problem: str = ""
    """What was wrong with the last continuation of a draft, in words for the model."""
    salvage: Salvage = Salvage()
    met: frozenset[tuple[Signature, Strategy]] = frozenset()
    tried: tuple[str, ...] = ()
    """The upstreams that were asked, in order."""

    @property
    def upstream(self) -> Upstream:
        """Return the upstream in use."""
        return self.upstreams[0]

    @property
    def kept_for_fallbacks(self) -> int:
        """Return how many attempts are not to be spent here: one for each upstream that is still to come."""
        return len(self.upstreams) - 1

    @property
    def spare_seconds(self) -> float:
        """Return how long may be spent on asking here again: an equal part of the turn is kept for each one behind."""
        behind = len(self.upstreams) - 1
        return self.seconds_left - self.policy.turn_seconds * behind / (len(self.tried) + behind)

    @property
    def patience_seconds(self) -> float:
        """Return how long the upstream in use may be quiet, so that those behind it still have their time."""
        spare = self.spare_seconds
        return spare if spare > 0 else max(0.0, self.seconds_left) / len(self.upstreams)

    @property
    def remaining(self) -> int:
        """Return a measure that every decision but an end makes smaller; that is why every turn ends."""
        keys = sum(upstream.keys for upstream in self.upstreams)
        return self.attempts_left + self.continuations_left + keys + len(self.upstreams)


def open_ledger(policy: Policy, upstreams: tuple[Upstream, ...], previous: Ledger | None = None) -> Ledger:
    """Open the ledger of a new reply; a previous one hands on its open draft and what it learnt about sizes."""
    if not upstreams:
        raise ValueError("a turn needs at least one upstream")
    attempts = max(policy.attempts, len(upstreams))
    ledger = Ledger(
        policy=policy,
        upstreams=upstreams,
        attempts_left=attempts,
        attempts_here_left=1 if upstreams[0].on_trial and len(upstreams) > 1 else policy.attempts_per_upstream,
        continuations_left=policy.continuations,
        seconds_left=policy.turn_seconds,
        tried=(upstreams[0].name,),
    )
    if previous is None:
        return ledger
    old = previous.salvage
    salvage = Salvage(draft=old.draft, survived=old.survived, cut=old.cut)
    if old.draft is not None:
        ask = previous.ask if previous.ask is Ask.SMALLER_PIECES else Ask.CONTINUE_DRAFT
        return replace(ledger, salvage=salvage, ask=ask, broke=previous.broke)
    return replace(ledger, salvage=salvage)
