"""Who can be asked for one reply, in order, and where goes what is learnt from asking them."""

# ruff: noqa: ARG002 - who learns nothing has no use for what it is told

from collections.abc import Callable, Collection, Sequence
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.failure import Failure
from headway.providers.changes import Change
from headway.transport.gaps import Gaps
from headway.turn.endpoint import Endpoint


class Lessons:
    """What is known about upstreams, and learnt from each attempt. This one knows nothing and learns nothing."""

    def gaps(self, upstream: str) -> Gaps | None:
        """Return the longest silences of its healthy streams."""

    def answered(self, upstream: str, keys_left: int, gaps: Gaps) -> Sequence[Change]:
        """Learn from an answer, got with the key that is in use when so many have not been ruled out."""
        return ()

    def failed(self, upstream: str, keys_left: int, failure: Failure, gaps: Gaps) -> Sequence[Change]:
        """Learn from a failure."""
        return ()

    def left(self, upstream: str) -> None:
        """Note that a request was given up by us, which says nothing about anybody."""


NO_LESSONS = Lessons()


class Crew(Struct, frozen=True):
    """Endpoints for one reply, the first to be asked first."""

    endpoints: tuple[Endpoint, ...]
    lessons: Lessons = NO_LESSONS
    changes: tuple[Change, ...] = ()
    """What is worth telling about how they were chosen."""
    first: str = ""
    """The name of the first choice, which may not be among them now; empty: whoever comes first here."""

    def asking_last(self, names: Collection[str]) -> "Crew":
        """Return the crew with some at its end, all else in the order it had."""
        endpoints = tuple(sorted(self.endpoints, key=lambda endpoint: endpoint.name in names))
        return replace(self, endpoints=endpoints, first=self.first or self.endpoints[0].name)


Muster: TypeAlias = Callable[[], Crew]
"""Gives the crew for the next reply, by what is known now."""
