"""The past as a model sees it in a history: what it said, what it heard, and what it did, with what came of it."""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

from headway.messages import Message, Text, ToolCall, ToolResult
from headway.sim.script import FREE_TEXT
from headway.wire.json_text import BadJson, strict_object

_NOT_RUN = re.compile(
    r"not (?:executed|run|complete)|interrupted|was (?:cut|dropped)|does not fit|must still be given", re.IGNORECASE
)
_FAILED = re.compile(r"\s*(?:error|failed|unknown outcome|\w+Error\b)", re.IGNORECASE)


class Verdict(Enum):
    """What a result says about its call."""

    WORKED = "worked"
    FAILED = "failed"
    NOT_RUN = "not_run"


class Said(Struct, frozen=True):
    """Words of the assistant."""

    text: str


class Heard(Struct, frozen=True):
    """Words of the user."""

    text: str


class Did(Struct, frozen=True):
    """A call of the assistant, with what came of it."""

    tool: str
    arguments: dict[str, Any]
    verdict: Verdict
    result: str


One: TypeAlias = Said | Heard | Did
Past: TypeAlias = Sequence[One]


def past_of(messages: Sequence[Message]) -> Past:
    """Return what was said, heard and done, in order."""
    results = {result.call_id: result for message in messages for result in message.results}
    past: list[One] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text):
                past.append(Said(part.text) if message.role == "assistant" else Heard(part.text))
            elif isinstance(part, ToolCall):
                past.append(_did(part, results.get(part.id)))
    return past


def _did(call: ToolCall, result: ToolResult | None) -> Did:
    try:
        arguments = {FREE_TEXT: call.arguments} if call.freeform else strict_object(call.arguments)
    except BadJson:
        arguments = {}
    if result is None or _NOT_RUN.search(result.text[:400]):
        verdict = Verdict.NOT_RUN
    else:
        verdict = Verdict.FAILED if result.is_error or _FAILED.match(result.text) else Verdict.WORKED
    return Did(call.name, arguments, verdict, result.text if result else "")
