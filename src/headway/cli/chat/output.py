"""The way to the terminal: what belongs together goes out in one write, so that nothing is seen half drawn.

It also measures how long writing takes: over a slow link the screen is drawn less often.
"""

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
"""Terminals that know these show everything in between at once; others pass over them."""


class HeldOutput:
    """A stream that prompt_toolkit writes to; while it is held, it only collects."""

    def __init__(self, stream: TextIO, on_gone: Callable[[], None]) -> None:
        """Write to a terminal; `on_gone` is called once, when that cannot be done any more."""
        self._stream, self._on_gone = stream, on_gone
        self._is_gone = False
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
        if self._is_gone:
            return
        began = time.monotonic()
        try:
            self._write_all(f"{_BEGIN}{data}{_END}".encode("utf-8", "replace"))
        except OSError:
            self._is_gone = True
            self._on_gone()
        self.seconds = time.monotonic() - began

    def _write_all(self, rest: bytes) -> None:
        while rest:
            try:
                rest = rest[os.write(self.fileno(), rest) :]
            except BlockingIOError:  # a command that shares the terminal has set it so
                select.select([], [self.fileno()], [])

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
