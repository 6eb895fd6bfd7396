"""Where a model is in its task, found out from the history alone: what it said, what it called, what came back.

It believes what it reads. A call counts as done if its result does not say otherwise, and a step also counts as done if
the assistant is made to claim so in words that are not its own: that is how real models are fooled.
"""

import re
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

from headway.messages import Message, Text, ToolCall, ToolResult
from headway.sim.script import Call, Final, Loop, Say, Script, Step, Think, WriteFile
from headway.wire.json_text import BadJson, strict_object

_NOT_RUN = re.compile(
    r"not (?:executed|run|complete)|interrupted|was (?:cut|dropped)|does not fit|must still be given", re.IGNORECASE
)
_FAILED = re.compile(r"\s*(?:error|failed|\w+Error\b)", re.IGNORECASE)
_SUCCESS = re.compile(r"\b(?:wrote|written|saved|created|finished|completed?|done|succe\w+)\b", re.IGNORECASE)
_TAILS = (200, 100, 50, 25, 16)
"""How long an end of a text must be to be found again in another, longest first."""


class Verdict(Enum):
    """What a result says about its call."""

    WORKED = "worked"
    FAILED = "failed"
    NOT_RUN = "not_run"


class Said(Struct, frozen=True):
    """Words of the assistant."""

    text: str


class Did(Struct, frozen=True):
    """A call of the assistant, with what came of it."""

    tool: str
    arguments: dict[str, Any]
    verdict: Verdict
    result: str


Past: TypeAlias = Sequence[Said | Did]


class Memory(Struct, frozen=True):
    """Where the model is: the next step, and how far it has come with it."""

    next: int
    done: frozenset[int]
    reached: int = 0
    """Characters of the next step's text or content that are there already."""
    piece: int = 0
    """The size of the last piece of it that was written."""
    rounds: int = 0
    """Calls of a loop that were made."""
    failures: tuple[str, ...] = ()
    """What came back from calls of the next step that failed."""


def past_of(messages: Sequence[Message]) -> Past:
    """Return what the assistant said and did, in order."""
    results = {result.call_id: result for message in messages for result in message.results}
    past: list[Said | Did] = []
    for message in messages:
        if message.role != "assistant":
            continue
        for part in message.parts:
            if isinstance(part, Text):
                past.append(Said(part.text))
            elif isinstance(part, ToolCall):
                past.append(_did(part, results.get(part.id)))
    return past


def recall(script: Script, past: Past) -> Memory:
    """Find the next step."""
    done: set[int] = set()
    at = 0
    for i, step in enumerate(script.steps):
        found = _find(step, past, at)
        if found is None and isinstance(step, WriteFile | Call) and _claimed(step, past, script):
            found = at
        if found is not None:
            done.add(i)
            at = found
    last = max(done, default=-1)
    skipped = (i for i in range(last) if i not in done and isinstance(script.steps[i], Call | WriteFile))
    following = next(skipped, last + 1)
    return _progress(script, following, frozenset(done), past[at:])


def _did(call: ToolCall, result: ToolResult | None) -> Did:
    try:
        arguments = strict_object(call.arguments)
    except BadJson:
        arguments = {}
    if result is None or _NOT_RUN.search(result.text[:400]):
        verdict = Verdict.NOT_RUN
    else:
        verdict = Verdict.FAILED if result.is_error or _FAILED.match(result.text) else Verdict.WORKED
    return Did(call.name, arguments, verdict, result.text if result else "")


def _find(step: Step, past: Past, at: int) -> int | None:
    """Return where in the past a step is over; None if it is not."""
    match step:
        case Say(text=text) | Final(text=text):
            return next((i + 1 for i in range(at, len(past)) if _heard_all(text, past[at : i + 1])), None)
        case Call():
            return next((i + 1 for i in range(at, len(past)) if _is_call(step, past[i])), None)
        case WriteFile():
            return next(
                (i + 1 for i in range(at, len(past)) if _written(step, past[at : i + 1])[0] >= len(step.content)), None
            )
        case Loop() | Think():
            return None


def _progress(script: Script, following: int, done: frozenset[int], past: Past) -> Memory:
    """Say how far the next step has come."""
    step = next((step for step in script.steps[following:] if not isinstance(step, Think)), None)
    reached = piece = rounds = 0
    failures: tuple[str, ...] = ()
    match step:
        case Say(text=text) | Final(text=text):
            reached = place_of_end(text, _joined(past))
        case WriteFile():
            reached, piece = _written(step, past)
            failures = _failures(past, step.tool)
        case Call():
            failures = _failures(past, step.tool)
        case Loop():
            rounds = sum(isinstance(one, Did) and one.verdict is not Verdict.NOT_RUN for one in past)
        case _:
            pass
    return Memory(following, done, reached, piece, rounds, failures)


def _failures(past: Past, tool: str) -> tuple[str, ...]:
    return tuple(
        one.result for one in past if isinstance(one, Did) and one.tool == tool and one.verdict is Verdict.FAILED
    )


def _is_call(step: Call, one: Said | Did) -> bool:
    return (
        isinstance(one, Did)
        and (one.tool, one.arguments) == (step.tool, step.arguments)
        and one.verdict is Verdict.WORKED
    )


def _written(step: WriteFile, past: Past) -> tuple[int, int]:
    """Return how much of the file is there, and how large the last piece was."""
    reached = piece = 0
    for one in past:
        if not isinstance(one, Did) or one.verdict is not Verdict.WORKED:
            continue
        if one.tool == "continue_draft":
            text, appended = one.arguments.get("rest"), True
        elif one.tool == step.tool and one.arguments.get(step.path_as) == step.path:
            text, appended = one.arguments.get(step.content_as), bool(one.arguments.get(step.append_as))
        else:
            continue
        if not isinstance(text, str):
            continue
        found = step.content.find(text, reached if appended and step.content.startswith(text, reached) else 0)
        reached, piece = (found + len(text), len(text)) if found >= 0 else (reached if appended else 0, piece)
    return reached, piece


def _joined(past: Past) -> str:
    """Return the words since the last call."""
    acted = max((i for i, one in enumerate(past) if isinstance(one, Did)), default=-1)
    return "".join(one.text for one in past[acted + 1 :] if isinstance(one, Said))


def _heard_all(text: str, past: Past) -> bool:
    if not isinstance(past[-1], Said):
        return False
    joined = "".join(one.text for one in past if isinstance(one, Said))
    return place_of_end(text, joined) >= len(text.rstrip())


def place_of_end(text: str, said: str) -> int:
    """Return how far into a text the end of what was said reaches; 0 if it is about something else."""
    said, whole = said.rstrip(), text.rstrip()
    if not said or not whole:
        return len(text) if not whole else 0
    if said.endswith(whole):
        return len(text)
    if whole.startswith(said):
        return len(said)
    for size in _TAILS:
        if len(said) >= size and (found := whole.rfind(said[-size:])) >= 0:
            return found + size
    return 0


def _claimed(step: WriteFile | Call, past: Past, script: Script) -> bool:
    """Say whether the assistant is made to claim that a step was done, in words that are not its own."""
    own = "\n".join(one.text for one in script.steps if isinstance(one, Say | Final))
    what = step.path if isinstance(step, WriteFile) else step.tool
    return any(
        isinstance(one, Said) and what in one.text and bool(_SUCCESS.search(one.text)) and one.text.strip() not in own
        for one in past
    )
