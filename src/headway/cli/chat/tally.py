"""What was spent: tokens, dollars, and what broken requests brought: salvaged if it was gone on from, wasted if not.

Fed by what a turn says while it goes on, and by the journal when a session is taken up again. What broken requests
brought is known in characters; tokens of it are an estimate, and are shown as one.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import astuple, replace

from headway.events import Usage
from headway.providers.models import ModelFacts, cost
from headway.store.records import AttemptBroken, Compacted, ReplyReceived
from headway.store.rows import Entry
from headway.turn import notices
from headway.turn.runner import CHARACTERS_A_TOKEN


class Spent(Struct, frozen=True):
    """An amount."""

    requests: int = 0
    broken: int = 0
    usage: Usage = Usage()
    dollars: float = 0.0
    unpriced: int = 0
    """Requests whose price nobody knows."""
    salvaged: int = 0
    """Characters of broken requests that were gone on from."""
    wasted: int = 0

    def plus(self, other: "Spent") -> "Spent":
        """Return both together."""
        return Spent(
            self.requests + other.requests,
            self.broken + other.broken,
            _sum(self.usage, other.usage),
            self.dollars + other.dollars,
            self.unpriced + other.unpriced,
            self.salvaged + other.salvaged,
            self.wasted + other.wasted,
        )

    def brief(self) -> str:
        """Return it as a few words."""
        dollars = f" · {_dollars(self.dollars)}" if self.dollars else ""
        return f"{_count(self.usage.input_tokens)} in, {_count(self.usage.output_tokens)} out{dollars}"

    def words(self) -> str:
        """Return it as one line for people."""
        parts = [f"{_count(self.usage.input_tokens)} tokens in, {_count(self.usage.output_tokens)} out"]
        if self.usage.cache_read_tokens:
            parts.append(f"{_count(self.usage.cache_read_tokens)} of them cached")
        if self.dollars:
            parts.append(_dollars(self.dollars))
        if self.broken:
            parts.append(f"{self.broken} broken")
        if self.salvaged or self.wasted:
            parts.append(f"salvaged ~{_tokens(self.salvaged)}, wasted ~{_tokens(self.wasted)} tokens")
        return " · ".join(parts)


class Tally:
    """Counts for a turn and for a session."""

    def __init__(self, facts: Callable[[str], ModelFacts | None]) -> None:
        """Start with nothing; `facts` knows the prices of an upstream, by its name."""
        self._facts = facts
        self.session = self.turn = Spent()
        self._upstream = ""
        self._usage: Usage | None = None

    def begin(self, entries: Iterable[Entry] = ()) -> None:
        """Begin with a session, and what its journal says was spent."""
        self.session = self.turn = Spent()
        for entry in entries:
            match entry.record:
                case ReplyReceived(upstream=upstream, usage=usage):
                    self._add(upstream, usage, Spent(requests=1))
                case Compacted(usage=usage):
                    self._add("", usage, Spent(requests=1))
                case AttemptBroken(upstream=upstream, usage=usage, received=received, kept=kept):
                    self._add(upstream, usage, _broken(received, kept))
                case _:
                    pass
        self.turn = Spent()

    def begin_turn(self) -> None:
        """Begin with a turn."""
        self.turn, self._usage = Spent(), None

    def hear(self, item: Any) -> None:
        """Take one event or notice."""
        match item:
            case notices.Asking(upstream=upstream):
                self._upstream, self._usage = upstream, None
            case Usage():
                self._usage = item
            case notices.Broke(upstream=upstream, brought=brought, gained=gained):
                self._add(upstream, item.usage or self._usage, _broken(brought, gained))
                self._usage = None
            case notices.Answered(upstream=upstream):
                self._add(upstream, self._usage, Spent(requests=1))
                self._usage = None
            case _:
                pass

    def end_turn(self) -> None:
        """Count what an interrupted request has cost, as far as it told."""
        if self._usage is not None:
            self._add(self._upstream, self._usage, Spent(requests=1))
            self._usage = None

    def _add(self, upstream: str, usage: Usage | None, rest: Spent) -> None:
        facts = self._facts(upstream) if usage is not None else None
        dollars = cost(facts, usage) if facts is not None and usage is not None else None
        unpriced = 1 if usage is not None and dollars is None else 0
        spent = replace(rest, usage=usage or Usage(), dollars=dollars or 0.0, unpriced=unpriced)
        self.turn, self.session = self.turn.plus(spent), self.session.plus(spent)


def _broken(received: int, kept: int) -> Spent:
    return Spent(requests=1, broken=1, salvaged=kept, wasted=max(0, received - kept))


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(*map(sum, zip(astuple(one), astuple(other), strict=True)))


def _dollars(amount: float) -> str:
    return f"${amount:.4f}" if amount < 1 else f"${amount:.2f}"


def _tokens(characters: int) -> str:
    return _count(-(-characters // CHARACTERS_A_TOKEN))


def _count(number: int) -> str:
    return f"{number / 1000:.1f}k" if number >= 10_000 else f"{number:,}"
