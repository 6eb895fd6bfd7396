"""Which tools must be called and how much to think: two settings whose fields other wires cut differently.

`tool_choice` holds both the choice and whether calls may be parallel; thinking is a budget in `thinking` and a word in
`output_config`. Fields beside them (how thinking is displayed, the output's format) stay when they are rewritten.
"""

from typing import Any, Literal

from headway.messages import Reasoning, ToolChoice

_Mode = Literal["auto", "none", "required", "tool"]
_MODES: dict[str, _Mode] = {"auto": "auto", "any": "required", "tool": "tool", "none": "none"}
_TYPES = {mode: word for word, mode in _MODES.items()}
_EFFORTS = {word: word for word in ("low", "medium", "high", "xhigh", "max")} | {"minimal": "low", "none": "low"}
"""This wire's words for effort, and its least for the words of others that ask for less; unknown words are not sent."""


def put(body: dict[str, Any], key: str, value: Any) -> None:
    """Set a field, or take it away when there is nothing to say."""
    if value is None:
        body.pop(key, None)
    else:
        body[key] = value


def read_choice(value: Any) -> tuple[ToolChoice | None, bool | None]:
    """Return the choice, and whether calls may be parallel."""
    if not isinstance(value, dict):
        return None, None
    alone = value.get("disable_parallel_tool_use")
    parallel_calls = not alone if isinstance(alone, bool) else None
    match value:
        case {"type": "tool", "name": str(name)}:
            return ToolChoice("tool", name), parallel_calls
        case {"type": "auto" | "any" | "none" as word}:
            return ToolChoice(_MODES[word]), parallel_calls
        case _:
            return None, parallel_calls


def write_choice(choice: ToolChoice | None, body: dict[str, Any], *, parallel_calls: bool | None) -> None:
    """Write the choice; only a ban on parallel calls needs one that was not made."""
    if choice is None and parallel_calls is not False:
        body.pop("tool_choice", None)
        return
    mode = choice.mode if choice is not None else "auto"
    name = choice.name if choice is not None and mode == "tool" else None
    if mode == "tool" and not name:
        mode = "required"
    own = _without(body.get("tool_choice"), "type", "name", "disable_parallel_tool_use")
    own["type"] = _TYPES[mode]
    put(own, "name", name)
    if parallel_calls is not None and mode != "none":
        own["disable_parallel_tool_use"] = not parallel_calls
    body["tool_choice"] = own


def read_reasoning(body: dict[str, Any]) -> Reasoning | None:
    """Return how much to think, if the body says so in tokens or in a word."""
    budget: int | None = None
    effort: str | None = None
    match body.get("thinking"):
        case {"type": "enabled", "budget_tokens": int(tokens)}:
            budget = tokens
    match body.get("output_config"):
        case {"effort": str(word)}:
            effort = word
    return None if budget is None and effort is None else Reasoning(effort, budget)


def write_reasoning(reasoning: Reasoning | None, body: dict[str, Any]) -> None:
    """Write a budget and an effort, and nothing over what is neither."""
    budget = reasoning.budget_tokens if reasoning is not None else None
    effort = reasoning.effort if reasoning is not None else None
    thinking = body.get("thinking")
    if budget is not None:
        shown = _without(thinking, "type", "budget_tokens")
        body["thinking"] = {**shown, "type": "enabled", "budget_tokens": budget}
    elif isinstance(thinking, dict) and thinking.get("type") == "enabled":
        del body["thinking"]
    output = _without(body.get("output_config"), "effort")
    put(output, "effort", _EFFORTS.get(effort) if effort is not None else None)
    put(body, "output_config", output or None)


def _without(value: Any, *names: str) -> dict[str, Any]:
    return {key: one for key, one in value.items() if key not in names} if isinstance(value, dict) else {}
