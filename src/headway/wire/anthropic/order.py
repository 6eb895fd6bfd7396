"""Judges a Messages stream as a strict client does: blocks one after another, numbered, each stopped, one end.

The usual frame is one more delta of the open block: it begins like the one before it.
"""

from typing import Any

from headway.events import Event
from headway.wire.json_text import BadJson, decode
from headway.wire.sse import Comment, Frame, is_utf8

_NO_BLOCK = -1
_WORDS = (b'"text":', b'"thinking":', b'"partial_json":')


class MessageOrder:
    """Knows what may come next in one stream."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self._head = b""
        """How a delta of the open block begins, once there was one."""
        self._started = self.finished = False
        self._open = _NO_BLOCK
        self._next = 0
        self._call_ids: set[str] = set()

    def takes(self, frame: Frame | Comment, said: list[Event]) -> bool:
        """Say whether a frame may be forwarded as it came."""
        if type(frame) is Comment:
            return True
        data = frame.data  # type: ignore[union-attr]
        if not is_utf8(data):
            return False
        if self._head and data.startswith(self._head) and len(said) == 1:
            return True
        self._head = b""
        try:
            value = decode(data)
        except BadJson:
            return False
        name = frame.event.decode("utf-8", "replace")  # type: ignore[union-attr]
        return isinstance(value, dict) and value.get("type") == name and self._takes(name, value, data)

    def _takes(self, name: str, value: dict[str, Any], data: bytes) -> bool:
        index = value.get("index")
        match name:
            case "ping":
                return True
            case "message_start":
                fresh, self._started = not self._started, True
                message = value.get("message")
                return fresh and isinstance(message, dict) and bool(message.get("id"))
            case "content_block_start":
                fits = self._open == _NO_BLOCK and index == self._next and not self.finished
                self._open, self._next = self._next, self._next + 1
                return fits and self._takes_block(value.get("content_block"))
            case "content_block_delta":
                self._learn(data)
                return index == self._open and isinstance(value.get("delta"), dict)
            case "content_block_stop":
                fits, self._open = index == self._open != _NO_BLOCK, _NO_BLOCK
                return fits
            case "message_delta":
                delta = value.get("delta")
                self.finished = self.finished or (isinstance(delta, dict) and bool(delta.get("stop_reason")))
                return self._open == _NO_BLOCK and self._started and isinstance(delta, dict)
            case "message_stop":
                return self.finished
            case _:
                return False

    def _takes_block(self, block: Any) -> bool:
        if not isinstance(block, dict) or not block.get("type"):
            return False
        if block["type"] != "tool_use":
            return True
        name = block.get("id")
        fresh = isinstance(name, str) and name != "" and name not in self._call_ids
        self._call_ids.add(str(name))
        return fresh and bool(block.get("name")) and block.get("input") == {}

    def _learn(self, data: bytes) -> None:
        at = max(data.find(word) for word in _WORDS)
        self._head = data[:at] if at > 0 and b'"index"' in data[:at] else b""
