"""A break and its recovery as one sentence: where the stream was cut, what is kept, who goes on, by which attempt.

The notices of a turn come one by one; people want to know what it comes to.
"""

from typing import Any

from headway.cli.calls import subject_of
from headway.cli.status import doing
from headway.cli.terminal import size
from headway.recovery.drafts import Draft
from headway.recovery.ledger import Strategy
from headway.turn import notices
from headway.wire.arguments import ArgumentReader, State
from headway.wire.json_text import BadJson, decode

HEAD = 2_000
"""Characters of a draft that are looked at to find out what it is about."""


class Story:
    """Follows the breaks of one turn."""

    def __init__(self, attempts: int) -> None:
        """Tell attempts out of so many."""
        self._attempts = attempts
        self._draft: Draft | None = None
        self._kept = 0
        self._number = 1

    def hear(self, item: Any) -> str:
        """Take one notice; return the sentence when a break has been met, else nothing."""
        match item:
            case notices.Asking(number=number):
                self._number = number
            case notices.Broke(received=kept):
                self._draft, self._kept = None, kept
            case notices.DraftHeld(draft=draft):
                self._draft = draft
            case notices.TryingAgain(upstream=name, strategy=strategy, wait_seconds=wait):
                pause = f" in {wait:.0f} s" if wait >= 1 else ""
                return self._told(f"{_way(strategy, name)}{pause}")
            case notices.FailedOver(to=to):
                return self._told(f"continuing with {to}")
            case _:
                pass
        return ""

    def _told(self, what: str) -> str:
        parts = [self._cut(), "draft kept" if self._draft is not None else "", f"{what} {self._count()}"]
        self._draft = None
        return "; ".join(part for part in parts if part)

    def _cut(self) -> str:
        if self._draft is not None:
            about = about_draft(self._draft)
            return f"stream cut at {size(len(self._draft.arguments))} of {about}"
        return f"stream cut after {size(self._kept)}, all kept" if self._kept else ""

    def _count(self) -> str:
        number = self._number + 1
        return f"({number} of {self._attempts})" if number <= self._attempts else f"(request {number})"


def about_draft(draft: Draft) -> str:
    """Return what a draft is of: its file if it names one, else its tool."""
    head = draft.arguments[:HEAD]
    reader = ArgumentReader(head)
    if reader.state is State.BROKEN:
        return draft.tool
    try:
        found = subject_of({name: decode(head[start:end]) for name, (start, end) in reader.whole_fields.items()})
    except BadJson:
        found = ""
    return found or draft.tool


def _way(strategy: Strategy, name: str) -> str:
    return f"continuing with {name}" if strategy in _WITH else f"{name}: {doing(strategy)}"


_WITH = frozenset({Strategy.CONTINUE_TEXT, Strategy.CONTINUE_DRAFT})
