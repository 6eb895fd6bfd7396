"""What files were before an agent changed them, so that each change can be looked at and taken back.

Beside the journal of a session is a folder with an index, one line a change, and contents under their hashes. A change
is written down before it is made; found unmade after a crash, there is nothing to take back. A file that is not as the
change left it is never touched. Everything here blocks: call it from a thread.
"""

import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

import msgspec
from msgspec import Struct

from headway.agent.tools import files
from headway.agent.tools.refusals import NotThere, ToolError
from headway.agent.workspace import Spot, Workspace

INDEX = "changes.jsonl"
MOST_BYTES = 256 * 1024 * 1024
"""Contents of one session; the oldest go first."""
MOST_DIFF_LINES = 5_000
_HASH = 64
_SHOWN = 5


class Change(Struct, frozen=True, omit_defaults=True):
    """One change of one file. None as a content is a file that is not there."""

    number: int
    path: str
    """The whole path, links followed."""
    before: str | None
    after: str | None
    at: float = 0.0
    call: str = ""
    """The call that made it."""
    undoes: int = 0
    """The change that this one took back; 0 for those that agents make."""


class CannotUndo(ToolError):
    """A change that is not taken back, and why."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Change).decode


class Checkpoints:
    """The changes of one session."""

    def __init__(self, folder: Path, *, wall: Callable[[], float] = time.time, most_bytes: int = MOST_BYTES) -> None:
        """Keep changes in a folder, which is made with the first of them."""
        self._folder, self._wall, self._most_bytes = folder, wall, most_bytes
        self._known: list[Change] | None = None

    def changes(self) -> tuple[Change, ...]:
        """Return all changes, in their order."""
        return tuple(self._all())

    def open_changes(self) -> tuple[Change, ...]:
        """Return those changes of the agent that were not taken back."""
        undone = {change.undoes for change in self._all()}
        # To take back a taking back makes the change again.
        redone = {change.number for change in self._all() if change.undoes and change.number in undone}
        gone = {change.undoes for change in self._all() if change.undoes and change.number not in redone}
        return tuple(change for change in self._all() if not change.undoes and change.number not in gone)

    def keep(self, spot: Spot, before: bytes | None, after: bytes | None, *, call: str = "", undoes: int = 0) -> Change:
        """Write down a change that is about to be made; raises `OSError` when that cannot be done."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = str(spot.root.joinpath(*spot.parts))
        number = max((change.number for change in self._all()), default=0) + 1
        change = Change(number, path, self._put(before), self._put(after), self._wall(), call, undoes)
        self._append(change)
        self._make_room()
        return change

    def content(self, name: str | None) -> bytes | None:
        """Return a content by its hash; None for a file that was not there. Raises `CannotUndo` if it is not kept."""
        if name is None:
            return None
        try:
            data = self._place(name).read_bytes()
        except OSError:
            raise CannotUndo("What was there before is not kept any more.") from None
        if _hash(data) != name:
            raise CannotUndo("What was kept of it is damaged.")
        return data

    def undo(self, workspace: Workspace, number: int | None = None) -> Change:
        """Take a change back, the last one if none is named; return it."""
        change = self._chosen(number)
        wanted = self.content(change.before)
        with workspace.spot(change.path, create_parents=wanted is not None) as spot:
            now, mark = _read(spot)
            if _name(now) == change.before:
                raise CannotUndo(f"`{spot.shown}` is as it was before change {change.number}; nothing was done.")
            if _name(now) != change.after:
                raise CannotUndo(self._why_not(change, spot))
            self.keep(spot, now, wanted, undoes=change.number)
            if wanted is None:
                files.remove(spot, mark)
            else:
                files.replace(spot, wanted, mark)
        return change

    def diff(self, number: int) -> str:
        """Return what one change did, as a unified diff."""
        change = self._named(number)
        return _diff(change.path, self.content(change.before), self.content(change.after))

    def diff_all(self, workspace: Workspace) -> str:
        """Return what the session has done to its files, from their first state to what they are now."""
        first: dict[str, Change] = {}
        for change in self._all():
            first.setdefault(change.path, change)
        found: list[str] = []
        for path, change in first.items():
            try:
                with workspace.spot(path) as spot:
                    found.append(_diff(spot.shown, self.content(change.before), _read(spot)[0]))
            except ToolError as refused:
                found.append(f"{path}: {refused}\n")
        return "".join(found)

    def _chosen(self, number: int | None) -> Change:
        if number is not None:
            return self._named(number)
        found = self.open_changes()
        if not found:
            raise CannotUndo("There is nothing to take back: no file was changed, or all changes were taken back.")
        return found[-1]

    def _named(self, number: int) -> Change:
        found = next((change for change in self._all() if change.number == number), None)
        if found is None:
            raise CannotUndo(f"There is no change {number}.")
        return found

    def _why_not(self, change: Change, spot: Spot) -> str:
        later = [one for one in self.open_changes() if one.path == change.path and one.number > change.number]
        if later:
            numbers = ", ".join(str(one.number) for one in later[: -_SHOWN - 1 : -1])
            more = ", …" if len(later) > _SHOWN else ""
            return f"`{spot.shown}` was changed again since; take back {numbers}{more} first."
        return f"`{spot.shown}` is not as change {change.number} left it: somebody else has changed it since."

    def _all(self) -> list[Change]:
        if self._known is None:
            self._known = _changes(self._folder / INDEX)
        return self._known

    def _append(self, change: Change) -> None:
        file = os.open(self._folder / INDEX, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            end = os.lseek(file, 0, os.SEEK_END)
            whole = not end or os.pread(file, 1, end - 1) == b"\n"  # a crash may have left half a line
            os.write(file, (b"" if whole else b"\n") + _encode(change) + b"\n")
            os.fsync(file)
        finally:
            os.close(file)
        self._all().append(change)

    def _put(self, content: bytes | None) -> str | None:
        """Keep a content, once; return its hash."""
        if content is None:
            return None
        name = _hash(content)
        place = self._place(name)
        if not place.exists():
            temporary = place.with_suffix(".tmp")
            file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
            try:
                view = memoryview(content)
                while view:
                    view = view[os.write(file, view) :]
                os.fsync(file)
            finally:
                os.close(file)
            temporary.rename(place)
        return name

    def _make_room(self) -> None:
        """Let the oldest contents go when there are too many; the latest change can always be taken back."""
        sizes = {path.name: path.stat().st_size for path in self._folder.iterdir() if len(path.name) == _HASH}
        needed = {self._all()[-1].before, self._all()[-1].after}
        for change in self._all():
            for name in (change.before, change.after):
                if sum(sizes.values()) <= self._most_bytes:
                    return
                if name in sizes and name not in needed:
                    self._place(name).unlink(missing_ok=True)
                    del sizes[name]

    def _place(self, name: str) -> Path:
        return self._folder / name


def forget(folder: Path) -> None:
    """Remove the checkpoints of a session that is removed."""
    with suppress(FileNotFoundError):
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def copy_all(folder: Path, copy: Path) -> None:
    """Copy the checkpoints of a session to a folder that is not there yet. Contents never change: they are linked."""
    if not (folder / INDEX).exists():
        return
    copy.mkdir(mode=0o700, parents=True)
    for path in folder.iterdir():
        if len(path.name) == _HASH:
            _linked(path, copy / path.name)
    _copied(folder / INDEX, copy / INDEX)  # last, so that it never speaks of what is not there


def _linked(path: Path, copy: Path) -> None:
    try:
        os.link(path, copy)
    except OSError:  # not every file system has links
        _copied(path, copy)


def _copied(path: Path, copy: Path) -> None:
    with os.fdopen(os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(path.read_bytes())


def _changes(index: Path) -> list[Change]:
    """Read an index; a line that cannot be read is passed over: half of one is all that a crash can leave."""
    try:
        lines: Iterable[bytes] = index.read_bytes().splitlines()
    except OSError:
        return []
    found: list[Change] = []
    for line in lines:
        with suppress(msgspec.DecodeError):
            found.append(_decode(line))
    return found


def _read(spot: Spot) -> tuple[bytes | None, files.Mark | None]:
    try:
        return files.read(spot)
    except NotThere:
        return None, None


def _diff(path: str, before: bytes | None, after: bytes | None) -> str:
    if before == after:
        return ""
    try:
        old, new = ((content or b"").decode().splitlines(keepends=True) for content in (before, after))
    except UnicodeDecodeError:
        return f"{path}: not text, {len(before or b''):,} → {len(after or b''):,} bytes\n"
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    if max(len(old), len(new)) > MOST_DIFF_LINES:
        return f"{path}: {len(old):,} → {len(new):,} lines\n"
    lines = unified_diff(old, new, *names)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _name(content: bytes | None) -> str | None:
    return None if content is None else _hash(content)


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
