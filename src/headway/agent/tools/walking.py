"""What is in a directory and below it: nearest first, links not followed, ignored files left out. Bounded, blocking."""

import os
import stat
from collections import deque
from collections.abc import Iterator

from msgspec import Struct

from headway.agent.tools.files import read
from headway.agent.tools.globs import Glob
from headway.agent.tools.ignoring import Ignoring
from headway.agent.tools.refusals import NotThere, ToolError
from headway.agent.workspace import Folder, Workspace

MOST_ENTRIES = 100_000
_MOST_RULE_BYTES = 256 * 1024


class Entry(Struct, frozen=True):
    """One thing that was found."""

    path: str
    """As a tool takes it: from the root of the workspace, or absolute in another root that is allowed."""
    parts: tuple[str, ...]
    """The place below its root."""
    is_directory: bool = False
    is_link: bool = False
    depth: int = 0
    """How many of the parts lead to the directory that the walk began in."""

    def fits(self, glob: Glob | None) -> bool:
        """Say whether a pattern fits, read from the root or from where the walk began; no pattern fits all."""
        return glob is None or glob.fits(self.parts) or glob.fits(self.parts[self.depth :])


class Cut(Struct, frozen=True):
    """The last thing of a walk that saw too much: there is more."""


def walk(workspace: Workspace, path: str, *, with_ignored: bool = False) -> Iterator[Entry | Cut]:
    """Walk below a directory; a path that names a file gives that file."""
    start = _start(workspace, path)
    if not start.is_directory:
        yield start
        return
    waiting = deque([(start, Ignoring() if with_ignored else _rules_above(workspace, start))])
    seen = 0
    while waiting:
        directory, ignoring = waiting.popleft()
        entries = _entries(workspace, directory)
        if not with_ignored and any(entry.parts[-1] == ".gitignore" for entry in entries):
            ignoring = _with_rules(workspace, ignoring, directory.path, directory.parts)
        for entry in entries:
            seen += 1
            if seen > MOST_ENTRIES:
                yield Cut()
                return
            if with_ignored or not ignoring.ignores(entry.parts, is_directory=entry.is_directory):
                yield entry
                if entry.is_directory:
                    waiting.append((entry, ignoring))


def _start(workspace: Workspace, path: str) -> Entry:
    with workspace.spot(path) as spot:
        found = os.stat(spot.name, dir_fd=spot.directory, follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            raise NotThere(f"`{path}` changed while it was looked at.")
        place = "" if spot.root == workspace.root else f"{spot.root}/"
        path, is_directory = place + "/".join(spot.parts) or ".", stat.S_ISDIR(found.st_mode)
        depth = len(spot.parts) if is_directory else max(len(spot.parts) - 1, 0)
        return Entry(path, spot.parts, is_directory=is_directory, depth=depth)


def _entries(workspace: Workspace, directory: Entry) -> list[Entry]:
    """Return what is in a directory, by name; nothing if it went away or may not be read: the rest is still shown."""
    try:
        with workspace.folder(directory.path) as folder, os.scandir(folder.handle) as found:
            entries = sorted(found, key=lambda entry: entry.name)
            return [_entry(directory, entry, folder) for entry in entries]
    except ToolError:
        return []


def _entry(directory: Entry, found: "os.DirEntry[str]", folder: Folder) -> Entry:
    prefix = "" if directory.path == "." else f"{directory.path.rstrip('/')}/"
    return Entry(
        prefix + found.name,
        (*folder.parts, found.name),
        is_directory=found.is_dir(follow_symlinks=False),
        is_link=found.is_symlink(),
        depth=directory.depth,
    )


def _rules_above(workspace: Workspace, start: Entry) -> Ignoring:
    ignoring = Ignoring()
    base = start.path.removesuffix("/".join(start.parts)).rstrip("/")
    for depth in range(len(start.parts)):
        above = start.parts[:depth]
        ignoring = _with_rules(workspace, ignoring, "/".join(filter(None, (base, *above))) or ".", above)
    return ignoring


def _with_rules(workspace: Workspace, ignoring: Ignoring, path: str, parts: tuple[str, ...]) -> Ignoring:
    try:
        with workspace.spot(f"{path}/.gitignore") as spot:
            text = read(spot, _MOST_RULE_BYTES)[0].decode("utf-8", "replace")
    except ToolError:
        return ignoring
    return ignoring.with_file(parts, text)
