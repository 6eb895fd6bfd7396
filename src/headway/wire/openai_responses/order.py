"""Judges a Responses stream as a strict client does: numbers that count, items in their places, an end that is one.

The usual frame is one more delta of the open part: its head is all that is read of it.
"""

from typing import Any

from headway.events import Event
from headway.wire.json_text import BadJson, decode
from headway.wire.openai_responses.heads import UNREADABLE, Head, decode_head
from headway.wire.sse import Comment, Frame, is_utf8

_ENDS = frozenset({"response.completed", "response.incomplete"})
_NAMED = frozenset({"function_call", "custom_tool_call"})


class ResponseOrder:
    """Knows what may come next in one stream."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self._number = -1
        self._items: dict[int, str] = {}
        self._call_ids: set[str] = set()
        self._going: Head | None = None
        self.finished = False

    def takes(self, frame: Frame | Comment, said: list[Event]) -> bool:
        """Say whether a frame may be forwarded as it came."""
        if type(frame) is Comment:
            return True
        try:
            head = decode_head(frame.data)  # type: ignore[union-attr]
        except UNREADABLE:
            return False
        if not is_utf8(frame.data):  # type: ignore[union-attr]
            return False
        if self.finished or head.sequence_number != self._number + 1 or head.type.encode() != frame.event:  # type: ignore[union-attr]
            return False
        self._number = head.sequence_number
        going = self._going
        if going is not None and head.type == going.type and head.delta and len(said) == 1:
            return _place(head) == _place(going)
        self._going = head if head.type.endswith(".delta") else None
        try:
            value = decode(frame.data)  # type: ignore[union-attr]
        except BadJson:
            return False
        return isinstance(value, dict) and self._takes(head, value)

    def _takes(self, head: Head, value: dict[str, Any]) -> bool:
        index, item = value.get("output_index"), value.get("item")
        if head.type == "response.output_item.added":
            fits = isinstance(item, dict) and index == len(self._items) and self._takes_item(item)
            self._items[len(self._items)] = str(item.get("id")) if isinstance(item, dict) else ""
            return fits
        if head.type == "response.output_item.done":
            return isinstance(item, dict) and isinstance(index, int) and self._items.get(index) == item.get("id")
        if head.type in _ENDS:
            self.finished = True
        if "item_id" in value or "output_index" in value:
            return isinstance(index, int) and self._items.get(index) == value.get("item_id")
        if head.type == "keepalive":
            return True
        return head.type.startswith("response.") and (bool(self._items) or isinstance(value.get("response"), dict))

    def _takes_item(self, item: dict[str, Any]) -> bool:
        if not item.get("id") or not item.get("type"):
            return False
        if item["type"] not in _NAMED:
            return True
        name = item.get("call_id")
        fresh = isinstance(name, str) and name != "" and name not in self._call_ids
        self._call_ids.add(str(name))
        return fresh and bool(item.get("name"))


def _place(head: Head) -> tuple[str, int, int, int]:
    return head.item_id, head.output_index, head.content_index, head.summary_index
