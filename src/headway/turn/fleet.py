"""All upstreams of a process: one pool of keys and health, one memory of silences, shared by every turn.

A turn gets its crew by what is known now, and teaches the fleet with every attempt: so a breaker that one turn opened
spares the next one the wait, a key that rests rests for all, and the first of a chain comes back by a single probe.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Failure, InvalidInput
from headway.providers.changes import Change, ProbeStarted
from headway.providers.links import Link
from headway.providers.pool import Pool, answered, choose, failed, left
from headway.recovery.ledger import Policy
from headway.transport.gaps import GapMemory, Gaps
from headway.turn.crew import Crew, Lessons
from headway.turn.endpoint import Endpoint


class Ready(Struct, frozen=True):
    """An endpoint with its keys opened, and the names of those keys for the pool to learn from."""

    link: Link
    endpoint: Endpoint
    keys: tuple[str, ...] = ()
    """In the order of the endpoint's headers; none where no key is wanted."""

    def key_with(self, keys_left: int) -> str | None:
        """Return the name of the key in use, when so many have not been ruled out."""
        return self.keys[max(0, len(self.keys) - keys_left)] if self.keys else None


MakeReady: TypeAlias = Callable[[Pool, Sequence[Link], float], tuple[Ready, ...]]
"""Opens the keys of links, at the last moment; a link whose keys cannot be opened is left out."""


class Route(Struct, frozen=True):
    """A way to an answer: whom to ask in which order, what is allowed, and how endpoints are made of links."""

    name: str
    chain: tuple[Link, ...]
    make_ready: MakeReady
    policy: Policy = Policy()


class Fleet:
    """The state that all turns share. Its methods do not wait, so that turns of one loop cannot get in between."""

    def __init__(self, pool: Pool, time: Callable[[], float]) -> None:
        """Start with a pool; `time` is the monotonic clock of the turns."""
        self.pool = pool
        self.memory = GapMemory()
        self.time = time

    def crew(self, route: Route) -> Crew:
        """Return whom to ask now, in order."""
        now = self.time()
        choice = choose(self.pool, route.chain, now)
        self.pool = choice.pool
        ready = {one.link.name: one for one in route.make_ready(self.pool, choice.links, now)}
        for link in choice.links:
            if link.name not in ready:
                self.pool = left(self.pool, link, now)
        if not ready:
            raise InvalidInput(
                f"routes.{route.name}", "none of its keys can be used any more", "Check them with: headway doctor"
            )
        tried = {change.upstream for change in choice.changes if isinstance(change, ProbeStarted)}
        endpoints = (replace(one.endpoint, on_trial=name in tried) for name, one in ready.items())
        return Crew(tuple(endpoints), _Learning(self, ready), choice.changes, route.chain[0].name)


class _Learning(Lessons):
    """Files what a turn meets under the links and keys it was met with."""

    def __init__(self, fleet: Fleet, ready: dict[str, Ready]) -> None:
        self._fleet, self._ready = fleet, ready

    def gaps(self, upstream: str) -> Gaps | None:
        return self._fleet.memory.longest(upstream)

    def answered(self, upstream: str, keys_left: int, gaps: Gaps) -> Sequence[Change]:
        one = self._ready[upstream]
        self._remember(upstream, gaps)
        self._fleet.pool, changes = answered(self._fleet.pool, one.link, one.key_with(keys_left))
        return changes

    def failed(self, upstream: str, keys_left: int, failure: Failure, gaps: Gaps) -> Sequence[Change]:
        one, fleet = self._ready[upstream], self._fleet
        self._remember(upstream, gaps)
        fleet.pool, changes = failed(fleet.pool, one.link, failure, fleet.time(), one.key_with(keys_left))
        return changes

    def left(self, upstream: str) -> None:
        self._fleet.pool = left(self._fleet.pool, self._ready[upstream].link, self._fleet.time())

    def _remember(self, upstream: str, gaps: Gaps) -> None:
        if gaps != Gaps():
            self._fleet.memory = self._fleet.memory.with_stream(upstream, gaps)
