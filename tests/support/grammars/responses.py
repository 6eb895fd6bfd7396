"""OpenAI Responses: response.created, items with their parts, one terminal event; every event numbered.

What is said twice must be the same twice: `done` events and the final response repeat what the deltas brought.
"""

from typing import Any, NamedTuple

from support.grammars.frames import Judge, Said, is_object_text

_TERMINAL = ("response.completed", "response.incomplete", "response.failed")
_PROGRESS = ("response.created", "response.queued", "response.in_progress")
_MAY_CHANGE = frozenset(
    {"status", "output", "usage", "error", "incomplete_details", "completed_at", "output_text", "service_tier"}
)


class Stream(NamedTuple):
    """A family of `.delta` and `.done`: the item it is about, where its parts stand, the field of its whole."""

    item: str
    parts: str
    index: str
    part: str
    field: str


_PARTS = {
    "response.output_text": Stream("message", "content", "content_index", "output_text", "text"),
    "response.refusal": Stream("message", "content", "content_index", "refusal", "refusal"),
    "response.reasoning_summary_text": Stream("reasoning", "summary", "summary_index", "summary_text", "text"),
    "response.reasoning_text": Stream("reasoning", "content", "content_index", "reasoning_text", "text"),
}
_CALLS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}
_ENVELOPES = {"response.content_part": "content", "response.reasoning_summary_part": "summary"}
_ENVELOPES |= {"response.reasoning_part": "content"}


class Item:
    """An item as the events tell it."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value
        self.done: dict[str, Any] | None = None
        self.text = ""
        self.whole: str | None = None
        self.parts: dict[str, list[dict[str, Any]]] = {"content": [], "summary": []}

    @property
    def kind(self) -> str:
        return str(self.value.get("type"))


class ResponsesJudge(Judge):
    """The rules of a Responses stream."""

    def __init__(self) -> None:
        super().__init__()
        self.sequence: int | None = None
        self.response: dict[str, Any] | None = None
        self.items: list[Item] = []

    def judge(self, said: Said) -> None:
        event = said.data
        if not isinstance(event, dict):
            self.wrong(f"the data is no object: {event!r}")
            return
        kind = str(event.get("type"))
        self.check(said.event == kind, f"the event {said.event!r} says that it is {kind!r}")
        self._number(event, kind)
        family, _, step = kind.rpartition(".")
        if kind == "error":
            self.is_over = True
        elif kind in _PROGRESS:
            self._progress(event, kind)
        elif self.response is None:
            self.wrong(f"{kind} came before response.created")
        elif kind in _TERMINAL:
            self._terminal(event, kind.removeprefix("response."))
        elif kind == "response.output_item.added":
            self._item_added(event)
        elif kind == "response.output_item.done":
            self._item_done(event)
        elif family in _ENVELOPES:
            self._part(event, _ENVELOPES[family], step)
        elif family in _PARTS and step in ("delta", "done"):
            self._words(event, _PARTS[family], step)
        elif family in _CALLS:
            self._arguments(event, *_CALLS[family], step)

    def _number(self, event: dict[str, Any], kind: str) -> None:
        """Events are counted one by one; only a heartbeat may repeat the number before it."""
        number = event.get("sequence_number")
        if not self.check(isinstance(number, int), f"{kind} has no sequence_number"):
            return
        repeats = kind == "response.in_progress" and number == self.sequence
        if self.sequence is not None and not repeats:
            self.check(number == self.sequence + 1, f"the number {number} came after {self.sequence}")
        self.sequence = number

    def _progress(self, event: dict[str, Any], kind: str) -> None:
        response = event.get("response") or {}
        if kind == "response.created":
            self.check(self.response is None, "a second response.created")
            self.check(response.get("output") == [], "the response starts with output")
            self.check(isinstance(response.get("id"), str), "the response has no id")
            self.response = self.response or response
        elif self.check(self.response is not None, f"{kind} came before response.created"):
            self._same_response(response)
        self.check(
            response.get("status") in ("in_progress", "queued"), f"{kind} of one that is {response.get('status')}"
        )

    def _same_response(self, response: dict[str, Any]) -> None:
        for name, value in (self.response or {}).items():
            if name not in _MAY_CHANGE:
                self.check(response.get(name) == value, f"{name} of the response changed from {value!r}")

    # Items

    def _item_added(self, event: dict[str, Any]) -> None:
        index, value = event.get("output_index"), event.get("item") or {}
        self.check(index == len(self.items), f"item {index} is the one of the place {len(self.items)}")
        self.check(isinstance(value.get("type"), str), f"item {index} has no type")
        self.check(value.get("id"), f"item {index} has no id")
        for name in ("id", "call_id"):
            same = [item for item in self.items if value.get(name) and item.value.get(name) == value[name]]
            self.check(not same, f"two items have the {name} {value.get(name)!r}")
        for kind, field in _CALLS.values():
            if value.get("type") == kind:
                self.check(value.get("call_id") and value.get("name"), f"the call {index} has no name")
                self.check(value.get(field) == "", f"the call {index} starts with {field}")
        self.items.append(Item(value))

    def _item(self, event: dict[str, Any], kind: str | None = None) -> Item | None:
        index = event.get("output_index")
        if not isinstance(index, int) or index >= len(self.items):
            self.wrong(f"{event.get('type')} is about item {index!r}, which was never added")
            return None
        item = self.items[index]
        self.check(item.done is None, f"{event.get('type')} is about item {index}, which is done")
        self.check(kind in (None, item.kind), f"{event.get('type')} is about a {item.kind}")
        if "item_id" in event or kind is not None:
            known = item.value.get("id")
            self.check(event.get("item_id") == known, f"item {index} is {known!r}, not {event.get('item_id')!r}")
        return item

    def _item_done(self, event: dict[str, Any]) -> None:
        item, value = self._item(event), event.get("item") or {}
        if item is None:
            return
        for name in ("type", "id", "call_id", "name"):
            was, now = item.value.get(name), value.get(name)
            self.check(was == now, f"{name} of the item changed from {was!r} to {now!r}")
        for name, parts in item.parts.items():
            if not parts and item.kind not in ("message", "reasoning"):
                continue
            self.check(all(part["is_done"] for part in parts), f"the item is done, but not its {name}")
            told = [part["value"] for part in parts]
            self.check((value.get(name) or []) == told, f"the {name} of the item is not what its parts said")
        for kind, field in _CALLS.values():
            if item.kind == kind:
                self._call_done(item, value, field)
        item.done = value

    def _call_done(self, item: Item, value: dict[str, Any], field: str) -> None:
        self.check(item.whole is not None, f"the call is done, but not its {field}")
        self.check(value.get(field) == item.text, f"the {field} of the call are not what the deltas said")
        if item.kind == "function_call" and value.get("status") == "completed":
            self.check(is_object_text(item.text), f"the call is not whole: {item.text!r}")

    # What items say

    def _part(self, event: dict[str, Any], name: str, step: str) -> None:
        item, part = self._item(event, event_kind(name, event)), event.get("part") or {}
        if item is None:
            return
        parts, index = item.parts[name], event.get("summary_index" if name == "summary" else "content_index")
        if step == "added":
            self.check(index == len(parts), f"part {index} is the one of the place {len(parts)}")
            self.check(all(known["is_done"] for known in parts), f"part {index} begins before the last one is done")
            self.check(not (part.get("text") or part.get("refusal")), f"part {index} starts with words")
            parts.append({"value": part, "text": "", "whole": None, "is_done": False})
        elif self.check(index == len(parts) - 1, f"part {index} is done, but the open one is {len(parts) - 1}"):
            known = parts[-1]
            self.check(not known["is_done"], f"part {index} is done twice")
            self.check(known["whole"] is not None, f"part {index} is done, but not its words")
            self.check(part.get("type") == known["value"].get("type"), f"part {index} changed its type")
            words = part.get("refusal" if part.get("type") == "refusal" else "text")
            self.check(words == known["text"], f"part {index} is not what the deltas said: {words!r}")
            known["value"], known["is_done"] = part, True

    def _words(self, event: dict[str, Any], stream: Stream, step: str) -> None:
        item, index = self._item(event, stream.item), event.get(stream.index)
        if item is None:
            return
        parts = item.parts[stream.parts]
        if not self.check(index == len(parts) - 1, f"words for part {index}, but the open one is {len(parts) - 1}"):
            return
        part = parts[-1]
        self.check(part["value"].get("type") == stream.part, f"{event['type']} in a {part['value'].get('type')}")
        self.check(part["whole"] is None, f"{event['type']} after the words of part {index} were done")
        if step == "delta":
            part["text"] += event.get("delta") or ""
        else:
            part["whole"] = event.get(stream.field)
            self.check(part["whole"] == part["text"], f"the words of part {index} are not what the deltas said")

    def _arguments(self, event: dict[str, Any], kind: str, field: str, step: str) -> None:
        item = self._item(event, kind)
        if item is None:
            return
        self.check(item.whole is None, f"{event['type']} after the {field} were done")
        if step == "delta":
            item.text += event.get("delta") or ""
        else:
            item.whole = event.get(field)
            self.check(item.whole == item.text, f"the {field} are not what the deltas said: {item.whole!r}")

    # The end

    def _terminal(self, event: dict[str, Any], word: str) -> None:
        self.is_over = True
        response = event.get("response") or {}
        self._same_response(response)
        self.check(response.get("status") == word, f"response.{word} of one that is {response.get('status')!r}")
        self.check((word == "failed") == bool(response.get("error")), f"response.{word}: {response.get('error')!r}")
        reason = response.get("incomplete_details")
        self.check((word == "incomplete") == bool(reason), f"response.{word} with the details {reason!r}")
        output = response.get("output") or []
        if word == "failed" and not output:
            return  # nothing is claimed
        self.check(len(output) == len(self.items), f"{len(output)} items at the end, but {len(self.items)} were added")
        for index, (item, value) in enumerate(zip(self.items, output, strict=False)):
            self._final(index, item, value, word)

    def _final(self, index: int, item: Item, value: dict[str, Any], word: str) -> None:
        if item.done is not None:
            self.check(value == item.done, f"item {index} is not what its done event said")
            return
        self.check(word != "completed", f"item {index} was never done, and the response is completed")
        self.check(item.kind not in ("message", "reasoning"), f"item {index}, a {item.kind}, was never done")
        self.check(value.get("status") == "incomplete", f"item {index} was never done, but is {value.get('status')!r}")
        for kind, field in _CALLS.values():
            if item.kind == kind:
                self.check(value.get(field) == item.text, f"the {field} of item {index} are not what the deltas said")


def event_kind(name: str, event: dict[str, Any]) -> str:
    """Return the type of item that a part event is about."""
    thought = name == "summary" or (event.get("part") or {}).get("type") == "reasoning_text"
    return "reasoning" if thought else "message"
