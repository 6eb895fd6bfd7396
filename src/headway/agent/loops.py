"""Whether an agent goes round in circles. Pure: each step gives the next watch and a verdict.

A step is what one reply called and what came back. The same step again and again, or a cycle of a few of them, brings
nothing new: the model is told so first, and the turn ends if it goes on. What changes is no loop: polling that brings
other results, or the same results for other calls. A watch belongs to one turn; the user's next word starts afresh.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from headway.messages import ToolCall, ToolResult
from headway.wire.json_text import BadJson, strict_object

_encode = msgspec.json.Encoder(order="deterministic").encode


class GoOn(Struct, frozen=True, tag="go_on"):
    """Nothing goes round."""


class Tell(Struct, frozen=True, tag="tell"):
    """The model should be told, after the results of this step."""

    text: str


class End(Struct, frozen=True, tag="end"):
    """The turn should end; the reason is for people."""

    reason: str


Verdict: TypeAlias = GoOn | Tell | End
Exchange: TypeAlias = tuple[ToolCall, ToolResult]


class LoopWatch(Struct, frozen=True):
    """What has been seen since the last telling, and which loops have been told."""

    tell_after: int = 3
    """Rounds of the same before the model is told."""
    end_after: int = 2
    """Rounds that may follow the telling before the turn ends."""
    longest_cycle: int = 6
    most_tellings: int = 3
    """A model that always finds another loop is stopped as well."""
    seen: tuple[str, ...] = ()
    told: tuple[frozenset[str], ...] = ()

    def after(self, step: Sequence[Exchange]) -> "tuple[LoopWatch, Verdict]":
        """Take what one reply called and what came back."""
        if not step:
            return self, GoOn()
        kept = self.longest_cycle * max(self.tell_after, self.end_after)
        seen = (*self.seen, _digest(step))[-kept:]
        for length in range(1, self.longest_cycle + 1):
            cycle = frozenset(seen[-length:])
            was_told = cycle in self.told
            if _rounds(seen, length) >= (self.end_after if was_told else self.tell_after):
                return self._found(cycle, length, step, was_told=was_told)
        return replace(self, seen=seen), GoOn()

    def _found(
        self, cycle: frozenset[str], length: int, step: Sequence[Exchange], *, was_told: bool
    ) -> "tuple[LoopWatch, Verdict]":
        what = _named(step, length)
        if was_told or len(self.told) >= self.most_tellings:
            return self, End(f"The agent went round in circles: {what}, with the same results, after it was told so.")
        text = (
            f"You are going round in circles: {what}, with the same results each time. Doing it again will bring "
            "nothing new. Use what you have learnt, try something else, or say what keeps you from going on. If you "
            "wait for something to change, wait longer in a single call."
        )
        return replace(self, seen=(), told=(*self.told, cycle)), Tell(text)


def _rounds(seen: tuple[str, ...], length: int) -> int:
    """Return how often the last `length` steps came, one time after the other."""
    last, rounds = seen[-length:], 1
    while len(last) == length and seen[-length * (rounds + 1) : -length * rounds] == last:
        rounds += 1
    return rounds


def _digest(step: Sequence[Exchange]) -> str:
    """Return a short name for what was called and what came back, whatever the order and the ids."""
    each = sorted(sha256(_encode(_essence(*exchange))).hexdigest() for exchange in step)
    return sha256("".join(each).encode()).hexdigest()[:16]


def _essence(call: ToolCall, result: ToolResult) -> tuple[Any, ...]:
    try:
        arguments: Any = call.arguments if call.freeform else strict_object(call.arguments)
    except BadJson:
        arguments = call.arguments
    return call.name, arguments, result.is_error, result.parts


def _named(step: Sequence[Exchange], length: int) -> str:
    names = " and ".join(f"`{name}`" for name in dict.fromkeys(call.name for call, _ in step))
    if length == 1:
        return f"the same call of {names} came again and again"
    return f"the same {length} steps, the last of them {names}, came again and again"
