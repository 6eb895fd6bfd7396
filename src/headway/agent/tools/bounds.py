"""Output of any size in a bounded space: its beginning and its end, and a note on what lies between."""

from collections import deque

LONGEST_LINE = 2_000


def shorten_lines(text: str, most: int = LONGEST_LINE) -> str:
    """Return the text with lines that are too long to be of use cut short."""
    if len(text) <= most:
        return text
    return "\n".join(shorten(line, most) for line in text.split("\n"))


def shorten(line: str, most: int = LONGEST_LINE) -> str:
    """Return a line, cut short with a note if it is too long."""
    return line if len(line) <= most else f"{line[:most]}… [cut: the line has {len(line):,} characters]"


def clip(text: str, most: int) -> str:
    """Return the text; of one with more than `most` characters, the beginning and the end with a note between them."""
    if len(text) <= most:
        return text
    spool = Spool(most)
    spool.write(text)
    return spool.text()


class Spool:
    """Takes a stream of text and keeps the first and the last of it, in constant memory and linear time."""

    def __init__(self, most: int) -> None:
        """Keep at most `most` characters, and one in any case."""
        self._head_room = max(most, 0) // 2
        self._tail_room = max(most - self._head_room, 1)
        self._head: list[str] = []
        self._tail: deque[str] = deque()
        self._tail_held = 0
        self._total = 0

    def write(self, text: str) -> None:
        """Take the next piece."""
        self._total += len(text)
        if self._head_room:
            self._head.append(text[: self._head_room])
            rest = text[self._head_room :]
            self._head_room -= len(text) - len(rest)
            text = rest
        if text:
            self._tail.append(text[-self._tail_room :])
            self._tail_held += len(self._tail[-1])
            while self._tail_held - len(self._tail[0]) >= self._tail_room:
                self._tail_held -= len(self._tail.popleft())

    def text(self) -> str:
        """Return what was kept, with a note where something was left out."""
        head = "".join(self._head)
        tail = "".join(self._tail)[-self._tail_room :]
        left_out = self._total - len(head) - len(tail)
        if not left_out:
            return head + tail
        return f"{head}\n[… {left_out:,} characters left out …]\n{tail}"
