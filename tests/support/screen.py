"""What a person would see: a small terminal that reads what programs write, and a seat to run them at.

It knows what Headway writes and nothing more; a sequence that it does not know is an error, so nothing slips through.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata
from contextlib import suppress
from typing import Self

_SEQUENCE = re.compile(r"\x1b(?:\[(?P<numbers>[\d;]*)(?P<act>[A-Za-z])|(?P<plain>[78DM]))")
PATIENCE = 30.0


class Screen:
    """Rows of characters, a cursor, and what has scrolled away."""

    def __init__(self, columns: int = 80, lines: int = 24) -> None:
        self.columns, self.height = columns, lines
        self.rows: list[list[str]] = [[]]
        self.row = self.column = 0
        self._saved = (0, 0)
        self._held = ""

    @property
    def lines(self) -> list[str]:
        """Return every line that there is, what has scrolled away included."""
        return ["".join(row).rstrip() for row in self.rows]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def last(self) -> str:
        """Return the last line that has anything on it."""
        return next((line for line in reversed(self.lines) if line), "")

    def feed(self, text: str) -> None:
        text, self._held = self._held + text, ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = _SEQUENCE.match(text, at)
                if found is None:
                    assert len(text) - at < 12, f"a sequence that nobody knows: {text[at : at + 20]!r}"
                    self._held = text[at:]
                    return
                self._act(found)
                at = found.end()
            else:
                self._put(text[at])
                at += 1

    def _put(self, character: str) -> None:
        match character:
            case "\r":
                self.column = 0
            case "\n":
                self._down()
            case _:
                assert character.isprintable() or character == "\t", f"a control character reached it: {character!r}"
                wide = 2 if unicodedata.east_asian_width(character) in "WF" else 1
                if self.column + wide > self.columns:
                    self.column = 0
                    self._down()
                row = self.rows[self.row]
                row += [" "] * (self.column - len(row))
                row[self.column : self.column + wide] = [character, ""][:wide]
                self.column += wide

    def _down(self) -> None:
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    def _act(self, found: re.Match) -> None:
        number = int((found["numbers"] or "").split(";")[0] or 0)
        match found["act"] or found["plain"]:
            case "m":
                pass
            case "K":
                del self.rows[self.row][self.column :]
            case "J":
                del self.rows[self.row][self.column :]
                for row in self.rows[self.row + 1 :]:
                    row.clear()
            case "A":
                self.row = max(self._top, self.row - max(1, number))
            case "B":
                self.row = min(self._bottom, self.row + max(1, number))
            case "7":
                self._saved = (self.row - self._top, self.column)
            case "8":
                self.row, self.column = self._saved[0] + self._top, self._saved[1]
            case "D":
                self._down()
            case "M":
                self.row = max(self._top, self.row - 1)
            case other:
                raise AssertionError(f"nobody writes {other!r}")

    @property
    def _top(self) -> int:
        """The first row that can be seen: places are saved and restored on the screen, not in what has scrolled."""
        return max(0, len(self.rows) - self.height)

    @property
    def _bottom(self) -> int:
        return max(self._top + self.height, len(self.rows)) - 1


class Seat:
    """A program at a terminal of its own; its standard output may go elsewhere."""

    def __init__(self, command: list[str], environment: dict[str, str], columns: int = 80, lines: int = 24, **streams):
        self.screen = Screen(columns, lines)
        self.raw = ""
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        given = {"stdin": theirs, "stdout": theirs, "stderr": theirs} | streams
        # The first terminal that the leader of a session opens is its own: no Python has to run between fork and exec.
        opening = ["sh", "-c", ': <"$0"; exec "$@"', os.ttyname(theirs)]
        self.process = subprocess.Popen(
            [*opening, *command], env={"TERM": "xterm", **environment}, start_new_session=True, **given
        )
        os.close(theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        os.close(self._ours)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def sees(self, pattern: str) -> re.Match:
        """Look at the screen until the pattern is on it."""
        return self._until(lambda: re.search(pattern, self.screen.text), pattern)

    def ends(self) -> int:
        """Look until the program has ended, and return its status."""
        self._until(lambda: self.process.poll() is not None and not self._read(0), "its end")
        return self.process.returncode

    def _until(self, done, what: str):
        ends_at = time.monotonic() + PATIENCE
        while not (found := done()):
            assert time.monotonic() < ends_at, f"{what} was not seen on:\n{self.screen.text}\n{self.raw[-400:]!r}"
            self._read(0.1)
        return found

    def _read(self, seconds: float) -> bool:
        """Take what was written; say whether there was anything."""
        ready, _, _ = select.select([self._ours], [], [], seconds)
        data = b""
        with suppress(OSError):  # the terminal has no more writers
            data = os.read(self._ours, 65536) if ready else b""
        text = data.decode("utf-8", "replace")
        self.raw += text
        self.screen.feed(text)
        return bool(data)
