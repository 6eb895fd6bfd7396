"""Bodies that come compressed although nobody asked for it. Output comes in bounded pieces, however small the input."""

import zlib
from collections.abc import Iterator

PIECE = 256 * 1024
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_MEMBER = b"\x1f\x8b"
"""How gzip begins: a body may be several of them, one behind the other, as some servers write each flush."""
IDENTITY = frozenset({"", "identity"})
KNOWN = frozenset({"gzip", "x-gzip", "deflate"})


class Inflater:
    """Inflates gzip and zlib streams."""

    def __init__(self) -> None:
        """Begin a stream; which of the two it is, its first bytes say."""
        self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._behind = b""
        """The first half of what may begin the next member."""

    @property
    def whole(self) -> bool:
        """Say whether the compressed stream proved its own end."""
        return self._inflate.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the bytes give, in pieces of at most `PIECE`; raises `ValueError` for what is not compressed."""
        while data:
            if self.whole:
                data, self._behind = self._behind + data, b""
                if data == _MEMBER[:1]:
                    self._behind = data
                    return
                if not data.startswith(_MEMBER):
                    return  # padding behind the end, which belongs to nobody
                self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)
            try:
                piece = self._inflate.decompress(data, PIECE)
            except zlib.error as exc:
                raise ValueError(str(exc)) from None
            if piece:
                yield piece
            data = self._inflate.unused_data if self.whole else self._inflate.unconsumed_tail
