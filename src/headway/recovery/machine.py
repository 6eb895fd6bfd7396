"""The decision after an attempt: `decide(ledger, outcome)`. Total, pure, and always nearer to an end.

Three rules make every turn end. The ladder of a failure is finite. The same failure (kind, tool, content so far,
place of the cut) is never met with the same strategy twice. And every decision but an end makes the
ledger's `remaining` smaller. Gaining ground is paid from `continuations`, not gaining any from `attempts`.
"""

from typing import TypeAlias
from zlib import crc32

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Failure, FailureKind, Scope, Where
from headway.received import Received
from headway.recovery.decisions import Again, Decision, FailOver, Finish, GiveUp, RunTools, Why
from headway.recovery.drafts import CONTINUE_DRAFT, Draft, worth_continuing
from headway.recovery.ladders import CUTS, rungs
from headway.recovery.ledger import Ask, Break, Ledger, Salvage, Signature, Strategy

BACKOFF_SECONDS = {Strategy.RETRY_SOON: 1.0, Strategy.RETRY_LATER: 4.0}
_CROWDED = frozenset({FailureKind.RATE_LIMITED, FailureKind.OVERLOADED})
_BY_ASKING = {
    Strategy.CONTINUE_TEXT: Ask.CONTINUE_TEXT,
    Strategy.CONTINUE_DRAFT: Ask.CONTINUE_DRAFT,
    Strategy.SMALLER_PIECES: Ask.SMALLER_PIECES,
    Strategy.SEND_BACK: Ask.SEND_BACK,
    Strategy.NUDGE: Ask.NUDGE,
}


class Answered(Struct, frozen=True):
    """The attempt ended well; `received` is what this attempt alone brought, seams removed."""

    received: Received
    took_seconds: float = 0.0


class Broken(Struct, frozen=True):
    """The attempt failed; `received` is what it brought before that, seams removed."""

    failure: Failure
    received: Received = Received()
    took_seconds: float = 0.0
    jitter: float = 0.5
    """Chance, given from outside: 0…1."""
    draft: Draft | None = None
    """What a continuation that came whole, but did not complete its draft, made of it."""
    problem: str = ""
    """What the model must be told about that continuation."""


Outcome: TypeAlias = Answered | Broken


def decide(ledger: Ledger, outcome: Outcome) -> tuple[Ledger, Decision]:
    """Return the ledger after the attempt, and what to do next."""
    spent = replace(ledger, seconds_left=ledger.seconds_left - max(0.0, outcome.took_seconds))
    if isinstance(outcome, Answered):
        salvage = ledger.salvage.completed_by(outcome.received)
        done = replace(spent, salvage=salvage, ask=Ask.PLAIN)
        return done, RunTools(salvage.calls) if salvage.calls else Finish()
    return _after_break(spent, outcome)


def _after_break(ledger: Ledger, outcome: Broken) -> tuple[Ledger, Decision]:
    failure = outcome.failure
    salvage = ledger.salvage.after(outcome.received, commented=ledger.ask is Ask.CONTINUE_DRAFT)
    if outcome.draft is not None:
        salvage = replace(salvage, draft=outcome.draft)
    signature = _signature(ledger, salvage, outcome)
    gained = salvage.size > ledger.salvage.size
    if failure.kind is FailureKind.REFUSED and not ledger.policy.shown_stays:
        salvage = replace(salvage, parts=(), draft=None)  # the provider withdrew it
    paid = replace(_pay(ledger, gained=gained), salvage=salvage, broke=_break_of(failure), problem=outcome.problem)
    if failure.kind is FailureKind.CANCELLED:
        return paid, GiveUp(failure, Why.CANCELLED)
    if salvage.calls:
        # Whole calls keep their worth whatever happened behind them; the rest is asked for after their results.
        return replace(paid, ask=_ask_after_tools(paid)), RunTools(salvage.calls)
    if paid.seconds_left <= 0:
        return paid, GiveUp(failure, Why.DEADLINE)
    if failure.kind is FailureKind.EMPTY_REPLY and ledger.ask is Ask.CONTINUE_TEXT and _was_met(paid, signature):
        return replace(paid, ask=Ask.PLAIN), Finish()  # asked twice for more, it had nothing more to say
    ladder = rungs(failure)
    if not ladder:
        return paid, GiveUp(failure, Why.HOPELESS)
    for strategy in _suspicious_first(paid, signature, failure, ladder):
        if (signature, strategy) in paid.met or not _fits(strategy, paid, outcome, gained=gained):
            continue
        noted = replace(paid, met=paid.met | {(signature, strategy)})
        if strategy is Strategy.ROTATE_KEY:
            return _rotate(noted, before=ledger), Again(strategy)
        return _fail_over(noted, failure) if strategy is Strategy.FAIL_OVER else _ask_here(noted, strategy, outcome)
    return paid, GiveUp(failure, _why_nothing_fits(paid))


def _signature(ledger: Ledger, salvage: Salvage, outcome: Broken) -> Signature:
    fragments = outcome.received.fragments
    tool = fragments[-1].name if fragments else ""
    content = salvage.text + (salvage.draft.arguments if salvage.draft else "")
    for fragment in fragments:
        content += fragment.arguments
    upstream = ledger.upstream
    return Signature(
        upstream=upstream.name,
        key=upstream.keys,
        kind=outcome.failure.kind,
        tool=tool,
        place=len(content),
        content=crc32(content.encode("utf-8", "replace")),
    )


def _pay(ledger: Ledger, *, gained: bool) -> Ledger:
    """Charge the attempt that just ended to the budget it belongs to."""
    if gained and ledger.continuations_left > 0:
        return replace(ledger, continuations_left=ledger.continuations_left - 1)
    return replace(
        ledger,
        attempts_left=max(0, ledger.attempts_left - 1),
        attempts_here_left=max(0, ledger.attempts_here_left - 1),
    )


def _break_of(failure: Failure) -> Break:
    """Return what the model is told: a call that a finish reason cut ran into the output limit."""
    limited = failure.kind is FailureKind.OUTPUT_LIMIT
    finished = failure.kind is FailureKind.CALL_CUT and failure.where is Where.FINISH_REASON
    return Break.LIMIT if limited or finished else Break.NETWORK


def _ask_after_tools(ledger: Ledger) -> Ask:
    draft = ledger.salvage.draft
    if draft is None:
        return Ask.PLAIN
    return Ask.CONTINUE_DRAFT if _continues(ledger) else Ask.SMALLER_PIECES


def _suspicious_first(
    ledger: Ledger, signature: Signature, failure: Failure, ladder: tuple[Strategy, ...]
) -> tuple[Strategy, ...]:
    """Put the next upstream first when a silent cut strikes twice at the same place: that is how filters look."""
    if _was_met(ledger, signature) and failure.kind in CUTS and signature.place and Strategy.FAIL_OVER in ladder:
        return (Strategy.FAIL_OVER, *(rung for rung in ladder if rung is not Strategy.FAIL_OVER))
    return ladder


def _was_met(ledger: Ledger, signature: Signature) -> bool:
    return any(met == signature for met, _ in ledger.met)


def _fits(strategy: Strategy, ledger: Ledger, outcome: Broken, *, gained: bool) -> bool:
    """Say whether a rung can bear: it is allowed, it applies to what is there, and the budget reaches."""
    failure, salvage, fragments = outcome.failure, ledger.salvage, outcome.received.fragments
    if strategy in ledger.policy.forbidden:
        return False
    match strategy:
        case Strategy.FAIL_OVER:
            allowed = failure.kind not in ledger.policy.stays_home and (
                ledger.policy.splices_models or not salvage.text
            )
            return allowed and len(ledger.upstreams) > 1 and ledger.attempts_left > 0
        case Strategy.ROTATE_KEY:
            return ledger.upstream.keys > 1 and failure.scope is Scope.KEY
        case _ if not _may_ask_here(ledger):
            return False
        case _ if _wait_seconds(strategy, outcome) > min(ledger.policy.longest_wait_seconds, ledger.spare_seconds):
            return False
        case Strategy.REATTACH:
            has_more = failure.kind in CUTS and failure.where is not Where.FINISH_REASON
            return ledger.upstream.reattaches and outcome.received.id != "" and has_more
        case Strategy.CONTINUE_DRAFT:
            # A model that was shown the draft and only writes the whole call again would do so once more.
            taken_up = any(gained or fragment.name == CONTINUE_DRAFT.name for fragment in fragments)
            return _continues(ledger) and (taken_up or ledger.ask is not Ask.CONTINUE_DRAFT)
        case Strategy.CONTINUE_TEXT:
            going_on = outcome.received.text != "" or ledger.ask is not Ask.CONTINUE_TEXT
            return salvage.text != "" and going_on and salvage.draft is None and not fragments
        case Strategy.NUDGE:
            return ledger.ask is not Ask.CONTINUE_TEXT
        case Strategy.RETRY_NOW:
            return failure.wait_seconds is None and not (outcome.received.text and salvage.text) and not fragments
        case _:
            return True


def _may_ask_here(ledger: Ledger) -> bool:
    """Say whether one more request may go to this upstream, with a share kept for the ones behind it."""
    has_attempts = ledger.attempts_here_left > 0 and ledger.attempts_left > ledger.kept_for_fallbacks
    return has_attempts and ledger.spare_seconds > 0


def _continues(ledger: Ledger) -> bool:
    draft = ledger.salvage.draft
    if draft is None or Strategy.CONTINUE_DRAFT in ledger.policy.forbidden:
        return False
    return worth_continuing(draft, tool_refuses=draft.tool in ledger.policy.never_drafted)


def _wait_seconds(strategy: Strategy, outcome: Broken) -> float:
    """Return what the provider said, else a back-off where waiting is the point, else nothing: a cut is met at once."""
    failure = outcome.failure
    if failure.wait_seconds is not None:
        return failure.wait_seconds
    base = BACKOFF_SECONDS.get(strategy, BACKOFF_SECONDS[Strategy.RETRY_SOON] if failure.kind in _CROWDED else 0.0)
    jitter = min(1.0, max(0.0, outcome.jitter))
    return base * (0.5 + jitter / 2)


def _ask_here(ledger: Ledger, strategy: Strategy, outcome: Broken) -> tuple[Ledger, Decision]:
    failure = outcome.failure
    asked = replace(ledger, ask=_BY_ASKING.get(strategy) or _ask_for_the_rest(ledger, strategy))
    wait = min(_wait_seconds(strategy, outcome), ledger.policy.longest_wait_seconds)
    return asked, Again(strategy, wait, failure.repair, failure.limit_tokens)


def _rotate(ledger: Ledger, before: Ledger) -> Ledger:
    """Rule out the key in use. A turned-away key is paid for in keys, not in attempts: all of them get their try."""
    used, *behind = ledger.upstreams
    return replace(
        ledger,
        upstreams=(replace(used, keys=used.keys - 1), *behind),
        ask=_ask_for_the_rest(ledger, Strategy.ROTATE_KEY),
        attempts_left=before.attempts_left,
        attempts_here_left=before.attempts_here_left,
    )


def _fail_over(ledger: Ledger, failure: Failure) -> tuple[Ledger, Decision]:
    behind = ledger.upstreams[1:]
    moved = replace(
        ledger,
        upstreams=behind,
        attempts_here_left=ledger.policy.attempts_per_upstream,
        ask=_ask_elsewhere(ledger),
        tried=(*ledger.tried, behind[0].name),
    )
    return moved, FailOver(behind[0].name, failure)


def _ask_for_the_rest(ledger: Ledger, strategy: Strategy) -> Ask:
    """Keep the way of asking, but never ask plainly again for what is saved: it would be said twice."""
    plainly = ledger.ask is Ask.PLAIN and strategy is not Strategy.REATTACH
    return _ask_elsewhere(ledger) if plainly and (ledger.salvage.text or _continues(ledger)) else ledger.ask


def _ask_elsewhere(ledger: Ledger) -> Ask:
    """Carry over what was saved, in the form the next upstream can go on from."""
    if _continues(ledger):
        return Ask.CONTINUE_DRAFT
    if ledger.salvage.draft is not None:
        return Ask.SMALLER_PIECES
    return Ask.CONTINUE_TEXT if ledger.salvage.text else Ask.PLAIN


def _why_nothing_fits(ledger: Ledger) -> Why:
    return Why.SPENT if _may_ask_here(ledger) else Why.ATTEMPTS
