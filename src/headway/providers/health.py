"""The health of all upstreams: a breaker for each that ever failed. One value, shared by all turns of a process."""

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Failure
from headway.providers.breaker import (
    Breaker,
    BreakerLimits,
    Closed,
    Open,
    Probing,
    Stance,
    Verdict,
    failed,
    probed,
    released,
    stance,
    verdict,
)
from headway.providers.changes import Change, ProbeStarted, Restored, WentUnwell

MOST_REMEMBERED = 1024
"""Clients may name any model; what is remembered of them has an end."""

WELL = Closed()


class Health(Struct, frozen=True):
    """Breakers by the name of their upstream. One that is not here is well."""

    limits: BreakerLimits = BreakerLimits()
    breakers: dict[str, Breaker] = {}

    def of(self, upstream: str) -> Breaker:
        """Return the breaker of an upstream."""
        return self.breakers.get(upstream, WELL)

    def stance(self, upstream: str, now: float) -> Stance:
        """Say whether an upstream can be asked."""
        return stance(self.of(upstream), now)

    def wait_seconds(self, upstream: str, now: float) -> float:
        """Return how long until an upstream may be asked."""
        breaker = self.of(upstream)
        return 0.0 if isinstance(breaker, Closed) else max(0.0, breaker.until - now)

    def probed(self, upstream: str, now: float) -> tuple["Health", tuple[Change, ...]]:
        """Note that an unwell upstream is being tried."""
        return self._with(upstream, probed(self.of(upstream), self.limits, now)), (ProbeStarted(upstream),)

    def answered(self, upstream: str) -> tuple["Health", tuple[Change, ...]]:
        """Note that an upstream answered."""
        before = self.of(upstream)
        if isinstance(before, Closed):
            return self._with(upstream, WELL), ()
        return self._with(upstream, WELL), (Restored(upstream, by_probe=isinstance(before, Probing)),)

    def failed(self, upstream: str, failure: Failure, now: float) -> tuple["Health", tuple[Change, ...]]:
        """Note a failure, if it says something about the upstream's health."""
        match verdict(failure):
            case Verdict.WELL:
                return self.answered(upstream)
            case Verdict.NOTHING:
                return self.left(upstream, now), ()
            case Verdict.UNWELL:
                before = self.of(upstream)
                after = failed(before, failure, self.limits, now)
                opened = isinstance(after, Open) and after is not before
                seconds = after.until - now if isinstance(after, Open) else 0.0
                changes = (WentUnwell(upstream, seconds, failure.reason),) if opened else ()
                return self._with(upstream, after), changes

    def left(self, upstream: str, now: float) -> "Health":
        """Note that a request ended and taught nothing: it was cancelled, or failed for its own reasons."""
        return self._with(upstream, released(self.of(upstream), now))

    def _with(self, upstream: str, breaker: Breaker) -> "Health":
        if breaker == self.of(upstream):
            return self
        others = {name: known for name, known in self.breakers.items() if name != upstream}
        if breaker != WELL:
            others[upstream] = breaker
        for name in list(others)[: max(0, len(others) - MOST_REMEMBERED)]:
            del others[name]  # the one that changed longest ago
        return replace(self, breakers=others)
