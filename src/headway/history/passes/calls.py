"""Calls and results, each for itself: broken calls go with their results, ids and names fit, every result has its call.

Where results stand is `passes.placement`'s business; it relies on the ids being unique after this.
"""

from collections.abc import Iterable
from itertools import chain

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.characters import clean
from headway.history.edits import Entries, Entry, Log, RepairKind, messages_of, without_empty
from headway.history.finding import quoted
from headway.history.ids import IdBook, fits, fitting_name, name_fits
from headway.history.pairing import Found, Pairing, Place, is_real, pair
from headway.history.passes.thinking import forget_thinking
from headway.history.wording import told_incomplete, told_result
from headway.messages import Document, Image, Part, Text, ToolCall, ToolResult, user


def mend_calls(entries: Entries, dialect: Dialect, log: Log, *, begins_elsewhere: bool = False) -> Entries:
    """Drop broken calls with their results, fit ids and names, and leave no result without a call of its own."""
    editing = _Editing(entries, dialect, log)
    pairing = pair(messages_of(entries))
    ids = _new_ids(pairing, dialect)
    for found in pairing.calls:
        if found.malformed:
            editing.drop_call(found)
        else:
            editing.fit(found, ids[found.place])
    here = set(ids.values())
    for place, result in pairing.orphans:
        # Where the provider holds the beginning of the history, the call may be there.
        if not (begins_elsewhere and fits(result.call_id, dialect) and result.call_id not in here):
            editing.tell_or_drop(place, result, "has no call")
    return editing.done()


def _new_ids(pairing: Pairing, dialect: Dialect) -> dict[Place, str]:
    whole = [found for found in pairing.calls if not found.malformed]
    orphaned = (result.call_id for _, result in pairing.orphans)
    book = IdBook(dialect, chain((found.call.id for found in whole), orphaned))
    return {found.place: book.give(found.call.id) for found in whole}


class _Editing:
    """The edits of one pass, by place, and the calls that the model must be told about."""

    def __init__(self, entries: Entries, dialect: Dialect, log: Log) -> None:
        self._entries = entries
        self._dialect = dialect
        self._log = log
        self._edits: dict[Place, tuple[Part, ...]] = {}
        self._dropped: dict[int, list[str]] = {}

    def _index(self, place: Place) -> int:
        return self._entries[place.message].index

    def drop_call(self, found: Found) -> None:
        """Drop a call that can neither be run nor be sent, and whatever answers it."""
        call = found.call
        words = f"dropped the incomplete call {quoted(call.id)} to {quoted(call.name)}"
        self._log.note(RepairKind.CALL_DROPPED, self._index(found.place), words, call.id)
        self._edits[found.place] = ()
        self._dropped.setdefault(found.place.message, []).append(call.name)
        for place, result in found.results:
            self._drop_result(place, result, "its call was dropped")

    def fit(self, found: Found, call_id: str) -> None:
        """Give a call an id and a name that fit, its answer the same id, and find a place for further results."""
        call = found.call
        assert isinstance(call, ToolCall)
        name = call.name if name_fits(call.name, self._dialect) else fitting_name(call.name, self._dialect)
        if call_id != call.id:
            words = f"changed the call id {quoted(call.id)} to {quoted(call_id)}"
            self._log.note(RepairKind.ID_CHANGED, self._index(found.place), words, call.id)
        if name != call.name:
            words = f"changed the tool's name {quoted(call.name)} to {quoted(name)}"
            self._log.note(RepairKind.NAME_CHANGED, self._index(found.place), words, call.id)
        if (call_id, name) != (call.id, call.name):
            self._edits[found.place] = (replace(call, id=call_id, name=name),)
        if found.answer is None:
            return
        place, answer = found.answer
        self._fit_answer(place, answer, call, call_id)
        for other, result in found.results:
            if other != place:
                self.tell_or_drop(other, result, "is one too many for its call", name, known=answer.text)

    def _fit_answer(self, place: Place, answer: ToolResult, call: ToolCall, call_id: str) -> None:
        if answer.call_id != call.id:
            words = f"gave a result without an id that of the call before it, {quoted(call_id)}"
            self._log.note(RepairKind.ID_CHANGED, self._index(place), words, call.id)
        freeform = call.freeform if self._dialect.freeform_results else answer.freeform
        if freeform != answer.freeform:
            words = f"made the result {quoted(answer.call_id)} one of the kind of its call"
            self._log.note(RepairKind.RESULT_FITTED, self._index(place), words, call.id)
        if (call_id, freeform) != (answer.call_id, answer.freeform):
            self._edits[place] = (replace(answer, call_id=call_id, freeform=freeform),)

    def tell_or_drop(self, place: Place, result: ToolResult, why: str, tool: str = "", known: str = "") -> None:
        """Make words of a result that has no place as a result, if it says something that is not `known`."""
        media = [part for part in result.parts if isinstance(part, Image | Document)]
        says_something = bool(media) or (result.text.strip() and result.text != known)
        if not (is_real(result) and says_something):
            self._drop_result(place, result, f"it {why} and says nothing new")
            return
        words = f"the result {quoted(result.call_id)} {why}: kept as words"
        self._log.note(RepairKind.RESULT_TOLD, self._index(place), words, result.call_id)
        self._edits[place] = (Text(told_result(result.text, tool)), *media)

    def _drop_result(self, place: Place, result: ToolResult, why: str) -> None:
        words = f"dropped the result {quoted(result.call_id)}: {why}"
        self._log.note(RepairKind.RESULT_DROPPED, self._index(place), words, result.call_id)
        self._edits[place] = ()

    def done(self) -> Entries:
        """Return the entries with all edits made, and with what the model must be told."""
        changed = {place.message for place in self._edits}
        mended: Entries = []
        for number, entry in enumerate(self._entries):
            if number not in changed:
                mended.append(entry)
                continue
            parts = (self._edits.get(Place(number, at), (part,)) for at, part in enumerate(entry.message.parts))
            mended.append(_as_words(entry, entry.holding(chain.from_iterable(parts))))
        for number in self._dropped:
            forget_thinking(mended, number, self._log)
        return without_empty(list(self._with_notes(mended)))

    def _with_notes(self, entries: Entries) -> Iterable[Entry]:
        """Tell the model, right after the turn and its results, which of its calls did not happen."""
        names: list[str] = []
        index, in_turn = 0, False
        for number, entry in enumerate(entries):
            message = entry.message
            in_turn = in_turn and message.role == "assistant"
            if names and not in_turn and not message.results and message.parts:
                yield self._note(index, names)
                names = []
            if number in self._dropped:
                names += self._dropped[number]
                index, in_turn = entry.index, True
            yield entry
        if names:
            yield self._note(index, names)

    def _note(self, index: int, names: list[str]) -> Entry:
        text = told_incomplete([clean(name, self._dialect.refused_characters) for name in names])
        self._log.note(RepairKind.MODEL_TOLD, index, f"told the model: {text}", names[0])
        return Entry(index, user(text))


def _as_words(before: Entry, after: Entry) -> Entry:
    """Forget what a message was read from when its results became words: it is another kind of message now."""
    was_results = all(isinstance(part, ToolResult) for part in before.message.parts)
    is_words = any(not isinstance(part, ToolResult) for part in after.message.parts)
    return Entry(after.index, replace(after.message, raw=None)) if was_results and is_words else after
