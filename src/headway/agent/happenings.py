"""What happens around the replies of an agent: tools, loops that were noticed, summaries. The rest is said by turns."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from msgspec import Struct

from headway.failure import Failure
from headway.messages import ToolCall, ToolResult
from headway.recovery.decisions import Why
from headway.turn.attempt import Item


class ToolBegan(Struct, frozen=True, tag="tool_began"):
    """A call is about to run; its intent is written down."""

    call: ToolCall


class ToolEnded(Struct, frozen=True, tag="tool_ended"):
    """A call gave this, or was not run for the reason in it."""

    call: ToolCall
    result: ToolResult
    ran: bool = True
    """Did it begin? One that is refused does not."""


class LoopNoticed(Struct, frozen=True, tag="loop_noticed"):
    """The model goes round in circles and is told so."""

    words: str


class SummingUp(Struct, frozen=True, tag="summing_up"):
    """The conversation outgrows the model, or is about to; the model is asked to sum up the older part of it."""

    messages: int
    characters: int


class SummedUp(Struct, frozen=True, tag="summed_up"):
    """A summary stands for the older part of the conversation from here on; the journal keeps it all."""

    before: int
    """Characters that the conversation had."""
    after: int
    summary: str


class NotSummedUp(Struct, frozen=True, tag="not_summed_up"):
    """No summary could be had; old results and exchanges are left out instead, in this request only."""

    reason: str
    left_out: bool = True
    """Must anything be left out? Before a provider has refused it, a conversation goes out as it is."""


class Noted(Struct, frozen=True, tag="noted"):
    """What a person should know about instructions, skills or files: what was cut, or could not be used, and why."""

    words: str


class NotKept(Struct, frozen=True, tag="not_kept"):
    """The session cannot be written down now; it goes on in memory, and what is missing goes with the next write."""

    words: str


class AnsweredBy(Struct, frozen=True, tag="answered_by"):
    """Somebody else answers from here on than before; at first the first of the chain is expected."""

    upstream: str
    model: str
    instead_of: str


Happening: TypeAlias = (
    ToolBegan | ToolEnded | LoopNoticed | SummingUp | SummedUp | NotSummedUp | Noted | NotKept | AnsweredBy
)
AgentItem: TypeAlias = Item | Happening
AgentSink: TypeAlias = Callable[[Sequence[AgentItem]], Awaitable[None]]
"""Takes what is said and what happens, as it comes; awaiting it is the back-pressure."""


class Done(Struct, frozen=True, tag="done"):
    """The model has finished; these are its last words."""

    text: str


class GaveUp(Struct, frozen=True, tag="gave_up"):
    """No reply could be had; what was saved is in the session."""

    failure: Failure
    why: Why


class Stopped(Struct, frozen=True, tag="stopped"):
    """The agent was stopped because it made no headway."""

    words: str


Ending: TypeAlias = Done | GaveUp | Stopped
