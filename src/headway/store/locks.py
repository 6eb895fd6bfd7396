"""One writer a session: a lock that the operating system lets go of when its process ends, however it ends.

So a dead owner never has to be found out: what is locked has a living one. The file names it, for the one who is
refused. It is gone when the lock is; one that a killed process left is simply taken.
"""

import os
import sys
from contextlib import suppress
from pathlib import Path

from headway.store.errors import StoreFailed, Trouble, from_system

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        os.lseek(handle, 1 << 20, os.SEEK_SET)  # behind the text: on this system, what is locked cannot be read
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class SessionLock:
    """The right to write to one session. It is taken by making one, which raises `StoreFailed` if another has it."""

    def __init__(self, folder: Path, session: str) -> None:
        """Take the lock of a session; `folder` holds the locks of its store."""
        self._path = folder / session
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._handle = self._taken(session)
        except OSError as error:
            raise from_system(error, self._path) from error
        with suppress(OSError):  # on a full disk, the lock has no name on it and holds all the same
            os.ftruncate(self._handle, 0)
            os.write(self._handle, b"%d\n" % os.getpid())

    def _taken(self, session: str) -> int:
        """Lock the file that has the name now: its last owner may have removed it since it was opened."""
        while True:
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                _lock(handle)
                if _is_still(self._path, handle):
                    return handle
            except (BlockingIOError, PermissionError):
                owner = _owner(handle)
                os.close(handle)
                who = f"process {owner}" if owner else "another process"
                here = ", which is this one" if owner == os.getpid() else ""
                raise StoreFailed(Trouble.IN_USE, self._path, f"session {session}, {who}{here}", owner) from None
            os.close(handle)

    def release(self) -> None:
        """Let another have it. Once is enough; more do no harm."""
        if self._handle >= 0:
            handle, self._handle = self._handle, -1
            if sys.platform != "win32":  # there, a file that is open cannot be removed
                self._path.unlink(missing_ok=True)
            os.close(handle)


def writer_of(folder: Path, session: str) -> int | None:
    """Return who has the lock, by what stands in its file. Nothing is tried, so that nobody is kept from taking it."""
    if sys.platform == "win32":
        return None  # there, the file outlives its lock, and to ask for a process by its number ends it
    try:
        text = (folder / session).read_bytes()[:32].strip()
    except OSError:
        return None
    owner = int(text) if text.isdigit() else 0
    try:
        os.kill(owner, 0) if owner else None
    except PermissionError:
        return owner  # it is somebody else's, and lives
    except (OSError, OverflowError):
        return None
    return owner or None


def _is_still(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _owner(handle: int) -> int | None:
    text = os.pread(handle, 32, 0) if sys.platform != "win32" else os.read(handle, 32)
    return int(text) if text.strip().isdigit() else None
