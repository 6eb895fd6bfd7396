"""Whole files at a held place: looked at, read within bounds, and replaced at once or not at all.

A file is never written in place. The new content goes to a temporary file beside it, to the disk, and takes the name in
one step; so a crash leaves the old or the new file whole, and a hard link to a file elsewhere is cut, not written
through. Only plain files are touched. Everything here blocks: call it from a thread.
"""

import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256

from msgspec import Struct

from headway.agent.tools.path_names import refuse_git_internals
from headway.agent.tools.refusals import NotThere, PathRefused, ToolError
from headway.agent.workspace import Spot

MOST_FILE_BYTES = 32 * 1024 * 1024
TEMPORARY = ".headway-"
STALE_SECONDS = 600.0
"""A temporary file this old belongs to nobody any more: its writer was killed."""
_HASH_CHARACTERS = 12
_PIECE = 1024 * 1024
_SAFELY = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_READ = os.O_RDONLY | _SAFELY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY
_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a symbolic link that was not there a moment ago"),
)


class Mark(Struct, frozen=True):
    """What tells one state of a file from another, without reading it."""

    device: int
    inode: int
    size: int
    changed_ns: int
    mode: int
    owner: tuple[int, int]


def content_hash(data: bytes) -> str:
    """Return a short name for a content: enough to notice any change."""
    return sha256(data).hexdigest()[:_HASH_CHARACTERS]


def look(spot: Spot) -> Mark | None:
    """Return the state of the plain file at a place; None when there is nothing."""
    try:
        found = os.stat(spot.name, dir_fd=spot.directory, follow_symlinks=False)
    except FileNotFoundError:
        return None
    return _mark(found, spot)


def read(spot: Spot, most_bytes: int = MOST_FILE_BYTES) -> tuple[bytes, Mark]:
    """Return the content of a plain file, and the state it was read in."""
    if look(spot) is None:
        raise NotThere(f"`{spot.shown}` does not exist.")
    with _opened(spot.name, _READ, spot) as file:
        mark = _mark(os.fstat(file), spot)
        data = bytearray()
        while len(data) <= most_bytes and (piece := os.read(file, min(max(mark.size - len(data), 0) + 1, _PIECE))):
            data += piece
    if len(data) > most_bytes:
        raise ToolError(
            f"`{spot.shown}` is larger than {most_bytes:,} bytes, too large to be handled whole. Use `search`, or a "
            "shell command that shows only a part."
        )
    return bytes(data), mark


def replace(spot: Spot, data: bytes, old: Mark | None) -> None:
    """Put a content in a file's place, in one step, if the file is still in its `old` state (None: not there)."""
    refuse_to_edit(spot, old)
    _sweep(spot)
    temporary = _beside(spot, f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with _opened(temporary, _CREATE, spot, mode=0o666 if old is None else 0o600) as file:
            _write(file, data)
            if old is not None:
                _take_over(file, old)
            os.fsync(file)
        if look(spot) != old:
            raise ToolError(f"`{spot.shown}` changed while it was being written; it was left alone. Read it again.")
        os.replace(temporary, spot.name, src_dir_fd=spot.directory, dst_dir_fd=spot.directory)
    finally:
        with suppress(OSError):  # after the step the name is gone
            os.unlink(temporary, dir_fd=spot.directory)
    if spot.directory is not None:
        os.fsync(spot.directory)


def remove(spot: Spot, old: Mark | None) -> None:
    """Remove a file that is still in its `old` state; nothing to do if there was none."""
    refuse_to_edit(spot, old)
    if look(spot) != old:
        raise ToolError(f"`{spot.shown}` changed while it was being removed; it was left alone.")
    if old is not None:
        os.unlink(spot.name, dir_fd=spot.directory)


def refuse_to_edit(spot: Spot, old: Mark | None) -> None:
    """Refuse what no editing tool may change."""
    refuse_git_internals(spot.parts)
    if old is not None and not old.mode & 0o222:
        raise ToolError(f"`{spot.shown}` is read-only; ask the user before making it writable.")


def _mark(found: os.stat_result, spot: Spot) -> Mark:
    if stat.S_ISDIR(found.st_mode):
        raise ToolError(f"`{spot.shown}` is a directory, not a file.")
    if not stat.S_ISREG(found.st_mode):
        kind = next((words for fits, words in _KINDS if fits(found.st_mode)), "not a plain file")
        raise PathRefused(f"`{spot.shown}` is {kind}; tools touch only plain files.")
    return Mark(
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns,
        stat.S_IMODE(found.st_mode),
        (found.st_uid, found.st_gid),
    )


@contextmanager
def _opened(name: str, flags: int, spot: Spot, mode: int = 0o600) -> Iterator[int]:
    file = os.open(name, flags, mode, dir_fd=spot.directory)
    try:
        yield file
    finally:
        os.close(file)


def _write(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]


def _take_over(file: int, old: Mark) -> None:
    """Give the new file the old one's owner, where that is permitted, and its mode."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):
            os.fchown(file, *old.owner)
        os.fchmod(file, old.mode & 0o777)


def _beside(spot: Spot, name: str) -> str:
    return name if spot.directory is not None else os.path.join(os.path.dirname(spot.name), name)  # noqa: PTH118, PTH120


def _sweep(spot: Spot) -> None:
    """Remove what writers that were killed have left in this directory."""
    place = spot.directory if spot.directory is not None else os.path.dirname(spot.name)  # noqa: PTH120
    oldest = time.time() - STALE_SECONDS
    with os.scandir(place) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(TEMPORARY) and entry.name.endswith(".tmp")]
    for path in (_beside(spot, name) for name in names):
        with suppress(OSError):
            if os.stat(path, dir_fd=spot.directory, follow_symlinks=False).st_mtime < oldest:
                os.unlink(path, dir_fd=spot.directory)
