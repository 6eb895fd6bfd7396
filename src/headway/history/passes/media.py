"""Images and documents where they cannot be: a note stands in for them, or they move out of a result that is text."""

from headway.dialect import Dialect
from headway.history.edits import Entries, Entry, Log, RepairKind, result_holding
from headway.history.media import is_sendable
from headway.history.rules.content import is_one_text
from headway.history.wording import DOCUMENT_LEFT_OUT, FROM_A_RESULT, IMAGE_LEFT_OUT
from headway.messages import Document, Image, Message, Opaque, Part, ResultPart, Text, ToolResult


def leave_out_media(entries: Entries, dialect: Dialect, log: Log) -> Entries:
    """Put a note where an image or document cannot be sent: not taken here, empty, or said by an assistant."""

    def shown(entry: Entry, part: Part) -> Part:
        if isinstance(part, ToolResult):
            return result_holding(part, (note_or_media(entry, one) for one in part.parts))
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
            moved.extend(media)
            moved_from = entry.index
            log.note(RepairKind.MEDIA_MOVED, entry.index, "moved what is not text out of a result, to words after it")
        plain.append(entry.holding(_plain(part, entry.index, dialect, log) for part in entry.message.parts))
    if moved:
        plain.append(Entry(moved_from, Message("user", (Text(FROM_A_RESULT), *moved))))
    return plain


def _plain(part: Part, index: int, dialect: Dialect, log: Log) -> Part:
    if not isinstance(part, ToolResult):
        return part
    part = result_holding(part, (_in_words(one) for one in part.parts if not _must_move(one)))
    if dialect.text_results_only and not is_one_text(part):
        log.note(RepairKind.RESULT_FLATTENED, index, "made one text of a result", part.call_id)
        return result_holding(part, (Text(part.text),) if part.text else ())
    return part


def _must_move(part: ResultPart) -> bool:
    """Say whether a part can stand only beside a result that holds nothing but text; plain text files can be quoted."""
    return isinstance(part, Image | Opaque) or (isinstance(part, Document) and part.text is None)


def _in_words(part: ResultPart) -> ResultPart:
    return Text(part.text or "") if isinstance(part, Document) else part
