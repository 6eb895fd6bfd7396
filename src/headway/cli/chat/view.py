"""What is said and what happens, as it goes to the screen: whole lines once, and what is open in the live part.

Words about a break wait until they do not stand in the middle of a line or a block of code; the status line has them
at once.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from headway.agent.happenings import AgentItem, Done, Ending, GaveUp, Stopped, ToolBegan, ToolEnded
from headway.agent.previews import FileChange, preview
from headway.agent.workspace import Workspace
from headway.cli.asking import coloured, sizes
from headway.cli.calls import call_words
from headway.cli.chat.markdown import Reply
from headway.cli.chat.paint import Paint, Span, wrapped
from headway.cli.chat.story import Story
from headway.cli.now import Now
from headway.cli.status import status_line
from headway.cli.terminal import Terminal, fit, visible
from headway.events import CallOpened, RefusalDelta, TextDelta
from headway.messages import ToolCall, ToolResult
from headway.transport.watchdog import Quiet
from headway.turn import notices

SHOWN_DIFF, SHOWN_OUTPUT, SHOWN_LIVE = 16, 8, 4
REMEMBERED = 50
LONGEST_REMEMBERED = 2_000
TOLD_SECONDS = 5.0
_QUIET_TOOLS = frozenset({"read_file", "list_files", "search", "find_files"})


class Paper(Protocol):
    """What is written on: lines that stay, and a live part that can be drawn again."""

    @property
    def width(self) -> int:
        """Return how many columns there are now."""

    def print(self, *lines: str) -> None:
        """Write lines that stay."""

    def changed(self) -> None:
        """Draw the live part again, soon."""


class Outcome(Struct, frozen=True):
    """What a call came to, in full, for whoever wants to see more."""

    title: str
    lines: tuple[str, ...]


class View:
    """Shows one conversation."""

    def __init__(self, paper: Paper, terminal: Terminal, workspace: Workspace, time: Callable[[], float]) -> None:
        """Write on a paper; `terminal` knows about colours."""
        self.paper, self.paint = paper, Paint(colours=terminal.has_colours)
        self._terminal, self._workspace, self._time = terminal, workspace, time
        self._reply = Reply(self.paint, lambda: paper.width)
        self.now = Now(time)
        self._story = Story(1)
        self._told, self._told_at = "", -TOLD_SECONDS
        self._waiting: list[str] = []
        self._changes: dict[str, FileChange] = {}
        self._seen: set[str] = set()
        self._output: deque[str] = deque(maxlen=SHOWN_LIVE)
        self._is_blank = True
        self._after_tool = False
        self.outcomes: deque[Outcome] = deque(maxlen=REMEMBERED)

    def begin_turn(self, attempts: int) -> None:
        """Begin with a turn."""
        self.now, self._story = Now(self._time), Story(attempts)
        self._told, self._waiting = "", []
        self._changes.clear()

    async def hear(self, items: Sequence[AgentItem]) -> None:
        """Show what is said and what happens."""
        for item in items:
            self.now.hear(item)
            match item:
                case TextDelta(text=text) | RefusalDelta(text=text):
                    if self._after_tool and text.strip():
                        self.gap()
                        self._after_tool = False
                    self._write(self._reply.feed(text))
                    self._tell_what_waits()
                case CallOpened():
                    self.finish_reply()
                case ToolBegan(call=call):
                    await self._began(call)
                case ToolEnded(call=call, result=result, ran=ran):
                    self._ended(call, result, ran=ran)
                case _:
                    self._hear_of_breaks(item)
        self.paper.changed()

    def end_turn(self, ending: Ending | None, spent: str) -> None:
        """Show how a turn ended; None: it was interrupted."""
        self.finish_reply()
        self._output.clear()
        match ending:
            case None:
                self.say("interrupted; what came is kept. Say “continue” to go on from there", "warn")
            case GaveUp(failure=failure, why=why):
                self.say(f"✗ {failure.reason} Given up: {why.value}. What came is kept: say “continue” to go on", "bad")
            case Stopped(words=words):
                self.say(f"✗ stopped: {words}", "bad")
            case Done():
                pass
        self.say(spent, "dim")
        self.gap()

    def finish_reply(self) -> None:
        """Let what is open of the reply stand as it is."""
        self._write(self._reply.end())
        self._tell_what_waits()

    def say(self, text: str, style: str = "", hang: int = 0) -> None:
        """Write words of our own, wrapped; lines after the first begin at the column `hang`, or below their mark."""
        for line in visible(text).split("\n"):
            indent = line[: len(line) - len(line.lstrip())]
            rest = "  " if line[1:2] == " " and not line[0].isalnum() else indent
            rest = " " * hang or rest
            spans = [Span(line[len(indent) :], style)]
            self._write([self.paint.line(part) for part in wrapped(spans, self.paper.width, indent, rest)])

    def you(self, text: str) -> None:
        """Write what the user said."""
        self.gap()
        lines = visible(text).split("\n")
        for number, line in enumerate(lines[:SHOWN_DIFF]):
            head = "› " if not number else "  "
            self._write([self.paint.line(part) for part in wrapped([Span(line, "you")], self.paper.width, head, "  ")])
        if len(lines) > SHOWN_DIFF:
            self._write([self.paint(f"  … {len(lines) - SHOWN_DIFF:,} lines more", "dim")])
        self.gap()

    def differences(self, diff: str) -> None:
        """Write a difference in colours, whole."""
        self._write([coloured(line, self._terminal) for line in diff.splitlines()])

    def recite(self, markdown: str) -> None:
        """Write a text of earlier as it was shown then."""
        reply = Reply(self.paint, lambda: self.paper.width)
        self._write([*reply.feed(markdown), *reply.end()])

    def gap(self) -> None:
        """Leave a line free, once."""
        if not self._is_blank:
            self._write([""])

    def question(self, call: ToolCall, lines: Sequence[str]) -> None:
        """Write a question about a call, with all that it shows."""
        self.finish_reply()
        self._seen.add(call.id)
        self.gap()
        self._write(list(lines))

    def output(self, _call_id: str, text: str) -> None:
        """Take the next piece of what a command prints."""
        lines = [line for line in visible(text[-4000:].replace("\r", "\n")).split("\n") if line.strip()]
        self._output.extend(lines)
        self.paper.changed()

    def live(self) -> list[str]:
        """Return the lines of what is open: an unfinished line, or the newest output of a command."""
        if self._output:
            return [self.paint(f"  {fit(line, self.paper.width - 3)}", "dim") for line in self._output]
        return self._reply.tail()

    def status(self, quiet: Quiet | None) -> str:
        """Return what is happening now, in one line."""
        if self._told and self._time() - self._told_at < TOLD_SECONDS:
            return self._told
        return self.now.line(quiet)

    def _hear_of_breaks(self, item: Any) -> None:
        if isinstance(item, notices.Withdrawn):
            self.finish_reply()
        if told := self._story.hear(item):
            self._told, self._told_at = told, self._time()
            self._waiting.append(f"↻ {told}")
        elif isinstance(item, notices.Broke):
            self._waiting.append(fit(f"! {status_line(item)}", self.paper.width))
        elif not isinstance(item, notices.DraftHeld | notices.GaveUp) and (line := status_line(item)):
            self._waiting.append(f"· {line}")
        self._tell_what_waits()

    def _tell_what_waits(self) -> None:
        if not self._reply.is_between:
            return
        for line in self._waiting:
            style = {"↻": "warn", "!": "dim"}.get(line[:1], "dim")
            self.say(line, style)
        self._waiting.clear()

    async def _began(self, call: ToolCall) -> None:
        self.finish_reply()
        if not self._after_tool:
            self.gap()
        self._told, self._after_tool = "", True
        self._output.clear()
        shown = await preview(call, self._workspace)
        if isinstance(shown, FileChange):
            self._changes[call.id] = shown
        if call.name == "shell" and call.id not in self._seen:
            self._head(f"shell {fit(call_words(call).removeprefix('shell '), 400)}")
        else:
            self._head(call_words(call))

    def _head(self, title: str) -> None:
        head = [Span("● ", "place"), Span(visible(title), "bold")]
        self._write([self.paint.line(line) for line in wrapped(head, self.paper.width, "", "  ")])

    def _ended(self, call: ToolCall, result: ToolResult, *, ran: bool) -> None:
        self._output.clear()
        text = visible(result.text)
        change = self._changes.pop(call.id, None)
        was_seen = call.id in self._seen
        self._seen.discard(call.id)
        if not ran:
            self.finish_reply()
            self.say(f"○ {call_words(call)} was not run: {fit(text, 300)}", "warn")
        elif result.is_error:
            self._keep(call, text.split("\n"))
            self._some([self.paint(line, "bad") for line in text.split("\n")])
        elif change is not None:
            diff = [coloured(line, self._terminal) for line in change.diff]
            self._keep(call, [f"{change.path}: {sizes(change)}", *diff])
            if not was_seen:
                self._write([self.paint(f"  {fit(sizes(change), self.paper.width - 3)}", "dim")])
                self._some(diff, SHOWN_DIFF, first=True)
        elif call.name in _QUIET_TOOLS:
            self._keep(call, text.split("\n"))
            lines = text.count("\n") + 1 if text else 0
            self._write([self.paint(f"  {lines:,} line{'' if lines == 1 else 's'}", "dim")])
        else:
            self._keep(call, text.split("\n"))
            self._some([self.paint(line, "dim") for line in text.split("\n")])

    def _some(self, lines: list[str], most: int = SHOWN_OUTPUT, *, first: bool = False) -> None:
        """Write lines, and of many only some, with the way to the others."""
        left = len(lines) - most
        shown = lines if left <= 0 else lines[:most] if first else lines[-most:]
        note = [self.paint(f"  … {left:,} lines {'more' if first else 'before'} (/show)", "dim")] if left > 0 else []
        body = [f"  {line}" for line in shown]
        self._write([*body, *note] if first else [*note, *body])

    def _keep(self, call: ToolCall, lines: Sequence[str]) -> None:
        self.outcomes.append(Outcome(call_words(call), tuple(lines[:LONGEST_REMEMBERED])))

    def _write(self, lines: Sequence[str]) -> None:
        if lines:
            self._is_blank = not lines[-1].strip()
            self.paper.print(*lines)
