"""Replies that do not stream. A whole message is told as the stream of its blocks, so both are read by one reader."""

from collections.abc import Iterable
from typing import Any

from headway.events import Cut, Event, StreamCut, StreamEnded
from headway.messages import Part, Thinking
from headway.received import Received
from headway.wire.anthropic.blocks import ISSUER, render_block, text_of
from headway.wire.anthropic.errors import error_object, error_type, half_a_call, is_error
from headway.wire.anthropic.reader import ReplyReader
from headway.wire.anthropic.stops import VOUCHING, has_word, vouches, write_end, write_usage
from headway.wire.assembly import assemble
from headway.wire.decoding import EVIDENCE
from headway.wire.json_text import BadJson, encode_text, excerpt


def parse_reply(body: dict[str, Any]) -> list[Event]:
    """Read a whole message, or the error that came instead of one, as events with their end."""
    if is_error(body):
        return [StreamCut(Cut.ERROR, _evidence(body), error_type(body) or "error")]
    content = body.get("content")
    if not isinstance(content, list) or not all(isinstance(block, dict) for block in content):
        return [StreamCut(Cut.NOT_EVENTS, _evidence(body), "the body is no message")]
    out: list[Event] = []
    try:
        _tell(body, content, out)
    except BadJson as exc:
        out.append(StreamCut(Cut.UNREADABLE, _evidence(body), str(exc)))
    return out


def _tell(body: dict[str, Any], content: list[dict[str, Any]], out: list[Event]) -> None:
    reader = ReplyReader()
    reader.opened({"id": body.get("id"), "model": body.get("model")}, out)
    # The input of a call was parsed by the provider. If the reply was cut short in its last block, nobody can see
    # from the outside whether an object was whole, so that call is not vouched for.
    word = text_of(body.get("stop_reason"))
    was_cut = bool(word) and not vouches(word)
    for index, block in enumerate(content):
        reader.started(index, block, out)
        if not (was_cut and index == len(content) - 1 and block.get("type") == "tool_use"):
            reader.stopped(index, out)
        elif block.get("input"):
            reader.add_input(index, encode_text(block["input"]), out)
    reader.concluded(body, body.get("usage"), out)
    reader.ended(out, marked=True)


def render_reply(events: Iterable[Event]) -> dict[str, Any]:
    """Write a whole message, or an error where there is none."""
    received = assemble(events, ISSUER)
    end = received.end
    if not isinstance(end, StreamEnded) or not has_word(end.stop):
        return error_object(end)
    if received.fragments and end.stop in VOUCHING:
        return half_a_call(received.fragments[0].name)
    return {
        "id": received.id,
        "type": "message",
        "role": "assistant",
        "model": received.model,
        "content": _content(received),
        **write_end(end),
        "usage": write_usage(received.usage),
    }


def _content(received: Received) -> list[dict[str, Any]]:
    return [block for part in received.parts if (block := _block(part)) is not None]


def _block(part: Part) -> dict[str, Any] | None:
    """Thinking is told even when nobody signed it, or another wire did; it only cannot be sent back."""
    block = render_block(part)
    if block is None and isinstance(part, Thinking) and part.text:
        return {"type": "thinking", "thinking": part.text, "signature": ""}
    return block


def _evidence(body: dict[str, Any]) -> str:
    try:
        return excerpt(encode_text(body), EVIDENCE)
    except BadJson as exc:
        return str(exc)
