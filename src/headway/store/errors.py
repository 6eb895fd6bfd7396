"""What can go wrong with the journal, in words for people: what happened, where, what is kept, what to do next.

HeadwayError
└── StoreFailed     the journal could not be read or written; what was acknowledged before is still there
"""

import errno
import shlex
from enum import Enum
from pathlib import Path

from msgspec import Struct

from headway.failure import HeadwayError


class Trouble(Enum):
    """The kinds of trouble."""

    READ_ONLY = "read_only"
    DISK_FULL = "disk_full"
    NO_PLACE = "no_place"
    DAMAGED = "damaged"
    NOT_OURS = "not_ours"
    TOO_NEW = "too_new"
    IN_USE = "in_use"
    BUSY = "busy"
    OVERTAKEN = "overtaken"
    DISK_FAULT = "disk_fault"


class _Words(Struct, frozen=True):
    happened: str
    kept: str
    advice: str


_ELSEWHERE = "or let `url` in the `[store]` part of headway.toml point to another place"
_WORDS = {
    Trouble.READ_ONLY: _Words(
        "{path} cannot be written to",
        "Nothing was changed, and what is there can be read",
        f"Make the file and its folder writable, {_ELSEWHERE}",
    ),
    Trouble.DISK_FULL: _Words(
        "the disk of {path} is full",
        "Everything that was saved before is kept, and nothing half was written",
        "Make room; the next write tries again, and `headway run --continue` takes a session up that had to stop",
    ),
    Trouble.NO_PLACE: _Words(
        "{path} cannot be opened or made",
        "Nothing was changed",
        f"Make sure that its folder exists and that it names a file, {_ELSEWHERE}",
    ),
    Trouble.DAMAGED: _Words(
        "{path} is damaged",
        "It was left as it is, and sessions whose records can be read can be exported",
        "To start with an empty store and keep this one, run: {move}",
    ),
    Trouble.NOT_OURS: _Words(
        "{path} is not a session store",
        "It was left as it is",
        "If it should be one, it is damaged; to start with an empty store and keep this file, run: {move}. If not, let "
        "`url` in the `[store]` part of headway.toml point to another place",
    ),
    Trouble.TOO_NEW: _Words(
        "{path} was written by a newer Headway",
        "It was left as it is",
        f"Update Headway, {_ELSEWHERE}",
    ),
    Trouble.IN_USE: _Words(
        "this session is open already",
        "Nothing was changed",
        "Let the other one end, begin another session, or go on with a copy, which `headway sessions fork` makes",
    ),
    Trouble.BUSY: _Words(
        "{path} is being written to by another program",
        "Everything that was saved before is kept",
        "Try again; if it lasts, look for a program that holds the file open",
    ),
    Trouble.OVERTAKEN: _Words(
        "somebody else wrote to this session in {path}",
        "Both are whole: what is there, and what this process still holds",
        "Open the session again, or go on with a copy, which `headway sessions fork` makes",
    ),
    Trouble.DISK_FAULT: _Words(
        "{path} could not be read or written",
        "Everything that was saved before is kept",
        "Look at the disk and at the system's log",
    ),
}


class StoreFailed(HeadwayError):
    """The journal could not be read or written. `owner` is the process that has it, where that is the trouble."""

    def __init__(self, trouble: Trouble, path: Path, detail: str = "", owner: int | None = None) -> None:
        """Keep the facts; the text is made from them."""
        self.trouble, self.path, self.detail, self.owner = trouble, path, detail, owner
        super().__init__(trouble, path, detail, owner)

    @property
    def happened(self) -> str:
        """Return what happened, without what to do about it."""
        detail = f" ({self.detail})" if self.detail else ""
        return f"{_WORDS[self.trouble].happened.format(path=self.path)}{detail}"

    def __str__(self) -> str:
        words = _WORDS[self.trouble]
        advice = words.advice.format(move=_moving_aside(self.path))
        return f"{self.happened}. {words.kept}. {advice}."


def _moving_aside(path: Path) -> str:
    """Return the command that keeps the file, with the log that belongs to it, in another folder."""
    files = [path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))]
    there = shlex.join(str(file) for file in files if file.exists()) or shlex.quote(str(path))
    folder = shlex.quote(str(path.with_name(f"{path.stem}-damaged")))
    return f"mkdir -p {folder} && mv {there} {folder}"


_BY_ERRNO = {
    errno.EROFS: Trouble.READ_ONLY,
    errno.EACCES: Trouble.READ_ONLY,
    errno.EPERM: Trouble.READ_ONLY,
    errno.ENOSPC: Trouble.DISK_FULL,
    errno.EDQUOT: Trouble.DISK_FULL,
    errno.ENOENT: Trouble.NO_PLACE,
    errno.ENOTDIR: Trouble.NO_PLACE,
    errno.EISDIR: Trouble.NO_PLACE,
    errno.EEXIST: Trouble.NO_PLACE,
    errno.ENAMETOOLONG: Trouble.NO_PLACE,
}


def from_system(error: OSError, path: Path) -> StoreFailed:
    """Say in our terms what the operating system said."""
    trouble = _BY_ERRNO.get(error.errno or 0, Trouble.DISK_FAULT)
    return StoreFailed(trouble, path, error.strerror or type(error).__name__)
