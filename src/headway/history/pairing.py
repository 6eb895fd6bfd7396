"""Which result belongs to which call, by id and position, in a history where neither can be trusted to be unique.

A result belongs to the nearest earlier turn that has an unanswered call of its id, and there to the first such call,
whole calls before broken ones. When all are answered it is one more result of the latest. A result with no id at all
belongs to the first call that is left unanswered in the turn just before it.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from headway.history.rules.calls import is_malformed
from headway.history.survey import turns_of
from headway.history.wording import NOT_EXECUTED
from headway.messages import CallFragment, Message, ToolCall, ToolResult


class Place(NamedTuple):
    """Where a part stands."""

    message: int
    part: int


class Found:
    """A call and the results that belong to it, in order."""

    def __init__(self, place: Place, call: ToolCall | CallFragment, turn: int) -> None:
        """Know the call; it has no results yet."""
        self.place = place
        self.call = call
        self.turn = turn
        self.malformed = is_malformed(call)
        self.results: list[tuple[Place, ToolResult]] = []

    @property
    def answer(self) -> tuple[Place, ToolResult] | None:
        """Return the result that stays: the first real one, or else the first."""
        return next((found for found in self.results if is_real(found[1])), self.results[0] if self.results else None)


class Pairing(NamedTuple):
    """Every call with its results, and the results without a call."""

    calls: list[Found]
    orphans: list[tuple[Place, ToolResult]]


def is_real(result: ToolResult) -> bool:
    """Say whether a result tells what a call gave, and not only that it gave nothing."""
    # A wire without a mark for errors says it in words; what was written so is known again.
    return not result.is_error and result.text.removeprefix("Error:").strip() != NOT_EXECUTED


class _Waiting:
    """The unanswered calls of one id in one turn."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self.whole: deque[Found] = deque()
        self.malformed: deque[Found] = deque()

    def add(self, found: Found) -> None:
        (self.malformed if found.malformed else self.whole).append(found)

    def take(self) -> Found:
        return (self.whole or self.malformed).popleft()

    def __bool__(self) -> bool:
        return bool(self.whole or self.malformed)


def pair(messages: Sequence[Message]) -> Pairing:
    """Pair all results of a history with its calls."""
    waiting: dict[str, list[_Waiting]] = defaultdict(list)
    latest: dict[str, Found] = {}
    calls: list[Found] = []
    unmatched: list[tuple[Place, ToolResult, int]] = []
    for turn, place, part in _calls_and_results(messages):
        if isinstance(part, ToolResult):
            found = _answered_by_next(waiting[part.call_id]) or latest.get(part.call_id)
            if found is None:
                unmatched.append((place, part, turn))
            else:
                found.results.append((place, part))
            continue
        call = Found(place, part, turn)
        calls.append(call)
        latest[part.id] = call
        groups = waiting[part.id]
        if not groups or groups[-1].turn != turn:
            groups.append(_Waiting(turn))
        groups[-1].add(call)
    return Pairing(calls, _give_nameless(unmatched, calls))


def _calls_and_results(
    messages: Sequence[Message],
) -> Iterator[tuple[int, Place, ToolCall | CallFragment | ToolResult]]:
    for number, turn in enumerate(turns_of(messages)):
        for index in range(turn.start, turn.stop):
            for at, part in enumerate(messages[index].parts):
                if isinstance(part, ToolCall | CallFragment | ToolResult):
                    yield number, Place(index, at), part


def _answered_by_next(groups: list[_Waiting]) -> Found | None:
    """Take the call that the next result of this id answers."""
    if not groups:
        return None
    found = groups[-1].take()
    if not groups[-1]:
        groups.pop()
    return found


def _give_nameless(
    unmatched: list[tuple[Place, ToolResult, int]], calls: list[Found]
) -> list[tuple[Place, ToolResult]]:
    """Give results without an id to the unanswered calls just before them; return the rest."""
    if not unmatched:
        return []
    unanswered: dict[int, deque[Found]] = defaultdict(deque)
    for found in calls:
        if not found.results and not found.malformed:
            unanswered[found.turn].append(found)
    orphans: list[tuple[Place, ToolResult]] = []
    for place, result, turn in unmatched:
        before = unanswered.get(turn - 1)
        if before and not result.call_id.strip():
            before.popleft().results.append((place, result))
        else:
            orphans.append((place, result))
    return orphans
