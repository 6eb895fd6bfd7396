"""Facts to a failure: the first row that matches, and what the moment makes of it. Total: it never raises.

The table says what a failure is. Three things about the moment change the cure: whether output was already there
(keep it and go on), whether a tool call was open (it is void), and whether the same thing happened before (never
meet it the same way twice).
"""

from msgspec.structs import replace

from headway.events import End
from headway.failure import Failure, FailureKind, Plan
from headway.received import Received
from headway.recovery.failures.evidence import Evidence, evidence_of, is_streaming
from headway.recovery.failures.facts import OPEN_TOOL_CALL, TEXT_ONLY, Facts, facts_of_end
from headway.recovery.failures.hints import limit_tokens, wait_seconds
from headway.recovery.failures.policy import POLICIES
from headway.recovery.failures.reasons import named_code, reason_for
from headway.recovery.failures.rows import Row
from headway.recovery.failures.table import ROWS
from headway.recovery.failures.vendors import vendor_called, vendor_of

_SIZES = frozenset({FailureKind.CONTEXT_FULL, FailureKind.OUTPUT_CAP_TOO_HIGH})
_BROKEN_OFF = frozenset(
    {
        FailureKind.STREAM_CUT,
        FailureKind.SERVER_FAULT,
        FailureKind.TIMED_OUT,
        FailureKind.STALLED,
        FailureKind.OUTPUT_LIMIT,
        FailureKind.UNREACHABLE,
        FailureKind.NOT_A_STREAM,
    }
)
_WORTHLESS = frozenset({FailureKind.MALFORMED_OUTPUT, FailureKind.EMPTY_REPLY})
"""What was received is itself at fault, so there is nothing to go on from."""
_NEVER_TWICE = {
    Plan.RETRY_SAME: Plan.FAILOVER_NOW,
    Plan.RESUME: Plan.FAILOVER_NOW,
    Plan.ASK_SMALLER_CHUNKS: Plan.FAILOVER_NOW,
    Plan.SANITISE_HISTORY: Plan.FAILOVER_NOW,
}


def classify(facts: Facts) -> Failure:
    """Say what a failure is, whose it is, and what cures it."""
    evidence = evidence_of(replace(facts, vendor=vendor_called(facts.vendor)))
    evidence = replace(evidence, vendor=vendor_of(evidence))
    row = next(row for row in ROWS if row.matches(evidence))
    plan, then = _in_this_moment(row, evidence)
    return Failure(
        kind=row.kind,
        scope=row.scope,
        plan=plan,
        reason=reason_for(row, evidence, plan),
        then=then,
        where=facts.where,
        status=evidence.status,
        code=named_code(evidence)[:120] or None,
        wait_seconds=wait_seconds(evidence),
        repair=row.repair,
        limit_tokens=limit_tokens(evidence) if row.kind in _SIZES else None,
    )


def failure_of_end(
    end: End, received: Received, wire: str = "", vendor: str = "", *, repeat: int = 1
) -> Failure | None:
    """Judge an attempt by how it ended; None means that it is an answer."""
    facts = facts_of_end(end, received, wire, vendor, repeat=repeat)
    return None if facts is None else classify(facts)


def _spoke(facts: Facts) -> bool:
    """Say whether output was there; when nobody said so, open text says it."""
    return facts.context == TEXT_ONLY if facts.after_output is None else facts.after_output


def _in_this_moment(row: Row, evidence: Evidence) -> tuple[Plan, Plan | None]:
    facts = evidence.facts
    plan, then = row.plan, row.then
    if is_streaming(facts.where):
        if facts.context == OPEN_TOOL_CALL and row.kind in _BROKEN_OFF:
            plan, then = Plan.ASK_SMALLER_CHUNKS, Plan.FAILOVER_NOW
        elif plan is Plan.RETRY_SAME and row.kind not in _WORTHLESS and _spoke(facts):
            plan, then = Plan.RESUME, Plan.RETRY_SAME if then is POLICIES[row.kind].then else then
    if plan is Plan.RESUME and facts.after_output is False:
        plan, then = then or Plan.RETRY_SAME, None
    if facts.repeat > 1 and plan in _NEVER_TWICE:
        plan, then = (then if then not in {None, plan, Plan.RETRY_SAME} else _NEVER_TWICE[plan]), None
    return plan, then
