"""The wire's counts of tokens, both ways."""

from typing import Any

from headway.events import Usage


def read_usage(value: Any) -> Usage:
    """Read a usage object; what is missing or no number counts as zero."""
    usage = _object(value)
    asked = _object(usage.get("prompt_tokens_details"))
    said = _object(usage.get("completion_tokens_details"))
    return Usage(
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        cache_read_tokens=_count(asked.get("cached_tokens")) or _count(usage.get("prompt_cache_hit_tokens")),
        cache_write_tokens=_count(asked.get("cache_write_tokens")),
        reasoning_tokens=_count(said.get("reasoning_tokens")),
    )


def write_usage(usage: Usage) -> dict[str, Any]:
    """Write a usage object."""
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 1e15 else 0
