"""What is known about a failure, before anybody has judged it: whatever of it the caller happens to have.

Every field may be missing. `facts_of_end` reads them off an attempt that ended; an attempt that is an answer has none.
"""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from headway.events import Cut, End, Stop, StreamCut
from headway.failure import Where
from headway.messages import Opaque
from headway.received import Received

OPEN_TOOL_CALL = "open_tool_call"
TEXT_ONLY = "text_only"

_WHERE_OF_CUT = {
    Cut.EOF: Where.STREAM_EOF,
    Cut.ERROR: Where.STREAM_ERROR_EVENT,
    Cut.NOT_EVENTS: Where.BODY_200,
    Cut.TOO_LARGE: Where.STREAM_ERROR_CHUNK,
    Cut.UNREADABLE: Where.STREAM_ERROR_CHUNK,
    Cut.CONTRADICTORY: Where.STREAM_ERROR_CHUNK,
}
_CODE_OF_CUT = {
    Cut.NOT_EVENTS: "not_an_event_stream",
    Cut.TOO_LARGE: "stream_event_without_bounds",
    Cut.UNREADABLE: "stream_unreadable",
    Cut.CONTRADICTORY: "stream_unreadable",
}
_ANSWERS = frozenset({Stop.END, Stop.CALLS, Stop.SEQUENCE})


class Facts(Struct, frozen=True):
    """One failure as it was met. `body` is the raw text; whatever shape it has is the unwrapper's business."""

    wire: str = ""
    vendor: str = ""
    where: Where | None = None
    status: int | None = None
    code: str = ""
    type: str = ""
    message: str = ""
    exception: str = ""
    body: str = ""
    headers: dict[str, str] = {}
    finish_reason: str = ""
    stop: Stop | None = None
    """The decoder's own reading of the finish reason, when there was a decoder."""
    context: str = ""
    """What was open when it happened: `text_only` or `open_tool_call`."""
    after_output: bool | None = None
    """Whether output had been received; None when nobody knows."""
    repeat: int = 1
    """How often the same thing has happened with the same content, this time included."""


def facts_of_end(
    end: End, received: Received, wire: str = "", vendor: str = "", *, headers: Mapping[str, str] = {}, repeat: int = 1
) -> Facts | None:
    """Return what is known about an attempt that ended like this; None means that it is an answer."""
    known = Facts(
        wire=wire,
        vendor=vendor,
        status=200,
        headers=dict(headers),
        context=OPEN_TOOL_CALL if received.fragments else TEXT_ONLY if received.parts else "",
        after_output=bool(received.parts),
        repeat=repeat,
    )
    if isinstance(end, StreamCut):
        code = _CODE_OF_CUT.get(end.cause, "")
        return replace(known, where=_WHERE_OF_CUT[end.cause], code=code, message=end.said, body=end.body)
    stop = Stop.REFUSED if received.refusal and end.stop in _ANSWERS else end.stop
    if stop in _ANSWERS and _is_answer(received):
        return None
    said = end.said if stop is end.stop else stop.value
    words = end.detail or received.refusal
    return replace(known, where=Where.FINISH_REASON, finish_reason=said, stop=stop, message=words)


def _is_answer(received: Received) -> bool:
    """Say whether a reply that ended well says or does anything, and does it wholly."""
    acts = received.calls or any(isinstance(part, Opaque) for part in received.parts)
    return not received.fragments and bool(acts or received.text.strip())
