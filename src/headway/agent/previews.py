"""What a call would do, for the person who is asked whether it may: the file and its size, a diff, the command.

Nothing is changed here, and nothing that a preview cannot show keeps a call from being judged.
"""

from collections.abc import Callable
from difflib import unified_diff
from typing import Any, TypeAlias

from msgspec import Struct

from headway.agent.tools.editing import edited
from headway.agent.tools.files import read
from headway.agent.tools.refusals import NotThere, ToolError
from headway.agent.tools.texts import line_count, text_of
from headway.agent.tools.threads import in_thread
from headway.agent.workspace import Workspace
from headway.messages import ToolCall
from headway.wire.json_text import BadJson, strict_object

MOST_DIFF_LINES = 80
MOST_COMPARED_LINES = 4_000
"""Texts with more lines than this are not compared line by line; their sizes are told instead."""


class FileChange(Struct, frozen=True):
    """A file would be made or changed."""

    path: str
    before: int | None
    """Its size in characters; None if there is no such file."""
    after: int
    lines: int
    diff: tuple[str, ...] = ()
    """The difference, as far as it is shown: lines that begin with `+`, `-`, `@` or a space."""
    left_out: int = 0
    """Lines of the difference that are not shown."""


class CommandLine(Struct, frozen=True):
    """A command would be run."""

    command: str
    seconds: float | None = None


class Doubtful(Struct, frozen=True):
    """The call would fail as things are."""

    why: str


Preview: TypeAlias = FileChange | CommandLine | Doubtful | None
"""What is shown; None: nothing more is known than the call itself."""


_Change: TypeAlias = Callable[[str | None, dict[str, Any]], str]


async def preview(call: ToolCall, workspace: Workspace) -> Preview:
    """Look at what a call would do; never raises for what a model has written."""
    try:
        given = {} if call.freeform else strict_object(call.arguments)
    except BadJson:
        return None
    match call.name, given:
        case "shell", {"command": str(command)}:
            return CommandLine(command, given.get("timeout_seconds"))
        case "write_file", {"path": str(path), "content": str()}:
            return await in_thread(_changed, workspace, path, given, _written)
        case "edit_file", {"path": str(path), "old": str(), "new": str()}:
            return await in_thread(_changed, workspace, path, given, _edited)
        case _:
            return None


def _changed(workspace: Workspace, path: str, given: dict[str, Any], change: _Change) -> FileChange | Doubtful:
    try:
        before = _text(workspace, path)
        after = change(before, given)
    except ToolError as refused:
        return Doubtful(str(refused))
    diff = _diff(before, after) if before is not None else ()
    shown = diff[:MOST_DIFF_LINES]
    size = None if before is None else len(before)
    return FileChange(path, size, len(after), line_count(after), shown, len(diff) - len(shown))


def _text(workspace: Workspace, path: str) -> str | None:
    """Return the text of a file; None where there is none, or no folder for it yet."""
    try:
        with workspace.spot(path) as spot:
            return text_of(read(spot)[0], path)
    except NotThere:
        return None


def _written(before: str | None, given: dict[str, Any]) -> str:
    return (before or "") + given["content"] if given.get("append") is True else str(given["content"])


def _edited(before: str | None, given: dict[str, Any]) -> str:
    path = given["path"]
    if before is None:
        raise ToolError(f"`{path}` does not exist.")
    return edited(before, given["old"], given["new"], every=given.get("all") is True, path=path).text


def _diff(before: str, after: str) -> tuple[str, ...]:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_COMPARED_LINES:
        return ()
    return tuple(unified_diff(old, new, lineterm="", n=2))[2:]
