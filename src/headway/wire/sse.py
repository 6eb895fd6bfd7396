"""Server-sent events: bytes to frames and back, over arbitrary splits of the bytes, in bounded memory.

Lines end in LF, CRLF or CR, mixed as they come. Bytes are split first and decoded later, so a character cut by
the network is whole again. Comments are seen (they keep a connection alive) and never confused with content.
What is left at the end of the bytes without its empty line is not an event.
"""

import re

from msgspec import Struct

DEFAULT_LIMIT = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_CR = 13  # a number is looked for at once; for bytes in bytes, Python first makes an error and forgets it
_PLAIN = re.compile(rb"(?:event: ([^\n]+)\n)?data: ([^\n]*)\n\n")
"""An event with at most a name and one line of data; what it matches is the lengths of both and these 8 or 16 bytes."""


class Frame(Struct, frozen=True, gc=False):
    """One event. `odd` is its bytes as they came, where they are more than an event's name and one line of data."""

    data: bytes
    event: bytes = b""
    odd: bytes = b""

    @property
    def wire_bytes(self) -> bytes:
        """Return the bytes that forward this event unchanged (line ends as LF)."""
        if self.odd:
            return self.odd + b"\n\n"
        if self.event:
            return b"event: %b\ndata: %b\n\n" % (self.event, self.data)
        return b"data: %b\n\n" % self.data


class Comment(Struct, frozen=True, gc=False):
    """A block without data: a keep-alive."""

    raw: bytes


class FrameTooLarge(ValueError):
    """An event outgrew the limit; the bytes after it cannot be trusted to start anywhere."""

    def __init__(self, limit: int, start: bytes) -> None:
        """Keep the limit and how the oversized event began."""
        self.limit, self.start = limit, start
        super().__init__(limit, start)

    def __str__(self) -> str:
        return f"one event is larger than {self.limit} bytes"


class FrameReader:
    """Collects bytes and gives whole frames. After `FrameTooLarge` it holds nothing and gives nothing."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        """Refuse any event larger than `limit` bytes."""
        self._limit = limit
        self._buffer = bytearray()
        self._scanned = 0
        self._after_cr = False
        self._started = False
        self._between = False
        """Does it stand between two events, with nothing held?"""

    def feed(self, data: bytes) -> list[Frame | Comment]:
        """Return the frames that these bytes complete; raise `FrameTooLarge` when one outgrows the limit."""
        if self._between and data.endswith(b"\n\n") and _CR not in data:  # nearly always: what comes at once is whole
            if data.startswith(b"data: ") and data.find(b"\n") == len(data) - 2 <= self._limit:
                return [Frame(data[6:-2])]  # a single event, as it comes from somebody who speaks slowly
            return self._read_all(data)
        if self._after_cr or _CR in data:
            data = self._unify_line_ends(data)
        if not self._started and (self._buffer or data):
            data = self._strip_bom(data)
        if self._buffer:
            self._buffer += data
            end = self._buffer.rfind(b"\n\n", max(0, self._scanned - 1)) + 2
            blocks = bytes(memoryview(self._buffer)[:end]) if end > 1 else b""
            del self._buffer[: len(blocks)]
        else:
            end = data.rfind(b"\n\n") + 2
            blocks = data[:end] if end > 1 else b""
            self._buffer += data[len(blocks) :]
        self._scanned = len(self._buffer)
        self._between = self._started and not self._buffer and not self._after_cr
        if self._scanned > self._limit:
            self._refuse(bytes(self._buffer[:200]))
        return self._read_all(blocks) if blocks else []

    @property
    def rest(self) -> bytes:
        """Return what is left without its empty line; it is evidence, not an event."""
        return bytes(self._buffer)

    def _read_all(self, blocks: bytes) -> list[Frame | Comment]:
        """Read whole blocks. Nearly all are plain, and every token of every stream comes by: one expression for all."""
        frames: list[Frame | Comment] = []
        length = 0
        for event, data in _PLAIN.findall(blocks):
            length += len(data) + (len(event) + 16 if event else 8)
            frames.append(Frame(data, event))
        if length == len(blocks) and length <= self._limit:
            return frames
        return [frame for block in blocks.split(b"\n\n") if block and (frame := self._read(block)) is not None]

    def _read(self, block: bytes) -> Frame | Comment | None:
        if len(block) > self._limit:
            self._refuse(block[:200])
        return _read_lines(block)

    def _unify_line_ends(self, data: bytes) -> bytes:
        if not data:
            return data
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
            if not data:
                return data
        self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")

    def _strip_bom(self, data: bytes) -> bytes:
        """Drop a byte order mark at the very start, even when it arrives in pieces."""
        start = bytes(self._buffer) + data
        if len(start) < len(_BOM) and _BOM.startswith(start):
            return data
        self._started = True
        if start.startswith(_BOM):
            self._buffer.clear()
            self._scanned = 0
            return start[len(_BOM) :]
        return data

    def _refuse(self, start: bytes) -> None:
        self._buffer.clear()
        self._scanned = 0
        raise FrameTooLarge(self._limit, start)


def _read_lines(block: bytes) -> Frame | Comment | None:
    """Read a block of several lines. A field named `error` is one old server's way to send an error event."""
    data: list[bytes] = []
    event = b""
    seen = False
    for line in block.split(b"\n"):
        if not line:
            continue
        seen = True
        name, colon, value = line.partition(b":")
        if colon and value.startswith(b" "):
            value = value[1:]
        if name == b"data":
            data.append(value)
        elif name == b"event":
            event = value
        elif name == b"error":
            data.append(value)
            event = b"error"
    if data:
        return Frame(b"\n".join(data), event, block)
    return Comment(block) if seen else None


def write_frame(data: bytes, event: str = "") -> bytes:
    """Return one event as bytes; `data` is compact JSON or a word, on one line."""
    if event:
        return b"event: " + event.encode() + b"\ndata: " + data + b"\n\n"
    return b"data: " + data + b"\n\n"


def write_comment(text: str = "keep-alive") -> bytes:
    """Return a comment as bytes."""
    return b": " + text.encode() + b"\n\n"


def is_utf8(data: bytes) -> bool:
    """Say whether bytes are text that every reader takes; a decoder that skips a field does not look into it."""
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
