"""Replies that did not stream, as the events of one that did. A body that tells of a failure is a cut."""

from collections.abc import Iterable
from typing import Any

from headway.events import Cut, Event, KeepAlive, StreamCut, StreamEnded
from headway.wire.assembly import assemble
from headway.wire.decoding import EVIDENCE
from headway.wire.json_text import BadJson, encode, excerpt
from headway.wire.openai_chat.evidence import write_error
from headway.wire.openai_chat.stream import ChatMeaning
from headway.wire.openai_chat.thinking import write_thinking
from headway.wire.openai_chat.tokens import write_usage
from headway.wire.openai_chat.words import FINISH_WORDS, SUCCESS
from headway.wire.openai_chat.write_messages import write_call


def parse_reply(body: dict[str, Any]) -> list[Event]:
    """Read a whole reply; the last event is its end."""
    out: list[Event] = []
    meaning = ChatMeaning()
    data = b""
    try:
        data = encode(body)
        meaning.read_value(body, data, out)
    except BadJson as exc:
        return [StreamCut(Cut.UNREADABLE, excerpt(data, EVIDENCE), str(exc))]
    if out and isinstance(out[-1], StreamCut):
        return out
    if "choices" not in body:
        return [StreamCut(Cut.NOT_EVENTS, excerpt(data, EVIDENCE), "the body is no reply")]
    meaning.conclude("", out)
    return [event for event in out if not isinstance(event, KeepAlive)]


def render_reply(events: Iterable[Event]) -> dict[str, Any]:
    """Write a whole reply, or an error object when the events do not end in an end; a cut call is left out."""
    received = assemble(events, "chat")
    end = received.end
    if not isinstance(end, StreamEnded):
        return write_error(end or StreamCut(Cut.EOF))
    message: dict[str, Any] = {
        "role": "assistant",
        "content": received.text or None,
        "refusal": received.refusal or None,
        **write_thinking(received.thinking),
    }
    if received.calls:
        message["tool_calls"] = [write_call(call) for call in received.calls]
    broken = received.fragments and end.stop in SUCCESS
    reply: dict[str, Any] = {
        "id": received.id,
        "object": "chat.completion",
        "created": 0,
        "model": received.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "error" if broken else FINISH_WORDS[end.stop]}],
    }
    return {**reply, "usage": write_usage(received.usage)} if received.usage else reply
