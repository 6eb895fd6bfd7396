"""Anthropic Messages: message_start, blocks one after another, message_delta, message_stop; pings anywhere."""

from typing import Any

from support.grammars.frames import Judge, Said, is_object_text

_DELTAS = {
    "text": ("text_delta", "citations_delta"),
    "thinking": ("thinking_delta", "signature_delta"),
    "tool_use": ("input_json_delta",),
    "server_tool_use": ("input_json_delta",),
    "mcp_tool_use": ("input_json_delta",),
    "redacted_thinking": (),
}
_FIELDS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "input_json_delta": "partial_json",
}
_VOUCHING = ("end_turn", "tool_use", "stop_sequence", "pause_turn", "compaction")


class MessagesJudge(Judge):
    """The rules of a Messages stream."""

    def __init__(self) -> None:
        super().__init__()
        self.is_started = False
        self.stop = ""
        self.blocks: list[dict[str, Any]] = []
        self.open: dict[str, Any] | None = None

    def judge(self, said: Said) -> None:
        event = said.data
        if not isinstance(event, dict):
            self.wrong(f"the data is no object: {event!r}")
            return
        kind = event.get("type")
        self.check(said.event == kind, f"the event {said.event!r} says that it is {kind!r}")
        if kind == "ping":
            return
        if kind == "error":
            self.check(isinstance(event.get("error"), dict), "an error without an error object")
            self.is_over = True
            return
        self.check(self.is_started != (kind == "message_start"), f"{kind} in the wrong place of the reply")
        step = getattr(self, f"_{kind}", None)
        if step is None:
            self.wrong(f"an unknown event: {kind!r}")
        else:
            step(event)

    def _message_start(self, event: dict[str, Any]) -> None:
        self.is_started = True
        message = event.get("message") or {}
        expected = {"type": "message", "role": "assistant", "content": [], "stop_reason": None}
        for name, value in expected.items():
            self.check(message.get(name) == value, f"the message starts with {name} {message.get(name)!r}")
        self.check(isinstance(message.get("id"), str) and isinstance(message.get("model"), str), "nobody's message")
        self.check(isinstance((message.get("usage") or {}).get("input_tokens"), int), "it starts without usage")

    def _content_block_start(self, event: dict[str, Any]) -> None:
        index, block = event.get("index"), event.get("content_block") or {}
        self.check(not self.stop, "a block after the stop reason")
        self.check(self.open is None, f"block {index} starts while block {len(self.blocks) - 1} is open")
        self.check(index == len(self.blocks), f"block {index} is the one of the place {len(self.blocks)}")
        self.check(isinstance(block.get("type"), str), f"block {index} has no type")
        if block.get("type") == "tool_use":
            self.check(block.get("id") and block.get("name"), f"the call in block {index} has no name")
            self.check(block.get("input") == {}, f"the call in block {index} starts with input")
            same = [known for known in self.blocks if known["id"] == block.get("id")]
            self.check(not same, f"two calls have the id {block.get('id')!r}")
        self.open = {"type": block.get("type"), "id": block.get("id"), "input": "", "is_signed": False}
        self.blocks.append(self.open)

    def _content_block_delta(self, event: dict[str, Any]) -> None:
        index, delta = event.get("index"), event.get("delta") or {}
        if self.open is None:
            self.wrong(f"a delta for block {index} while none is open")
            return
        kind = delta.get("type")
        self.check(index == len(self.blocks) - 1, f"a delta for block {index}, but {len(self.blocks) - 1} is open")
        fitting = _DELTAS.get(self.open["type"])
        self.check(fitting is None or kind in fitting, f"a {kind} in a block of the type {self.open['type']!r}")
        self.check(not self.open["is_signed"], "more of a block that was signed")
        if kind in _FIELDS:
            self.check(isinstance(delta.get(_FIELDS[kind]), str), f"a {kind} without text")
        self.open["is_signed"] = kind == "signature_delta"
        self.open["input"] += delta.get("partial_json") or ""

    def _content_block_stop(self, event: dict[str, Any]) -> None:
        index = event.get("index")
        self.check(self.open is not None, f"block {index} stops, but none is open")
        self.check(index == len(self.blocks) - 1, f"block {index} stops, but {len(self.blocks) - 1} is open")
        self.open = None

    def _message_delta(self, event: dict[str, Any]) -> None:
        self.check(isinstance((event.get("usage") or {}).get("output_tokens"), int), "a message_delta without usage")
        word = (event.get("delta") or {}).get("stop_reason")
        if word is None:
            return
        self.check(self.open is None, f"the reply stops while block {len(self.blocks) - 1} is open")
        self.check(not self.stop, f"a second stop: {word!r} after {self.stop!r}")
        self.stop = word
        uses = [block for block in self.blocks if block["type"] == "tool_use"]
        if word in ("tool_use", "end_turn"):
            self.check((word == "tool_use") == bool(uses), f"{word!r} with {len(uses)} calls")
        for use in uses if word in _VOUCHING else uses[:-1]:
            self.check(is_object_text(use["input"]), f"the call {use['id']!r} is not whole: {use['input']!r}")

    def _message_stop(self, _: dict[str, Any]) -> None:
        self.check(self.stop, "message_stop without a stop reason")
        self.is_over = True
