"""What the user's words mention by `@path`, attached to them: the text of a file, the list of a folder, a picture.

A mention is a call of `read_file` or `list_files` that the user makes: the same workspace, rules, questions and bounds
hold for it, and secrets are taken out. A path at which there is nothing stays a word. One line tells the user what was
attached, and what was not found although a path seems to be meant.
"""

import os
import stat
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.approval import Ask, Kind, judge
from headway.agent.context.account import MaskCount, account_of
from headway.agent.context.mistyped import Mistyped, mistyped
from headway.agent.context.naming import named_in
from headway.agent.denials import why_denied
from headway.agent.running import run_calls
from headway.agent.tools.listing import list_files
from headway.agent.tools.reading import read_file
from headway.agent.tools.refusals import OutsideWorkspace, ToolError
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.history.exchanges import size_of
from headway.messages import Image, Message, Part, Text, ToolCall, ToolResult
from headway.wire.json_text import encode_text

MOST_MENTIONS = 50
MOST_LOOKED_AT = 2_000
"""Words of one message that are looked up: a log that was pasted may be full of signs."""
MOST_CHARACTERS = 200_000
"""Of all that one message attaches."""
MOST_PICTURE_DATA = 16_000_000
"""Of all pictures of one message, in base64: requests have bounds too."""
MOST_TOLD = 6
"""Names in the line that tells what was attached, and again as many in what was not found."""


class Attached(Struct, frozen=True):
    """A message with what it mentions, and what a person should know about that: first what there is, then what not."""

    message: Message
    notices: tuple[str, ...] = ()


class _Kind(Enum):
    FILE = "read_file"
    FOLDER = "list_files"
    OUTSIDE = ""


class _Named(Struct, frozen=True):
    """What the words name: paths that are there, in the order they are named, and paths that are not."""

    found: dict[str, _Kind]
    mistyped: Sequence[Mistyped]


class _Read(Struct, frozen=True):
    """What came of one mention."""

    result: ToolResult
    masked: int
    """Secrets that were taken out."""


async def attach(message: Message, context: ToolContext, *, images: bool = True) -> Attached:
    """Attach what the first text of a message mentions; what was piped in behind it is quoted, and mentions nothing."""
    words = next((part.text for part in message.parts if isinstance(part, Text)), "")
    named = await in_thread(_named, words, context.workspace)
    attached: list[Part] = []
    told: list[str] = []
    notices: list[str] = []
    for at, (path, kind) in enumerate(named.found.items()):
        if at >= MOST_MENTIONS or _is_much(attached):
            notices.append(f"@{path} and what follows it was not attached: that is too much for one message")
            break
        if kind is _Kind.OUTSIDE:
            notices.append(f"@{path} was not attached: it is outside the workspace {context.workspace.root}")
            continue
        read = await _read(path, kind, context)
        if isinstance(read, str):
            notices.append(f"@{path} was not attached: {read}")
        elif not images and any(isinstance(part, Image) for part in read.result.parts):
            words_for_both = f"@{path} is a picture, and the model does not take pictures"
            notices.append(words_for_both)
            attached.append(Text(f"\n({words_for_both}; it is not attached.)"))
        else:
            attached += _shown(path, read.result)
            told.append(account_of(path, read.result, masked=read.masked, is_folder=kind is _Kind.FOLDER))
    line = _line(told, [str(one) for one in named.mistyped])
    return Attached(replace(message, parts=(*message.parts, *attached)), tuple(filter(None, (line, *notices))))


async def _read(path: str, kind: _Kind, context: ToolContext) -> _Read | str:
    """Return what a path has, or why it cannot be had, in words for the user."""
    call = ToolCall("mention", kind.value, encode_text({"path": path}))
    begun: list[ToolCall] = []
    counted = MaskCount(context.redactor)

    async def begins(call: ToolCall) -> None:
        begun.append(call)

    (result,) = await run_calls((call,), (read_file, list_files), replace(context, redactor=counted), begins)
    if not result.is_error:
        return _Read(result, counted.masked)
    return result.text if begun else await in_thread(_why_not, call, path, context)


def _why_not(call: ToolCall, path: str, context: ToolContext) -> str:
    """Return why a mention may not be read: what the model would be told is not what a person wants to know."""
    approvals, place = context.approvals, context.workspace.place(path)
    judged = judge(approvals.mode, Kind.READS, approvals.rules, call, place)
    if isinstance(judged, Ask):
        return f"{judged.why}, and it was not allowed"
    return why_denied(approvals.mode, Kind.READS, approvals.rules, call, place)


def _line(told: Sequence[str], missing: Sequence[str]) -> str:
    attached = f"attached {', '.join(_some(told))}" if told else ""
    return "; ".join(filter(None, (attached, *_some(missing))))


def _some(names: Sequence[str]) -> list[str]:
    more = len(names) - MOST_TOLD
    return [*names[:MOST_TOLD], f"and {more} more"] if more > 0 else list(names)


def _is_much(attached: Sequence[Part]) -> bool:
    pictures = sum(len(part.data or "") for part in attached if isinstance(part, Image))
    return pictures > MOST_PICTURE_DATA or size_of((Message("user", tuple(attached)),)) > MOST_CHARACTERS


def _shown(path: str, result: ToolResult) -> tuple[Part, ...]:
    first, *others = result.parts
    text = first.text if isinstance(first, Text) else ""
    return Text(f"\n(`@{path}`, attached by the user)\n{text}"), *others


def _named(words: str, workspace: Workspace) -> _Named:
    """Look up what the words name."""
    found: dict[str, _Kind] = {}
    missing: list[tuple[str, ...]] = []
    seen = workspace.revealing()  # whether a hidden place may be read is asked when it is
    left = MOST_LOOKED_AT
    for readings in dict.fromkeys(named_in(words)):
        left -= len(readings)
        if left < 0:
            break
        looked = ((path, _kind_of(seen, path)) for path in readings)
        path, kind = next(((path, kind) for path, kind in looked if kind is not None), ("", None))
        if kind is not None:
            found.setdefault(path, kind)
        else:
            missing.append(readings)
    return _Named(found, mistyped(words, missing, workspace))


def _kind_of(workspace: Workspace, path: str) -> _Kind | None:
    """Return what is at a path; None if nothing is, or nothing that anybody could mean."""
    try:
        with workspace.spot(path) as spot:
            found = os.stat(spot.name, dir_fd=spot.directory, follow_symlinks=False)
    except OutsideWorkspace:
        return _Kind.OUTSIDE if os.path.lexists(workspace.root / path) else None
    except ToolError:
        return None
    return _Kind.FOLDER if stat.S_ISDIR(found.st_mode) else _Kind.FILE
