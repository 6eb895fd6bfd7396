"""What a request asks of a model, read the way models read: by the words, not by who wrote them.

Known: to go on with a draft, to make smaller pieces, to go on with a text. Everything else, "continue" and empty
nudges included, means: do what you were doing. Notices in brackets and capitals are not believed, as by real models.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from headway.messages import Message, ModelRequest, Opaque, Text, Thinking, ToolCall, ToolResult, ToolSpec

CHARACTERS_A_TOKEN = 4
CHARACTERS_A_LINE = 60
_UNITS = {"token": CHARACTERS_A_TOKEN, "line": CHARACTERS_A_LINE, "kb": 1_000, "kilobyte": 1_000}
_NOTICE = re.compile(r"\s*(?:\[.*\]|<system.*>|(?:SYSTEM|NOTICE|WARNING)\b.*)\s*", re.DOTALL)
_SMALLER = re.compile(
    r"(?:smaller|shorter|several|multiple|separate)\s+(?:\w+\s+)?(?:pieces|parts|chunks|calls|steps|writes)"
    r"|split\b.{0,60}\b(?:pieces|parts|chunks|calls)|in (?:pieces|chunks)|chunks? of",
    re.IGNORECASE | re.DOTALL,
)
_SIZE = re.compile(
    r"(?:at most|no more than|up to|under|below|about|around|roughly|max(?:imum)?(?: of)?|[~≤<])\s*(?:about\s*)?"
    r"(?P<number>\d[\d,_]*)\s*(?P<kilo>k\b|K\b|[kK](?=\s?tok))?\s*(?P<unit>characters?|chars?|tokens?|bytes?|lines?|KB|kilobytes?)",
    re.IGNORECASE,
)
_DRAFT_ID = re.compile(r'draft\W{1,3}"?(?P<id>[\w-]{2,64})"')
_OFFSET = re.compile(r"offset\W{1,4}(?P<offset>\d[\d,_]*)")
_FIELD = re.compile(r"of `(?P<field>[\w.\[\]]+)`", re.IGNORECASE)
_COMPLETE = re.compile(r"^`(?P<field>\w+)` is complete", re.MULTILINE)
_SHOWN = re.compile(r"^-----\n(?P<shown>.*)\n-----$", re.DOTALL | re.MULTILINE)
_GO_ON = re.compile(r"\b(?:go on|continue|pick up|carry on|left off|keep going|next character)\b", re.IGNORECASE)


class DraftWish(Struct, frozen=True):
    """The user has part of a call and wants the rest. `tail` is how the part ends, as far as it is shown."""

    id: str
    offset: int
    field: str = ""
    """The field that is open, if its name is told."""
    tail: str = ""
    complete: tuple[str, ...] = ()
    """The fields that are told to be complete."""
    wants_fields: bool = False
    """Is no text open, so that only fields are missing?"""


class Wishes(Struct, frozen=True):
    """What the newest messages ask for, beyond doing the task."""

    draft: DraftWish | None = None
    smaller: int | None = None
    """Characters in a piece; 0 if smaller pieces are wanted and no size is named; None if they are not."""
    quoted: str = ""
    """What the user says a text to go on from ends with."""


def read_wishes(request: ModelRequest) -> Wishes:
    """Return what is asked for."""
    heard = _heard(request.messages)
    newest = "\n\n".join(_heard(_since_assistant(request.messages)))
    tools = {tool.name for tool in request.tools if isinstance(tool, ToolSpec)}
    smaller = next((size for text in reversed(heard) if (size := _piece_size(text)) is not None), None)
    quoted = newest if _GO_ON.search(newest) else ""
    return Wishes(_draft(newest, request) if "continue_draft" in tools else None, smaller, quoted)


def tools_of(request: ModelRequest) -> set[str]:
    """Return the names of all tools on offer; some clients add theirs among the messages, in groups."""
    added = (part.raw.value for message in request.messages for part in message.parts if isinstance(part, Opaque))
    groups = [value.get("tools") or () for value in added if value.get("type") == "additional_tools"]
    listed = [tool for tools in groups for group in tools for tool in (group, *(group.get("tools") or ()))]
    return {tool.name for tool in request.tools if isinstance(tool, ToolSpec)} | {tool.get("name") for tool in listed}


def words_of(request: ModelRequest) -> str:
    """Return every word of a request, results and arguments included."""
    said = [text.text for text in request.system]
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, Text | Thinking | ToolResult):
                said.append(part.text)
            elif isinstance(part, ToolCall):
                said.append(part.arguments)
    return "\n".join(said)


def _heard(messages: Sequence[Message]) -> list[str]:
    """Return what users and results say, newest last, without notices."""
    heard = []
    for message in messages:
        if message.role == "user":
            heard += [part.text for part in message.parts if isinstance(part, Text)]
            heard += [result.text for result in message.results]
    return [text for text in heard if not _NOTICE.fullmatch(text)]


def _since_assistant(messages: Sequence[Message]) -> Sequence[Message]:
    spoke = max((i for i, message in enumerate(messages) if message.role == "assistant"), default=-1)
    return messages[spoke + 1 :]


def _piece_size(text: str) -> int | None:
    text = _SHOWN.sub("", text)
    if not _SMALLER.search(text):
        return None
    size = _SIZE.search(text)
    if size is None:
        return 0
    number = _number(size["number"]) * (1_000 if size["kilo"] else 1)
    return number * _UNITS.get(size["unit"].lower().removesuffix("s"), 1)


def _draft(newest: str, request: ModelRequest) -> DraftWish | None:
    """Read what is asked about a draft; what is shown of it is no part of the asking."""
    shown = _SHOWN.search(newest)
    asking = _SHOWN.sub("", newest)
    offset = _OFFSET.search(asking)
    if "continue_draft" not in asking or offset is None:
        return None
    # A correction need not name the draft again: then it is the one that was gone on with before.
    said = [asking, *(call.arguments for message in reversed(request.messages) for call in message.calls)]
    field = _FIELD.search(asking)
    return DraftWish(
        next((found["id"] for text in said if (found := _DRAFT_ID.search(text))), ""),
        _number(offset["offset"]),
        field["field"] if field else "",
        shown["shown"] if shown else "",
        tuple(_COMPLETE.findall(asking)),
        '`rest` ""' in asking,
    )


def _number(digits: str) -> int:
    return int(re.sub("[,_]", "", digits))
