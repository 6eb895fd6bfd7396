"""The one way to a file: every path is followed part by part inside the workspace, and refused where it leads out.

A symbolic link is read and followed here, never by the system: each part is opened by its name in the directory that is
already held open, with links refused. So a link that appears between check and use is met with a refusal, not with
a file outside. Where a platform cannot open by directory, the resolved path is checked instead, just before use.
"""

import errno
import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

from headway.agent.places import Place
from headway.agent.tools.path_names import DEEPEST, parts_of, refuse_git_internals
from headway.agent.tools.refusals import Hidden, NotThere, OutsideWorkspace, PathRefused, ToolError, in_words
from headway.failure import InvalidInput

MOST_LINKS = 40
HOLDS_DIRECTORIES = {os.open, os.stat, os.readlink, os.mkdir, os.rename, os.unlink} <= os.supports_dir_fd
_DIRECTORY = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Spot(Struct, frozen=True):
    """A place for a file: its name in a directory that is held open, with all links on the way followed."""

    directory: int | None
    """The open directory; None where the platform holds none open, and `name` is then the whole path."""
    name: str
    root: Path
    parts: tuple[str, ...]
    """The place below `root`, without links; empty for the root itself."""

    @property
    def shown(self) -> str:
        """Return the place as people write it, from the root."""
        return "/".join(self.parts) or "."


class Folder(Struct, frozen=True):
    """A directory to look into: held open by its number, or a path where the platform holds none open."""

    handle: int | str
    root: Path
    parts: tuple[str, ...]


class Workspace:
    """A root that tools work in, and further roots that a person has allowed."""

    def __init__(self, root: Path | str, also: Sequence[Path | str] = (), hidden: Sequence[Path | str] = ()) -> None:
        """Resolve the roots now: what is above them is trusted, what is below is not. Who uses `hidden` is asked."""
        given = [Path(os.path.abspath(one)) for one in (root, *also)]  # noqa: PTH100  # keeps links, unlike resolve
        self.roots = tuple(one.resolve() for one in given)
        for one in self.roots:
            if not one.is_dir():
                raise InvalidInput(f"the workspace {one}", "it is not a directory", "Name one that exists.")
        self.hidden = tuple(Path(one).resolve() for one in hidden)
        self._prefixes = tuple(
            (prefix, real) for one, real in zip(given, self.roots, strict=True) for prefix in dict.fromkeys((one, real))
        )

    @property
    def root(self) -> Path:
        """Return the root that relative paths begin at."""
        return self.roots[0]

    def allowing(self, *folders: Path | str) -> "Workspace":
        """Return this workspace with further roots."""
        return Workspace(self.root, (*self.roots[1:], *folders), self.hidden)

    def revealing(self) -> "Workspace":
        """Return this workspace with nothing hidden: a person has been asked about the path that is used next."""
        return Workspace(self.root, self.roots[1:])

    def place(self, path: str) -> Place:
        """Return where a path leads, for rules and questions. Blocks. What cannot be followed has no parts.

        Of a path that does not exist yet, what exists is followed, and the rest is what it says.
        """
        seen, above = self.revealing(), path
        below: tuple[str, ...] = ()
        while above:
            try:
                with seen.spot(above) as spot:
                    return self._place(path, spot.root, (*spot.parts, *below))
            except NotThere:
                if above in {"/", "."}:
                    break
                folder, slash, name = above.rstrip("/").rpartition("/")
                if name == "..":
                    break
                below = (name, *below) if name not in {"", "."} else below
                above = folder or slash or "."
            except ToolError:
                break
        return Place(None)

    def _place(self, path: str, root: Path, parts: tuple[str, ...]) -> Place:
        is_elsewhere = root != self.root
        concern = f"`{path}` is a place where secrets are kept" if self._hides(root, parts) else ""
        whole = (*root.parts[1:], *parts) if is_elsewhere else parts
        return Place(whole, is_absolute=is_elsewhere, root=self.root.parts[1:], concern=concern)

    @contextmanager
    def spot(self, path: str, *, create_parents: bool = False) -> Iterator[Spot]:
        """Hold the place that a path means, until the block ends; what the system refuses is said in words."""
        with in_words(path):
            root, parts = self._begin(path, path)
            if HOLDS_DIRECTORIES:
                way = _Way(self, path, root, parts)
                try:
                    yield self._seen(path, way.walk(create_parents=create_parents))
                finally:
                    way.close()
            else:
                yield self._seen(path, self._checked_spot(path, root.joinpath(*parts), create_parents=create_parents))

    @contextmanager
    def folder(self, path: str) -> Iterator[Folder]:
        """Hold the directory that a path means, until the block ends."""
        with self.spot(path) as spot:
            if spot.directory is None:
                yield Folder(spot.name, spot.root, spot.parts)
                return
            handle = os.open(spot.name, _DIRECTORY, dir_fd=spot.directory)
            try:
                yield Folder(handle, spot.root, spot.parts)
            finally:
                os.close(handle)

    def _seen(self, path: str, spot: Spot) -> Spot:
        if self._hides(spot.root, spot.parts):
            raise Hidden(path)
        return spot

    def _hides(self, root: Path, parts: tuple[str, ...]) -> bool:
        """Say whether a place is hidden, or below one that is; a root that was chosen is not."""
        real = root.joinpath(*parts)
        return any(one == real or one in real.parents for one in self.hidden if one not in (root, *root.parents))

    def _begin(self, path: str, asked: str) -> tuple[Path, tuple[str, ...]]:
        """Return the root that a path begins in, and its parts below that."""
        parts = parts_of(path)
        if not (path.startswith("/") or Path(path).is_absolute()):
            return self.root, parts
        for prefix, real in self._prefixes:
            lead = tuple(part for part in prefix.as_posix().split("/") if part)
            if parts[: len(lead)] == lead:
                return real, parts[len(lead) :]
        raise OutsideWorkspace(asked, str(self.root), leads_to="" if path == asked else path)

    def _checked_spot(self, asked: str, path: Path, *, create_parents: bool) -> Spot:
        real = path.resolve()
        root = next((one for one in self.roots if real.is_relative_to(one)), None)
        if root is None:
            raise OutsideWorkspace(asked, str(self.root), leads_to=str(real))
        if create_parents:
            refuse_git_internals(real.relative_to(root).parts)
            real.parent.mkdir(parents=True, exist_ok=True)
        return Spot(None, str(real), root, real.relative_to(root).parts)


class _Way:
    """One path on its way down: the directories that are open, and the parts still to go."""

    def __init__(self, workspace: Workspace, asked: str, root: Path, parts: Sequence[str]) -> None:
        self._workspace, self._asked = workspace, asked
        self._pending = deque(parts)
        self._links = 0
        self._open: list[int] = []
        self._begin(root)

    def walk(self, *, create_parents: bool) -> Spot:
        while self._pending:
            part = self._pending.popleft()
            if part == "..":
                self._go_up()
            elif (target := self._link(part)) is not None:
                self._follow(target)
            elif self._pending:
                self._go_down(part, create=create_parents)
            else:
                return Spot(self._open[-1], part, self._root, (*self._names, part))
        return Spot(self._open[-1], ".", self._root, tuple(self._names))

    def close(self) -> None:
        while self._open:
            os.close(self._open.pop())

    def _begin(self, root: Path) -> None:
        self.close()
        self._root = root
        self._names: list[str] = []
        self._open.append(os.open(root, _DIRECTORY))

    def _go_up(self) -> None:
        if not self._names:
            raise OutsideWorkspace(self._asked, str(self._workspace.root))
        self._names.pop()
        os.close(self._open.pop())

    def _go_down(self, part: str, *, create: bool) -> None:
        if len(self._names) >= DEEPEST:
            raise PathRefused(f"`{self._asked}` leads through more than {DEEPEST} directories.")
        if create:
            refuse_git_internals((*self._names, part))
            with suppress(FileExistsError):
                os.mkdir(part, dir_fd=self._open[-1])
        self._open.append(os.open(part, _DIRECTORY, dir_fd=self._open[-1]))
        self._names.append(part)

    def _link(self, part: str) -> str | None:
        """Return where a symbolic link points; None for anything else, or nothing, of that name."""
        try:
            return os.readlink(part, dir_fd=self._open[-1])
        except OSError as error:
            if error.errno in {errno.EINVAL, errno.ENOENT}:
                return None
            raise

    def _follow(self, target: str) -> None:
        self._links += 1
        if self._links > MOST_LINKS:
            raise PathRefused(f"`{self._asked}` leads through more than {MOST_LINKS} symbolic links.")
        if target.startswith("/"):
            root, parts = self._workspace._begin(target, self._asked)  # noqa: SLF001  # one room, two classes
            self._begin(root)
            self._pending.extendleft(reversed(parts))
        else:
            self._pending.extendleft(reversed(parts_of(target)))
