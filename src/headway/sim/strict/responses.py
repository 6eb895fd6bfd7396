"""The Responses wire. Pairs must stand side by side: OpenAI itself forgives that, some servers of the wire do not."""

from collections.abc import Iterator
from typing import Any

from headway.sim.strict.strings import TOOL_NAME, empty_array, is_blank, is_object_text, judge_json, kind_of

ID_MAX = 64
ROLES = ("user", "assistant", "system", "developer")
SPOKEN, GIVEN = {"output_text", "refusal"}, {"input_text", "input_image", "input_file", "input_audio"}
STATUSES = (None, "in_progress", "completed", "incomplete")
PREFIXES = {"function_call": "fc", "reasoning": "rs", "message": "msg", "custom_tool_call": "ctc"}
PAIRS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "computer_call": "computer_call_output",
}
SIDE_BY_SIDE = ("function_call_output", "custom_tool_call_output")
OUTPUTS = {output: call for call, output in PAIRS.items()}
ALONE = {
    "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
    "mcp_list_tools", "mcp_approval_request", "compaction", "tool_search_call", "program",
}  # fmt: skip
CLIENTS = {"item_reference", "mcp_approval_response", "additional_tools"}


def validate_responses(body: Any) -> list[str]:
    """Return the errors that a strict server of this wire answers with; none means that it accepts the body."""
    if errors := judge_json(body):
        return errors
    return [*_judge_envelope(body), *_judge_input(body)]


def _judge_envelope(body: dict[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "Missing required parameter: 'model'."
    if not isinstance(body.get("instructions", ""), str | None):
        yield "Invalid type for 'instructions': expected a string."
    tools = body.get("tools")
    if tools is not None and not isinstance(tools, list):
        yield "Invalid type for 'tools': expected an array."
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if not isinstance(tool, dict) or not isinstance(tool.get("type"), str):
            yield f"Missing required parameter: 'tools[{index}].type'."
        elif tool["type"] in ("function", "custom") and not TOOL_NAME.fullmatch(str(tool.get("name"))):
            yield f"Invalid 'tools[{index}].name': string does not match pattern."
    choice = body.get("tool_choice")
    if not tools and (choice == "required" or isinstance(choice, dict)):
        yield "Tool choice must not be specified without tools."


def _judge_input(body: dict[str, Any]) -> Iterator[str]:
    items = body.get("input")
    elsewhere = any(body.get(key) for key in ("previous_response_id", "conversation", "prompt"))
    if items is None and elsewhere:
        return
    if isinstance(items, str):
        if not items:
            yield "Invalid 'input': expected a string with minimum length 1."
        return
    if not isinstance(items, list):
        yield "Missing required parameter: 'input'."
        return
    if not items and not elsewhere:
        yield "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."
    well_formed = True
    for index, item in enumerate(items):
        for error in _judge_item(item, f"input[{index}]"):
            well_formed = False
            yield error
    if well_formed:
        yield from _judge_pairs(items, elsewhere=elsewhere or any(_kind(i) == "item_reference" for i in items))
        yield from _judge_reasoning(items)


def _kind(item: dict[str, Any]) -> str:
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if "role" in item else "item_reference"


def _judge_item(item: Any, path: str) -> Iterator[str]:
    if not isinstance(item, dict):
        yield f"Invalid type for '{path}': expected an object."
        return
    kind = _kind(item)
    prefix = PREFIXES.get(kind)
    if prefix and item.get("id") is not None and not str(item["id"]).startswith(prefix):
        yield f"Invalid '{path}.id': '{item['id']}'. Expected an ID that begins with '{prefix}'."
    if item.get("status") not in STATUSES and kind in PREFIXES:
        yield f"Invalid value: '{path}.status'."
    if kind == "message":
        yield from _judge_message(item, path)
    elif kind in PAIRS or kind in OUTPUTS:
        yield from _judge_call_or_output(item, kind, path)
    elif kind == "reasoning":
        if not isinstance(item.get("summary"), list):
            yield f"Missing required parameter: '{path}.summary'."
    elif kind == "item_reference":
        if not isinstance(item.get("id"), str):
            yield f"Missing required parameter: '{path}.id'."
    elif kind not in ALONE | CLIENTS:
        yield f"Invalid value: '{kind}' at '{path}'. It is no type of an input item."


def _judge_message(item: dict[str, Any], path: str) -> Iterator[str]:
    role, content = item.get("role"), item.get("content")
    if role not in ROLES:
        yield f"Invalid value: '{role}'. Supported values are: {', '.join(map(repr, ROLES))}."
        return
    if isinstance(content, str):
        if is_blank(content):
            yield f"Invalid '{path}.content': the text is blank."
    elif not isinstance(content, list):
        yield f"Invalid type for '{path}.content': expected one of a string or array."
    else:
        yield from _judge_parts(content, SPOKEN if role == "assistant" else GIVEN, f"{path}.content")


def _judge_parts(parts: list[Any], allowed: set[str], path: str) -> Iterator[str]:
    if not parts:
        yield empty_array(path)
    for index, part in enumerate(parts):
        kind = kind_of(part)
        place = f"{path}[{index}]"
        if kind not in allowed:
            yield f"Invalid value: '{kind}' at '{place}'. Supported values are: {sorted(allowed)}."
        elif kind in ("input_text", "output_text") and is_blank(part.get("text")):
            yield f"Invalid '{place}.text': the text is blank."
        elif kind == "refusal" and is_blank(part.get("refusal")):
            yield f"Invalid '{place}.refusal': the text is blank."
        elif kind == "input_image" and not (part.get("image_url") or part.get("file_id")):
            yield f"Missing required parameter: '{place}.image_url'."
        elif kind == "input_file" and not any(part.get(key) for key in ("file_data", "file_id", "file_url")):
            yield f"Missing required parameter: '{place}.file_id'."


def _judge_call_or_output(item: dict[str, Any], kind: str, path: str) -> Iterator[str]:
    call_id = item.get("call_id")
    if not isinstance(call_id, str) or not call_id:
        yield f"Missing required parameter: '{path}.call_id'."
    elif len(call_id) > ID_MAX:
        yield (
            f"Invalid '{path}.call_id': string too long. Expected a string with maximum length {ID_MAX}, "
            f"but got a string with length {len(call_id)} instead."
        )
    if kind in ("function_call", "custom_tool_call") and not TOOL_NAME.fullmatch(str(item.get("name"))):
        yield f"Invalid '{path}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'."
    if kind == "function_call" and not is_object_text(item.get("arguments")):
        yield f"Invalid '{path}.arguments': expected the text of a JSON object."
    if kind == "custom_tool_call" and not isinstance(item.get("input"), str):
        yield f"Missing required parameter: '{path}.input'."
    if kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        if isinstance(output, list):
            yield from _judge_parts(output, GIVEN, f"{path}.output")
        elif not isinstance(output, str):
            yield f"Missing required parameter: '{path}.output'."


def _judge_pairs(items: list[dict[str, Any]], *, elsewhere: bool) -> Iterator[str]:
    waiting: dict[str, str] = {}
    seen: set[str] = set()
    for item in items:
        kind, call_id = _kind(item), str(item.get("call_id"))
        if kind in PAIRS:
            if call_id in seen:
                yield f"Duplicate item found with call_id {call_id}."
            seen.add(call_id)
            waiting[call_id] = PAIRS[kind]
        elif kind in OUTPUTS:
            if waiting.pop(call_id, None) == kind:
                continue
            if not elsewhere or call_id in seen:
                yield f"No tool call found for function call output with call_id {call_id}."
        elif not _is_the_models(item):
            late = [one for one, output in waiting.items() if output in SIDE_BY_SIDE]
            yield from (f"No tool output found for function call {one}." for one in late)
            waiting = {one: output for one, output in waiting.items() if one not in late}
    yield from (f"No tool output found for function call {one}." for one in waiting)


def _judge_reasoning(items: list[dict[str, Any]]) -> Iterator[str]:
    for index, item in enumerate(items):
        following = items[index + 1] if index + 1 < len(items) else None
        if _kind(item) == "reasoning" and (following is None or not _is_the_models(following)):
            name = item.get("id", "rs_…")
            yield f"Item '{name}' of type 'reasoning' was provided without its required following item."


def _is_the_models(item: dict[str, Any]) -> bool:
    kind = _kind(item)
    if kind == "message":
        return item.get("role") == "assistant"
    return kind not in OUTPUTS and kind != "mcp_approval_response"
