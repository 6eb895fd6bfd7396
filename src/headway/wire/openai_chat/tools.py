"""Tools that are offered, and the choice among them, both ways."""

from collections.abc import Iterable
from typing import Any

from headway.failure import InvalidInput
from headway.messages import Opaque, Raw, ToolChoice, ToolSpec
from headway.wire.openai_chat.raw import own, settle


def read_tools(values: Any) -> tuple[ToolSpec | Opaque, ...]:
    """Read the tools of a request, or raise `InvalidInput` for the first that is no object."""
    if values is None:
        return ()
    if not isinstance(values, list):
        raise InvalidInput("tools", "it is not a list", "Send a list of tools, or leave the field out.")
    return tuple(_read_tool(value, f"tools[{i}]") for i, value in enumerate(values))


def write_tools(tools: Iterable[ToolSpec | Opaque]) -> list[dict[str, Any]]:
    """Write the tools; those that only another wire knows are left out."""
    return [written for tool in tools if (written := _write_tool(tool))]


def read_choice(value: Any) -> ToolChoice | None:
    """Read a tool choice; a form that only this wire knows is nothing, and stays in the body."""
    match value:
        case "auto" | "none" | "required":
            return ToolChoice(value)
        case {"type": "function", "function": {"name": str(name)}} | {"type": "custom", "custom": {"name": str(name)}}:
            return ToolChoice("tool", name)
        case _:
            return None


def write_choice(choice: ToolChoice, tools: Iterable[ToolSpec | Opaque]) -> str | dict[str, Any]:
    """Write a tool choice; a tool is named as what it is."""
    if choice.mode != "tool":
        return choice.mode
    freeform = any(isinstance(tool, ToolSpec) and tool.freeform and tool.name == choice.name for tool in tools)
    kind = "custom" if freeform else "function"
    return {"type": kind, kind: {"name": choice.name or ""}}


def _read_tool(value: Any, where: str) -> ToolSpec | Opaque:
    if not isinstance(value, dict):
        raise InvalidInput(where, "it is not an object", 'Write {"type": "function", "function": {…}}.')
    raw = Raw("chat", value)
    kind = value.get("type", "function")
    held = value.get(kind) if kind in ("function", "custom") else None
    if not isinstance(held, dict) or not isinstance(held.get("name"), str):
        return Opaque(raw)
    parameters = _object(held.get("parameters")) if kind == "function" else None
    return ToolSpec(held["name"], _text(held.get("description")), parameters, kind == "custom", raw)


def _write_tool(tool: ToolSpec | Opaque) -> dict[str, Any]:
    raw = own(tool.raw)
    if isinstance(tool, Opaque):
        return raw
    kind = "custom" if tool.freeform else "function"
    held: dict[str, Any] = {**raw.get(kind, {}), "name": tool.name}
    settle(held, "description", tool.description, _text, _same)
    if not tool.freeform:
        settle(held, "parameters", tool.parameters, _object, _same)
    return {**raw, "type": kind, kind: held}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _same(value: Any) -> Any:
    return value
