"""What the gateway wants to know from the settings: the way of a request, and what can be asked for."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from headway.gateway.manners import Manners
from headway.turn.fleet import Route


class Way(Struct, frozen=True):
    """How a request is carried out."""

    route: Route
    manners: Manners = Manners()


class Offer(Struct, frozen=True):
    """Something that a client can ask for by name."""

    id: str
    owner: str = "headway"
    context: int | None = None
    output_limit: int | None = None


class Ways(Protocol):
    """Knows the routes."""

    def way(self, asked: str, wire: str, headers: Mapping[str, str]) -> Way:
        """Return the way for a model that a client of a wire asked for; raises `InvalidInput` when there is none."""
        ...

    def offers(self) -> Sequence[Offer]:
        """Return what can be asked for."""
        ...
