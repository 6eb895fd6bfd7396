"""What is in a directory and below it: nearest first, links not followed, ignored files left out. Bounded, blocking."""

import os
from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from headway.agent.tools.ignoring import Ignoring
from headway.agent.tools.refusals import NotThere, ToolError
from headway.agent.tools.files import read
from headway.agent.workspace import Folder, Workspace

MOST_ENTRIES = 100_000
_MOST_RULE_BYTES = 256 * 1024


class Entry(Struct, frozen=True):
    """One thing that was found: its path from the root of the workspace, in parts."""

    parts: tuple[str, ...]
    is_directory: bool = False
    is_link: bool = False

    @property
    def path(self) -> str:
        """Return the path as people write it."""
        return "/".join(self.parts)


class Cut(Struct, frozen=True):
    """The last thing of a walk that saw too much: there is more."""


def walk(workspace: Workspace, path: str, *, with_ignored: bool = False) -> Iterator[Entry | Cut]:
    """Walk below a directory; a path that names a file gives that file."""
    start, prefix = _start(workspace, path)
    if start is None:
        yield Entry(prefix)
        return
    waiting = deque([(path, prefix, Ignoring() if with_ignored else _rules_above(workspace, prefix))])
    seen = 0
    while waiting:
        where, parts, ignoring = waiting.popleft()
        try:
            with workspace.folder(where) as folder:
                entries = _entries(folder, parts)
        except ToolError:  # it went away, or may not be read: what is left is still worth showing
            continue
        if not with_ignored and any(entry.parts[-1] == ".gitignore" for entry in entries):
            ignoring = _with_rules(workspace, ignoring, parts, where)
        for entry in entries:
            seen += 1
            if seen > MOST_ENTRIES:
                yield Cut()
                return
            if with_ignored or not ignoring.ignores(entry.parts, is_directory=entry.is_directory):
                yield entry
                if entry.is_directory:
                    waiting.append((f"{where}/{entry.parts[-1]}", entry.parts, ignoring))
