"""Where a model is in its task, found out from the history alone: what it said, what it called, what came back.

It believes what it reads. A call counts as done if its result does not say otherwise, and a step also counts as done if
the assistant is made to claim so in words that are not its own: that is how real models are fooled.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from headway.sim.past import Did, Heard, One, Past, Said, Verdict
from headway.sim.script import Call, Final, Loop, Say, Script, Step, WriteFile
from headway.sim.summaries import is_noted

_SUCCESS = re.compile(r"\b(?:wrote|written|saved|created|finished|completed?|done|succe\w+)\b", re.IGNORECASE)
_TAILS = (200, 100, 50, 25, 16)
"""How long an end of a text must be to be found again in another, longest first."""

_CUTS_OF_A_TEXT = 12
"""In so many pieces may a text stand in the history and still be known."""


class Memory(Struct, frozen=True):
    """Where the model is: the next step, those that are done, and the past since the last of them."""

    next: int
    done: frozenset[int]
    past: Past
    passage: str = ""
    """All words of the next steps up to a call or the end of the turn; one reply says them as one text."""
    said: int = 0
    """How much of the passage was said already."""


class Progress(Struct, frozen=True):
    """How far a step that calls a tool has come."""

    reached: int = 0
    """Characters of its content that are there already."""
    piece: int = 0
    """The size of the last piece of it that was written."""
    rounds: int = 0
    """Calls of a loop that were made."""
    failures: tuple[str, ...] = ()
    """What came back from calls that failed."""


def recall(script: Script, past: Past) -> Memory:
    """Find the next step."""
    parts = list(_parts(script.steps))
    done: set[int] = set()
    at = began = 0
    for indexes, part in parts:
        is_parallel = isinstance(part, WriteFile | Call) and part.parallel
        began = began if is_parallel else at
        found = _find(part, past, began)
        if (
            found is None
            and isinstance(part, WriteFile | Call)
            and (_claimed(part, past, script) or is_noted(part, past))
        ):
            found = at
        if found is not None:
            done |= set(indexes)
            at = max(at, found)
    last = max(done, default=-1)
    skipped = (i for i in range(last) if i not in done and isinstance(script.steps[i], Call | WriteFile))
    following = next(skipped, last + 1)
    coming = next((part for indexes, part in parts if indexes[-1] >= following), None)
    passage = coming if isinstance(coming, str) else ""
    return Memory(following, frozenset(done), past[at:], passage, place_of_end(passage, _joined(past[at:])))


def progress_of(step: Call | WriteFile | Loop, past: Past) -> Progress:
    """Say how far a step has come that is not done."""
    match step:
        case WriteFile():
            reached, piece = [(0, 0), *_writing(step, past)][-1]
            return Progress(reached, piece, failures=_failures(past, step.tool))
        case Call():
            return Progress(failures=_failures(past, step.tool))
        case Loop():
            made = sum(isinstance(one, Did) and one.verdict is not Verdict.NOT_RUN for one in past)
            return Progress(rounds=made)


def _parts(steps: Sequence[Step]) -> Iterator[tuple[tuple[int, ...], str | Call | WriteFile | Loop]]:
    """Give the steps with their indexes; words that one reply says together are one part. Thoughts leave no trace."""
    indexes: tuple[int, ...] = ()
    passage = ""
    for i, step in enumerate(steps):
        if isinstance(step, Say | Final):
            indexes, passage = (*indexes, i), passage + step.text
        if passage and isinstance(step, Final | Call | WriteFile | Loop):
            yield indexes, passage
            indexes, passage = (), ""
        if isinstance(step, Call | WriteFile | Loop):
            yield (i,), step
    if passage:
        yield indexes, passage


def _find(part: str | Call | WriteFile | Loop, past: Past, at: int) -> int | None:
    """Return where in the past a part is over; None if it is not."""
    places = range(at, len(past))
    match part:
        case str():
            return next((i + 1 for i in places if _was_said(part, past[max(at, i - _CUTS_OF_A_TEXT) : i + 1])), None)
        case Call():
            return next((i + 1 for i in places if _is_call(part, past[i])), None)
        case WriteFile():
            written = zip(places, _writing(part, past[at:]), strict=True)
            return next((i + 1 for i, (reached, _) in written if reached >= len(part.content)), None)
        case Loop(until=until):
            return next((i + 1 for i in places if until and re.search(until, _told(past[i]), re.IGNORECASE)), None)


def _told(one: One) -> str:
    """Return what the model was told by the user or by a result."""
    return "" if isinstance(one, Said) else one.text if isinstance(one, Heard) else one.result


def _failures(past: Past, tool: str) -> tuple[str, ...]:
    return tuple(
        one.result for one in past if isinstance(one, Did) and one.tool == tool and one.verdict is Verdict.FAILED
    )


def _is_call(step: Call, one: One) -> bool:
    return (
        isinstance(one, Did) and (one.tool, one.arguments) == (step.tool, step.given) and one.verdict is Verdict.WORKED
    )


def _writing(step: WriteFile, past: Past) -> Iterator[tuple[int, int]]:
    """Give, after each thing of the past, how much of the file is there and how large the last piece was."""
    reached = piece = 0  # it keeps to a size, although pieces end with a line and so a bit before it
    for one in past:
        text, appends = _piece_of(step, one)
        if text is not None:
            follows = appends and step.content.startswith(text, reached)
            found = reached if follows else step.content.find(text)
            if found >= 0:
                reached = found + len(text)
                piece = piece if piece * 3 <= len(text) * 4 <= piece * 4 else len(text)
            elif not appends:
                reached = 0
        yield reached, piece


def _piece_of(step: WriteFile, one: One) -> tuple[str | None, bool]:
    """Return the text that a call brought to the file, and whether it stands behind what was there."""
    if not isinstance(one, Did) or one.verdict is not Verdict.WORKED:
        return None, False
    given = one.arguments
    if one.tool == "continue_draft":
        return given.get("rest"), True
    if one.tool == step.tool and given.get(step.path_as) == step.path:
        return given.get(step.content_as), bool(given.get(step.append_as))
    return None, False


def _joined(past: Past) -> str:
    """Return the words since the last call."""
    acted = max((i for i, one in enumerate(past) if isinstance(one, Did)), default=-1)
    return "".join(one.text for one in past[acted + 1 :] if isinstance(one, Said))


def _was_said(text: str, past: Past) -> bool:
    return isinstance(past[-1], Said) and place_of_end(text, _joined(past)) >= len(text.rstrip())


def place_of_end(text: str, said: str) -> int:
    """Return how far into a text the end of what was said reaches; 0 if it is about something else.

    The space at the end is looked for as it stands; some clients take it away, so it may also be missing.
    """
    if not text.strip():
        return len(text)
    return _end_in(text, said) or _end_in(text.rstrip(), said.rstrip())


def _end_in(text: str, said: str) -> int:
    if not said:
        return 0
    if said.endswith(text):
        return len(text)
    if text.startswith(said):
        return len(said)
    for size in _TAILS:
        if len(said) >= size and (found := text.rfind(said[-size:])) >= 0:
            return found + size
    return next((size for size in range(_TAILS[-1], 3, -1) if said.endswith(text[:size])), 0)


def _claimed(step: WriteFile | Call, past: Past, script: Script) -> bool:
    """Say whether the assistant is made to claim that a step was done, in words that are not its own."""
    own = "\n".join(one.text for one in script.steps if isinstance(one, Say | Final))
    what = step.path if isinstance(step, WriteFile) else step.tool
    return any(
        isinstance(one, Said) and what in one.text and bool(_SUCCESS.search(one.text)) and one.text.strip() not in own
        for one in past
    )
