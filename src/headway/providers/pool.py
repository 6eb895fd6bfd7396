"""Who is asked first, with which key, and what is learnt from the answer. Pure: each step gives a new pool and facts.

A chain's order is the user's. It changes only while somebody in it is not fit: then the next one is asked first, for
as long as it takes, and the first comes back by a single probe. Those who are not fit stay at the end, for want of
anybody else; those without a single key that could be used are not asked at all.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Failure
from headway.providers.breaker import Stance
from headway.providers.changes import Bypassed, Change
from headway.providers.health import Health
from headway.providers.keys import KeyLimits, KeyRing
from headway.providers.links import Link
from headway.recovery.ledger import Upstream


class Pool(Struct, frozen=True):
    """The keys and the health of all providers of a process."""

    rings: dict[str, KeyRing] = {}
    """By the name of the provider; one without a ring wants no key."""
    health: Health = Health()
    key_limits: KeyLimits = KeyLimits()

    def ring(self, link: Link) -> KeyRing:
        """Return the keys of a link's provider."""
        return self.rings.get(link.provider.name) or KeyRing(link.provider.name)

    def keys_for(self, link: Link, now: float) -> tuple[str, ...]:
        """Return the names of the keys to use, best first: all that are fit, or else the one that rests the shortest.

        None at all: no key is wanted, or none is left.
        """
        ring = self.ring(link)
        rested = ring.pick(link.model, now)
        return ring.fit(link.model, now) or ((rested,) if rested is not None else ())


class Choice(Struct, frozen=True):
    """Whom to ask, in order. None at all: every key of the chain has been ruled out."""

    links: tuple[Link, ...]
    pool: Pool
    changes: tuple[Change, ...] = ()


def choose(pool: Pool, chain: Sequence[Link], now: float) -> Choice:
    """Return the order in which a chain is asked now. A probe, if one is due, is taken by this choice."""
    distinct = {link.name: link for link in chain}.values()
    waits = {link.name: pool.ring(link).wait_seconds(link.model, now) for link in distinct}
    able = [link for link in distinct if waits[link.name] is not None]
    keyed = [link for link in able if waits[link.name] == 0.0]
    fit = [link for link in keyed if pool.health.stance(link.name, now) is Stance.FIT]
    due = [link for link in keyed if pool.health.stance(link.name, now) is Stance.DUE]
    probe = next((link for link in due if not fit or able.index(link) < able.index(fit[0])), None)

    def wait_seconds(link: Link) -> float:
        return max(waits[link.name] or 0.0, pool.health.wait_seconds(link.name, now))

    first = [*([probe] if probe else []), *fit]
    last = sorted((link for link in able if link not in first), key=wait_seconds)
    changes: tuple[Change, ...] = ()
    if probe:
        health, changes = pool.health.probed(probe.name, now)
        pool = replace(pool, health=health)
    ordered = (*first, *last)
    if ordered and chain[0].name != ordered[0].name:
        barred = waits[chain[0].name] is None
        seconds = None if barred else wait_seconds(chain[0])
        changes = (*changes, Bypassed(chain[0].name, ordered[0].name, seconds))
    return Choice(ordered, pool, changes)


def upstreams_for(pool: Pool, links: Sequence[Link], now: float) -> tuple[Upstream, ...]:
    """Return links in the words of a ledger; a key that rests is not counted while another is fit."""
    return tuple(Upstream(link.name, max(1, len(pool.keys_for(link, now))), link.provider.reattaches) for link in links)


def answered(pool: Pool, link: Link, key: str | None = None) -> tuple[Pool, tuple[Change, ...]]:
    """Learn from an answer."""
    health, changes = pool.health.answered(link.name)
    ring = pool.ring(link)
    rings = pool.rings if key is None else _put(pool.rings, ring.answered(key, link.model))
    return replace(pool, health=health, rings=rings), changes


def failed(
    pool: Pool, link: Link, failure: Failure, now: float, key: str | None = None
) -> tuple[Pool, tuple[Change, ...]]:
    """Learn from a failure: about the upstream's health, or about the key, by the failure's scope."""
    health, about_health = pool.health.failed(link.name, failure, now)
    ring = pool.ring(link)
    about_key: tuple[Change, ...] = ()
    if key is not None:
        ring, about_key = ring.failed(key, link.model, failure, pool.key_limits, now)
    return replace(pool, health=health, rings=_put(pool.rings, ring)), (*about_health, *about_key)


def left(pool: Pool, link: Link, now: float) -> Pool:
    """Note that a request was given up by us; a probe is free for the next who comes."""
    return replace(pool, health=pool.health.left(link.name, now))


def _put(rings: dict[str, KeyRing], ring: KeyRing) -> dict[str, KeyRing]:
    return rings if rings.get(ring.provider) == ring else {**rings, ring.provider: ring}
