"""What happens around the replies of an agent: tools, and loops that were noticed. The rest are events and notices."""

from typing import TypeAlias

from msgspec import Struct

from headway.failure import Failure
from headway.messages import ToolCall, ToolResult
from headway.recovery.decisions import Why


class ToolBegan(Struct, frozen=True, tag="tool_began"):
    """A call is about to run; its intent is written down."""

    call: ToolCall


class ToolEnded(Struct, frozen=True, tag="tool_ended"):
    """A call gave this, or was not run for the reason in it."""

    call: ToolCall
    result: ToolResult


class LoopNoticed(Struct, frozen=True, tag="loop_noticed"):
    """The model goes round in circles and is told so."""

    words: str


Happening: TypeAlias = ToolBegan | ToolEnded | LoopNoticed


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
