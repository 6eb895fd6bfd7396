"""A window of a terminal that can be closed while a program runs in it. What is written is kept as it came."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from contextlib import suppress
from typing import Self

from support.process_sessions import in_session

PATIENCE = 30.0


class Window:
    """A program at a terminal of its own, whose session it leads; its standard input may be something else."""

    def __init__(self, command: list[str], environment: dict[str, str], columns: int = 80, lines: int = 24, **streams):
        self.raw = ""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        given = {"stdin": theirs, "stdout": theirs, "stderr": theirs} | streams
        # The first terminal that the leader of a session opens is its own: no Python has to run between fork and exec.
        opening = ["sh", "-c", ': <"$0"; exec "$@"', os.ttyname(theirs)]
        self.process = subprocess.Popen([*opening, *command], env=environment, start_new_session=True, **given)
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Close the window: nobody reads what is written to it any more, or types."""
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1

    def sees(self, pattern: str) -> re.Match:
        """Read until the pattern was written."""
        ends_at = time.monotonic() + PATIENCE
        while (found := re.search(pattern, self.raw)) is None:
            assert time.monotonic() < ends_at, f"{pattern} was not seen in:\n{self.raw[-2000:]}"
            if select.select([self._ours], [], [], 0.2)[0]:
                with suppress(OSError):  # nobody writes any more
                    self.raw += os.read(self._ours, 65536).decode("utf-8", "replace")
        return found

    def ends(self) -> int:
        """Wait for the end of the program and of all that it had started; return its status."""
        status = self.process.wait(PATIENCE)
        ends_at = time.monotonic() + PATIENCE
        while left := in_session(self.process.pid):
            assert time.monotonic() < ends_at, f"it has left behind: {left}"
            time.sleep(0.02)
        return status
