"""What an endpoint cannot take: other wires' parts, unpaired server work, images and files it has no eyes for."""

from itertools import groupby

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.edits import Entries, Entry, Log, RepairKind, messages_of, without_empty
from headway.history.finding import kind_of
from headway.history.media import is_sendable
from headway.history.opaque import is_unreadable
from headway.history.passes.thinking import forget_thinking
from headway.history.rules.content import is_one_text
from headway.history.server_work import Unpaired, unpaired_work
from headway.history.wording import DOCUMENT_LEFT_OUT, FROM_A_RESULT, IMAGE_LEFT_OUT
from headway.messages import Document, Image, Message, Opaque, Part, ResultPart, Text, ToolResult


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
        if not isinstance(part, ToolResult) or all(not isinstance(inner, Opaque) for inner in part.parts):
            return part
        inner = tuple(one for one in part.parts if kept(index, one))
        return part if len(inner) == len(part.parts) else replace(part, parts=inner)

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


def leave_out_media(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Put a note where an image or document cannot be sent: not taken here, empty, or said by an assistant."""

    def shown(entry: Entry, part: Part) -> Part:
        if isinstance(part, ToolResult):
            inner = tuple(note_or_media(entry, one) for one in part.parts)
            same = all(one is other for one, other in zip(inner, part.parts, strict=True))
            return part if same else replace(part, parts=inner)
        if isinstance(part, Image | Document) and entry.message.role == "assistant":
            return left_out(entry, part)
        return note_or_media(entry, part) if isinstance(part, Image | Document) else part

    def note_or_media(entry: Entry, part: ResultPart) -> ResultPart:
        sendable = not isinstance(part, Image | Document) or is_sendable(part, dialect)
        return part if sendable else left_out(entry, part)

    def left_out(entry: Entry, part: ResultPart) -> Text:
        text = IMAGE_LEFT_OUT if isinstance(part, Image) else DOCUMENT_LEFT_OUT
        log.note(RepairKind.MEDIA_LEFT_OUT, entry.index, f"left out what cannot be shown: {text}")
        return Text(text)

    return [entry.holding(shown(entry, part) for part in entry.message.parts) for entry in entries]


def make_results_plain(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Move what is not text out of results that hold only text, behind the results; join texts to one."""
    if dialect.media_in_results and not dialect.text_results_only:
        return entries
    plain: Entries = []
    moved: list[Part] = []
    moved_from = 0
    for entry in entries:
        results = entry.message.results
        if moved and not results:
            plain.append(Entry(moved_from, Message("user", (Text(FROM_A_RESULT), *moved))))
            moved = []
        media = [part for result in results for part in result.parts if _must_move(part)]
        if media:
            moved, moved_from = [*moved, *media], entry.index
            log.note(RepairKind.MEDIA_MOVED, entry.index, "moved what is not text out of a result, to words after it")
        plain.append(entry.holding(_plain(part, entry.index, dialect, log) for part in entry.message.parts))
    if moved:
        plain.append(Entry(moved_from, Message("user", (Text(FROM_A_RESULT), *moved))))
    return plain


def _plain(part: Part, index: int, dialect: Dialect, log: Log) -> Part:
    if not isinstance(part, ToolResult):
        return part
    kept = tuple(_in_words(one) for one in part.parts if not _must_move(one))
    if len(kept) < len(part.parts) or any(isinstance(one, Document) for one in part.parts):
        part = replace(part, parts=kept)
    if dialect.text_results_only and not is_one_text(part):
        log.note(RepairKind.RESULT_FLATTENED, index, "made one text of a result", part.call_id)
        return replace(part, parts=(Text(part.text),) if part.text else ())
    return part


def _must_move(part: ResultPart) -> bool:
    """Say whether a part can stand only beside a result that holds nothing but text; plain text files can be quoted."""
    return isinstance(part, Image | Opaque) or (isinstance(part, Document) and part.text is None)


def _in_words(part: ResultPart) -> ResultPart:
    return Text(part.text or "") if isinstance(part, Document) else part
