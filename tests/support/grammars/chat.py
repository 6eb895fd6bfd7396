"""Chat Completions: chunks of one choice, one finish word, perhaps the usage, `[DONE]`."""

from typing import Any

from support.grammars.frames import Judge, Said, is_object_text

_CONSTANT = ("id", "object", "created", "model", "system_fingerprint", "service_tier", "provider")
_VOUCHING = ("stop", "tool_calls")


class ChatJudge(Judge):
    """The rules of a stream of chunks."""

    def __init__(self) -> None:
        super().__init__()
        self.head: dict[str, Any] | None = None
        self.finish = ""
        self.calls: list[dict[str, Any]] = []
        self.has_usage = False

    def judge(self, said: Said) -> None:
        self.check(said.event == "", f"an event has the name {said.event!r}")
        chunk = said.data
        if chunk == "[DONE]":
            self.check(self.finish, "[DONE] came before any finish_reason")
            self.is_over = True
        elif not isinstance(chunk, dict):
            self.wrong(f"the data is no object: {chunk!r}")
        elif chunk.get("error"):
            self.is_over = True
        elif self.head is None and not chunk.get("choices") and not chunk.get("id"):
            pass  # the preamble of one vendor: filter results, and nobody's name
        else:
            self._chunk(chunk)

    def _chunk(self, chunk: dict[str, Any]) -> None:
        self._envelope(chunk)
        choices = chunk.get("choices")
        if not isinstance(choices, list):
            self.wrong("choices is no list")
            return
        if chunk.get("usage") is not None:
            self.check(self.finish or choices, "usage stands alone before the finish")
            self.check(choices != [] or not self.has_usage, "a second chunk is only about usage")
            self.has_usage = self.has_usage or not choices
        elif not choices:
            self.wrong("a chunk has neither a choice nor usage")
        for choice in choices:
            self._choice(choice)

    def _envelope(self, chunk: dict[str, Any]) -> None:
        if self.head is None:
            self.head = chunk
            self.check(chunk.get("object") == "chat.completion.chunk", "object is not chat.completion.chunk")
            self.check(isinstance(chunk.get("id"), str), "the first chunk has no id")
            role = next(choice.get("delta", {}).get("role") for choice in chunk.get("choices") or [{}])
            self.check(role == "assistant", "the first chunk does not say who speaks")
        for name in _CONSTANT:
            was, now = self.head.get(name), chunk.get(name)
            self.check(was == now, f"{name} changed from {was!r} to {now!r}")

    def _choice(self, choice: dict[str, Any]) -> None:
        self.check(choice.get("index") == 0, f"a choice has the index {choice.get('index')!r}")
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            self.wrong("a choice has no delta")
            return
        says = [name for name, value in delta.items() if name != "role" and value]
        self.check(not (self.finish and says), f"{', '.join(says)} came after the finish")
        for name in ("content", "refusal", "reasoning_content", "reasoning"):
            self.check(isinstance(delta.get(name), str | None), f"{name} is no text")
        self.check(delta.get("role") in (None, "assistant"), f"the role is {delta.get('role')!r}")
        calls = delta.get("tool_calls")
        self.check(calls is None or (isinstance(calls, list) and bool(calls)), "tool_calls is no list, or an empty one")
        for call in calls or ():
            self._call(call)
        if choice.get("finish_reason") is not None:
            self._finish(choice["finish_reason"])

    def _call(self, call: dict[str, Any]) -> None:
        index, kind = call.get("index"), "custom" if "custom" in call else "function"
        body = call.get(kind) or {}
        text = body.get("input" if kind == "custom" else "arguments")
        if not isinstance(index, int):
            self.wrong(f"a call has the index {index!r}")
            return
        self.check(index <= len(self.calls), f"call {index} came after {len(self.calls)} calls")
        if index < len(self.calls):
            known = self.calls[index]
            again = [name for name in (call.get("id"), body.get("name")) if name]  # clients would join them, twice
            self.check(not again, f"call {index} says again what it is: {again}")
        else:
            self.check(call.get("id") and call.get("type") == kind, f"call {index} begins without id and type")
            self.check(body.get("name"), f"call {index} begins without a name")
            same = [known for known in self.calls if known["id"] == call.get("id")]
            self.check(not same, f"two calls have the id {call.get('id')!r}")
            known = {"id": call.get("id"), "kind": kind, "text": ""}
            self.calls.append(known)
        self.check(kind == known["kind"], f"call {index} changed its kind")
        self.check(isinstance(text, str | None), f"the arguments of call {index} are no text")
        known["text"] += text or ""

    def _finish(self, word: str) -> None:
        self.check(not self.finish, f"a second finish: {word!r} after {self.finish!r}")
        self.finish = word
        if word in _VOUCHING:
            self.check((word == "tool_calls") == bool(self.calls), f"{word!r} with {len(self.calls)} calls")
        whole = self.calls if word in _VOUCHING else self.calls[:-1]
        for index, call in enumerate(whole):
            sound = call["kind"] == "custom" or is_object_text(call["text"])
            self.check(sound, f"call {index} is not whole at the finish: {call['text']!r}")
