"""Reasoning on this wire: flat text under two names, and a list of details that may be signed or sealed.

A message's details are one `Thinking` each, and flat text that they restate is not read twice. Each keeps under `raw`
the very fields it was read from, so that it goes back unchanged.
"""

from collections.abc import Iterable
from typing import Any, get_args

from headway.events import Event, ThinkingDelta, ThinkingSealed, ThinkingSigned
from headway.messages import Raw, Thinking, WireName
from headway.wire.openai_chat.raw import own
from headway.wire.openai_chat.shapes import Delta

FLAT = ("reasoning_content", "reasoning")
DETAILS = "reasoning_details"
_OTHER_WIRES = frozenset(get_args(WireName)) - {"chat"}


class ThinkingReader:
    """Deltas to events, each word once."""

    def __init__(self) -> None:
        """Start with none."""
        self._flat: list[str] = []

    def read(self, delta: Delta) -> list[Event]:
        """Return what the delta says of reasoning."""
        events: list[Event] = []
        flat = delta.reasoning_content or delta.reasoning
        for item in delta.reasoning_details or ():
            text, signature, sealed = read_detail(item)
            if text:
                flat = None
                if not (signature and self._was_said(text)):
                    events.append(ThinkingDelta(text))
            if signature:
                events.append(ThinkingSigned(signature))
            if sealed:
                events.append(ThinkingSealed(sealed, Raw("chat", {DETAILS: [item]})))
            if signature or sealed:
                self._flat.clear()
        if flat:
            self._flat.append(flat)
            events.insert(0, ThinkingDelta(flat))
        return events

    def _was_said(self, text: str) -> bool:
        """Say whether a signed detail only repeats, as one block, what came before as flat text."""
        return "".join(self._flat).endswith(text) if self._flat else False


def read_detail(item: dict[str, Any]) -> tuple[str, str, str]:
    """Return the readable text, the signature and the sealed data of a detail; blank where it has none."""
    text, summary, signature, sealed = (
        value if isinstance(value := item.get(key), str) else "" for key in ("text", "summary", "signature", "data")
    )
    return text or summary, signature, sealed


def write_detail(text: str, signature: str | None = None) -> dict[str, Any]:
    """Return a readable detail, signed if there is a signature."""
    signed = {"signature": signature} if signature else {}
    return {"type": "reasoning.text", "text": text, **signed}


def write_sealed(sealed: str, raw: Raw | None) -> list[dict[str, Any]]:
    """Return the detail that a seal was read from, or one that holds it."""
    details: list[dict[str, Any]] = own(raw).get(DETAILS, [])
    return details or [{"type": "reasoning.encrypted", "data": sealed}]


def read_thinking(message: dict[str, Any]) -> tuple[Thinking, ...]:
    """Read the reasoning of an assistant message."""
    flat = {key: message[key] for key in FLAT if isinstance(message.get(key), str)}
    flat_text = next(filter(None, flat.values()), "")
    listed = message.get(DETAILS)
    items = [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    if not items:
        return (Thinking(flat_text, "chat", raw=Raw("chat", flat)),) if flat else ()
    read = [read_detail(item) for item in items]
    if not any(text for text, _, _ in read):
        read[0] = (flat_text, *read[0][1:])
    return tuple(
        Thinking(
            text, "chat", signature or None, sealed or None, Raw("chat", {**(flat if i == 0 else {}), DETAILS: [item]})
        )
        for i, (item, (text, signature, sealed)) in enumerate(zip(items, read, strict=True))
    )


def write_thinking(parts: Iterable[Thinking]) -> dict[str, Any]:
    """Write the reasoning of an assistant message: what was read as it was, the rest in the plainest form.

    Reasoning of another wire's issuer is left out. Which of this wire's issuers may get what is the dialect's question.
    """
    fields: dict[str, Any] = {}
    details: list[dict[str, Any]] = []
    unread: list[Thinking] = []
    for part in parts:
        raw = own(part.raw)
        if part.issuer in _OTHER_WIRES:
            continue
        if not _holds_all(raw, part):
            unread.append(part)
        else:
            details += raw.get(DETAILS, [])
            fields.update({key: value for key, value in raw.items() if key != DETAILS})
    if any(part.signature or part.sealed for part in unread):
        for part in unread:
            details += _details_of(part)
    if unread:
        fields["reasoning_content"] = fields.get("reasoning_content", "") + "".join(part.text for part in unread)
    return {**fields, DETAILS: details} if details else fields


def is_thinking(key: str, value: Any) -> bool:
    """Say whether a field of an assistant message is read by `read_thinking`."""
    return (key in FLAT and isinstance(value, str)) or (key == DETAILS and isinstance(value, list) and bool(value))


def _holds_all(raw: dict[str, Any], part: Thinking) -> bool:
    """Say whether writing `raw` writes the part; a seal that was streamed does not hold the words before it."""
    if part.sealed and part.text and raw.keys() == {DETAILS}:
        return any(read_detail(item)[0] for item in raw[DETAILS])
    return bool(raw)


def _details_of(part: Thinking) -> list[dict[str, Any]]:
    if part.sealed is None:
        return [write_detail(part.text, part.signature)]
    readable = [{"type": "reasoning.summary", "summary": part.text}] if part.text else []
    return [*readable, *write_sealed(part.sealed, part.raw)]
