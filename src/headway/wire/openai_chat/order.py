"""Judges a stream of chunks as a strict client does: one id, calls that open with id and name, a finish before the end.

The usual chunk begins like the first one and says only words: it is known by its first bytes.
"""

import re
from typing import Any

from headway.events import Event, TextDelta
from headway.wire.json_text import BadJson, decode
from headway.wire.sse import Comment, Frame, is_utf8

_CHOICES = b'"choices":'
_FINISH = re.compile(rb'"finish_reason"\s*:\s*"')
_NOT_FINISHED = b'"finish_reason":null'
"""How nearly every chunk says it; quotes inside words are escaped, so it stands for nothing else."""


class ChatOrder:
    """Knows what may come next in one stream."""

    def __init__(self) -> None:
        """Start before the first chunk."""
        self._head = b""
        self._id: Any = None
        self._calls: set[int] = set()
        self._call_ids: set[str] = set()
        self.finished = False

    def takes(self, frame: Frame | Comment, said: list[Event]) -> bool:
        """Say whether a frame may be forwarded as it came."""
        if type(frame) is Comment:
            return True
        data = frame.data  # type: ignore[union-attr]
        if not (data.isascii() or is_utf8(data)):
            return False
        if self._head and len(said) == 1 and type(said[0]) is TextDelta and data.startswith(self._head):
            if self.finished:
                return False
            usual = _NOT_FINISHED in data and data.count(b'"finish_reason"') == 1
            self.finished = not usual and _FINISH.search(data) is not None
            return True
        if data == b"[DONE]":
            return self.finished
        try:
            value = decode(data)
        except BadJson:
            return False
        return isinstance(value, dict) and self._takes_chunk(value, data)

    def _takes_chunk(self, chunk: dict[str, Any], data: bytes) -> bool:
        choices = chunk.get("choices")
        if self._id is None:
            if choices == []:
                return True  # a preamble, before anybody has a name
            self._open(chunk, data)
        if chunk.get("id") != self._id or not self._id or not isinstance(choices, list):
            return False
        return all(isinstance(choice, dict) and self._takes_choice(choice) for choice in choices)

    def _open(self, chunk: dict[str, Any], data: bytes) -> None:
        """Learn how every chunk of this stream begins, if that tells whose it is."""
        self._id = chunk.get("id")
        head = data[: data.find(_CHOICES)]
        self._head = head if b'"id"' in head and b'"model"' in head else b""

    def _takes_choice(self, choice: dict[str, Any]) -> bool:
        delta = choice.get("delta")
        if self.finished and isinstance(delta, dict) and (delta.get("content") or delta.get("tool_calls")):
            return False
        if choice.get("finish_reason"):
            self.finished = True
        calls = delta.get("tool_calls") or () if isinstance(delta, dict) else ()
        return isinstance(delta, dict) and all(isinstance(call, dict) and self._takes_call(call) for call in calls)

    def _takes_call(self, call: dict[str, Any]) -> bool:
        index, inner = call.get("index"), call.get("function") or call.get("custom")
        if not isinstance(index, int) or not isinstance(inner, dict):
            return False
        words = inner.get("arguments", inner.get("input", ""))
        if not isinstance(words, str | None):
            return False
        if index in self._calls:
            return not call.get("id") and not inner.get("name")
        self._calls.add(index)
        name = call.get("id")
        fresh = isinstance(name, str) and name != "" and name not in self._call_ids
        self._call_ids.add(str(name))
        return fresh and bool(inner.get("name")) and index == len(self._calls) - 1
