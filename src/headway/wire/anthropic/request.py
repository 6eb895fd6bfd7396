"""The body of a Messages request to a `ModelRequest` and back.

Rendering starts from the body that was read, and from an empty one for other wires' requests. A field that still
reads as the request says stays as it came; only what differs is written. So `render(parse(body)) == body`, and a
foreign request gets exactly the fields it needs.
"""

from collections.abc import Callable, Iterable
from typing import Any

from msgspec.structs import replace

from headway.failure import InvalidInput
from headway.messages import Message, ModelRequest, Opaque, Raw, Text, ToolSpec
from headway.wire.anthropic.blocks import NAME, content_of, ours, read_block, text_of
from headway.wire.anthropic.choices import put, read_choice, read_reasoning, write_choice, write_reasoning
from headway.wire.anthropic.turns import read_messages, system_messages_first, write_messages

DEFAULT_MAX_TOKENS = 8192
"""The wire requires a limit and has no default: enough for most replies, and one that outgrows it is continued."""
_NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
_FREEFORM: dict[str, Any] = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


def parse_request(body: dict[str, Any]) -> ModelRequest:
    """Read a body; raises `InvalidInput` for one that is no Messages request."""
    if not isinstance(body, dict):
        raise InvalidInput("request", "the body is not an object", "Send a JSON object with model and messages.")
    return replace(_read_settings(body), messages=read_messages(body.get("messages")), raw=Raw(NAME, body))


def render_request(request: ModelRequest) -> dict[str, Any]:
    """Write a body in the shape that the strict API takes."""
    raw = ours(request.raw) or {}
    said = _read_settings(raw)
    leading = system_messages_first(request.messages)
    want = replace(request, system=(*request.system, *_texts(request.messages[:leading])))
    body = {**raw, "messages": write_messages(request.messages[leading:])}
    for field, key, value in _FIELDS:
        if getattr(want, field) != getattr(said, field):
            put(body, key, value(want))
    if (want.tool_choice, want.parallel_calls) != (said.tool_choice, said.parallel_calls):
        write_choice(want.tool_choice, body, parallel_calls=want.parallel_calls)
    if not body.get("tools") and (said.tools or not raw):
        body.pop("tool_choice", None)  # a choice without tools is refused
    if want.reasoning != said.reasoning:
        write_reasoning(want.reasoning, body)
    if body.get("max_tokens") is None:
        # A budget for thinking is part of the limit and must be smaller than it.
        body["max_tokens"] = DEFAULT_MAX_TOKENS + ((want.reasoning and want.reasoning.budget_tokens) or 0)
    return body


def parse_messages(values: list[Any]) -> ModelRequest:
    """Read a bare list of messages."""
    return ModelRequest("", read_messages(values))


def render_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Write the bare list again. A list has no place above it, so system words lead it as messages."""
    leading = system_messages_first(request.messages)
    above = Message("system", request.system)
    systems = [
        {**(ours(message.raw) or {}), "role": "system", "content": content}
        for message in (above, *request.messages[:leading])
        if (content := content_of(message.parts)) is not None
    ]
    return [*systems, *write_messages(request.messages[leading:])]


# Reading


def _read_settings(body: dict[str, Any]) -> ModelRequest:
    """Read everything but the messages."""
    model = body.get("model")
    if not isinstance(model, str | None):
        raise InvalidInput("model", f"expected a name, got {type(model).__name__}", 'Give "model": "…".')
    choice, parallel_calls = read_choice(body.get("tool_choice"))
    stop = body.get("stop_sequences")
    return ModelRequest(
        model=model or "",
        messages=(),
        system=_read_system(body.get("system")),
        tools=_read_tools(body.get("tools")),
        tool_choice=choice,
        parallel_calls=parallel_calls,
        max_output_tokens=_read_integer(body.get("max_tokens")),
        temperature=_read_number(body.get("temperature")),
        top_p=_read_number(body.get("top_p")),
        stop=tuple(word for word in stop if isinstance(word, str)) if isinstance(stop, list) else (),
        reasoning=read_reasoning(body),
        stream=body.get("stream") is True,
    )


def _read_integer(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _read_number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _read_system(value: Any) -> tuple[Text, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (Text(value),)
    if not isinstance(value, list):
        raise InvalidInput("system", f"expected a string or a list of blocks, got {type(value).__name__}")
    return tuple(_read_system_block(item, at) for at, item in enumerate(value))


def _read_system_block(item: Any, at: int) -> Text:
    part = Text(item) if isinstance(item, str) else read_block(item) if isinstance(item, dict) else None
    if not isinstance(part, Text):
        raise InvalidInput(f"system[{at}]", "only text can stand here", 'A block looks like {"type": "text", …}.')
    return part


def _read_tools(value: Any) -> tuple[ToolSpec | Opaque, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise InvalidInput("tools", f"expected a list, got {type(value).__name__}")
    return tuple(_read_tool(item, at) for at, item in enumerate(value))


def _read_tool(item: Any, at: int = 0) -> ToolSpec | Opaque:
    """Read a tool of the caller's own; one that the provider knows by its type stays as it came."""
    if not isinstance(item, dict):
        raise InvalidInput(f"tools[{at}]", f"expected an object, got {type(item).__name__}")
    raw = Raw(NAME, item)
    if item.get("type") not in (None, "custom"):
        return Opaque(raw)
    schema, description = item.get("input_schema"), item.get("description")
    return ToolSpec(
        name=text_of(item.get("name")),
        description=description if isinstance(description, str) else None,
        parameters=schema if isinstance(schema, dict) else None,
        raw=raw,
    )


# Writing


def _texts(messages: Iterable[Message]) -> list[Text]:
    return [part for message in messages for part in message.parts if isinstance(part, Text)]


def _write_system(texts: tuple[Text, ...]) -> str | list[dict[str, Any]] | None:
    return content_of(tuple(text for text in texts if text.text.strip() or ours(text.raw)))


def _write_tools(tools: tuple[ToolSpec | Opaque, ...]) -> list[dict[str, Any]] | None:
    return [written for tool in tools if (written := _write_tool(tool)) is not None] or None


def _write_tool(tool: ToolSpec | Opaque) -> dict[str, Any] | None:
    raw = ours(tool.raw)
    if isinstance(tool, Opaque):
        return raw
    if raw is not None and tool.parameters is not None and _read_tool(raw) == tool:
        return raw
    beside = {k: v for k, v in (raw or {}).items() if k not in ("name", "description", "input_schema")}
    described = {} if tool.description is None else {"description": tool.description}
    return {**beside, "name": tool.name, **described, "input_schema": _schema(tool)}


def _schema(tool: ToolSpec) -> dict[str, Any]:
    if tool.freeform:
        return _FREEFORM
    if not tool.parameters:
        return _NO_PARAMETERS
    return tool.parameters if "type" in tool.parameters else {"type": "object", **tool.parameters}


def _write_stop(words: tuple[str, ...]) -> list[str] | None:
    """Leave out sequences of nothing but white space: other wires take them, this one refuses the request."""
    return [word for word in words if word.strip()] or None


def _write_temperature(temperature: float | None) -> float | None:
    return None if temperature is None else min(temperature, 1)  # others allow up to 2


_FIELDS: tuple[tuple[str, str, Callable[[ModelRequest], Any]], ...] = (
    ("model", "model", lambda request: request.model),
    ("system", "system", lambda request: _write_system(request.system)),
    ("tools", "tools", lambda request: _write_tools(request.tools)),
    ("max_output_tokens", "max_tokens", lambda request: request.max_output_tokens),
    ("temperature", "temperature", lambda request: _write_temperature(request.temperature)),
    ("top_p", "top_p", lambda request: request.top_p),
    ("stop", "stop_sequences", lambda request: _write_stop(request.stop)),
    ("stream", "stream", lambda request: request.stream),
)
"""A field of a request, its name on this wire, and how it is written."""
