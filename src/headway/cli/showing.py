"""A run as it is shown: to a person, or as one JSON value a line to a program.

To a person, the reply goes to standard output and nothing else does; what happens goes to standard error, as lines,
with one more line for the present moment where the terminal can rewrite it.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import msgspec

from headway.agent.happenings import AgentItem, Done, Ending, GaveUp, Stopped, ToolBegan
from headway.cli.lines import Failed, Interrupted, RunBegan
from headway.cli.next_steps import next_step
from headway.cli.now import Now
from headway.cli.row import StatusRow
from headway.cli.status import status_line
from headway.cli.terminal import Terminal, visible
from headway.events import TextDelta
from headway.transport.watchdog import Quiet
from headway.turn.notices import Broke

TICK_SECONDS = 0.5
REDRAW_SECONDS = 0.1


class Shown(Protocol):
    """Where a run goes."""

    async def hear(self, items: Sequence[AgentItem]) -> None:
        """Show what is said and what happens."""

    def end(self, how: Ending | Failed | Interrupted, words: str = "") -> None:
        """Show how it ended; `words` are the cause in one line, if it did not end well."""


class ForPrograms:
    """One value a line; see `docs/reference/events.md`."""

    def __init__(self, session: str) -> None:
        """Say which session it is."""
        self._line(RunBegan(session))

    async def hear(self, items: Sequence[AgentItem]) -> None:
        """Write each on a line of its own."""
        for item in items:
            self._line(item)

    def end(self, how: Ending | Failed | Interrupted, words: str = "") -> None:
        """Write the last line."""
        self._line(how)
        if words:
            print(_with_next_step(how, words), file=sys.stderr)  # noqa: T201  # a program that failed says so to people too

    def _line(self, value: Any) -> None:
        sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
        sys.stdout.flush()


class ForPeople:
    """The reply, and beside it what is going on."""

    def __init__(self, reply: Terminal, status: Terminal) -> None:
        """Write the reply to one stream and the rest to the other; often they are the same screen."""
        self._reply, self._status = reply, status
        self._row = StatusRow(status)
        self._now = Now(asyncio.get_running_loop().time)
        self._in_line = False
        self._is_new = False
        self._drawn_at = 0.0
        self._quiet: Callable[[], Quiet | None] = lambda: None
        self._is_paused = False
        self._reason = ""
        """Why the latest request failed, if nothing was said since: nobody wants to read it again for each upstream."""

    @contextmanager
    def watching(self, quiet: Callable[[], Quiet | None]) -> Iterator[None]:
        """Keep the row true while the block runs; `quiet` says how long the stream that is open has been so."""
        self._quiet = quiet
        ticking = asyncio.ensure_future(self._tick()) if self._status.is_live else None
        try:
            yield
        finally:
            if ticking is not None:
                ticking.cancel()
            self._row.hide()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave the screen to somebody else while the block runs."""
        self._row.hide()
        self._break_line()
        self._is_paused = True
        try:
            yield
        finally:
            self._is_paused = False

    async def hear(self, items: Sequence[AgentItem]) -> None:
        """Show what is said and what happens."""
        for item in items:
            self._now.hear(item)
            if isinstance(item, ToolBegan):
                self._is_new = True
            if isinstance(item, TextDelta):
                self._row.hide()
                if self._is_new and self._in_line:
                    self._reply.write("\n")  # what is said after a call does not go on with the words before it
                self._is_new = False
                self._reply.write(visible(item.text.replace("\r", "")) if self._reply.is_seen else item.text)
                self._in_line = not item.text.endswith("\n")
                self._reason = ""
            elif line := self._line(item):
                self._say(f"· {visible(line)}", dim=True)
        self._redraw(REDRAW_SECONDS)

    def _line(self, item: AgentItem) -> str | None:
        line, before = status_line(item), self._reason
        if isinstance(item, Broke):
            self._reason = item.failure.reason
            return line if self._reason != before else f"{item.upstream}: the same"
        return line.removesuffix(f": {before}") if line and before else line

    def end(self, how: Ending | Failed | Interrupted, words: str = "") -> None:
        """End the line of the reply, and say the cause if it did not end well."""
        self._row.hide()
        if self._in_line and isinstance(how, Done | GaveUp | Stopped):
            self._reply.write("\n")
            self._in_line = False
        if words:
            self._say(visible(_with_next_step(how, words)))

    def _say(self, line: str, **style: bool) -> None:
        self._row.hide()
        self._break_line()
        self._status.write(self._status.styled(line, **style) + "\n")

    def _break_line(self) -> None:
        """Begin a line on the screen without putting anything into the reply."""
        if self._in_line and self._reply.is_seen and self._status.is_seen:
            self._status.write("\n")
            self._in_line = False

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            self._redraw(0)

    def _redraw(self, pause_seconds: float) -> None:
        """Bring the row up to date, but not more often than anybody could read."""
        at = asyncio.get_running_loop().time()
        if self._is_paused or not self._status.is_live or at - self._drawn_at < pause_seconds:
            return
        self._drawn_at = at
        if line := self._now.line(self._quiet()):
            self._row.show(line, below=self._in_line and self._reply.is_seen)
        else:
            self._row.hide()


def _with_next_step(how: Ending | Failed | Interrupted, words: str) -> str:
    """Return the cause, and behind it the command that helps, where one does."""
    step = next_step(how.failure) if isinstance(how, GaveUp) else ""
    return f"{words} {step}" if step else words
