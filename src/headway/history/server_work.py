"""Tools that ran at the provider's side, in parts that only their wire knows: a piece of work and what it gave.

Two shapes are known. `…tool_use` opens under its `id`, a `…tool_result` closes it by `tool_use_id`; the newest turn
may leave it open, because the provider goes on with it. A `…_call` with a `call_id` is closed by its `…_call_output`.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from headway.history.survey import turns_of
from headway.messages import Message, Opaque, ToolResult


class _Side(Enum):
    OPENS = "opens"
    CLOSES = "closes"


class _Work(NamedTuple):
    side: _Side
    id: str
    provider_goes_on: bool


class Unpaired(NamedTuple):
    """A part that lacks its other half: its message, its place in it, and the part."""

    message: int
    at: int
    part: Opaque


def unpaired_work(messages: Sequence[Message]) -> list[Unpaired]:
    """Return the parts that lack their other half or repeat an id, in order."""
    seen: set[str] = set()
    waiting: dict[str, tuple[Unpaired, bool]] = {}
    unpaired: list[Unpaired] = []
    for index, message in enumerate(messages):
        for at, part in enumerate(message.parts):
            if not isinstance(part, Opaque) or (work := _work(part)) is None:
                continue
            found = Unpaired(index, at, part)
            if work.side is _Side.OPENS and work.id not in seen:
                seen.add(work.id)
                waiting[work.id] = found, work.provider_goes_on
            elif work.side is _Side.OPENS or waiting.pop(work.id, None) is None:
                unpaired.append(found)
    if waiting:
        newest = _newest_turn(messages)
        unpaired += [found for found, goes_on in waiting.values() if not (goes_on and found.message in newest)]
    return sorted(unpaired, key=lambda found: (found.message, found.at))


def _work(part: Opaque) -> _Work | None:
    value = part.raw.value
    kind = value.get("type")
    if not isinstance(kind, str):
        return None
    if kind.endswith("tool_use") and isinstance(value.get("id"), str):
        return _Work(_Side.OPENS, value["id"], provider_goes_on=True)
    if kind.endswith("tool_result") and isinstance(value.get("tool_use_id"), str):
        return _Work(_Side.CLOSES, value["tool_use_id"], provider_goes_on=True)
    call_id = value.get("call_id")
    if kind.endswith("_call") and isinstance(call_id, str):
        return _Work(_Side.OPENS, call_id, provider_goes_on=False)
    if kind.endswith("_call_output") and isinstance(call_id, str):
        return _Work(_Side.CLOSES, call_id, provider_goes_on=False)
    return None


def _newest_turn(messages: Sequence[Message]) -> range:
    """Return the indexes of the turn that the provider goes on with: results follow it, or its own work ends it."""
    turns = turns_of(messages)
    if not turns:
        return range(0)
    newest = turns[-1]
    goes_on = any(isinstance(part, Opaque) for part in messages[-1].parts[-1:])
    if len(turns) > 1 and newest.role == "user":
        answers = messages[newest.start : newest.stop]
        goes_on = all(isinstance(part, ToolResult) for message in answers for part in message.parts)
        newest = turns[-2]
    return range(newest.start, newest.stop) if newest.role == "assistant" and goes_on else range(0)
