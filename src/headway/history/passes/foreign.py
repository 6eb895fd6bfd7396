"""What only one wire knows: other wires' parts are dropped, and a provider's own work that lacks its other half."""

from itertools import groupby

from headway.dialect import Dialect
from headway.history.edits import Entries, Log, RepairKind, messages_of, result_holding, without_empty
from headway.history.finding import kind_of
from headway.history.opaque import is_unreadable
from headway.history.passes.thinking import forget_thinking
from headway.history.server_work import Unpaired, unpaired_work
from headway.messages import Opaque, Part, ToolResult


def drop_foreign_parts(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Drop what only another wire knows, and what is malformed, in messages and in results."""

    def kept(index: int, part: Part) -> bool:
        if not isinstance(part, Opaque):
            return True
        if part.raw.wire == dialect.wire and not is_unreadable(part):
            return True
        if part.raw.wire == dialect.wire:
            log.note(RepairKind.MALFORMED_DROPPED, index, f"dropped a malformed part: {kind_of(part)}")
            return False
        words = f"dropped a part that only {part.raw.wire} knows: {kind_of(part)}"
        log.note(RepairKind.FOREIGN_DROPPED, index, words)
        return False

    def within(index: int, part: Part) -> Part:
        if not isinstance(part, ToolResult):
            return part
        return result_holding(part, (one for one in part.parts if kept(index, one)))

    return [
        entry.holding(within(entry.index, part) for part in entry.message.parts if kept(entry.index, part))
        for entry in entries
    ]


def drop_unpaired_work(entries: Entries, _dialect: Dialect, log: Log, *, begins_elsewhere: bool = False) -> Entries:
    """Drop a provider's own work that lacks its other half, and the thinking of the message that loses it."""
    whole = entries
    # What ends a turn decides whether the provider goes on with it, so a loss there can be followed by another.
    while not begins_elsewhere and (unpaired := unpaired_work(messages_of(whole))):
        whole = _without_work(whole, unpaired, log)
    return whole


def _without_work(entries: Entries, unpaired: list[Unpaired], log: Log) -> Entries:
    whole = list(entries)
    for number, losses in groupby(unpaired, key=lambda found: found.message):
        entry = whole[number]
        lost = {found.at: found.part for found in losses}
        for part in lost.values():
            log.note(RepairKind.WORK_DROPPED, entry.index, f"dropped {kind_of(part)}, which lacks its other half")
        whole[number] = entry.holding(part for at, part in enumerate(entry.message.parts) if at not in lost)
        forget_thinking(whole, number, log)
    return without_empty(whole)
