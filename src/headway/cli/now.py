"""What is happening at this moment, in one line. Fed with everything that is said and happens; it draws nothing.

The clock is given to it. How long a stream has been quiet is told by whoever holds the stream, when a line is wanted.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from headway.agent.happenings import NotSummedUp, SummedUp, SummingUp, ToolBegan, ToolEnded
from headway.cli.calls import call_words, subject_of
from headway.cli.terminal import size
from headway.events import CallArguments, CallOpened, TextDelta, ThinkingDelta
from headway.messages import ToolCall
from headway.recovery.drafts import Draft
from headway.transport.watchdog import Quiet, Stage
from headway.turn import notices
from headway.wire.arguments import ArgumentReader, State
from headway.wire.json_text import BadJson, decode

TELLING_SECONDS = 3.0
"""A pause in a stream that is shorter than this is not worth a word."""
HEAD = 2_000
"""Characters of a call that are looked at to find out what it is about."""


class Now:
    """Knows what is going on."""

    def __init__(self, time: Callable[[], float]) -> None:
        """Begin with nothing; `time` is a monotonic clock."""
        self._time = time
        self._upstream = ""
        self._forming: _Forming | None = None
        self._draft: Draft | None = None
        self._thought = 0
        self._speaks = False
        self._asks_at = 0.0
        self._summing: tuple[SummingUp, float] | None = None
        self._running: dict[str, _Running] = {}

    def hear(self, item: Any) -> None:
        """Take one event, notice or happening."""
        match item:
            case SummingUp():
                self._summing = (item, self._time())
            case SummedUp() | NotSummedUp():
                self._summing = None
            case ToolBegan(call=call):
                self._running[call.id] = _Running(call, self._time())
            case ToolEnded(call=call):
                self._running.pop(call.id, None)
            case _:
                self._hear_of_reply(item)

    def _hear_of_reply(self, item: Any) -> None:
        match item:
            case notices.Asking(upstream=upstream):
                self._upstream, self._forming, self._thought, self._speaks = upstream, None, 0, False
            case ThinkingDelta(text=text):
                self._thought += len(text)
            case TextDelta():
                self._speaks, self._forming = True, None
            case CallOpened(name=name):
                self._forming = _Forming(name)
            case CallArguments(text=text) if self._forming is not None:
                self._forming.feed(text)
            case notices.DraftGrows(text=text):
                self._continue(text)
            case notices.DraftHeld(draft=draft):
                self._draft = draft
            case notices.TryingAgain(wait_seconds=wait):
                self._asks_at = self._time() + wait
            case notices.Answered() | notices.GaveUp():
                self._upstream, self._draft, self._forming = "", None, None
            case _:
                pass

    @property
    def upstream(self) -> str:
        """Return who is asked now; empty when nobody is."""
        return self._upstream

    def line(self, quiet: Quiet | None) -> str:
        """Return the line for now; empty when there is nothing to say that cannot be seen anyway."""
        now = self._time()
        if self._running:
            first, *others = self._running.values()
            more = f" and {len(others)} more" if others else ""
            return f"{call_words(first.call)}{more} {now - first.since:.0f} s"
        if self._summing is not None:
            what, since = self._summing
            return f"summing up {size(what.characters)} of the conversation {now - since:.0f} s"
        if self._asks_at > now:
            return f"asking {self._upstream} again in {self._asks_at - now:.0f} s"
        return self._about_stream(quiet) if quiet is not None and self._upstream else ""

    def _about_stream(self, quiet: Quiet) -> str:
        forming = self._forming.words() if self._forming is not None else ""
        if quiet.stage is Stage.CONNECTING:
            return f"connecting to {self._upstream} {quiet.content_seconds:.0f} s"
        if quiet.stage is Stage.WAITING:
            return f"waiting for {self._upstream} {quiet.content_seconds:.0f} s"
        if quiet.content_seconds >= TELLING_SECONDS:
            stalled = f"no content for {quiet.content_seconds:.0f} s, limit {quiet.content_limit_seconds:.0f} s"
            return f"{stalled}: {forming}" if forming else stalled
        if forming:
            return forming
        return f"{self._upstream} thinks, {size(self._thought)} so far" if self._thought and not self._speaks else ""

    def _continue(self, text: str) -> None:
        """Show the continuation of a draft as what it is: the call that it is the rest of."""
        if self._forming is None:
            self._forming = _going_on(self._draft)
        self._forming.grow(len(text))


class _Running(Struct, frozen=True):
    """A call that runs."""

    call: ToolCall
    since: float


class _Forming:
    """A call on its way: what it is about, and how much of it has come."""

    def __init__(self, name: str, begun: str = "") -> None:
        self._name, self._head, self._size, self._subject = name, "", 0, ""
        self.feed(begun)

    def feed(self, text: str) -> None:
        self._size += len(text)
        if len(self._head) < HEAD and not self._subject:
            self._head += text[:HEAD]
            self._subject = _subject(self._head)

    def grow(self, characters: int) -> None:
        self._size += characters

    def words(self) -> str:
        return " ".join(filter(None, (self._name, self._subject, f"{size(self._size)}…")))


def _going_on(draft: Draft | None) -> _Forming:
    return _Forming("a draft") if draft is None else _Forming(draft.tool, draft.arguments)


def _subject(head: str) -> str:
    """Return what a call is about, as soon as that field of it is whole."""
    reader = ArgumentReader(head)
    if reader.state is State.BROKEN:
        return ""
    try:
        return subject_of({name: decode(head[start:end]) for name, (start, end) in reader.whole_fields.items()})
    except BadJson:
        return ""
