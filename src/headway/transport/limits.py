"""How long each kind of quiet may last. Pure: numbers and facts in, numbers out.

`Limits` are the numbers a watchdog keeps. `Overrides` are what a person set. `effective` makes the first of the second:
what was set stands as it was set; the rest is stretched for large requests, for models that think, for local servers
and for the gaps that healthy streams of that model really had, and never past a ceiling: every wait ends.
"""

from enum import Enum
from functools import lru_cache
from ipaddress import ip_address

from msgspec import Struct
from msgspec.structs import replace

from headway.transport.gaps import Gaps


class Patience(Enum):
    """The limits that can run out. The value is the name of the setting."""

    CONNECT = "connect_seconds"
    FIRST_BYTE = "first_byte_seconds"
    DEAD = "dead_seconds"
    FIRST_CONTENT = "first_content_seconds"
    SILENCE = "silence_seconds"
    DRIP = "drip_chars_per_second"
    TURN = "turn_seconds"


class Limits(Struct, frozen=True):
    """The limits of one stream. Two clocks run at once: one for bytes, one for content."""

    connect_seconds: float = 10.0
    """Name, socket, proxy and TLS together."""
    first_byte_seconds: float = 60.0
    """No bytes at all, while nothing has been said yet."""
    dead_seconds: float = 60.0
    """No bytes at all, after something was said."""
    first_content_seconds: float = 180.0
    """Bytes perhaps, but nothing said yet."""
    silence_seconds: float = 90.0
    """Bytes perhaps, but nothing more said."""
    drip_chars_per_second: float = 0.05
    """Less than this, over a whole window, is a drip and no stream."""
    drip_window_seconds: float = 300.0
    turn_seconds: float = 1800.0
    """The whole turn, all of its attempts together."""


class Overrides(Struct, frozen=True):
    """What a person set. None means that Headway chooses."""

    connect_seconds: float | None = None
    first_byte_seconds: float | None = None
    dead_seconds: float | None = None
    first_content_seconds: float | None = None
    silence_seconds: float | None = None
    drip_chars_per_second: float | None = None
    drip_window_seconds: float | None = None
    turn_seconds: float | None = None


class RequestFacts(Struct, frozen=True):
    """What about a request makes it slow without anything being wrong."""

    estimated_tokens: int = 0
    reasoning: bool = False
    host: str = ""


class Stall(Struct, frozen=True):
    """A limit ran out: which, how long it was, and how long it had been quiet."""

    patience: Patience
    limit_seconds: float
    quiet_seconds: float


DEFAULTS = Limits()
TOKENS_FOR_TWICE = 100_000
"""A request of this many tokens gets twice the patience of a small one …"""
MOST_FOR_SIZE = 3.0
"""… and no request gets more than this for its size alone."""
REASONING_FACTOR = 2.0
LOCAL_FACTOR = 4.0
GAP_MARGIN = 1.5
"""A gap that a healthy stream had may be this much longer the next time."""
CEILING_SECONDS = 900.0
LOCAL_CEILING_SECONDS = 1800.0


def effective(explicit: Overrides, facts: RequestFacts, gaps: Gaps | None = None) -> Limits:
    """Return the limits for one request; `gaps` are the longest that healthy streams of its model had."""
    seen = gaps or Gaps()
    local = is_local(facts.host)
    factor = _factor(facts, local=local)
    ceiling = LOCAL_CEILING_SECONDS if local else CEILING_SECONDS

    def stretched(default: float, gap: float) -> float:
        return max(default, min(ceiling, max(default * factor, gap * GAP_MARGIN)))

    first_content = _chosen(
        explicit.first_content_seconds, stretched(DEFAULTS.first_content_seconds, seen.first_content_seconds)
    )
    silence = _chosen(explicit.silence_seconds, stretched(DEFAULTS.silence_seconds, seen.content_seconds))
    # A model that thinks may send nothing at all until it speaks, so its bytes are awaited as long as its words.
    first_byte = first_content if facts.reasoning else stretched(DEFAULTS.first_byte_seconds, seen.first_byte_seconds)
    return Limits(
        connect_seconds=_chosen(explicit.connect_seconds, DEFAULTS.connect_seconds),
        first_byte_seconds=_chosen(explicit.first_byte_seconds, _chosen(explicit.dead_seconds, first_byte)),
        dead_seconds=_chosen(explicit.dead_seconds, stretched(DEFAULTS.dead_seconds, seen.byte_seconds)),
        first_content_seconds=first_content,
        silence_seconds=silence,
        drip_chars_per_second=_chosen(explicit.drip_chars_per_second, DEFAULTS.drip_chars_per_second),
        # A silence that is allowed must not look like a drip.
        drip_window_seconds=_chosen(
            explicit.drip_window_seconds, max(DEFAULTS.drip_window_seconds * factor, 2 * silence)
        ),
        turn_seconds=_chosen(explicit.turn_seconds, DEFAULTS.turn_seconds),
    )


def within(limits: Limits, most_seconds: float) -> Limits:
    """Return the limits with no quiet longer than this: somebody else must still have time to answer."""
    return replace(
        limits,
        first_byte_seconds=min(limits.first_byte_seconds, most_seconds),
        dead_seconds=min(limits.dead_seconds, most_seconds),
        first_content_seconds=min(limits.first_content_seconds, most_seconds),
        silence_seconds=min(limits.silence_seconds, most_seconds),
    )


def _factor(facts: RequestFacts, *, local: bool) -> float:
    size = min(MOST_FOR_SIZE, 1 + max(0, facts.estimated_tokens) / TOKENS_FOR_TWICE)
    return size * (REASONING_FACTOR if facts.reasoning else 1) * (LOCAL_FACTOR if local else 1)


def _chosen(explicit: float | None, otherwise: float) -> float:
    return otherwise if explicit is None else explicit


_PRIVATE_NAMES = (".localhost", ".local", ".lan", ".internal", ".home.arpa")


@lru_cache(256)  # asked for every request, about a few hosts
def is_local(host: str) -> bool:
    """Say whether a host is this machine or one on its own network: likely slow, and nobody's paid service."""
    name = host.strip("[]").rstrip(".").lower()
    if not name:
        return False
    try:
        address = ip_address(name.partition("%")[0])
    except ValueError:
        return "." not in name or name.endswith(_PRIVATE_NAMES)
    return address.is_loopback or address.is_private or address.is_link_local
