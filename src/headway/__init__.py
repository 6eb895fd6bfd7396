"""Headway: a streaming runtime for LLM agents in which no broken stream can stop the work.

These names are the library; docs/guides/library.md has an example for each. They are loaded when first used, so that
importing Headway costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headway import events, messages
    from headway.agent.approval import Kind
    from headway.agent.tools.define import tool
    from headway.agent.tools.refusals import ToolError
    from headway.agent.tools.tool import Tool
    from headway.cli.status import status_line
    from headway.events import TextDelta
    from headway.failure import FailureKind, HeadwayError, InvalidInput, TurnFailed
    from headway.library import notices
    from headway.library.agent import Agent
    from headway.library.client import Headway
    from headway.library.errors import AgentStopped, Misused
    from headway.library.provider import Provider
    from headway.library.reply import Item, Reply
    from headway.library.sync import SyncAgent, SyncHeadway, SyncTurn
    from headway.library.turn import Turn
    from headway.messages import Message, assistant, user
    from headway.settings.schema import Limits

__version__ = "0.1.0"
__all__ = [
    "Agent",
    "AgentStopped",
    "FailureKind",
    "Headway",
    "HeadwayError",
    "InvalidInput",
    "Item",
    "Kind",
    "Limits",
    "Message",
    "Misused",
    "Provider",
    "Reply",
    "SyncAgent",
    "SyncHeadway",
    "SyncTurn",
    "TextDelta",
    "Tool",
    "ToolError",
    "Turn",
    "TurnFailed",
    "assistant",
    "events",
    "messages",
    "notices",
    "status_line",
    "tool",
    "user",
]
_MODULES = {"events": "headway.events", "messages": "headway.messages", "notices": "headway.library.notices"}
_PLACES = {
    "headway.agent.approval": ("Kind",),
    "headway.agent.tools.define": ("tool",),
    "headway.agent.tools.refusals": ("ToolError",),
    "headway.agent.tools.tool": ("Tool",),
    "headway.cli.status": ("status_line",),
    "headway.events": ("TextDelta",),
    "headway.failure": ("FailureKind", "HeadwayError", "InvalidInput", "TurnFailed"),
    "headway.library.agent": ("Agent",),
    "headway.library.client": ("Headway",),
    "headway.library.errors": ("AgentStopped", "Misused"),
    "headway.library.provider": ("Provider",),
    "headway.library.reply": ("Item", "Reply"),
    "headway.library.sync": ("SyncAgent", "SyncHeadway", "SyncTurn"),
    "headway.library.turn": ("Turn",),
    "headway.messages": ("Message", "assistant", "user"),
    "headway.settings.schema": ("Limits",),
}


def __getattr__(name: str) -> Any:
    """Load a name when it is first used."""
    from importlib import import_module

    place = next((place for place, names in _PLACES.items() if name in names), None)
    if name in _MODULES:
        value: Any = import_module(_MODULES[name])
    elif place is not None:
        value = getattr(import_module(place), name)
    else:
        raise AttributeError(f"module 'headway' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
