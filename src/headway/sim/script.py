"""What a simulated provider is told to be: the task its model works on, its habits and pace, and its faults.

All of it is frozen data: the same script and seed behave in the same way, whoever plays it.
"""

from typing import Any, Literal, TypeAlias

from msgspec import Struct

from headway.sim.fault import Fault

FREE_TEXT = "input"
"""The name under which free text is remembered, as if it were an argument."""


class Think(Struct, frozen=True, tag="think"):
    """The model thinks, before what comes next."""

    text: str


class Say(Struct, frozen=True, tag="say"):
    """The model says something, and goes on."""

    text: str


class Call(Struct, frozen=True, tag="call"):
    """The model calls a tool and waits for the result; `parallel`: in the same reply as the call before."""

    tool: str
    arguments: dict[str, Any] = {}
    text: str | None = None
    """What a tool gets that takes free text, instead of arguments."""
    parallel: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """Return what the tool gets; free text under a name of its own."""
        return self.arguments if self.text is None else {FREE_TEXT: self.text}


class WriteFile(Struct, frozen=True, tag="write_file"):
    """The model writes a file: in one call, or in pieces if it is asked for them. The names fit the tool on offer."""

    path: str
    content: str
    tool: str = "write_file"
    path_as: str = "path"
    content_as: str = "content"
    append_as: str = "append"
    parallel: bool = False


class Loop(Struct, frozen=True, tag="loop"):
    """The model makes the same calls again and again, until a user or a result says something like `until`."""

    calls: tuple[Call, ...]
    until: str = ""


class Final(Struct, frozen=True, tag="final"):
    """The model says its last words of the turn. What follows belongs to the next one."""

    text: str


Step: TypeAlias = Think | Say | Call | WriteFile | Loop | Final


class Pace(Struct, frozen=True, forbid_unknown_fields=True):
    """How a healthy reply streams."""

    characters: int = 20
    """Characters in a delta."""
    seconds: float = 0.0
    """Time before each delta."""
    first_seconds: float = 0.0
    """Time before the first event."""


class Habits(Struct, frozen=True, forbid_unknown_fields=True):
    """What this model does where models differ."""

    overlap: int = 0
    """How many of the last characters it repeats when it goes on with a text or a draft."""
    offset: Literal["honest", "as_told", "wrong"] = "honest"
    """The offset it gives with a repeat in a draft: where the repeat begins, what it was told, or a miscount."""
    space: Literal["kept", "lost", "doubled"] = "kept"
    """What becomes of the space at the seam when it goes on with a text."""
    preamble: str = ""
    """What it says before it goes on with a text."""
    uses_drafts: bool = True
    """Does it call `continue_draft` when that is offered?"""
    obeys_sizes: bool = True
    """Does it make smaller calls when asked?"""
    piece: int = 4_000
    """Characters that it takes for a smaller piece when nobody names a size."""
    gives_up_after: int = 3
    """After so many failures of a call it says so and stops."""


class Script(Struct, frozen=True, kw_only=True):
    """A whole provider."""

    name: str = "unnamed"
    about: str = ""
    prompt: str = "Please do your task."
    """What to ask of an agent, so that the steps make sense as its answer."""
    steps: tuple[Step, ...] = (Final("Hello! I am a simulated model, and all is well."),)
    afterwards: str = "There is nothing left to do."
    """What the model says when it has done everything."""
    faults: tuple[Fault, ...] = ()
    pace: Pace = Pace()
    habits: Habits = Habits()
    keys: tuple[str, ...] = ()
    """The keys that are accepted; none means that every key is, and no key too."""
    models: tuple[str, ...] = ()
    """The models there are; none means any."""
    strict: bool = True
    """Are histories refused that the strictest providers refuse?"""
    prefill: bool = False
    """May a request end with the beginning of the reply?"""
