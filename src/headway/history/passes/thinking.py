"""Thinking is sent back unchanged to its issuer or dropped whole, message by message; it is never edited.

A wire may keep thinking in a message of its own. What follows it there is known to the provider by ids that name it:
when the thinking goes, the messages after it forget what they were read from, and with that these ids.
"""

from collections.abc import Callable

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.edits import Entries, Entry, Log, RepairKind, messages_of, without_empty
from headway.history.rules.thinking import idle_thinkers, lacks_reasoning, may_be_sent
from headway.history.survey import only_thinks, turns_of
from headway.messages import Thinking


def drop_unsendable_thinking(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Drop the thinking of every message that holds some which this endpoint does not take."""
    why = f"dropped thinking that {dialect.issuer!r} did not issue or would not take"
    return drop_thinking(entries, log, why, lambda thinking: not may_be_sent(thinking, dialect))


def drop_idle_thinking(entries: Entries, _dialect: Dialect, log: Log) -> Entries:
    """Drop thinking that led to nothing: the call or the words that followed it are gone."""
    messages = messages_of(entries)
    kept = list(entries)
    for turn in turns_of(messages):
        if turn.role == "assistant":
            for index in idle_thinkers(messages[turn.start : turn.stop]):
                _drop(kept, turn.start + index, log, "dropped thinking that nothing follows")
    return without_empty(kept)


def add_reasoning_to_calls(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Put empty reasoning where some must be replayed and none is known."""
    if not dialect.reasoning_on_calls:
        return entries
    carrying: Entries = []
    for entry in entries:
        if not lacks_reasoning(entry.message):
            carrying.append(entry)
            continue
        log.note(RepairKind.THINKING_ADDED, entry.index, "added empty reasoning to a message with calls")
        carrying.append(entry.holding((Thinking("", dialect.issuer), *entry.message.parts)))
    return carrying


def drop_thinking(entries: Entries, log: Log, why: str, condemns: Callable[[Thinking], bool]) -> Entries:
    """Drop all thinking of every message in which some is condemned."""
    kept = list(entries)
    for number, entry in enumerate(entries):
        if any(isinstance(part, Thinking) and condemns(part) for part in entry.message.parts):
            _drop(kept, number, log, why)
            if not kept[number].message.parts:
                _unbind(kept, number + 1)
    return kept


def forget_thinking(entries: Entries, number: int, log: Log) -> None:
    """Drop the thinking that led to a message which lost a part: its own, and what directly precedes it."""
    _drop(entries, number, log, "dropped the thinking of a message that lost a part")
    first = number
    while first and only_thinks(entries[first - 1].message):
        first -= 1
        _drop(entries, first, log, "dropped thinking that led to what was lost")
    if first < number:
        _unbind(entries, number)


def without_thinking(entry: Entry) -> Entry:
    """Return a message without its thinking."""
    return entry.holding(part for part in entry.message.parts if not isinstance(part, Thinking))


def _drop(entries: Entries, number: int, log: Log, why: str) -> None:
    before = entries[number]
    entries[number] = without_thinking(before)
    if entries[number] is not before:
        log.note(RepairKind.THINKING_DROPPED, before.index, why)


def _unbind(entries: Entries, number: int) -> None:
    """Let the rest of a turn, up to its next thinking, be known by its content alone."""
    for at in range(number, len(entries)):
        message = entries[at].message
        if message.role != "assistant" or any(isinstance(part, Thinking) for part in message.parts):
            return
        if message.raw is not None:
            entries[at] = Entry(entries[at].index, replace(message, raw=None))
