"""The head of an event: its type and what it says about its place. A delta needs nothing else of its frame."""

from typing import Any

import msgspec
from msgspec import Struct

from headway.wire.json_text import BadJson
from headway.wire.openai_responses.growing import NOWHERE, Place, Words

UNREADABLE = (msgspec.DecodeError, UnicodeError, RecursionError)
"""What a decoder of frames may raise."""


class Head(Struct, gc=False):
    """The fields that events share; everything else in the JSON is skipped."""

    type: str = ""
    delta: str = ""
    item_id: str = ""
    output_index: int = NOWHERE
    content_index: int = 0
    summary_index: int = 0
    sequence_number: int = -1


BLANK = Head()
decode_head = msgspec.json.Decoder(Head).decode


class Stream(Struct, frozen=True):
    """A family of `.delta` and `.done` events: the type of its item, its kind of words, the field of the whole."""

    item: str
    words: Words
    field: str

    def place(self, head: Head) -> Place:
        """Return where in its item an event's words stand."""
        match self.words:
            case Words.SUMMARY:
                return self.words, head.summary_index
            case Words.ARGUMENTS:
                return self.words, 0
            case _:
                return self.words, head.content_index


STREAMS = {
    "response.output_text": Stream("message", Words.TEXT, "text"),
    "response.refusal": Stream("message", Words.REFUSAL, "refusal"),
    "response.reasoning_summary_text": Stream("reasoning", Words.SUMMARY, "text"),
    "response.reasoning_text": Stream("reasoning", Words.REASONING, "text"),
    "response.function_call_arguments": Stream("function_call", Words.ARGUMENTS, "arguments"),
    "response.custom_tool_call_input": Stream("custom_tool_call", Words.ARGUMENTS, "input"),
}


def head_of(value: Any) -> Head:
    """Read a head field by field, leaving out what has a wrong type. Raises `BadJson` for what is no event.

    Words of a wrong type are not left out: what follows them could not be joined to what came before.
    """
    if not isinstance(value, dict):
        raise BadJson(f"expected an event, got {type(value).__name__}")
    given = {name: value[name] for name in Head.__struct_fields__ if name in value}
    head = Head(**{name: field for name, field in given.items() if type(field) is type(getattr(BLANK, name))})
    if head.type.removesuffix(".delta") in STREAMS and not isinstance(given.get("delta"), str | None):
        raise BadJson("the delta is no text")
    return head
