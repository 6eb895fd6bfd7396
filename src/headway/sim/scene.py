"""What a fault sees: the play that it may rewrite, the request, and dice that are the same for the same seed."""

from random import Random

from msgspec import Struct

from headway.messages import ModelRequest
from headway.sim.manners import Manners
from headway.sim.play import Play
from headway.sim.reading import words_of


class Scene(Struct, frozen=True):
    """One request, as far as faults care."""

    number: int
    """Requests are numbered from 1, in the order in which they came."""
    play: Play
    """What would happen now, after the faults that struck before."""
    manners: Manners
    request: ModelRequest
    dice: Random
    key: str = ""

    @property
    def wire(self) -> str:
        """Return the name of the wire that the client speaks."""
        return self.manners.wire.name

    @property
    def input(self) -> str:
        """Return every word of the request, results and arguments included."""
        return words_of(self.request)
