"""The shapes in which the encoder writes: parts of items, calls, and the response around them."""

from typing import Any

from msgspec import Struct

from headway.events import StreamOpened


class PartShape(Struct, frozen=True):
    """How one kind of part is written: the item it belongs to, the names of its events, where its text stands."""

    item: str
    parts: str
    index: str
    stream: str
    envelope: str
    field: str
    part: dict[str, Any]
    extra: dict[str, Any] = {}


TEXT = PartShape(
    item="message",
    parts="content",
    index="content_index",
    stream="response.output_text",
    envelope="response.content_part",
    field="text",
    part={"type": "output_text", "annotations": [], "logprobs": []},
    extra={"logprobs": []},
)
REFUSAL = PartShape(
    item="message",
    parts="content",
    index="content_index",
    stream="response.refusal",
    envelope="response.content_part",
    field="refusal",
    part={"type": "refusal"},
)
SUMMARY = PartShape(
    item="reasoning",
    parts="summary",
    index="summary_index",
    stream="response.reasoning_summary_text",
    envelope="response.reasoning_summary_part",
    field="text",
    part={"type": "summary_text"},
)

REASONING = PartShape(
    item="reasoning",
    parts="content",
    index="content_index",
    stream="response.reasoning_text",
    envelope="response.content_part",
    field="text",
    part={"type": "reasoning_text"},
)
"""How open-weight servers tell their reasoning. It is only finished here, never begun."""


class CallShape(Struct, frozen=True):
    """How one kind of call is written."""

    item: str
    prefix: str
    stream: str
    field: str


FUNCTION = CallShape("function_call", "fc", "response.function_call_arguments", "arguments")
CUSTOM = CallShape("custom_tool_call", "ctc", "response.custom_tool_call_input", "input")


def new_item(kind: str, item_id: str) -> dict[str, Any]:
    """Return the object of a message or reasoning item that has said nothing yet."""
    if kind == "message":
        return {"type": kind, "id": item_id, "status": "in_progress", "role": "assistant", "content": []}
    return {"type": kind, "id": item_id, "status": "in_progress", "summary": []}


def unfinished(item: dict[str, Any]) -> str:
    """Return the status of an item that ends before it is finished; one kind of item has a word of its own."""
    return "failed" if item["type"] == "image_generation_call" else "incomplete"


def response_object(opened: StreamOpened, created_at: int) -> dict[str, Any]:
    """Return the object that opens and ends a stream, or is the whole reply; clients need every field of it."""
    return {
        "id": opened.id,
        "object": "response",
        "created_at": created_at,
        "model": opened.model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": None,
        "top_p": None,
        "usage": None,
    }
