"""The wire's words for how a reply ended, both ways. A word nobody knows is never read as success."""

from headway.events import Stop

STOPS: dict[str, Stop] = {
    "stop": Stop.END,
    "eos": Stop.END,
    "eos_token": Stop.END,
    "tool_calls": Stop.CALLS,
    "function_call": Stop.CALLS,
    "length": Stop.LENGTH,
    "max_tokens": Stop.LENGTH,
    "content_filter": Stop.FILTERED,
    "sensitive": Stop.FILTERED,
    "model_length": Stop.WINDOW,
    "model_context_window_exceeded": Stop.WINDOW,
    "error": Stop.FAILED,
    "network_error": Stop.FAILED,
    "insufficient_system_resource": Stop.FAILED,
    "aborted": Stop.FAILED,
    "timeout": Stop.FAILED,
}
SUCCESS = frozenset({Stop.END, Stop.CALLS})
"""The stops that vouch for everything said before them, open calls included."""

FINISH_WORDS: dict[Stop, str] = {
    Stop.END: "stop",
    Stop.CALLS: "tool_calls",
    Stop.SEQUENCE: "stop",
    Stop.PAUSE: "length",  # there is more for whoever asks: the one word of this wire that says so
    Stop.LENGTH: "length",
    Stop.FILTERED: "content_filter",
    Stop.REFUSED: "content_filter",
    Stop.WINDOW: "length",
    Stop.FAILED: "error",  # not in the vendor's own list, but understood, and the only word that is not a lie
    Stop.UNKNOWN: "error",
}


def stop_of(word: str) -> Stop:
    """Return what a finish word means."""
    return STOPS.get(word.lower(), Stop.UNKNOWN)
