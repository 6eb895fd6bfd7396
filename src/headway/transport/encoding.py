"""Bodies that come compressed although nobody asked for it. Output comes in bounded pieces, however small the input."""

import zlib
from collections.abc import Iterator

PIECE = 256 * 1024
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
IDENTITY = frozenset({"", "identity"})
KNOWN = frozenset({"gzip", "x-gzip", "deflate"})


class Inflater:
    """Inflates gzip and zlib streams."""

    def __init__(self) -> None:
        """Begin a stream; which of the two it is, its first bytes say."""
        self._inflate = zlib.decompressobj(_GZIP_OR_ZLIB)

    @property
    def whole(self) -> bool:
        """Say whether the compressed stream proved its own end."""
        return self._inflate.eof

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what the bytes give, in pieces of at most `PIECE`; raises `ValueError` for what is not compressed."""
        while data:
            try:
                piece = self._inflate.decompress(data, PIECE)
            except zlib.error as exc:
                raise ValueError(str(exc)) from None
            if piece:
                yield piece
            data = self._inflate.unconsumed_tail
