"""Whole Response objects, both ways, as the events of a stream.

A response that is still queued or in progress (background mode) is a cut without a cause: it must be asked for again.
The reply for a stream that was cut is a failed response that holds what was received.
"""

from collections.abc import Iterable
from typing import Any

from headway.events import Cut, Event, StreamCut
from headway.wire.decoding import EVIDENCE
from headway.wire.json_text import BadJson, encode_text, excerpt
from headway.wire.openai_responses.encoder import ResponsesEncoder
from headway.wire.openai_responses.ending import is_broken, read_failure
from headway.wire.openai_responses.meaning import ResponsesMeaning


def parse_reply(body: dict[str, Any]) -> list[Event]:
    """Read a reply that did not stream, its end included."""
    out: list[Event] = []
    meaning = ResponsesMeaning()
    if body.get("type") == "error" or (body.get("error") and "output" not in body):
        out.append(read_failure(body, "error"))
    elif not isinstance(body.get("output"), list) and body.get("object") != "response":
        out.append(StreamCut(Cut.NOT_EVENTS, _evidence(body), "the body is no reply"))
    elif is_broken(body):
        meaning.read_response(body, out)
        out.append(read_failure(body, "response.failed"))
    elif body.get("status") in ("queued", "in_progress"):
        meaning.read_response(body | {"output": []}, out)
        out.append(StreamCut(Cut.EOF, said=body["status"]))
    else:
        meaning.end(body, out)
    return out


def render_reply(events: Iterable[Event]) -> dict[str, Any]:
    """Write a reply that does not stream."""
    encoder = ResponsesEncoder()
    for event in events:
        encoder.write(event)
    return encoder.reply()


def _evidence(body: dict[str, Any]) -> str:
    try:
        return excerpt(encode_text(body), EVIDENCE)
    except BadJson:
        return ""
