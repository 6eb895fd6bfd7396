"""What a run came to, in one line: streams, faults that were survived, tokens that need not be written again."""

from collections import Counter
from collections.abc import Sequence

from headway.gateway.trace import Trace

MOST_KINDS = 3


def summary_of(traces: Sequence[Trace]) -> str:
    """Return the line; empty when nothing went through."""
    asked = [trace for trace in traces if trace.attempts]
    if not asked:
        return ""
    parts = [_count(len(asked), "stream")]
    survived = sum(trace.survived for trace in asked)
    parts.append(f"{_count(survived, 'fault')} survived{_kinds(asked) if survived else ''}")
    saved = sum(trace.saved_tokens for trace in asked if trace.survived)
    if saved:
        parts.append(f"about {saved:,} tokens saved")
    failed = sum(trace.outcome == "failed" for trace in asked)
    if failed:
        parts.append(f"{failed} failed (headway trace says why)")
    return ", ".join(parts)


def _kinds(traces: Sequence[Trace]) -> str:
    """Name the most frequent kinds of faults."""
    counted = Counter(tried.failure.replace("_", " ") for trace in traces for tried in trace.attempts if tried.failure)
    named = [f"{kind} × {count}" if count > 1 else kind for kind, count in counted.most_common(MOST_KINDS)]
    return f" ({', '.join(named)}{', …' if len(counted) > MOST_KINDS else ''})"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
