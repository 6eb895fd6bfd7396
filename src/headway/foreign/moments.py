"""Times as other programs write them, as seconds since the epoch; what cannot be read is no time."""

from datetime import UTC, datetime
from typing import Any

_MOST_SECONDS = 4e9
"""Later than this it is milliseconds, or nonsense."""


def seconds_of(value: Any) -> float | None:
    """Read a time: ISO 8601, or milliseconds."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, str):
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()
    seconds = value / 1000
    return seconds if 0 < seconds < _MOST_SECONDS else None
