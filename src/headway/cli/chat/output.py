"""The way to the terminal: what belongs together goes out in one write, so that nothing is seen half drawn.

It also measures how long writing takes: over a slow link the screen is drawn less often.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know these show everything in between at once; others pass over them."""


class HeldOutput:
    """A stream that prompt_toolkit writes to; while it is held, it only collects."""

    def __init__(self, stream: TextIO) -> None:
        """Write to a terminal."""
        self._stream = stream
        self._held = 0
        self._parts: list[str] = []
        self.seconds = 0.0
        """How long the last write took."""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        """Take a text."""
        self._parts.append(text)
        return len(text)

    def flush(self) -> None:
        """Write what was taken, unless it is held."""
        if self._held or not self._parts:
            return
        data = "".join(self._parts)
        self._parts.clear()
        began = time.monotonic()
        rest = f"{_BEGIN}{data}{_END}".encode("utf-8", "replace")
        try:
            while rest:
                rest = rest[os.write(self.fileno(), rest) :]
        except OSError:
            return  # the terminal is gone; whoever reads from it learns so, and what came is in the session
        self.seconds = time.monotonic() - began

    @contextmanager
    def held(self) -> Iterator[None]:
        """Write nothing until the block ends, then all of it."""
        self.hold()
        try:
            yield
        finally:
            self.release()

    def hold(self) -> None:
        """Begin to collect."""
        self._held += 1

    def release(self) -> None:
        """Write what was collected, if nobody else holds it."""
        self._held -= 1
        self.flush()

    def fileno(self) -> int:
        """Return the terminal's descriptor."""
        return self._stream.fileno()

    def isatty(self) -> bool:
        """Say what it is."""
        return True
