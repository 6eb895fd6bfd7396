"""Chat Completions bodies to requests and back. `render(parse(body)) == body` for every valid body.

Rendering starts from the body that was read. A field that still says the same keeps its form (a lone stop word, an
explicit null, a tool choice that only this wire knows); a field that was changed is written anew.
"""

from typing import Any

from headway.failure import InvalidInput
from headway.messages import ModelRequest, Raw, Reasoning
from headway.wire.openai_chat.raw import own, settle, without
from headway.wire.openai_chat.read_messages import read_messages
from headway.wire.openai_chat.tools import read_choice, read_tools, write_choice, write_tools
from headway.wire.openai_chat.write_messages import write_messages

_CAPS = ("max_completion_tokens", "max_tokens")


def parse_request(body: dict[str, Any]) -> ModelRequest:
    """Read a body, or raise `InvalidInput` when it is no request of this wire."""
    if not isinstance(body, dict):
        raise InvalidInput("the body", "it is not a JSON object", 'Send {"model": …, "messages": […]}.')
    model, messages = body.get("model"), body.get("messages")
    if not isinstance(model, str):
        raise InvalidInput("model", "it is missing or not a string", "Name the model to ask.")
    if not isinstance(messages, list) or not messages:
        raise InvalidInput("messages", "it is missing, empty or not a list", "Send at least one message.")
    return ModelRequest(
        model=model,
        messages=read_messages(messages),
        tools=read_tools(body.get("tools")),
        tool_choice=read_choice(body.get("tool_choice")),
        parallel_calls=_flag(body.get("parallel_tool_calls")),
        max_output_tokens=next((cap for key in _CAPS if (cap := _count(body.get(key))) is not None), None),
        temperature=_number(body.get("temperature")),
        top_p=_number(body.get("top_p")),
        stop=_stop(body.get("stop")),
        reasoning=Reasoning(effort) if (effort := _word(body.get("reasoning_effort"))) else None,
        stream=body.get("stream") is True,
        raw=Raw("chat", body),
    )


def render_request(request: ModelRequest) -> dict[str, Any]:
    """Write a body."""
    body = without(own(request.raw), ("messages",))
    body["model"] = request.model
    body["messages"] = render_messages(request)
    _render_tools(request, body)
    _render_cap(request, body)
    settle(body, "temperature", request.temperature, _number, _same)
    settle(body, "top_p", request.top_p, _number, _same)
    settle(body, "stop", request.stop, _stop, list)
    settle(body, "reasoning_effort", request.reasoning and request.reasoning.effort, _word, _same)
    _render_stream(request, body)
    return body


def parse_messages(messages: list[Any]) -> ModelRequest:
    """Read a bare list of messages."""
    if not isinstance(messages, list):
        raise InvalidInput("messages", "it is not a list", 'Send [{"role": …, "content": …}, …].')
    return ModelRequest(model="", messages=read_messages(messages))


def render_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """Write the bare list of messages."""
    return write_messages(request.system, request.messages)


def _render_tools(request: ModelRequest, body: dict[str, Any]) -> None:
    """Write the tools and what goes with them; the wire refuses a choice among no tools."""
    tools = write_tools(request.tools)
    if not tools:
        for key in ("tools", "tool_choice", "parallel_tool_calls"):
            if body.get(key) is not None:
                del body[key]
        return
    body["tools"] = tools
    settle(body, "tool_choice", request.tool_choice, read_choice, lambda choice: write_choice(choice, request.tools))
    settle(body, "parallel_tool_calls", request.parallel_calls, _flag, _same)


def _render_cap(request: ModelRequest, body: dict[str, Any]) -> None:
    """Write the cap on output under the name that the client used."""
    said = [key for key in _CAPS if _count(body.get(key)) is not None]
    if said and _count(body[said[0]]) == request.max_output_tokens:
        return
    for key in said:
        del body[key]
    if request.max_output_tokens is not None:
        body[said[0] if said else _CAPS[0]] = request.max_output_tokens


def _render_stream(request: ModelRequest, body: dict[str, Any]) -> None:
    """Ask for the usage of a stream, unless the client said whether it wants it."""
    options = body.get("stream_options")
    if request.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True, **(options if isinstance(options, dict) else {})}
        return
    if body.get("stream") is True:
        del body["stream"]
    if options is not None:
        del body["stream_options"]


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _stop(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(word for word in value if isinstance(word, str)) if isinstance(value, list) else ()


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _number(value: Any) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _same(value: Any) -> Any:
    return value
