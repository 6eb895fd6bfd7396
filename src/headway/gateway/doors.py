"""Who may come in, and how often: keys compared in constant time, and budgets that refill. No clock of its own."""

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from itertools import product

from msgspec import Struct

from headway.gateway.errors import Trouble
from headway.providers.secret import Secret

NOBODY = ""
_WHO = "Give one of the keys of `gateway.keys`, as `Authorization: Bearer …` or `x-api-key`."


_ELSEWHERE = (
    "This gateway has no keys, so it answers programs on its own machine only, and no pages of the web. "
    "Set `gateway.keys`, and show one of them."
)


class Limits(Struct, frozen=True):
    """What all clients together, and each key, may take up."""

    streams: int = 1024
    requests_per_minute: int | None = None
    """For each key; None: as many as they like."""


class Doors:
    """Lets requests in. Who has no key to show is somebody on this machine, when none is wanted."""

    def __init__(self, keys: Sequence[Secret], limits: Limits) -> None:
        """Want one of these keys; none: everybody who can connect may come in."""
        self._keys = tuple(keys)
        self._limits = limits
        self._open = 0
        self._levels: dict[str, tuple[float, float]] = {}

    @property
    def open(self) -> int:
        """Return how many are in."""
        return self._open

    def who(self, headers: Mapping[str, str]) -> str | Trouble:
        """Return the name of the key that was shown, or why nobody may come in with it."""
        if not self._keys:
            return NOBODY if _is_from_here(headers) else Trouble(403, _ELSEWHERE, retry=False)
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        # A client may show a provider's key in one place and the gateway's in the other.
        shown = (headers.get("x-api-key", ""), bearer.strip() if scheme.lower() == "bearer" else "")
        if not any(shown):
            return Trouble(401, f"This gateway wants a key. {_WHO}", retry=False)
        found = NOBODY
        for key, one in product(self._keys, shown):  # all of them, so that the time says nothing about which it was
            if one and key.matches(one):
                found = key.name
        return found or Trouble(401, f"This gateway does not know that key. {_WHO}", retry=False)

    def enter(self, who: str, now: float) -> Trouble | None:
        """Let a request in, or say why not; who came in must `leave`."""
        if self._open >= self._limits.streams:
            return Trouble(529, f"{self._open} requests are being answered, the limit of this gateway.", "busy", 1.0)
        wait = self._spend(who, now)
        if wait > 0:
            words = f"More than {self._limits.requests_per_minute} requests a minute with one key."
            return Trouble(429, words, "too_many_requests", wait)
        self._open += 1
        return None

    def leave(self) -> None:
        """Note that a request has been answered."""
        self._open -= 1

    def _spend(self, who: str, now: float) -> float:
        """Take one request from a key's budget; return how long it is until there is one, 0 when there was."""
        rate = self._limits.requests_per_minute
        if rate is None:
            return 0.0
        level, at = self._levels.get(who, (float(rate), now))
        level = min(float(rate), level + (now - at) * rate / 60)
        if level < 1:
            self._levels[who] = (level, now)
            return (1 - level) * 60 / rate
        self._levels[who] = (level - 1, now)
        return 0.0


def _is_from_here(headers: Mapping[str, str]) -> bool:
    """Say whether a request comes from this machine and no page: what a browser says of it, a page cannot change."""
    host, origin = headers.get("host", ""), headers.get("origin", "")
    return (not host or _is_this_machine(host)) and (not origin or _is_this_machine(origin.partition("://")[2]))


def _is_this_machine(place: str) -> bool:
    """Say whether a name and perhaps a port is this machine's name for itself."""
    name = place.partition("]")[0].removeprefix("[") if place.startswith("[") else place.partition(":")[0]
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
