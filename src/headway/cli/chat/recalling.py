"""What was typed before, on disk: one JSON string a line, private to its owner, and bounded."""

import os
from contextlib import suppress
from pathlib import Path

from msgspec import DecodeError, json

MOST = 1_000
LONGEST = 20_000
"""Characters of one entry; longer ones are not written down."""


class Recalled:
    """The entries, oldest first. A disk that cannot be used is no reason not to talk."""

    def __init__(self, path: Path) -> None:
        """Keep them in a file, which need not be there."""
        self._path = path
        self.entries = self._read()

    def add(self, text: str) -> None:
        """Remember one more; the one before is not repeated."""
        if not text.strip() or len(text) > LONGEST or self.entries[-1:] == [text]:
            return
        self.entries.append(text)
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if len(self.entries) > MOST:
                del self.entries[: -MOST // 2]
                self._write("w", self.entries)
            else:
                self._write("a", [text])

    def _read(self) -> list[str]:
        entries: list[str] = []
        with suppress(OSError):
            for line in self._path.read_bytes().splitlines()[-MOST:]:
                with suppress(DecodeError):  # a line that a full disk has cut
                    entries.append(json.decode(line, type=str))
        return entries

    def _write(self, how: str, entries: list[str]) -> None:
        flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if how == "a" else os.O_TRUNC)
        with os.fdopen(os.open(self._path, flags, 0o600), "wb") as file:
            file.write(b"".join(json.encode(entry) + b"\n" for entry in entries))
