"""What each message says, for itself: every part in its role, no refused character, nothing blank, nothing empty."""

from functools import partial
from itertools import groupby

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.blanks import without_blanks
from headway.history.characters import clean, is_clean
from headway.history.edits import Entries, Entry, Log, RepairKind, result_holding, without_empty
from headway.history.passes.thinking import drop_thinking
from headway.history.roles import home_of
from headway.messages import (
    Document,
    Message,
    Part,
    Refusal,
    ResultPart,
    Text,
    ToolCall,
    ToolResult,
)


def drop_empty_messages(entries: Entries, _dialect: Dialect, log: Log) -> Entries:
    """Drop messages that hold nothing."""
    for entry in entries:
        if not entry.message.parts:
            log.note(RepairKind.MESSAGE_DROPPED, entry.index, f"dropped an empty {entry.message.role} message")
    return without_empty(entries)


def split_by_role(entries: Entries, _dialect: Dialect, log: Log) -> Entries:
    """Give every part to the role that may say it, in messages of its own where it stood."""
    split: Entries = []
    for entry in entries:
        message = entry.message
        homes = groupby(message.parts, partial(home_of, role=message.role))
        groups = [(role, tuple(parts)) for role, parts in homes]
        if all(role == message.role for role, _ in groups):
            split.append(entry)
            continue
        for role, parts in groups:
            if role != message.role:
                words = f"gave parts of a message of the role {message.role} to the role {role}"
                log.note(RepairKind.ROLE_CHANGED, entry.index, words)
            # What it was read from names one role: it stays only with a single message of that role.
            alone = role == message.role and sum(one == role for one, _ in groups) == 1
            split.append(Entry(entry.index, Message(role, parts, message.raw if alone else None)))
    return split


def replace_characters(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Replace what is refused in texts. Thinking is never edited: it is dropped."""
    refused = dialect.refused_characters
    cleaned = [entry.holding(_cleaned(part, refused) for part in entry.message.parts) for entry in entries]
    for before, after in zip(entries, cleaned, strict=True):
        if after is not before:
            log.note(RepairKind.CHARACTERS_REPLACED, before.index, "replaced characters that are refused")
    why = "dropped thinking that holds characters that are refused"
    return drop_thinking(cleaned, log, why, lambda thinking: not is_clean(thinking.text, refused))


def _cleaned(part: Part, refused: str) -> Part:
    match part:
        case Text() | Document():
            return _cleaned_inside(part, refused)
        case Refusal() if not is_clean(part.text, refused):
            return replace(part, text=clean(part.text, refused))
        case ToolCall() if part.freeform and not is_clean(part.arguments, refused):
            return replace(part, arguments=clean(part.arguments, refused))
        case ToolResult():
            return result_holding(part, (_cleaned_inside(inner, refused) for inner in part.parts))
        case _:
            return part


def _cleaned_inside(part: ResultPart, refused: str) -> ResultPart:
    """Clean what may also stand inside of a result."""
    match part:
        case Text() if not is_clean(part.text, refused):
            return replace(part, text=clean(part.text, refused))
        case Document() if not is_clean(f"{part.name}{part.text}", refused):
            name = None if part.name is None else clean(part.name, refused)
            return replace(part, name=name, text=None if part.text is None else clean(part.text, refused))
        case _:
            return part


def drop_blanks(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Drop blank texts, also inside of results, and with them messages that say nothing else."""
    kept = [entry.holding(without_blanks(entry.message, dialect)) for entry in entries]
    for before, after in zip(entries, kept, strict=True):
        if after is not before:
            what = "a blank text" if after.message.parts else f"a blank {before.message.role} message"
            log.note(RepairKind.BLANK_DROPPED, before.index, f"dropped {what}")
    return without_empty(kept)
