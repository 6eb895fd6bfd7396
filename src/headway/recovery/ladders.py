"""Which strategies answer which failure, in order. Data only; whether a rung fits is the machine's question.

A ladder is finite and ends with the next upstream and then a clear end. Waiting strategies are rungs of their own
(now, soon, later), because a failure that comes again is never met in the same way again.
"""

from headway.failure import Failure, FailureKind, Plan
from headway.recovery.ledger import Strategy as S

LADDERS: dict[Plan, tuple[S, ...]] = {
    Plan.RETRY_SAME: (S.REATTACH, S.CONTINUE_DRAFT, S.CONTINUE_TEXT, S.RETRY_NOW, S.RETRY_SOON, S.RETRY_LATER),
    Plan.RESUME: (S.REATTACH, S.CONTINUE_DRAFT, S.CONTINUE_TEXT, S.RETRY_NOW, S.RETRY_SOON, S.RETRY_LATER),
    Plan.ASK_SMALLER_CHUNKS: (S.REATTACH, S.CONTINUE_DRAFT, S.SMALLER_PIECES, S.RETRY_SOON),
    Plan.ROTATE_CREDENTIAL: (S.ROTATE_KEY,),
    Plan.COMPRESS_CONTEXT: (S.COMPACT, S.SHORTEN),
    Plan.LOWER_MAX_TOKENS: (S.LOWER_OUTPUT,),
    Plan.SANITISE_HISTORY: (S.HEAL, S.HEAL_HARDER),
    Plan.FAILOVER_NOW: (S.FAIL_OVER,),
    Plan.GIVE_UP: (),
}

BY_KIND: dict[FailureKind, tuple[S, ...]] = {
    # An unchanged request would be answered by the same nothing; a word from the user changes it.
    FailureKind.EMPTY_REPLY: (S.NUDGE, S.RETRY_SOON),
    # The same goes for a limit that was spent on thinking: unchanged, the request would spend it again.
    FailureKind.OUTPUT_LIMIT: (S.REATTACH, S.CONTINUE_DRAFT, S.CONTINUE_TEXT, S.NUDGE, S.RETRY_SOON, S.RETRY_LATER),
    FailureKind.PAUSED: (S.SEND_BACK,),
    FailureKind.MALFORMED_OUTPUT: (S.CONTINUE_DRAFT, S.RETRY_NOW, S.SMALLER_PIECES),
    # A limit that belongs to the key is lifted by another key sooner than by waiting.
    FailureKind.RATE_LIMITED: (S.ROTATE_KEY, S.CONTINUE_DRAFT, S.CONTINUE_TEXT, S.RETRY_SOON, S.RETRY_LATER),
    FailureKind.OVERLOADED: (S.CONTINUE_DRAFT, S.CONTINUE_TEXT, S.RETRY_SOON, S.RETRY_LATER),
    FailureKind.CANCELLED: (),
}

CUTS = frozenset({FailureKind.STREAM_CUT, FailureKind.CALL_CUT, FailureKind.STALLED})
"""Breaks without a word of explanation. One that strikes twice at the same place is taken for a silent filter."""


def rungs(failure: Failure) -> tuple[S, ...]:
    """Return the strategies for a failure, best first, without repeats."""
    own = BY_KIND.get(failure.kind)
    # What cuts a call is met by what mends calls, whatever its kind has for words.
    first = LADDERS[failure.plan] if own is None or failure.plan is Plan.ASK_SMALLER_CHUNKS else own
    second = LADDERS[failure.then] if failure.then is not None else ()
    last = () if failure.plan is Plan.GIVE_UP and failure.then is None else (S.FAIL_OVER,)
    if failure.kind is FailureKind.CANCELLED:
        return ()
    if failure.plan is Plan.FAILOVER_NOW:
        return tuple(dict.fromkeys((S.FAIL_OVER, *second)))
    return tuple(dict.fromkeys((*first, *second, *last)))
