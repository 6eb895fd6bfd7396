"""What the items of one response say, as events, exactly once however often a server repeats it.

Words come from deltas; finished parts and finished items are compared with them and fill in what no delta brought.
A call is closed when its item is done and says `completed`, when its finished arguments are one whole object, or when
the whole response completes. Finished arguments that contradict the streamed ones raise `Contradiction`.
"""

from typing import Any

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Event,
    OpaqueBlock,
    RefusalDelta,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
)
from headway.messages import Raw
from headway.wire.json_text import BadJson, Contradiction, encode, encode_text, is_whole_object, strict_object
from headway.wire.openai_responses.growing import NOWHERE, Item, Phase, Place, Words
from headway.wire.openai_responses.items import BETWEEN_THOUGHTS
from headway.wire.openai_responses.parts import WIRE_NAME, objects, string
from headway.wire.pieces import Pieces

_EVENTS: dict[Words, type[TextDelta | RefusalDelta | ThinkingDelta]] = {
    Words.TEXT: TextDelta,
    Words.REFUSAL: RefusalDelta,
    Words.SUMMARY: ThinkingDelta,
    Words.REASONING: ThinkingDelta,
}
_THOUGHTS = (Words.SUMMARY, Words.REASONING)
_ARGUMENTS: Place = (Words.ARGUMENTS, 0)
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_WORDS_OF_A_CALL = frozenset({"type", "id", "call_id", "name", "arguments", "input", "status"})


class Speech:
    """Appends to `out` what items say. Calls are numbered in the order they open."""

    def __init__(self) -> None:
        """Start before the first word."""
        self.has_calls = False
        self._calls = 0
        self._in_thought = False

    def begin(self, item: Item, value: dict[str, Any], out: list[Event]) -> None:
        """Take note of an item that was announced; a call opens here if it has a name yet."""
        self._in_thought = self._in_thought and item.kind == "reasoning"
        if item.kind in _CALLS and string(value.get("name")):
            self._open_call(item, value, out)

    def say(self, item: Item, place: Place, text: str, out: list[Event]) -> None:
        """Append more words of one place of an item. Parts of thoughts are set apart."""
        if not text:
            return
        words = place[0]
        if place not in item.said:
            if words in _THOUGHTS and self._in_thought:
                out.append(ThinkingDelta(BETWEEN_THOUGHTS))
            self._in_thought = words in _THOUGHTS
            item.said[place] = Pieces()
        item.said[place].add(text)
        if words is not Words.ARGUMENTS:
            out.append(_EVENTS[words](text))
        elif item.phase is Phase.WHOLE:
            raise BadJson("arguments went on after their call was closed")
        elif item.call != NOWHERE:  # else its name is still to come: what is said here goes out with it
            out.append(CallArguments(item.call, text))

    def finish_part(self, item: Item, place: Place, whole: Any, out: list[Event]) -> None:
        """Append what a finished part has beyond its deltas."""
        if place == _ARGUMENTS:
            if self._finish_arguments(item, whole, out):
                self._close(item, out)
        elif isinstance(whole, str) and whole.startswith(said := item.text(place)):
            self.say(item, place, whole[len(said) :], out)

    def finish(self, item: Item, value: dict[str, Any], out: list[Event]) -> None:
        """Append what a finished item has beyond what it said, and what it is as a whole."""
        if item.kind in _CALLS:
            self._finish_call(item, value, out)
        elif item.phase is Phase.OPEN:
            item.phase = Phase.SAID
            if item.kind == "message":
                self._finish_message(item, value, out)
            elif item.kind == "reasoning":
                self._finish_reasoning(item, value, out)
            else:
                self._in_thought = False
                out.append(OpaqueBlock(Raw(WIRE_NAME, value)))

    def close_call(self, item: Item, out: list[Event]) -> None:
        """Close a call because the whole response is complete, if anything but its name was heard of it."""
        if item.kind in _CALLS and (item.said or item.phase is Phase.SAID):
            self._close(item, out)

    def _finish_message(self, item: Item, value: dict[str, Any], out: list[Event]) -> None:
        content = [part for part in objects(value.get("content")) if part.get("type") != "reasoning_text"]
        if item.said:
            self._settle(item, Words.TEXT, [string(part.get("text")) for part in content], out)
            self._settle(item, Words.REFUSAL, [string(part.get("refusal")) for part in content], out)
            return
        for index, part in enumerate(content):  # nothing came before: it is said in the order it stands in
            self.say(item, (Words.TEXT, index), string(part.get("text")), out)
            self.say(item, (Words.REFUSAL, index), string(part.get("refusal")), out)

    def _finish_reasoning(self, item: Item, value: dict[str, Any], out: list[Event]) -> None:
        """Append the rest of a reasoning item and its proof; another wire's proof travels here as `signature`."""
        self._settle(item, Words.SUMMARY, [string(part.get("text")) for part in objects(value.get("summary"))], out)
        self._settle(item, Words.REASONING, [string(part.get("text")) for part in objects(value.get("content"))], out)
        if value.get("status") == "incomplete":
            return
        if sealed := string(value.get("encrypted_content")):
            out.append(ThinkingSealed(sealed, Raw(WIRE_NAME, value)))
            self._in_thought = False
        elif signature := string(value.get("signature")):
            out.append(ThinkingSigned(signature))
            self._in_thought = False

    def _settle(self, item: Item, words: Words, wholes: list[str], out: list[Event]) -> None:
        """Append what a finished item has beyond all that it said in such words. What was shown already stays shown."""
        between = BETWEEN_THOUGHTS if words in _THOUGHTS else ""
        places = [place for place in item.said if place[0] is words]
        said = between.join(item.text(place) for place in places)
        whole = between.join(text for text in wholes if text)
        if whole.startswith(said):
            self.say(item, places[-1] if places else (words, 0), whole[len(said) :], out)

    def _open_call(self, item: Item, value: dict[str, Any], out: list[Event]) -> None:
        item.call = self._calls
        self._calls += 1
        self._in_thought = False
        more = {key: field for key, field in value.items() if key not in _WORDS_OF_A_CALL and field is not None}
        raw = Raw(WIRE_NAME, more) if more else None
        call_id = item.call_id or string(value.get("id"))
        freeform = item.kind == "custom_tool_call"
        out.append(CallOpened(item.call, call_id, string(value.get("name")), freeform, raw))
        if held := item.text(_ARGUMENTS):
            out.append(CallArguments(item.call, held))

    def _finish_call(self, item: Item, value: dict[str, Any], out: list[Event]) -> None:
        if item.call == NOWHERE:
            self._open_call(item, value, out)
        proven = self._finish_arguments(item, value.get(_CALLS[item.kind]), out)
        status = value.get("status")
        if status == "incomplete" and item.phase is not Phase.WHOLE:
            item.phase = Phase.CUT
        elif status == "completed" or proven:
            self._close(item, out)
        elif item.phase is Phase.OPEN:  # without arguments and without a status, it may have been cut before them
            item.phase = Phase.SAID

    def _finish_arguments(self, item: Item, whole: Any, out: list[Event]) -> bool:
        """Append what finished arguments have beyond the streamed ones; say whether their own text proves them whole.

        No piece of a JSON object is a JSON object. Free text and no text prove nothing.
        """
        whole = encode_text(whole) if isinstance(whole, dict) else string(whole)
        if not whole:
            return False
        said = item.text(_ARGUMENTS)
        if whole.startswith(said):
            self.say(item, _ARGUMENTS, whole[len(said) :], out)
        elif not _same_object(said, whole):
            raise Contradiction("the finished arguments contradict the streamed ones")
        return item.kind == "function_call" and (item.phase is Phase.WHOLE or is_whole_object(whole))

    def _close(self, item: Item, out: list[Event]) -> None:
        if item.call != NOWHERE and item.phase in (Phase.OPEN, Phase.SAID):
            item.phase = Phase.WHOLE
            self.has_calls = True
            out.append(CallClosed(item.call))


def _same_object(one: str, other: str) -> bool:
    """Say whether two texts of arguments differ only in how they are written."""
    try:
        return encode(strict_object(one)) == encode(strict_object(other))
    except BadJson:
        return False
