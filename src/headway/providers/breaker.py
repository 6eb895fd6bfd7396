"""When an upstream is left alone, and how it comes back: closed, open for a while, one probe, closed again. Pure.

An open breaker has an end; behind it stands one probe, which has an end too, so that a probe whose turn was cancelled
or died holds nothing up. Only failures that say something about the upstream's health count, by their scope.
"""

from enum import Enum
from typing import TypeAlias

from msgspec import Struct

from headway.failure import Failure, FailureKind, Scope


class BreakerLimits(Struct, frozen=True):
    """How much is borne, and how long is waited."""

    failures: int = 3
    """Failures without an answer between them that open a breaker …"""
    window_seconds: float = 300.0
    """… if they are no further apart than this."""
    open_seconds: float = 15.0
    """How long it is open the first time; twice as long after each probe that fails …"""
    longest_seconds: float = 300.0
    """… and never longer than this."""
    probe_seconds: float = 180.0
    """How long a probe may take before somebody else may send one."""


class Closed(Struct, frozen=True, tag="closed"):
    """Well, as far as is known. `failed_at` are the times of failures since the last answer."""

    failed_at: tuple[float, ...] = ()


class Open(Struct, frozen=True, tag="open"):
    """Unwell until a time; after it, due for a probe."""

    until: float
    times: int = 1
    """How often it has been opened in a row."""


class Probing(Struct, frozen=True, tag="probing"):
    """Somebody is trying it; nobody else does until they are done or out of time."""

    until: float
    times: int = 1


Breaker: TypeAlias = Closed | Open | Probing


class Stance(Enum):
    """Whether an upstream can be asked."""

    FIT = "fit"
    DUE = "due for a probe"
    UNFIT = "unfit"


class Verdict(Enum):
    """What a failure says about the health of who failed."""

    UNWELL = "unwell"
    WELL = "well"
    NOTHING = "nothing"


_ABOUT_HEALTH = frozenset({Scope.PROVIDER, Scope.NETWORK, Scope.MODEL})
_ANSWERS = frozenset({FailureKind.CONTENT_FILTERED, FailureKind.REFUSED, FailureKind.OUTPUT_LIMIT, FailureKind.PAUSED})
"""The upstream said this itself, in good health."""
_LASTING = frozenset({FailureKind.MODEL_UNAVAILABLE, FailureKind.TLS_REFUSED, FailureKind.MISCONFIGURED})
"""One is enough: the next request would be met the same way."""


def verdict(failure: Failure) -> Verdict:
    """Say what a failure says about its upstream's health."""
    if failure.scope not in _ABOUT_HEALTH:
        return Verdict.NOTHING
    return Verdict.WELL if failure.kind in _ANSWERS else Verdict.UNWELL


def stance(breaker: Breaker, now: float) -> Stance:
    """Say whether one may ask here now."""
    if isinstance(breaker, Closed):
        return Stance.FIT
    return Stance.DUE if now >= breaker.until else Stance.UNFIT


def probed(breaker: Breaker, limits: BreakerLimits, now: float) -> Breaker:
    """Return the breaker with its one probe under way."""
    if isinstance(breaker, Closed):
        return breaker
    return Probing(now + limits.probe_seconds, breaker.times)


def released(breaker: Breaker, now: float) -> Breaker:
    """Return the breaker after a request that taught nothing; a probe is free for the next who comes."""
    return Open(now, breaker.times) if isinstance(breaker, Probing) else breaker


def failed(breaker: Breaker, failure: Failure, limits: BreakerLimits, now: float) -> Breaker:
    """Return the breaker after a failure that counts.

    One that is open stays as it is: requests for want of anybody else must not keep it open for ever.
    """
    match breaker:
        case Open():
            return breaker
        case Probing(times=times):
            return _opened(failure, times + 1, limits, now)
        case Closed(failed_at=earlier):
            recent = (*(at for at in earlier if now - at <= limits.window_seconds), now)
            if len(recent) >= limits.failures or failure.kind in _LASTING:
                return _opened(failure, 1, limits, now)
            return Closed(recent)


def _opened(failure: Failure, times: int, limits: BreakerLimits, now: float) -> Open:
    """Open it for as long as is usual by now, or as the provider said; always with an end."""
    usual = limits.open_seconds * 2.0 ** min(times - 1, 30)
    return Open(now + min(max(usual, failure.wait_seconds or 0.0), limits.longest_seconds), times)
