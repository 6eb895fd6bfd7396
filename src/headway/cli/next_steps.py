"""The command that helps after a failure that nothing automatic has cured; none where none would."""

import shlex

from headway.failure import Failure, FailureKind

_DOCTOR = frozenset(
    {
        FailureKind.BAD_KEY,
        FailureKind.FORBIDDEN,
        FailureKind.BILLING,
        FailureKind.QUOTA_SPENT,
        FailureKind.MODEL_UNAVAILABLE,
        FailureKind.UNREACHABLE,
        FailureKind.TLS_REFUSED,
        FailureKind.TIMED_OUT,
        FailureKind.STALLED,
        FailureKind.SERVER_FAULT,
        FailureKind.OVERLOADED,
        FailureKind.NOT_A_STREAM,
    }
)
_EXPLAIN = frozenset(
    {
        FailureKind.PARAMETER_REFUSED,
        FailureKind.REQUEST_REFUSED,
        FailureKind.MISCONFIGURED,
        FailureKind.UNKNOWN,
    }
)


def next_step(failure: Failure) -> str:
    """Return a sentence that names the command, or nothing."""
    if failure.kind in _DOCTOR:
        return "Who answers, and what to do if nobody does: headway doctor"
    if failure.kind is FailureKind.HISTORY_REFUSED:
        return "What is broken in a conversation: headway heal --check FILE. To go on elsewhere: --route PROVIDER/MODEL"
    if failure.kind in _EXPLAIN and (failure.status or failure.code):
        given = [("--status", failure.status), ("--code", failure.code)]
        flags = [word for flag, value in given if value for word in (flag, str(value))]
        return f"What that means: headway explain {shlex.join(flags)}"
    return ""
