"""How a history begins and ends: a user first, and somebody for the model to answer."""

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.edits import Entries, Entry, Log, RepairKind, messages_of, without_empty
from headway.history.passes.thinking import drop_thinking
from headway.history.rules.order import has_words, is_prefill, server_goes_on
from headway.history.survey import turns_of
from headway.history.wording import OPENING, PLEASE_CONTINUE
from headway.messages import Refusal, Text, user


def fix_ends(entries: Entries, dialect: Dialect, log: Log, *, begins_elsewhere: bool = False) -> Entries:
    """Let a user begin, and let the last word be one that the model can answer or go on from."""
    if begins_elsewhere:
        return _fix_last(entries, dialect, log) if entries else entries
    if not entries:
        return [_added(0, PLEASE_CONTINUE, log)]
    return _fix_last(_fix_first(entries, dialect, log), dialect, log)


def _fix_first(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    at = next((i for i, entry in enumerate(entries) if entry.message.role != "system"), len(entries))
    lacks_first = dialect.starts_with_user and (at == len(entries) or entries[at].message.role != "user")
    speaks = any(entry.message.role == "user" and has_words(entry.message) for entry in entries)
    if not lacks_first and (speaks or not dialect.needs_user):
        return entries
    if at == len(entries):
        return [*entries, _added(entries[-1].index, PLEASE_CONTINUE, log)]
    return [*entries[:at], _added(entries[at].index, OPENING, log), *entries[at:]]


def _fix_last(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    last = entries[-1]
    if dialect.ends_with_assistant or last.message.role != "assistant" or server_goes_on(last.message):
        return entries
    if not dialect.prefill:
        return [*entries, _added(last.index, PLEASE_CONTINUE, log)]
    entries = _without_thinking_at_end(entries, log)
    last = entries[-1]
    words = last.message.parts[-1]
    if isinstance(words, Text | Refusal) and not is_prefill(last.message):
        log.note(RepairKind.END_TRIMMED, last.index, "removed the whitespace at the end")
        last = last.holding((*last.message.parts[:-1], replace(words, text=words.text.rstrip())))
    if not is_prefill(last.message):
        return [*entries[:-1], last, _added(last.index, PLEASE_CONTINUE, log)]
    return [*entries[:-1], last]


def _without_thinking_at_end(entries: Entries, log: Log) -> Entries:
    """Drop the thinking of the last turn: a model goes on from words alone."""
    start = turns_of(messages_of(entries))[-1].start
    why = "dropped the thinking of what the model shall go on from"
    return without_empty([*entries[:start], *drop_thinking(entries[start:], log, why, lambda _thinking: True)])


def _added(index: int, text: str, log: Log) -> Entry:
    log.note(RepairKind.USER_ADDED, index, f"added a user message: {text}")
    return Entry(index, user(text))
