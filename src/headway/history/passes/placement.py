"""Where calls and results stand: a turn's calls together where that is asked for, their results directly after them."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.blanks import without_blanks
from headway.history.edits import Entries, Entry, Log, RepairKind, messages_of
from headway.history.finding import quoted
from headway.history.rules.calls import is_scattered
from headway.history.survey import Turn, turns_of
from headway.history.wording import NOT_EXECUTED, RESULTS_SEEN
from headway.messages import Message, Part, Text, ToolCall, ToolResult, assistant


def join_turns(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Join the messages of a turn whose calls or thinking are spread over several, where a message is a turn."""
    if not dialect.whole_turns:
        return entries
    messages = messages_of(entries)
    joined: Entries = []
    for turn in turns_of(messages):
        run = messages[turn.start : turn.stop]
        if turn.role != "assistant" or not is_scattered(run):
            joined += entries[turn.start : turn.stop]
            continue
        index = entries[turn.start].index
        log.note(RepairKind.TURN_JOINED, index, f"joined {len(run)} messages of one turn")
        raw = next((message.raw for message in run if message.calls), run[0].raw)
        whole = Message("assistant", tuple(part for message in run for part in message.parts), raw)
        joined.append(Entry(index, replace(whole, parts=tuple(without_blanks(whole, dialect)))))
    return joined


class _Placed(NamedTuple):
    """A result, and the number of the entry it stands in; none for a new one."""

    result: ToolResult
    source: int | None


def place_results(entries: Entries, _dialect: Dialect, log: Log) -> Entries:
    """Put every result directly behind the turn of its call, in the order of the calls, and add those that lack.

    A turn that has all its results right behind it, in whatever order, is left alone.
    """
    messages = messages_of(entries)
    turns = turns_of(messages)
    found = {r.call_id: _Placed(r, number) for number, message in enumerate(messages) for r in message.results}
    blocks: dict[int, list[_Placed]] = {}
    for turn, following in zip_longest(turns, turns[1:]):
        calls = [call for message in messages[turn.start : turn.stop] for call in message.calls]
        ready = _ids_in_place(messages, following)
        if not ready.issuperset(call.id for call in calls):
            blocks[turn.stop - 1] = list(_block(calls, ready, found, entries, turn, log))
    if not blocks:
        return entries
    taken = {placed.result.call_id for block in blocks.values() for placed in block}
    placed_entries: Entries = []
    for number, entry in enumerate(entries):
        rest = entry.holding(part for part in entry.message.parts if not _is_taken(part, taken))
        if rest.message.parts:
            placed_entries.append(rest)
        if number in blocks:
            placed_entries += _messages_for(blocks[number], entries, entry.index)
    return placed_entries


def _ids_in_place(messages: Sequence[Message], following: Turn | None) -> set[str]:
    """Return the ids of the results that open a user's turn."""
    ids: set[str] = set()
    if following is None or following.role != "user":
        return ids
    for message in messages[following.start : following.stop]:
        for part in message.parts:
            if not isinstance(part, ToolResult):
                return ids
            ids.add(part.call_id)
    return ids


def _block(
    calls: list[ToolCall], ready: set[str], found: dict[str, _Placed], entries: Entries, turn: Turn, log: Log
) -> Iterator[_Placed]:
    """Return one result for each call of a turn."""
    for call in calls:
        placed = found.get(call.id)
        if placed is None or placed.source is None:
            words = f"added a result for the call {quoted(call.id)} to {quoted(call.name)}: {NOT_EXECUTED}"
            log.note(RepairKind.RESULT_ADDED, entries[turn.stop - 1].index, words, call.id)
            missing = ToolResult(call.id, (Text(NOT_EXECUTED),), is_error=True, freeform=call.freeform)
            yield _Placed(missing, None)
            continue
        if call.id not in ready:
            words = f"moved the result of the call {quoted(call.id)} directly behind it"
            log.note(RepairKind.RESULT_MOVED, entries[placed.source].index, words, call.id)
        yield placed


def _is_taken(part: Part, taken: set[str]) -> bool:
    return isinstance(part, ToolResult) and part.call_id in taken


def _messages_for(block: list[_Placed], entries: Entries, index: int) -> Iterable[Entry]:
    """Return the messages of a block; one whose parts stay together in their order is the very same message."""
    for source, group in groupby(block, key=lambda placed: placed.source):
        results = tuple(placed.result for placed in group)
        if source is not None and results == entries[source].message.parts:
            yield entries[source]
        else:
            yield Entry(index, Message("user", results))


def separate_results_from_words(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Put a short assistant message between results and whoever speaks next, where that is asked for."""
    if not dialect.assistant_after_results:
        return entries
    separated: Entries = []
    after_results = False
    for entry in entries:
        for is_result, group in groupby(entry.message.parts, lambda part: isinstance(part, ToolResult)):
            parts = tuple(group)
            if after_results and not is_result and entry.message.role != "assistant":
                words = "put an assistant message between results and what follows"
                log.note(RepairKind.ASSISTANT_ADDED, entry.index, words)
                separated.append(Entry(entry.index, assistant(RESULTS_SEEN)))
            after_results = is_result
            whole = len(parts) == len(entry.message.parts)
            separated.append(entry if whole else Entry(entry.index, replace(entry.message, parts=parts, raw=None)))
    return separated
