"""What the user's words mention by `@path`, attached to them: the text of a file, the list of a folder, a picture.

A mention is a call of `read_file` or `list_files` that the user makes: the same workspace, rules, questions and bounds
hold for it, and secrets are taken out. A path at which there is nothing is not meant as one and stays a word.
"""

import os
import stat
from collections.abc import Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.context.naming import named_in
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


class Attached(Struct, frozen=True):
    """A message with what it mentions, and what a person should know about what is missing."""

    message: Message
    notices: tuple[str, ...] = ()


class _Kind(Enum):
    FILE = "read_file"
    FOLDER = "list_files"
    OUTSIDE = ""


async def attach(message: Message, context: ToolContext, *, images: bool = True) -> Attached:
    """Attach what the first text of a message mentions; what was piped in behind it is quoted, and mentions nothing."""
    words = next((part.text for part in message.parts if isinstance(part, Text)), "")
    found = await in_thread(_found, words, context.workspace)
    attached: list[Part] = []
    notices: list[str] = []
    for at, (path, kind) in enumerate(found.items()):
        if at >= MOST_MENTIONS or _is_much(attached):
            notices.append(f"@{path} and what follows it was not attached: that is too much for one message")
            break
        if kind is _Kind.OUTSIDE:
            notices.append(f"@{path} was not attached: it is outside the workspace {context.workspace.root}")
            continue
        call = ToolCall(f"mention_{at}", kind.value, encode_text({"path": path}))
        (result,) = await run_calls((call,), (read_file, list_files), context)
        if result.is_error:
            notices.append(f"@{path} was not attached: {result.text}")
        elif not images and any(isinstance(part, Image) for part in result.parts):
            words_for_both = f"@{path} is a picture, and the model does not take pictures"
            notices.append(words_for_both)
            attached.append(Text(f"\n({words_for_both}; it is not attached.)"))
        else:
            attached += _shown(path, result)
    return Attached(replace(message, parts=(*message.parts, *attached)), tuple(notices))


def _is_much(attached: Sequence[Part]) -> bool:
    pictures = sum(len(part.data or "") for part in attached if isinstance(part, Image))
    return pictures > MOST_PICTURE_DATA or size_of((Message("user", tuple(attached)),)) > MOST_CHARACTERS


def _shown(path: str, result: ToolResult) -> tuple[Part, ...]:
    first, *others = result.parts
    text = first.text if isinstance(first, Text) else ""
    return Text(f"\n(`@{path}`, attached by the user)\n{text}"), *others


def _found(words: str, workspace: Workspace) -> dict[str, _Kind]:
    """Return the paths that are there, in the order they are named."""
    found: dict[str, _Kind] = {}
    seen = workspace.revealing()  # whether a hidden place may be read is asked when it is
    left = MOST_LOOKED_AT
    for readings in dict.fromkeys(named_in(words)):
        for path in readings:
            left -= 1
            if left < 0:
                return found
            kind = _kind_of(seen, path)
            if kind is not None:
                found.setdefault(path, kind)
                break
    return found


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
