"""A folder of ours for what commands take for temporary folders. It lives as long as its session, and not longer.

Who holds it holds a lock in it. What a killed process has left is found by its lock being free, and removed.
"""

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from headway.agent.sandbox.views import TEMPORARY, Scratch

PREFIX = "headway-sandbox-"


class HeldScratch:
    """A scratch folder that is in use, until it is closed, forgotten, or its process ends."""

    def __init__(self) -> None:
        """Make one, where the system has its temporary files."""
        import fcntl  # not on every system, and no sandbox where it is not

        folder = Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
        self.scratch = Scratch(folder)
        # It gets its name when it is held: whoever sweeps could take it for one that nobody holds.
        lock = os.open(folder / "new", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        (folder / "new").rename(folder / "lock")
        self.scratch.empty.touch(0o400)
        for path in TEMPORARY:
            self.scratch.stands_for(path).mkdir(0o700)
        self.close = weakref.finalize(self, _release, folder, lock, os.getpid())


def _release(folder: Path, lock: int, owner: int) -> None:
    if os.getpid() == owner:  # what forked from it has it only by the way
        _remove(folder)
        os.close(lock)


def sweep() -> None:
    """Remove what nobody holds any more."""
    import fcntl

    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(folder)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    """Remove a folder and all below it, also what a command has closed to everybody."""

    def open_and_try_again(remove: Callable[[str], object], path: str, _: object) -> None:
        with suppress(OSError):
            for place in (Path(path).parent, Path(path)):
                if place.is_relative_to(folder) and not place.is_symlink():  # what is around it is everybody's
                    place.chmod(0o700)
            if remove in {os.unlink, os.rmdir}:
                remove(path)
            else:
                shutil.rmtree(path, ignore_errors=True)

    shutil.rmtree(folder, onerror=open_and_try_again)
