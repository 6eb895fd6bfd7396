"""Numbers a provider names in its answer: how long to wait, and how many tokens it takes. Total.

There is no clock here. A point in time becomes a wait only by the response's own `Date` header.
"""

import math
import re
from datetime import UTC, datetime

from headway.recovery.failures.evidence import Evidence

LONGEST = 366 * 86400.0
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_GO_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|[smhd])", re.ASCII)
_GO = re.compile(r"(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[smhd])){1,5}", re.ASCII)
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?", re.ASCII)
_TEXT_WAITS = (
    re.compile(
        r"(?:try again|retry|wait|reset|available)[a-z ]{0,24}?\b(?:in|after|for|within)[a-z ]{0,12}"
        r" (\d[\dhms.]{0,20}[hms])\b"
    ),
    re.compile(
        r"(?:try again|retry|wait|reset|replenished)[a-z ]{0,24}?(?:in|after|for|within)?[a-z ]{0,12}"
        r" (\d{1,9}(?:\.\d{1,9})?) ?(milliseconds?|seconds?|secs?|minutes?|mins?|hours?|days?)\b"
    ),
    re.compile(
        r"(?:try again|retry|wait|reset|replenished|available)[a-z ]{0,24}? (?:in|after)"
        r" (?:(\d{1,3})\.)?(\d\d):(\d\d):(\d\d)\b"
    ),
    re.compile(r"(\d{1,6}) ?(毫秒|秒|分钟|小时)(?:后|钟后|之后)?"),
)
_TEXT_UNITS = {
    "mil": 0.001,
    "sec": 1.0,
    "min": 60.0,
    "hou": 3600.0,
    "day": 86400.0,
    "毫秒": 0.001,
    "秒": 1.0,
    "分钟": 60.0,
    "小时": 3600.0,
}
_LIMITS = (
    re.compile(r"> ?(\d{3,9})"),
    re.compile(r"\[\s*\d+\s*,\s*(\d{3,9})\s*\]"),
    re.compile(
        r"(?:maximum|max|at most|limit|allowed|up to|less than or equal to|<=|context (?:length|window|size))"
        r"[a-z_'` ,:()=]{0,48}?(\d[\d,]{2,11})"
    ),
    re.compile(r"(\d{3,9}) (?:maximum|tokens? (?:maximum|limit|allowed))"),
)


def wait_seconds(evidence: Evidence) -> float | None:
    """Return how long the provider said to wait, by its headers, its body, or its words, in this order."""
    headers = {name.lower(): value.strip() for name, value in evidence.facts.headers.items()}
    now = _date(headers.get("date", ""))
    found = _by_retry_after(headers, now)
    if found is None:
        found = _by_body(evidence, now)
    if found is None:
        found = _by_reset(headers, now)
    if found is None:
        found = next((wait for text in evidence.sentences if (wait := _by_text(text)) is not None), None)
    return _sane(found)


def limit_tokens(evidence: Evidence) -> int | None:
    """Return the window or cap that the provider's words name."""
    for sentence in evidence.sentences:
        for pattern in _LIMITS:
            if found := pattern.search(sentence):
                number = int(found[1].replace(",", ""))
                if 256 <= number <= 100_000_000:
                    return number
    return None


def duration(text: str) -> float | None:
    """Read `17`, `0.5`, `34s`, `6m0s`, `2m59.56s` or `350ms` as seconds."""
    text = text.strip().lower()
    if _NUMBER.fullmatch(text):
        return float(text)
    if _GO.fullmatch(text):
        return sum(float(number) * _UNITS[unit] for number, unit in _GO_PART.findall(text))
    return None


def _by_retry_after(headers: dict[str, str], now: datetime | None) -> float | None:
    milliseconds = duration(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    return duration(value) if duration(value) is not None else _until(_date(value), now)


def _by_body(evidence: Evidence, now: datetime | None) -> float | None:
    for name, value in evidence.clues.waits:
        seconds = duration(value)
        if seconds is None:
            continue
        if name == "resetsat":
            return _until(_epoch(seconds), now)
        return seconds / 1000 if name.endswith(("ms", "milliseconds")) else seconds
    return None


def _by_reset(headers: dict[str, str], now: datetime | None) -> float | None:
    """Take the longest reset among the limits that are used up."""
    waits: list[float] = []
    for name, value in headers.items():
        if "ratelimit" not in name or "reset" not in name:
            continue
        spent = headers.get(name.replace("reset", "remaining"))
        if spent is not None and duration(spent) != 0:
            continue
        if spent is None and name != "x-ratelimit-reset":
            continue
        seconds = duration(value)
        if seconds is not None and seconds > LONGEST:
            seconds = _until(_epoch(seconds), now)
        if seconds is None:
            seconds = _until(_date(value), now)
        if seconds is not None:
            waits.append(seconds)
    return max(waits, default=None)


def _by_text(sentence: str) -> float | None:
    go, unit, clock, chinese = _TEXT_WAITS
    if found := go.search(sentence):
        return duration(found[1])
    if found := clock.search(sentence):
        days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
    if found := unit.search(sentence) or chinese.search(sentence):
        name = found[2]
        return float(found[1]) * _TEXT_UNITS.get(name, _TEXT_UNITS.get(name[:3], 1.0))
    return None


def _date(text: str) -> datetime | None:
    """Read an HTTP date or an RFC 3339 time."""
    try:
        return datetime.strptime(text, "%a, %d %b %Y %H:%M:%S GMT").replace(tzinfo=UTC)
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _epoch(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _until(moment: datetime | None, now: datetime | None) -> float | None:
    return max(0.0, (moment - now).total_seconds()) if moment and now else None


def _sane(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) and 0 <= seconds <= LONGEST else None
