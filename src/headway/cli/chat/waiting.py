"""What was sent while something else went on: it goes out by itself when that is over, in order.

After a stop nothing goes out unasked: what waited is held, each for itself, until it is sent, edited or forgotten.
"""

from collections import deque


class Waiting:
    """Messages and commands that wait, as they were typed."""

    def __init__(self) -> None:
        """Begin with none."""
        self._held = deque[str]()
        self._next = deque[str]()

    def __len__(self) -> int:
        return len(self._held) + len(self._next)

    @property
    def holds(self) -> bool:
        """Say whether anything waits for a word of the user."""
        return bool(self._held)

    def lines(self) -> list[str]:
        """Return what waits, in order, and whether it goes out by itself."""
        return [*(f"held: {words}" for words in self._held), *(f"next: {words}" for words in self._next)]

    def add(self, words: str) -> None:
        """Let one more go out when its turn comes."""
        self._next.append(words)

    def take_next(self) -> str:
        """Take the one whose turn it is; empty if none goes out by itself."""
        return self._next.popleft() if self._next else ""

    def hold(self) -> None:
        """Let nothing go out by itself any more."""
        self._held.extend(self._next)
        self._next.clear()

    def take_held(self) -> str:
        """Take the first one that is held; empty if none is."""
        return self._held.popleft() if self._held else ""

    def take_last(self) -> str:
        """Take the last one, to be edited; empty if there is none."""
        return (self._next or self._held).pop() if self else ""

    def clear(self) -> None:
        """Forget them all."""
        self._held.clear()
        self._next.clear()
