"""What every fault is: a frozen struct that rewrites a play, known by its name, struck only where its scope says.

A fault is one small class with one method. Deriving from `Fault` registers it; its fields are its parameters, in
scenario files and on the command line alike; the first line of its docstring is its line in every table.
"""

import re
from fnmatch import fnmatchcase
from typing import Any, ClassVar

from msgspec import Struct

from headway.events import CallArguments, CallOpened
from headway.failure import InvalidInput
from headway.messages import WireName
from headway.sim.manners import EVERY_WIRE
from headway.sim.place import At, Halves, read_place, split_at
from headway.sim.play import Play, event_of, words
from headway.sim.scene import Scene

FAULTS: dict[str, type["Fault"]] = {}
"""Every fault by name."""
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Fault(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to misbehave. The fields of this class are the scope: which requests are struck."""

    wires: ClassVar[frozenset[WireName]] = EVERY_WIRE
    """The wires on which there is such a thing."""
    needs_stream: ClassVar[bool] = False
    """Does it strike only replies that stream?"""
    answers: ClassVar[bool] = False
    """Is there an answer of another kind instead of a reply? Such faults strike before all others, and only one."""

    at: At = "start"
    """Where it strikes; see `place`."""
    first: int | None = None
    """Strike only so many times; left out, always."""
    after: int = 0
    """Let so many requests pass that could have been struck."""
    every: int = 1
    """Strike only each so-many-eth of them."""
    chance: float = 1.0
    """Strike with this probability; the seed decides."""
    over: int = 0
    """Strike only replies with a call (of the `tool`, if one is named) of more than so many characters."""
    matching: str = ""
    """Strike only if this regular expression is found in what comes in or goes out."""
    tool: str = ""
    """Strike only replies that call this tool."""
    key: str = ""
    """Strike only requests with this key. In this and the next one, `*` stands for anything."""
    model: str = ""
    """Strike only requests to this model."""
    wire: str = ""
    """Strike only requests on this wire."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Register a fault under its class name in small letters; a name with a leading `_` is no fault."""
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            FAULTS[name_of(cls)] = cls

    def __post_init__(self) -> None:
        """Refuse what cannot be meant: a place that is none, a pattern that cannot be read."""
        read_place(self.at)
        check_pattern("matching", self.matching)
        usual = dict(zip(self.__struct_fields__, self.__struct_defaults__, strict=True))
        if self.at != "start" and usual["at"] == "start":
            raise InvalidInput(f"at = {self.at!r}", f"{name_of(type(self))} has no place in a reply", "Leave it out.")

    def strike(self, scene: Scene) -> Play | None:
        """Return the play as this fault makes it, or None where it has nothing to strike. This one changes nothing."""
        return scene.play

    def split(self, scene: Scene) -> Halves | None:
        """Return the play before the place of the fault, and from there on; None if it has no such place."""
        return split_at(scene.play, self.at, scene.dice)

    def concerns(self, scene: Scene) -> bool:
        """Say whether a request is within the scope, chance and counting aside."""
        if scene.wire not in self.wires or self.wire not in ("", scene.wire):
            return False
        if self.needs_stream and not scene.request.stream:
            return False
        if not (_fits(self.key, scene.key) and _fits(self.model, scene.request.model)):
            return False
        if (self.tool or self.over) and not any(
            size > self.over and self.tool in ("", name) for name, size in _calls(scene.play)
        ):
            return False
        return not self.matching or bool(re.search(self.matching, f"{words(scene.play)}\n{scene.input}"))

    def has_turn(self, seen: int, struck: int, scene: Scene) -> bool:
        """Say whether to strike, after so many requests within the scope of which so many were struck."""
        chosen = scene.dice.random() < self.chance
        if self.first is not None and struck >= self.first:
            return False
        return chosen and seen >= self.after and (seen - self.after) % self.every == 0


def check_pattern(name: str, pattern: str) -> None:
    """Refuse a regular expression that is none."""
    try:
        re.compile(pattern)
    except re.error as bad:
        raise InvalidInput(f"{name} = {pattern!r}", f"it is no regular expression: {bad}") from None


def name_of(kind: type[Fault]) -> str:
    """Return the name that people write: `TruncatedChunk` is `truncated_chunk`."""
    return _WORD.sub("_", kind.__name__).lower()


def _fits(pattern: str, value: str) -> bool:
    return not pattern or fnmatchcase(value, pattern)


def _calls(play: Play) -> list[tuple[str, int]]:
    """Return the tools that a play calls, with the size of their arguments."""
    names: dict[int, str] = {}
    sizes: dict[int, int] = {}
    for beat in play:
        event = event_of(beat)
        match event:
            case CallOpened(call=call, name=name):
                names[call], sizes[call] = name, 0
            case CallArguments(call=call, text=text) if call in sizes:
                sizes[call] += len(text)
    return [(names[call], sizes[call]) for call in names]
