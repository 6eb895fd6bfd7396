"""Text that grows by a token at a time: linear in time, and in memory little more than the text itself.

A token of a few characters is an object of some eighty bytes, so a large call kept in tokens is many times its size.
They are joined as they come, so many at a time that each character is copied once for that.
"""

JOINED_AT_ONCE = 1024


class Pieces:
    """The pieces of one text, in order."""

    __slots__ = ("_blocks", "_latest")

    def __init__(self) -> None:
        """Start with none."""
        self._blocks: list[str] = []
        self._latest: list[str] = []

    def add(self, piece: str) -> None:
        """Put a piece behind the others."""
        latest = self._latest
        latest.append(piece)
        if len(latest) >= JOINED_AT_ONCE:
            self._blocks.append("".join(latest))
            latest.clear()

    def text(self) -> str:
        """Return the text so far; joined once, it stays joined."""
        whole = "".join([*self._blocks, *self._latest])
        self._blocks = [whole] if whole else []
        self._latest.clear()
        return whole

    def __bool__(self) -> bool:
        return bool(self._latest or self._blocks)
