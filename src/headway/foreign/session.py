"""What becomes of a foreign session: its messages in no wire's words, and an account of what was not taken over."""

from msgspec import Struct

from headway.messages import Message


class LeftOut(Struct, frozen=True):
    """Something that was not taken over: how often it was there, what it is (one, several), and why."""

    count: int
    one: str
    several: str
    why: str

    @property
    def words(self) -> str:
        """Return it as people read it."""
        return f"{self.count:,} {self.one if self.count == 1 else self.several}: {self.why}"


class ForeignSession(Struct, frozen=True):
    """A conversation as it stood elsewhere. What is broken in it stays broken here; `history` heals what is sent."""

    source: str
    """The name of the format."""
    wire: str
    """The wire that its broken places are judged by."""
    messages: tuple[Message, ...]
    id: str = ""
    """What it was called where it was."""
    title: str = ""
    folder: str = ""
    created_at: float | None = None
    left_out: tuple[LeftOut, ...] = ()
    mended: tuple[str, ...] = ()
    """What had to be guessed to read it at all, each as a sentence."""


class Account:
    """Collects what a reader leaves out and mends."""

    def __init__(self) -> None:
        """Start with nothing."""
        self._left: dict[tuple[str, str, str], int] = {}
        self._mended: dict[str, None] = {}

    def leave(self, one: str, several: str, why: str, count: int = 1) -> None:
        """Write down that something was left out; the same again only counts."""
        if count:
            key = one, several, why
            self._left[key] = self._left.get(key, 0) + count

    def mend(self, words: str) -> None:
        """Write down that something was put right."""
        self._mended[words] = None

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Return what was left out, in the order in which it was met."""
        return tuple(LeftOut(count, *key) for key, count in self._left.items())

    @property
    def mended(self) -> tuple[str, ...]:
        """Return what was put right."""
        return tuple(self._mended)
