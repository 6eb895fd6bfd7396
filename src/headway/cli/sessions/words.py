"""Ages, folders and numbers, as people say them."""

from datetime import datetime
from pathlib import Path

JUST_NOW = 30
_UNITS = ((90, 1, "s"), (5400, 60, "min"), (129_600, 3600, "h"), (86_400 * 14, 86_400, "days"))
"""So many seconds, in units of so many seconds, of such a name."""


def age(at: float, now: float) -> str:
    """Return how long ago it was; a day, when that is long ago."""
    seconds = max(0.0, now - at)
    if seconds < JUST_NOW:
        return "now"
    for limit, unit, name in _UNITS:
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return day(at)


def ago(at: float, now: float) -> str:
    """Return when it was, in a sentence."""
    words = age(at, now)
    return {"now": "just now", day(at): f"on {words}"}.get(words, f"{words} ago")


def day(at: float) -> str:
    """Return the day, by the calendar that hangs here."""
    try:
        return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d")
    except (OverflowError, OSError, ValueError):  # no calendar goes so far
        return "?"


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number of things."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"


def from_home(folder: str, home: Path) -> str:
    """Return a folder as people write it."""
    path = Path(folder)
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if folder and path.is_relative_to(home) else folder
