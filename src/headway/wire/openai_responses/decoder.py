"""Bytes of a Responses stream to events; what a server needs to resume the response stays in reach."""

from urllib.parse import quote

from headway.wire.base import Decoder
from headway.wire.decoding import StreamDecoder
from headway.wire.openai_responses.meaning import ResponsesMeaning
from headway.wire.openai_responses.reply import parse_reply


class ResponsesDecoder(StreamDecoder):
    """Decodes one response. After a cut, a stored background response goes on after `sequence_number`."""

    def __init__(self) -> None:
        """Start before the first byte."""
        self._meaning_of_frames = ResponsesMeaning()
        super().__init__(self._meaning_of_frames, parse_reply)

    @property
    def response_id(self) -> str:
        """Return the id of the response, once it said so; else blank."""
        return self._meaning_of_frames.response_id

    @property
    def sequence_number(self) -> int | None:
        """Return the number of the last event that was read, if the server counts them."""
        return self._meaning_of_frames.sequence_number


def reattach(decoder: Decoder) -> str:
    """Return the address, below the endpoint's own, that streams the rest of a background response."""
    if not isinstance(decoder, ResponsesDecoder) or not decoder.response_id or decoder.sequence_number is None:
        return ""
    return f"/{quote(decoder.response_id, safe='')}?stream=true&starting_after={decoder.sequence_number}"
