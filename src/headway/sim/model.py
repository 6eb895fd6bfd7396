"""The scripted model: a pure function from a request to what it says. It has no memory but the history.

It does the next step of its task. It repeats a huge call when told only to continue, makes smaller ones when asked for
them, sends only the rest of a draft when one is shown, and goes on with a text where it stopped, all with the habits of
real models.
"""

from collections.abc import Iterator
from typing import Any

from headway.messages import ModelRequest
from headway.sim.memory import Progress, place_of_end, progress_of, recall
from headway.sim.past import past_of
from headway.sim.reading import DraftWish, Wishes, read_wishes, tools_of
from headway.sim.script import FREE_TEXT, Call, Final, Habits, Loop, Say, Script, Think, WriteFile
from headway.sim.summaries import is_asked_to_sum_up, summary_of
from headway.sim.voice import Calling, Speech, Thought, Words

_MISCOUNT = 7


def think_up(request: ModelRequest, script: Script) -> Iterator[Speech]:
    """Say and do the next steps, up to one whose result must be waited for, or to the last words of the turn."""
    if is_asked_to_sum_up(request):
        yield Words(summary_of(request, script))
        return
    memory = recall(script, past_of(request.messages))
    wishes = read_wishes(request)
    steps = [step for i, step in enumerate(script.steps) if i >= memory.next and i not in memory.done]
    has_ended = memory.next > 0 and isinstance(script.steps[memory.next - 1], Final)
    if has_ended and _wants_more_of_a_whole_text(request, wishes):
        return  # what comes next belongs to the next turn
    if not steps:
        yield Words(script.afterwards)
    said = memory.said or _quoted(memory.passage, wishes)
    has_called = False
    for step in steps:
        if has_called and not (isinstance(step, Call | WriteFile) and step.parallel):
            return
        match step:
            case Think(text=text):
                yield Thought(text)
            case Say(text=text) | Final(text=text):
                yield from _rest_of_text(text, said, script.habits)
                said = max(0, said - len(text))
            case Call() | WriteFile() | Loop():
                yield _act(step, progress_of(step, memory.past), wishes, request, script.habits)
                has_called = True
        if isinstance(step, Final):
            return


def _rest_of_text(text: str, said: int, habits: Habits) -> Iterator[Words]:
    """Say a text, or the rest of it if its beginning was said before, in the way this model has."""
    if not said:
        yield Words(text)
    elif said < len(text):
        rest = text[max(0, said - habits.overlap) :]
        if habits.space == "lost":
            rest = rest.lstrip(" ")
        elif habits.space == "doubled" and rest.startswith(" "):
            rest = f" {rest}"
        yield Words(habits.preamble + rest)


def _quoted(passage: str, wishes: Wishes) -> int:
    """Return how much of a passage the user has, by the paragraphs that quote it."""
    parts = [part for part in wishes.quoted.split("\n\n") if len(part) >= 12 and part.rstrip()[-16:] in passage]
    return max((place_of_end(passage, part) for part in parts), default=0)


def _wants_more_of_a_whole_text(request: ModelRequest, wishes: Wishes) -> bool:
    """Say whether it is asked to go on with a text that it has said to the end: then there is nothing to add."""
    spoken = [message for message in request.messages if message.role == "assistant"]
    end = spoken[-1].text.rstrip() if spoken else ""
    if spoken and request.messages[-1] is spoken[-1]:
        return True
    return bool(end) and any(part.strip() and end.endswith(part.strip()) for part in wishes.quoted.split("\n\n"))


def _act(
    step: Call | WriteFile | Loop, progress: Progress, wishes: Wishes, request: ModelRequest, habits: Habits
) -> Calling | Words:
    """Make the call of a step, in the form that was asked for."""
    if isinstance(step, Loop):
        step = step.calls[progress.rounds % len(step.calls)]
    if len(progress.failures) >= habits.gives_up_after:
        return Words(f"I could not finish: `{step.tool}` failed. {progress.failures[-1].strip().splitlines()[0]}")
    if step.tool not in tools_of(request) or (request.tool_choice and request.tool_choice.mode == "none"):
        return Words(f"I would now call `{step.tool}`, but it was not offered to me.")
    if wishes.draft is not None and habits.uses_drafts:
        rest = _rest_of_draft(step, wishes.draft, habits, wishes.smaller if habits.obeys_sizes else None)
        if rest is not None:
            return rest
    if isinstance(step, Call):
        return Calling(step.tool, step.arguments, step.text)
    return _write(step, progress, wishes, habits)


def _write(step: WriteFile, progress: Progress, wishes: Wishes, habits: Habits) -> Calling:
    """Write all of a file, or the next piece of it. Pieces go on as they began, told so again or not."""
    left = step.content[progress.reached :]
    asked = wishes.smaller if habits.obeys_sizes else None
    size = (asked or habits.piece) if asked is not None else progress.piece if progress.reached else len(left)
    behind = {step.append_as: True} if progress.reached else {}
    return Calling(step.tool, {step.path_as: step.path, **behind, step.content_as: _piece(left, size)})


def _piece(text: str, size: int) -> str:
    """Return the beginning of a text, up to the end of a line if one is near the size."""
    if len(text) <= size:
        return text
    line = text.rfind("\n", size * 3 // 4, size)
    return text[: line + 1] if line > 0 else text[:size]


def _rest_of_draft(step: Call | WriteFile, wish: DraftWish, habits: Habits, size: int | None) -> Calling | None:
    """Send what is missing of a draft, or the next piece of it; None if it is no draft of this step's call."""
    whole = _arguments(step)
    if wish.wants_fields:
        missing = {name: value for name, value in whole.items() if name not in wish.complete}
        return Calling("continue_draft", {"draft": wish.id, "offset": 0, "rest": "", "more": missing})
    field = step.content_as if isinstance(step, WriteFile) else wish.field or FREE_TEXT
    text = whole.get(field)
    if not isinstance(text, str):
        return None
    place = _place_of_tail(text, wish)
    if place is None:
        return None
    begin = max(0, place - habits.overlap)
    offsets = {"honest": wish.offset - (place - begin), "as_told": wish.offset, "wrong": wish.offset + _MISCOUNT}
    offset = offsets[habits.offset] if begin < place else wish.offset
    names = list(whole)
    more = {name: whole[name] for name in names[names.index(field) + 1 :]}
    rest = _piece(text[begin:], size or len(text))
    arguments = {"draft": wish.id, "offset": max(0, offset), "rest": rest}
    if begin + len(rest) < len(text):
        return Calling("continue_draft", {**arguments, "last": False})
    return Calling("continue_draft", {**arguments, **({"more": more} if more else {})})


def _arguments(step: Call | WriteFile) -> dict[str, Any]:
    """Return the arguments of the whole call."""
    return step.given if isinstance(step, Call) else {step.path_as: step.path, step.content_as: step.content}


def _place_of_tail(text: str, wish: DraftWish) -> int | None:
    """Return where to go on: behind the shown end, at the place nearest to the offset; None if it shows another text.

    If nothing is shown, the offset must do.
    """
    tail = wish.tail[-100:]
    if not tail:
        return min(wish.offset, len(text))
    places = []
    found = text.find(tail)
    while found >= 0:
        places.append(found + len(tail))
        found = text.find(tail, found + 1)
    return min(places, key=lambda place: abs(place - wish.offset), default=None)
