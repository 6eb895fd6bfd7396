"""Where a Responses stream stands: what an encoder must know to begin it, or to go on with it."""

from typing import Any

from msgspec import Struct

from headway.wire.openai_responses.numbering import DeltaForm
from headway.wire.openai_responses.shapes import CallShape, PartShape


class Words(Struct):
    """An open item that is no call; `value` is its object, which the final output shares.

    `shape` is that of its open part, `envelope` the events around that part (blank if nobody announced it), and
    `is_said` says that the part's words were finished and only its envelope is missing.
    """

    index: int
    value: dict[str, Any]
    shape: PartShape | None = None
    envelope: str = ""
    is_said: bool = False
    pieces: list[str] = []
    form: DeltaForm | None = None
    """How the deltas of the open part are written, once there was one."""


class Call(Struct):
    """A call that is not settled.

    `is_said`: its arguments were finished; `is_done`: all of it was, but nobody vouched for it; `is_vouched`: it is
    whole, and only its end is missing.
    """

    index: int
    value: dict[str, Any]
    shape: CallShape
    pieces: list[str] = []
    is_said: bool = False
    is_done: bool = False
    is_vouched: bool = False
    form: DeltaForm | None = None

    @property
    def name(self) -> str:
        """Return the name of the tool."""
        return str(self.value.get("name", ""))

    def settle(self, status: str) -> str:
        """Put what was received into the object, unless that was said to be done as it is; return it."""
        arguments: str = "".join(self.pieces)
        if not self.is_done:
            self.value.update({self.shape.field: arguments, "status": status})
        return arguments


class Standing(Struct):
    """A stream at one moment. It belongs to the encoder that gets it."""

    response: dict[str, Any] = {}
    """The response as it was opened; empty if it was not."""
    is_over: bool = False
    next_number: int = 0
    next_index: int = 0
    output: list[dict[str, Any]] = []
    words: Words | None = None
    """The item in which words go on."""
    loose: list[Words] = []
    """Items that were never finished although others followed them, or that nobody can go on with."""
    calls: dict[int, Call] = {}
    halves: list[str] = []
    """The names of calls that will never be whole."""
