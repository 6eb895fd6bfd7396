"""Anthropic Messages, as strict as the API, and as older gateways of it where they are stricter (roles alternate)."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from headway.sim.strict.anthropic_blocks import SERVER_RESULTS, SERVER_USES, judge_message
from headway.sim.strict.strings import LONG_TOOL_NAME, is_blank, judge_json

UNANSWERED = (
    "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block "
    "must have a corresponding `tool_result` block in the next message."
)
ORPHAN = (
    "messages.{}.content.{}: unexpected `tool_use_id` found in `tool_result` blocks: {}. Each `tool_result` block must "
    "have a corresponding `tool_use` block in the previous message."
)
TWICE = (
    "messages.{}.content.{}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {}"
)
NO_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."
TRAILING = "messages: final assistant content cannot end with trailing whitespace"
NOT_THINKING = (
    "messages.{}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is "
    "enabled, a final `assistant` message must start with a thinking block"
)


def validate_anthropic(body: Any, *, prefill_allowed: bool = False) -> list[str]:
    """Return the errors that the API answers with; none means that it accepts the body."""
    if errors := judge_json(body):
        return errors
    errors = [*_judge_envelope(body)]
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*errors, "messages: at least one message is required"]
    shape = [error for index, message in enumerate(messages) for error in judge_message(message, index)]
    if shape:
        return errors + shape
    return [
        *errors,
        *_judge_order(messages, prefill_allowed=prefill_allowed),
        *_judge_pairs(messages),
        *_judge_server_work(messages),
        *_judge_thinking(messages, body),
    ]


def _judge_envelope(body: dict[str, Any]) -> Iterator[str]:
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: Field required"
    limit = body.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        yield "max_tokens: Field required"
    yield from _judge_system(body.get("system", ""))
    yield from _judge_tools(body)
    yield from _judge_asked_thinking(body)


def _judge_system(system: Any) -> Iterator[str]:
    if isinstance(system, list):
        if any(not isinstance(block, dict) or block.get("type") != "text" for block in system):
            yield "system: Input should be a list of text blocks"
        elif any(is_blank(block.get("text")) for block in system):
            yield "system: text content blocks must be non-empty"
    elif not isinstance(system, str):
        yield "system: Input should be a valid string"


def _judge_tools(body: dict[str, Any]) -> Iterator[str]:
    tools = body.get("tools")
    for index, tool in enumerate(tools if isinstance(tools, list) else ()):
        if not isinstance(tool, dict):
            yield f"tools.{index}: Input should be a valid dictionary"
            continue
        if not LONG_TOOL_NAME.fullmatch(str(tool.get("name"))):
            yield f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        if tool.get("type") in (None, "custom") and _object(tool.get("input_schema")).get("type") != "object":
            yield f"tools.{index}.custom.input_schema: Field required"
    if body.get("tool_choice") is not None and not tools:
        yield "tool_choice may only be specified while providing tools"


def _judge_asked_thinking(body: dict[str, Any]) -> Iterator[str]:
    thinking, limit = _object(body.get("thinking")), body.get("max_tokens")
    if thinking.get("type") == "enabled":
        budget = thinking.get("budget_tokens")
        if not isinstance(budget, int) or budget < 1024:
            yield "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
        elif isinstance(limit, int) and budget >= limit:
            yield "`max_tokens` must be greater than `thinking.budget_tokens`."
        if _object(body.get("tool_choice")).get("type") in ("any", "tool"):
            yield "Thinking may not be enabled when tool_choice forces tool use."


def _object(value: Any) -> dict[str, Any]:
    """Return an object as it is, and nothing for what is none."""
    return value if isinstance(value, dict) else {}


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _judge_order(messages: list[dict[str, Any]], *, prefill_allowed: bool) -> Iterator[str]:
    if messages[0]["role"] != "user":
        yield 'messages: first message must use the "user" role'
    for before, after in pairwise(messages):
        if before["role"] == after["role"]:
            yield (
                'messages: roles must alternate between "user" and "assistant", '
                f'but found multiple "{after["role"]}" roles in a row'
            )
    last = _blocks(messages[-1])[-1]
    if messages[-1]["role"] == "assistant" and last["type"] not in (*SERVER_USES, *SERVER_RESULTS):
        if not prefill_allowed:
            yield NO_PREFILL
        elif last["type"] == "text" and last["text"] != last["text"].rstrip():
            yield TRAILING


def _judge_pairs(messages: list[dict[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    asked: list[str] = []
    for index, message in enumerate(messages):
        blocks = _blocks(message)
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        for at, block in enumerate(blocks):
            if block["type"] == "tool_use":
                if block["id"] in seen:
                    yield f"messages.{index}.content.{at}: `tool_use` ids must be unique"
                seen.add(block["id"])
        answered: list[str] = []
        leading = True
        for at, block in enumerate(blocks):
            if block["type"] != "tool_result":
                leading = False
                continue
            name = block["tool_use_id"]
            if name not in asked:
                yield ORPHAN.format(index, at, name)
            elif name in answered:
                yield TWICE.format(index, at, name)
            elif leading:
                answered.append(name)
        missing = [name for name in asked if name not in answered]
        if missing:
            yield UNANSWERED.format(index - 1, ", ".join(missing))
        asked = calls
    if asked:
        yield UNANSWERED.format(len(messages) - 1, ", ".join(asked))


def _judge_server_work(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Judge that the provider's own tools have both halves; the newest turn may be unfinished."""
    open_work: dict[str, tuple[int, str]] = {}
    for index, message in enumerate(messages):
        for at, block in enumerate(_blocks(message)):
            if block["type"] in SERVER_USES:
                open_work[block["id"]] = (index, str(block.get("name")))
            elif block["type"] in SERVER_RESULTS:
                name = block.get("tool_use_id")
                if open_work.pop(str(name), None) is None:
                    yield (
                        f"messages.{index}.content.{at}: unexpected `tool_use_id` found in `{block['type']}` blocks: "
                        f"{name}. Each `{block['type']}` block must have a corresponding `server_tool_use` block "
                        "before it."
                    )
    newest = max((i for i, message in enumerate(messages) if message["role"] == "assistant"), default=-1)
    after = [block for message in messages[newest + 1 :] for block in _blocks(message)]
    for name, (index, tool) in open_work.items():
        if index != newest or any(block["type"] != "tool_result" for block in after):
            yield f"`{tool}` tool use with id `{name}` was found without a corresponding `{tool}_tool_result` block"


def _judge_thinking(messages: list[dict[str, Any]], body: dict[str, Any]) -> Iterator[str]:
    thoughts = ("thinking", "redacted_thinking")
    for index, message in enumerate(messages):
        if message["role"] == "assistant" and _blocks(message)[-1]["type"] in thoughts:
            yield f"messages.{index}: The final block in an assistant message cannot be `thinking`."
    manual = _object(body.get("thinking")).get("type") == "enabled"
    if manual and len(messages) > 1 and any(block["type"] == "tool_result" for block in _blocks(messages[-1])):
        first = _blocks(messages[-2])[0]["type"]
        if first not in thoughts:
            yield NOT_THINKING.format(len(messages) - 2, first)
