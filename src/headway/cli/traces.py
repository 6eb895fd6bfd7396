"""Traces for people: one line for each request, and everything about one."""

from collections.abc import Iterator
from datetime import datetime

from headway.gateway.trace import Trace, Tried


def line_of(trace: Trace) -> str:
    """Return a request as one line."""
    who = trace.attempts[-1].upstream if trace.attempts else trace.route or "-"
    tokens = sum(tried.output_tokens for tried in trace.attempts)
    parts = [
        datetime.fromtimestamp(trace.at).astimezone().strftime("%H:%M:%S"),
        trace.id[:8],
        f"{trace.status or '-'}",
        f"{trace.wire} {_printable(trace.model) or '-'} → {_printable(who)}",
        f"{trace.seconds:.1f} s",
        f"{tokens:,} tokens" if tokens else f"{trace.bytes_out:,} bytes",
    ]
    if trace.survived:
        kinds = ", ".join(dict.fromkeys(tried.failure for tried in trace.attempts if tried.failure))
        parts.append(f"survived {trace.survived} ({kinds})")
    if trace.outcome not in {"answered", "called"}:
        parts.append(trace.outcome.replace("_", " "))
    return "  ".join(parts)


def page_of(trace: Trace) -> Iterator[str]:
    """Give a request as lines: what was asked, each attempt, and what it came to."""
    at = datetime.fromtimestamp(trace.at).astimezone().isoformat(timespec="seconds")
    yield f"{trace.id}  {at}  {_printable(trace.path)}  {'streamed' if trace.streamed else 'whole'}"
    yield f"  asked for {_printable(trace.model) or '(no model)'} by route {trace.route or '-'}"
    for number, tried in enumerate(trace.attempts, 1):
        yield f"  {number}. {_attempt(tried)}"
        if tried.reason:
            yield f"     {_printable(tried.reason)}"
        if tried.then:
            yield f"     then: {tried.then.replace('_', ' ')}"
    for repair in trace.repairs:
        yield f"  healed: {repair}"
    for event in trace.events:
        yield f"  {event}"
    first = f", first content after {trace.first_content:.2f} s" if trace.first_content is not None else ""
    yield f"  {trace.outcome.replace('_', ' ')} ({trace.status}) after {trace.seconds:.2f} s{first}"
    yield f"  {trace.bytes_in:,} bytes in, {trace.bytes_out:,} out; {trace.seams} seams, {trace.heartbeats} heartbeats"
    cost = "" if trace.cost_dollars is None else f"; about ${trace.cost_dollars:.4f}"
    used = sum(tried.input_tokens for tried in trace.attempts), sum(tried.output_tokens for tried in trace.attempts)
    yield f"  {used[0]:,} tokens in, {used[1]:,} out{cost}; about {trace.saved_tokens:,} saved by going on"
    for name, content in (("asked", trace.prompt), ("answered", trace.reply)):
        if content:
            yield f"  {name}:"
            yield from (f"    {_printable(line)}" for line in content.splitlines())


def _attempt(tried: Tried) -> str:
    spoke = f", spoke after {tried.first_content - tried.began:.2f} s" if tried.first_content is not None else ""
    took = f", {tried.ended - tried.began:.2f} s" if tried.ended is not None else ""
    how = tried.failure.replace("_", " ") if tried.failure else "answered"
    return f"{_printable(tried.upstream)} at {tried.began:.2f} s: {how}{spoke}{took}"


def _printable(text: str) -> str:
    """Return what strangers wrote so that it cannot move the cursor or begin a line of its own."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)
