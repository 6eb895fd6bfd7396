"""Request bodies, both ways. Every field that has a word in the vocabulary is a row of `_FIELDS`.

A body starts from the one that was read: unknown fields stay, and a field that still says the same keeps its own
form. This wire has no field for stop sequences and none for a thinking budget; both are left out.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from headway.failure import InvalidInput
from headway.messages import Message, ModelRequest, Opaque, Raw, Reasoning, Text, ToolChoice, ToolSpec
from headway.wire.openai_responses.items import read_items, write_items
from headway.wire.openai_responses.parts import WIRE_NAME, objects, own, string

_WHAT = "the Responses request"
_STANDS_FOR_INPUT = ("previous_response_id", "conversation", "prompt")
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}


def parse_request(body: dict[str, Any]) -> ModelRequest:
    """Read a body, or raise `InvalidInput` for one that is no request of this wire."""
    if not isinstance(body, dict):
        raise InvalidInput(_WHAT, "the body is not a JSON object", "Send an object with `model` and `input`.")
    given = body.get("input")
    if given is None and not any(body.get(key) for key in _STANDS_FOR_INPUT):
        hint = "Send `input`: a string, or a list of items."
        if "messages" in body:
            hint = "`messages` belongs to another wire: send `input`, or use the endpoint that takes `messages`."
        raise InvalidInput(_WHAT, "it has no `input`", hint)
    fields = {field.attribute: field.read(body.get(field.key)) for field in _FIELDS}
    return ModelRequest(messages=_read_input(given), raw=Raw(WIRE_NAME, body), **fields)


def render_request(request: ModelRequest) -> dict[str, Any]:
    """Write a body."""
    body = dict(own(request.raw))
    for field in _FIELDS:
        field.settle(body, request)
    given = body.get("input")
    if isinstance(given, str) and _read_input(given) == request.messages:
        return body
    if request.messages or given is not None:
        body["input"] = write_items(request.messages)
    return body


def parse_messages(items: list[Any]) -> ModelRequest:
    """Read a bare list of input items."""
    if not isinstance(items, list):
        raise InvalidInput("the Responses input", "it is not a list", "Give a JSON array of items.")
    return ModelRequest("", read_items(items))


def render_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Write the bare list of input items again."""
    return write_items(request.messages)


def _read_input(value: Any) -> tuple[Message, ...]:
    if isinstance(value, str | dict):
        value = [value]
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidInput(_WHAT, "`input` is neither a string nor a list", "Send a string, or a list of items.")
    return read_items(value)


class _Field(Struct, frozen=True):
    """A field of the body and its attribute of the request. `write` may return None: then there is no such field."""

    key: str
    attribute: str
    read: Callable[[Any], Any]
    write: Callable[[ModelRequest, Any], Any]

    def settle(self, body: dict[str, Any], request: ModelRequest) -> None:
        """Make the body say what the request says; what already reads as that stays as it is written."""
        given = body.get(self.key)
        if self.read(given) == getattr(request, self.attribute):
            return
        value = self.write(request, given)
        if value is None:
            body.pop(self.key, None)
        else:
            body[self.key] = value


def _plain(key: str, attribute: str, *kinds: type) -> _Field:
    """Return a field whose value is the attribute's value."""

    def read(value: Any) -> Any:
        return value if type(value) in kinds else None

    return _Field(key, attribute, read, lambda request, _: getattr(request, attribute))


def _read_system(value: Any) -> tuple[Text, ...]:
    return (Text(value),) if isinstance(value, str) and value else ()


def _write_system(request: ModelRequest, _: Any) -> str | None:
    return "\n\n".join(text.text for text in request.system if text.text) or None


def _read_tools(value: Any) -> tuple[ToolSpec | Opaque, ...]:
    return tuple(_read_tool(Raw(WIRE_NAME, tool)) for tool in objects(value))


def _read_tool(raw: Raw) -> ToolSpec | Opaque:
    tool = raw.value
    name, kind, parameters = string(tool.get("name")), tool.get("type"), tool.get("parameters")
    if not name or kind not in ("function", "custom"):
        return Opaque(raw)
    description = tool.get("description")
    return ToolSpec(
        name,
        description if isinstance(description, str) else None,
        parameters if isinstance(parameters, dict) and kind == "function" else None,
        freeform=kind == "custom",
        raw=raw,
    )


def _write_tools(request: ModelRequest, _: Any) -> list[dict[str, Any]] | None:
    return [value for tool in request.tools if (value := _write_tool(tool))] or None


def _write_tool(tool: ToolSpec | Opaque) -> dict[str, Any]:
    base = own(tool.raw)
    if isinstance(tool, Opaque) or (base and _read_tool(Raw(WIRE_NAME, base)) == tool):
        return base
    base = {key: value for key, value in base.items() if key != "description"}
    said = {"description": tool.description} if tool.description is not None else {}
    if tool.freeform:
        return {**base, "type": "custom", "name": tool.name, **said}
    # Left out, `strict` means true here and refuses most schemas; no other wire has it on unasked.
    shape = {"parameters": tool.parameters or _NO_PARAMETERS, "strict": base.get("strict", False)}
    return {**base, "type": "function", "name": tool.name, **said, **shape}


def _read_choice(value: Any) -> ToolChoice | None:
    match value:
        case "auto" | "none" | "required":
            return ToolChoice(value)
        case {"type": "function" | "custom", "name": str(name)}:
            return ToolChoice("tool", name)
        case _:
            return None


def _write_choice(request: ModelRequest, _: Any) -> str | dict[str, Any] | None:
    choice = request.tool_choice
    if choice is None or choice.mode != "tool":
        return choice.mode if choice else None
    freeform = any(isinstance(t, ToolSpec) and t.freeform and t.name == choice.name for t in request.tools)
    return {"type": "custom" if freeform else "function", "name": choice.name}


def _read_reasoning(value: Any) -> Reasoning | None:
    effort = value.get("effort") if isinstance(value, dict) else None
    return Reasoning(effort) if isinstance(effort, str) else None


def _write_reasoning(request: ModelRequest, given: Any) -> dict[str, Any] | None:
    rest = {key: value for key, value in given.items() if key != "effort"} if isinstance(given, dict) else {}
    effort = request.reasoning.effort if request.reasoning else None
    return {**rest, "effort": effort} if effort else rest or None


_FIELDS = (
    _Field("model", "model", string, lambda request, _: request.model or None),
    _Field("instructions", "system", _read_system, _write_system),
    _Field("tools", "tools", _read_tools, _write_tools),
    _Field("tool_choice", "tool_choice", _read_choice, _write_choice),
    _Field("reasoning", "reasoning", _read_reasoning, _write_reasoning),
    _Field("stream", "stream", lambda value: value is True, lambda request, _: request.stream),
    _plain("parallel_tool_calls", "parallel_calls", bool),
    _plain("max_output_tokens", "max_output_tokens", int),
    _plain("temperature", "temperature", int, float),
    _plain("top_p", "top_p", int, float),
)
