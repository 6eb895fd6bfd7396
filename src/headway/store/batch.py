"""Deltas on their way into the journal: written together, and soon, which bounds what a killed process loses."""

from headway.store.records import ArgumentsReceived, Delta, TextReceived

HELD_SECONDS = 0.25
HELD_CHARACTERS = 4096


class Batch:
    """Collects deltas; neighbours of one text become one record. Time is given from outside."""

    def __init__(self) -> None:
        """Start empty."""
        self._deltas: list[Delta] = []
        self._size = 0
        self._since = 0.0

    def __bool__(self) -> bool:
        return bool(self._deltas)

    def add(self, delta: Delta, now: float) -> None:
        """Hold one more delta."""
        if not self._deltas:
            self._since = now
        self._size += len(delta.text) if isinstance(delta, TextReceived | ArgumentsReceived) else 0
        joined = _joined(self._deltas[-1], delta) if self._deltas else None
        if joined is None:
            self._deltas.append(delta)
        else:
            self._deltas[-1] = joined

    def is_due(self, now: float) -> bool:
        """Say whether what is held is so old, or so much, that it must be written."""
        waited = now - self._since >= HELD_SECONDS
        return bool(self._deltas) and (waited or self._size >= HELD_CHARACTERS)

    def take(self) -> list[Delta]:
        """Return what is held, in order, and hold nothing."""
        taken, self._deltas, self._size = self._deltas, [], 0
        return taken


def _joined(before: Delta, more: Delta) -> Delta | None:
    """Return two pieces of one text as one; None if they are not."""
    match before, more:
        case TextReceived(), TextReceived() if before.turn == more.turn:
            return TextReceived(more.turn, before.text + more.text)
        case ArgumentsReceived(), ArgumentsReceived() if _call(before) == _call(more):
            return ArgumentsReceived(*_call(more), before.text + more.text, more.freeform)
        case _:
            return None


def _call(delta: ArgumentsReceived) -> tuple[int, int, str, str]:
    return delta.turn, delta.call, delta.id, delta.name
