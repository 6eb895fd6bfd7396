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


def unpaired_work(messages: Sequence[Message]) -> list[tuple[int, Opaque]]:
    """Return the parts that lack their other half or repeat an id, each with the index of its message."""
    seen: set[str] = set()
    open_work: dict[str, tuple[int, Opaque, bool]] = {}
    unpaired: list[tuple[int, Opaque]] = []
    for index, message in enumerate(messages):
        for part in message.parts:
            work = _work(part) if isinstance(part, Opaque) else None
            if work is None or not isinstance(part, Opaque):
                continue
            if work.side is _Side.CLOSES:
                if open_work.pop(work.id, None) is None:
                    unpaired.append((index, part))
                continue
            if work.id in seen:
                unpaired.append((index, part))
                continue
            seen.add(work.id)
            open_work[work.id] = (index, part, work.provider_goes_on)
    if open_work:
        going_on = _newest_turn(messages)
        left = open_work.values()
        unpaired += [(index, part) for index, part, goes_on in left if not (goes_on and index in going_on)]
    return sorted(unpaired, key=lambda found: found[0])


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
