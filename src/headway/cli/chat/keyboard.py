"""The keys as they come from the terminal. An error of it is its end: to try again would fail at once, and for ever."""

import os
import select

from prompt_toolkit.input.posix_utils import PosixStdinReader


class Keyboard(PosixStdinReader):
    """Reads keys; an error of the terminal is its end. The one it replaces takes every error for a passing one."""

    def read(self, count: int = 1024) -> str:
        """Return what was typed; nothing and `closed`, if nothing can come any more."""
        if self.closed:
            return ""
        try:
            if not select.select([self.stdin_fd], [], [], 0)[0]:
                return ""
            data = os.read(self.stdin_fd, count)
        except (InterruptedError, BlockingIOError):
            return ""
        except OSError:
            data = b""
        self.closed = not data
        return str(self._stdin_decoder.decode(data))
