"""Chat Completions, as strict as the strictest servers of that wire together."""

from collections.abc import Iterator
from typing import Any

from headway.sim.strict.strings import TOOL_NAME, empty_array, is_blank, is_object_text, judge_json, kind_of

ROLES = ("system", "assistant", "user", "function", "tool", "developer")
ID_MAX = 40
PARTS = {
    "system": {"text"},
    "developer": {"text"},
    "user": {"text", "image_url", "input_audio", "file"},
    "assistant": {"text", "refusal"},
    "tool": {"text"},
    "function": {"text"},
}
BLANK = "Role must be user or assistant and Content length must be greater than 0."
UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
    "The following tool_call_ids did not have response messages: {}"
)
ORPHAN = "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."


def validate_chat(body: Any) -> list[str]:
    """Return the errors that a strict server of this wire answers with; none means that it accepts the body."""
    if errors := judge_json(body):
        return errors
    return [*_judge_envelope(body), *_judge_messages(body.get("messages"))]


def _judge_envelope(body: dict[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "you must provide a model parameter"
    tools = body.get("tools")
    if tools is None:
        if body.get("tool_choice") is not None:
            yield "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."
        if body.get("parallel_tool_calls") is not None:
            yield "Invalid value for 'parallel_tool_calls': only allowed when 'tools' are specified."
    elif not isinstance(tools, list) or not tools:
        yield empty_array("tools")
    else:
        for index, tool in enumerate(tools):
            yield from _judge_tool(tool, f"tools[{index}]")
    if body.get("stream_options") is not None and body.get("stream") is not True:
        yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."


def _judge_tool(tool: Any, path: str) -> Iterator[str]:
    kind = tool.get("type") if isinstance(tool, dict) else None
    if kind not in ("function", "custom") or not isinstance(tool.get(kind), dict):
        yield f"Invalid value for '{path}': expected a function or custom tool."
    elif not TOOL_NAME.fullmatch(str(tool[kind].get("name"))):
        yield f"Invalid '{path}.{kind}.name': string does not match pattern."


def _judge_messages(messages: Any) -> Iterator[str]:
    if not isinstance(messages, list):
        yield "Invalid type for 'messages': expected an array of objects."
        return
    if not messages:
        yield empty_array("messages")
    seen: set[str] = set()
    waiting: list[str] = []
    in_results = False
    for index, message in enumerate(messages):
        path = f"messages[{index}]"
        if not isinstance(message, dict):
            yield f"Invalid type for '{path}': expected an object."
            continue
        role = message.get("role")
        if role not in ROLES:
            yield f"Invalid value: '{role}'. Supported values are: {', '.join(map(repr, ROLES))}."
            continue
        if role == "tool":
            if not in_results:
                yield ORPHAN
            elif message.get("tool_call_id") not in waiting:
                yield f"{ORPHAN} ({message.get('tool_call_id')!r} is not waiting for a result)"
            else:
                waiting.remove(message["tool_call_id"])
        else:
            if waiting:
                yield UNANSWERED.format(", ".join(waiting))
            waiting, in_results = [], False
        yield from _judge_content(message, role, path)
        if role == "assistant" and "tool_calls" in message:
            calls = message["tool_calls"]
            yield from _judge_calls(calls, f"{path}.tool_calls", seen)
            waiting = (
                [str(call.get("id")) for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
            )
            in_results = True
    if waiting:
        yield UNANSWERED.format(", ".join(map(str, waiting)))


def _judge_calls(calls: Any, path: str, seen: set[str]) -> Iterator[str]:
    if not isinstance(calls, list) or not calls:
        yield empty_array(path)
        return
    for index, call in enumerate(calls):
        place = f"{path}[{index}]"
        if not isinstance(call, dict):
            yield f"Invalid type for '{place}': expected an object."
            continue
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id:
            yield f"Invalid '{place}.id': expected a string."
        elif len(call_id) > ID_MAX:
            yield (
                f"Invalid '{place}.id': string too long. Expected a string with maximum length {ID_MAX}, "
                f"but got a string with length {len(call_id)} instead."
            )
        if str(call_id) in seen:
            yield f"Duplicate value for 'tool_call_id' of {call_id!r} in '{place}'"
        seen.add(str(call_id))
        yield from _judge_call(call, place)


def _judge_call(call: dict[str, Any], place: str) -> Iterator[str]:
    kind = call.get("type")
    held = call.get(str(kind))
    if kind not in ("function", "custom") or not isinstance(held, dict):
        yield f"Invalid value: '{place}.type' and its object do not agree."
        return
    if not isinstance(held.get("name"), str) or not TOOL_NAME.fullmatch(held["name"]):
        yield (
            f"Invalid '{place}.{kind}.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
    if kind == "function" and not is_object_text(held.get("arguments")):
        yield f"invalid params, invalid function arguments json string, tool_call_id: {call.get('id')} (2013)"
    if kind == "custom" and not isinstance(held.get("input"), str):
        yield f"Invalid type for '{place}.custom.input': expected a string."


def _judge_content(message: dict[str, Any], role: str, path: str) -> Iterator[str]:
    content = message.get("content")
    has_more = any(message.get(key) for key in ("tool_calls", "function_call", "refusal", "audio"))
    if role == "tool" and (not isinstance(message.get("tool_call_id"), str) or not message["tool_call_id"]):
        yield f"Missing required parameter: '{path}.tool_call_id'."
    if role == "function" and not isinstance(message.get("name"), str):
        yield f"Missing required parameter: '{path}.name'."
    for key in ("reasoning_content", "reasoning"):
        if key in message and not isinstance(message[key], str):
            yield f"Invalid type for '{path}.{key}': expected a string."
    if content is None:
        if not (role == "assistant" and has_more):
            yield f"Invalid value for 'content' of '{path}': expected a string, got null."
    elif isinstance(content, str):
        if is_blank(content) and role not in ("tool", "function") and not (role == "assistant" and has_more):
            yield f"{BLANK} ({path})"
    elif isinstance(content, list):
        if not content:
            yield empty_array(f"{path}.content")
        for index, part in enumerate(content):
            yield from _judge_part(part, role, f"{path}.content[{index}]")
    else:
        yield f"Invalid type for '{path}.content': expected one of a string or array of objects."


def _judge_part(part: Any, role: str, place: str) -> Iterator[str]:
    kind = kind_of(part)
    if kind not in PARTS[role]:
        yield f"Invalid value: '{kind}' at '{place}'. Supported values are: {sorted(PARTS[role])}."
        return
    if kind in ("text", "refusal") and is_blank(part.get(kind)):
        yield f"{BLANK} ({place})"
    if kind == "image_url":
        url = part.get("image_url")
        if not isinstance(url, dict) or is_blank(url.get("url")):
            yield f"Invalid type for '{place}.image_url': expected an object with a url."
    if kind == "file":
        file = part.get("file")
        if not isinstance(file, dict) or not (file.get("file_data") or file.get("file_id")):
            yield f"Missing required parameter: '{place}.file.file_id'."
    if kind == "input_audio" and not isinstance(part.get("input_audio"), dict):
        yield f"Missing required parameter: '{place}.input_audio'."
