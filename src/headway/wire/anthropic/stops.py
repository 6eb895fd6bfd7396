"""How a reply ends on this wire: its words for the end, and the tokens it counts. Both directions."""

from typing import Any

from headway.events import Stop, StreamEnded, Usage

STOPS: dict[str, Stop] = {
    "end_turn": Stop.END,
    "stop_sequence": Stop.SEQUENCE,
    "tool_use": Stop.CALLS,
    "max_tokens": Stop.LENGTH,
    "pause_turn": Stop.PAUSE,
    # The reply is only a summary of the conversation so far; it is sent back and the turn goes on.
    "compaction": Stop.PAUSE,
    "refusal": Stop.REFUSED,
    "model_context_window_exceeded": Stop.WINDOW,
}
_WORDS: dict[Stop, str] = {
    Stop.END: "end_turn",
    Stop.SEQUENCE: "stop_sequence",
    Stop.CALLS: "tool_use",
    Stop.LENGTH: "max_tokens",
    Stop.PAUSE: "pause_turn",
    Stop.REFUSED: "refusal",
    Stop.FILTERED: "refusal",  # this wire's classifiers say it so
    Stop.WINDOW: "model_context_window_exceeded",
}
"""There is no word for FAILED and UNKNOWN: whoever says those says them as an error."""

VOUCHING = frozenset({Stop.END, Stop.CALLS, Stop.SEQUENCE, Stop.PAUSE})
"""Ends at which everything said before is whole."""


def has_word(stop: Stop) -> bool:
    """Say whether this wire can end a reply in this way."""
    return stop in _WORDS


def vouches(word: str) -> bool:
    """Say whether a reply that ended with this word was not cut short."""
    return STOPS.get(word) in VOUCHING


def read_end(word: str, delta: dict[str, Any], *, calls: int) -> StreamEnded:
    """Return the end that a stop reason stands for; a word nobody knows is never a success.

    Some gateways end a turn with `end_turn` although it holds calls; the calls are what is meant.
    """
    stop = STOPS.get(word, Stop.UNKNOWN)
    if stop is Stop.END and calls:
        stop = Stop.CALLS
    return StreamEnded(stop, word, _detail(delta))


def write_end(end: StreamEnded) -> dict[str, Any]:
    """Return the fields that say an end that has a word."""
    word = end.said if STOPS.get(end.said) is end.stop else _WORDS[end.stop]
    fields: dict[str, Any] = {"stop_reason": word, "stop_sequence": None}
    if word == "stop_sequence":
        fields["stop_sequence"] = end.detail or None
    if word == "refusal":
        fields["stop_details"] = {"type": "refusal", "category": None, "explanation": end.detail or None}
    return fields


def _detail(delta: dict[str, Any]) -> str:
    details = delta.get("stop_details")
    if not isinstance(details, dict):
        details = {}
    words = (delta.get("stop_sequence"), details.get("category"), details.get("explanation"))
    return ": ".join(word for word in words if isinstance(word, str) and word)


class Counts:
    """The tokens that a stream has reported. Counts are totals: a later one replaces an earlier one.

    A zero replaces nothing, because some gateways know a count only at the start or only at the end.
    """

    def __init__(self) -> None:
        """Start from nothing."""
        self._counts: dict[str, int] = {}

    def add(self, usage: Any) -> Usage | None:
        """Take a `usage` object; return the totals if it counted anything."""
        if not isinstance(usage, dict):
            return None
        details = usage.get("output_tokens_details")
        thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
        news = {
            name: count
            for name, count in (*usage.items(), ("thinking_tokens", thinking))
            if isinstance(count, int) and not isinstance(count, bool) and count > 0
        }
        self._counts.update(news)
        return self._total() if news else None

    def _total(self) -> Usage:
        count = self._counts.get
        written, read = count("cache_creation_input_tokens", 0), count("cache_read_input_tokens", 0)
        return Usage(
            input_tokens=count("input_tokens", 0) + written + read,
            output_tokens=count("output_tokens", 0),
            cache_read_tokens=read,
            cache_write_tokens=written,
            reasoning_tokens=count("thinking_tokens", 0),
        )


def write_usage(usage: Usage | None) -> dict[str, Any]:
    """Return a `usage` object; on this wire `input_tokens` leaves out what the cache gave or took."""
    if usage is None:
        return {"input_tokens": 0, "output_tokens": 0}
    fields: dict[str, Any] = {
        "input_tokens": max(0, usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens),
        "output_tokens": usage.output_tokens,
    }
    if usage.cache_write_tokens:
        fields["cache_creation_input_tokens"] = usage.cache_write_tokens
    if usage.cache_read_tokens:
        fields["cache_read_input_tokens"] = usage.cache_read_tokens
    if usage.reasoning_tokens:
        fields["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return fields
