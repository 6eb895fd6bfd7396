"""Files that others wrote, as lines or as one value: bounded, however large they are, and never changed."""

import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from headway.failure import InvalidInput
from headway.wire.json_text import BadJson, decode_repaired

MOST_BYTES = 1024 * 1024 * 1024
"""Of a file that is read line by line; of what is held at once, a fourth of it."""
MOST_AT_ONCE = 256 * 1024 * 1024
LONGEST_LINE = 64 * 1024 * 1024
_SKIP = 64 * 1024
_DATABASE = b"SQLite format 3\x00"
_WANTED = "Nothing was changed."


class Source:
    """A file, or standard input: it can be gone through more than once."""

    def __init__(self, place: str) -> None:
        """Look at a file; `-` is standard input, which is read to its end."""
        self.name = "standard input" if place == "-" else place
        self._path = Path(place)
        self._held = _held(sys.stdin.buffer, self.name) if place == "-" else None
        if self._held is None and self._path.exists() and not self._path.is_file():
            with self._open() as pipe:  # it can be read once
                self._held = _held(pipe, self.name)
        if self._held is None and not self._path.is_file():
            raise InvalidInput(self.name, "there is no such file", "Give the path of a session file, or --from alone.")
        if self.size > MOST_BYTES:
            raise InvalidInput(self.name, f"it is larger than {MOST_BYTES >> 20:,} MB", _WANTED)
        if self._beginning() == _DATABASE:
            raise InvalidInput(
                self.name,
                "it is a database",
                "Newer opencodes keep one: run `opencode export ID > session.json` first.",
            )

    @property
    def size(self) -> int:
        """Return how many bytes there are."""
        return len(self._held) if self._held is not None else self._path.stat().st_size

    def lines(self, longest: int = LONGEST_LINE) -> Iterator[bytes | None]:
        """Give the lines; None stands for one that is too long to be held."""
        with self._open() as stream:
            while line := stream.readline(longest + 1):
                if len(line) > longest and not line.endswith(b"\n"):
                    while (rest := stream.readline(_SKIP)) and not rest.endswith(b"\n"):
                        pass
                    yield None
                else:
                    yield line

    def value(self) -> tuple[Any, tuple[str, ...]]:
        """Read it as one JSON value, or raise `BadJson`; say what was mended."""
        if self.size > MOST_AT_ONCE:
            raise InvalidInput(self.name, f"it is one value of more than {MOST_AT_ONCE >> 20} MB", _WANTED)
        with self._open() as stream:
            data = stream.read(MOST_AT_ONCE + 1)
        if not data.strip():
            raise InvalidInput(self.name, "it is empty", _WANTED)
        return decode_repaired(data)

    def _beginning(self) -> bytes:
        with self._open() as stream:
            return stream.read(len(_DATABASE))

    def _open(self) -> BinaryIO:
        if self._held is not None:
            return io.BytesIO(self._held)
        try:
            return self._path.open("rb")
        except OSError as error:
            raise InvalidInput(self.name, error.strerror or str(error), _WANTED) from None


def first_objects(lines: Iterable[bytes | None], most: int = 40) -> list[dict[str, Any]]:
    """Return the objects among the first lines."""
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        if number >= most:
            break
        try:
            value = decode_repaired(line)[0] if line else None
        except BadJson:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _held(stream: BinaryIO, name: str) -> bytes:
    data = stream.read(MOST_AT_ONCE + 1)
    if len(data) > MOST_AT_ONCE:
        raise InvalidInput(name, f"it is larger than {MOST_AT_ONCE >> 20} MB", "Give it as a file.")
    return data
