"""System messages where an endpoint takes none: the first ones go to its own place for them, others to the user."""

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.edits import Entries, Entry, Log, RepairKind
from headway.messages import Text


def place_system(entries: Entries, dialect: Dialect, log: Log, *, above: list[Text] | None = None) -> Entries:
    """Put system messages where they may stand; `above` takes the texts that belong over the messages."""
    if dialect.system_inside and dialect.system_messages:
        return entries
    placed: Entries = []
    begun = False
    for entry in entries:
        begun = begun or entry.message.role != "system"
        if entry.message.role != "system" or (dialect.system_messages and not begun):
            placed.append(entry)
        elif above is not None and not begun:
            above += [part for part in entry.message.parts if isinstance(part, Text)]
            log.note(RepairKind.SYSTEM_MOVED, entry.index, "moved a system message to the request's system texts")
        else:
            placed.append(Entry(entry.index, replace(entry.message, role="user", raw=None)))
            log.note(RepairKind.SYSTEM_MOVED, entry.index, "made a user message of a system message")
    return placed
