"""Several keys for one provider: one in use, the others in reserve, some at rest, some ruled out. Pure.

A key stays in use until it is turned away, since caches belong to keys. One that rests is not used while another is
fit. Rates and rights belong to a model, so that one model's limit does not bar the key for the others; money and a
wrong key do not.
"""

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Failure, FailureKind, Scope
from headway.providers.changes import Change, KeyRested, KeyRuledOut, KeyTurned

MOST_REMEMBERED = 256
LONGEST_REST_SECONDS = 86_400.0
SHORTEST_REST_SECONDS = 1.0
"""A provider may say "at once"; the next key has its turn first."""


class KeyLimits(Struct, frozen=True):
    """How long keys rest when the provider does not say; twice as long each time it happens again."""

    rest_seconds: float = 20.0
    """After a limit on rates."""
    longest_rest_seconds: float = 600.0
    account_rest_seconds: float = 900.0
    """After a quota or a balance is used up, or a right is missing: that takes somebody to change it."""


class Rest(Struct, frozen=True):
    """A key is not to be used before a time, for one model or, where none is named, for all."""

    key: str
    until: float | None
    """None: not before somebody changes it."""
    model: str = ""
    times: int = 1


_FOR_THE_ACCOUNT = frozenset({FailureKind.BILLING, FailureKind.QUOTA_SPENT, FailureKind.FORBIDDEN})
_FOR_ONE_MODEL = frozenset({FailureKind.RATE_LIMITED, FailureKind.FORBIDDEN})


class KeyRing(Struct, frozen=True):
    """The keys of one provider, by name. A ring without keys is for a provider that wants none."""

    provider: str
    keys: tuple[str, ...] = ()
    in_use: int = 0
    rests: tuple[Rest, ...] = ()

    def usable(self, model: str) -> tuple[str, ...]:
        """Return the keys that are not ruled out, the one in use first."""
        barred = {rest.key for rest in self._about(model) if rest.until is None}
        ordered = (*self.keys[self.in_use :], *self.keys[: self.in_use])
        return tuple(key for key in ordered if key not in barred)

    def fit(self, model: str, now: float) -> tuple[str, ...]:
        """Return the keys that can be used now, best first."""
        return tuple(key for key in self.usable(model) if self._fit_at(key, model) <= now)

    def pick(self, model: str, now: float) -> str | None:
        """Return the key to use: a fit one, or the one that rests the shortest; None when there is none."""
        return min(self.usable(model), key=lambda key: max(now, self._fit_at(key, model)), default=None)

    def wait_seconds(self, model: str, now: float) -> float | None:
        """Return how long until a key is fit; None when none ever will be."""
        if not self.keys:
            return 0.0
        return min((max(0.0, self._fit_at(key, model) - now) for key in self.usable(model)), default=None)

    def answered(self, key: str, model: str) -> "KeyRing":
        """Note that a key was accepted; what was held against it is forgotten."""
        kept = tuple(rest for rest in self.rests if rest.key != key or rest.model not in {"", model})
        return self if len(kept) == len(self.rests) else replace(self, rests=kept)

    def failed(
        self, key: str, model: str, failure: Failure, limits: KeyLimits, now: float
    ) -> tuple["KeyRing", tuple[Change, ...]]:
        """Note a failure; one that belongs to the key sends it to rest or rules it out, and turns to the next."""
        if failure.scope is not Scope.KEY or key not in self.keys:
            return self, ()
        rest, change = self._sent_to_rest(key, model, failure, limits, now)
        others = tuple(old for old in self.rests if (old.key, old.model) != (rest.key, rest.model))
        rested = replace(self, rests=(*others, rest)[-MOST_REMEMBERED:])
        then = rested.pick(model, now)
        if then is None or then == key:
            return rested, (change,)
        return replace(rested, in_use=self.keys.index(then)), (change, KeyTurned(self.provider, then))

    def _sent_to_rest(
        self, key: str, model: str, failure: Failure, limits: KeyLimits, now: float
    ) -> tuple[Rest, Change]:
        if failure.kind is FailureKind.BAD_KEY:
            return Rest(key, None), KeyRuledOut(self.provider, key, failure.reason)
        place = model if failure.kind in _FOR_ONE_MODEL else ""
        before = next((rest for rest in self.rests if (rest.key, rest.model) == (key, place)), None)
        resting = before is not None and before.until is not None and before.until > now
        times = 1 if before is None else before.times + (0 if resting else 1)
        if failure.kind in _FOR_THE_ACCOUNT:
            seconds = limits.account_rest_seconds
        else:
            seconds = min(limits.rest_seconds * 2.0 ** min(times - 1, 30), limits.longest_rest_seconds)
        if failure.wait_seconds is not None:
            seconds = min(max(failure.wait_seconds, SHORTEST_REST_SECONDS), LONGEST_REST_SECONDS)
        return Rest(key, now + seconds, place, times), KeyRested(self.provider, key, seconds, failure.reason)

    def _about(self, model: str) -> list[Rest]:
        return [rest for rest in self.rests if rest.model in {"", model}]

    def _fit_at(self, key: str, model: str) -> float:
        ends = (rest.until for rest in self._about(model) if rest.key == key and rest.until is not None)
        return max(ends, default=0.0)
