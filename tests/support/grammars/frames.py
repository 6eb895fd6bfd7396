"""What the grammars share: frames read by the letter of the event-stream format, and a judge that keeps complaints."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple


class Said(NamedTuple):
    """One event: its place in the stream, its name, and its data (JSON if it is some, else the bare words)."""

    number: int
    event: str
    data: Any


class Judge:
    """Takes the frames of one stream, one by one, and keeps what is wrong with them."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.number = 0
        self.is_over = False

    def wrong(self, words: str) -> None:
        self.problems.append(f"frame {self.number}: {words}" if self.number else words)

    def check(self, holds: object, words: str) -> bool:
        if not holds:
            self.wrong(words)
        return bool(holds)

    def take(self, said: Said) -> None:
        self.number = said.number
        if self.is_over:
            self.wrong(f"something follows the end: {said.event or said.data}")
        else:
            self.judge(said)

    def end(self) -> None:
        self.number = 0
        if not self.is_over:
            self.wrong("the stream has no end")

    def judge(self, said: Said) -> None:
        raise NotImplementedError


def read_frames(data: bytes, judge: Judge) -> Iterator[Said]:
    """Give the events of a stream. Comments say nothing; a name without data is no event."""
    blocks = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n\n")
    if blocks.pop().strip():
        judge.wrong("the bytes end inside a frame")
    for number, block in enumerate(filter(None, (block.strip(b"\n") for block in blocks)), 1):
        judge.number = number
        event, lines = "", []
        for line in block.split(b"\n"):
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"event":
                event = value.decode()
            elif name == b"data":
                lines.append(value)
            elif name not in (b"", b"id", b"retry"):
                judge.wrong(f"a line of the unknown field {name!r}")
        if lines:
            yield Said(number, event, _parsed(b"\n".join(lines), judge))
        elif event:
            judge.wrong(f"the event {event!r} has no data")
    judge.number = 0


def _parsed(data: bytes, judge: Judge) -> Any:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        judge.wrong("the data is not UTF-8")
        return ""
    try:
        return json.loads(text)
    except ValueError:
        return text


def is_object_text(text: str) -> bool:
    """Say whether a text is one whole JSON object, or blank, which every wire reads as an empty one."""
    try:
        return not text.strip() or isinstance(json.loads(text), dict)
    except ValueError:
        return False
