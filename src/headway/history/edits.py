"""What repair did, as facts, and the working copy that its passes hand on.

An entry is a message with the index it had in the history that was given; what repair adds has the index of the
message it concerns. A message that a pass does not change stays the very same object.
"""

from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from headway.dialect import Dialect
from headway.messages import Message, Part, ResultPart, ToolResult


class RepairKind(Enum):
    """The kinds of edits."""

    CALL_DROPPED = "call_dropped"
    RESULT_DROPPED = "result_dropped"
    RESULT_ADDED = "result_added"
    RESULT_MOVED = "result_moved"
    RESULT_TOLD = "result_told"
    """A result that belongs to no call became words of the user."""
    MODEL_TOLD = "model_told"
    """The model is told that a call of its was not run."""
    RESULT_FITTED = "result_fitted"
    """A result became one of the kind of its call."""
    ID_CHANGED = "id_changed"
    NAME_CHANGED = "name_changed"
    BLANK_DROPPED = "blank_dropped"
    MESSAGE_DROPPED = "message_dropped"
    CHARACTERS_REPLACED = "characters_replaced"
    ROLE_CHANGED = "role_changed"
    TURN_JOINED = "turn_joined"
    THINKING_DROPPED = "thinking_dropped"
    THINKING_ADDED = "thinking_added"
    THINKING_SWITCHED_OFF = "thinking_switched_off"
    FOREIGN_DROPPED = "foreign_dropped"
    MALFORMED_DROPPED = "malformed_dropped"
    WORK_DROPPED = "server_work_dropped"
    MEDIA_LEFT_OUT = "media_left_out"
    MEDIA_MOVED = "media_moved"
    RESULT_FLATTENED = "result_flattened"
    SYSTEM_MOVED = "system_moved"
    ASSISTANT_ADDED = "assistant_added"
    USER_ADDED = "user_added"
    END_TRIMMED = "end_trimmed"
    TOOLS_ADDED = "tools_added"


class Repair(Struct, frozen=True):
    """One edit: its kind, the message of the given history it was made at (none: the request), and a sentence."""

    kind: RepairKind
    index: int | None
    concerned: str
    """The id of the call or the name of the tool that it is about; blank when it is about neither."""
    words: str


class Entry(Struct, frozen=True, gc=False):
    """A message on its way through the passes."""

    index: int
    message: Message

    def holding(self, parts: Iterable[Part]) -> "Entry":
        """Return the entry with other parts; with the same ones, the same entry."""
        given = tuple(parts)
        if len(given) == len(self.message.parts) and all(map(_is, given, self.message.parts)):
            return self
        return Entry(self.index, replace(self.message, parts=given))


class Log:
    """Collects the edits of one repair."""

    def __init__(self) -> None:
        """Start empty."""
        self.repairs: list[Repair] = []

    def note(self, kind: RepairKind, index: int | None, words: str, concerned: str = "") -> None:
        """Write down one edit."""
        self.repairs.append(Repair(kind, index, concerned, words))


Entries: TypeAlias = list[Entry]
Pass: TypeAlias = Callable[[Entries, Dialect, Log], Entries]


def result_holding(result: ToolResult, parts: Iterable[ResultPart]) -> ToolResult:
    """Return a result with other parts; with the same ones, the same result.

    With nothing left it forgets what it was read from, so that no codec brings an empty list back.
    """
    given = tuple(parts)
    if len(given) == len(result.parts) and all(map(_is, given, result.parts)):
        return result
    return replace(result, parts=given, raw=result.raw if given else None)


def messages_of(entries: Entries) -> list[Message]:
    """Return the messages alone."""
    return [entry.message for entry in entries]


def without_empty(entries: Entries) -> Entries:
    """Return the entries that hold something."""
    return [entry for entry in entries if entry.message.parts]


def _is(one: object, other: object) -> bool:
    return one is other
