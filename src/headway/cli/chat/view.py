"""What is said and what happens, as it goes to the screen: whole lines once, and what is open in the live part.

Words about a break wait until they do not stand in the middle of a line or a block of code; the status line has them
at once.
"""

from collections.abc import Callable, Sequence
from typing import Any

from headway.agent.happenings import AgentItem, Done, Ending, GaveUp, Stopped, ToolBegan, ToolEnded
from headway.agent.workspace import Workspace
from headway.cli.chat.calls_shown import CallsShown
from headway.cli.chat.markdown import Reply
from headway.cli.chat.page import Page, Paper
from headway.cli.chat.paint import folded
from headway.cli.chat.story import Story
from headway.cli.next_steps import next_step
from headway.cli.now import Now
from headway.cli.status import status_line
from headway.cli.terminal import Terminal, fit
from headway.events import CallOpened, RefusalDelta, TextDelta
from headway.messages import ToolCall, ToolResult
from headway.transport.watchdog import Quiet
from headway.turn import notices

TOLD_SECONDS = 5.0


class View(Page):
    """Shows one conversation."""

    def __init__(self, paper: Paper, terminal: Terminal, workspace: Workspace, time: Callable[[], float]) -> None:
        """Write on a paper; `terminal` knows about colours."""
        super().__init__(paper, terminal)
        self._time = time
        self._reply = Reply(self.paint, lambda: paper.width)
        self.calls = CallsShown(self, workspace)
        self.now = Now(time)
        self._story = Story(1)
        self._told, self._told_at = "", -TOLD_SECONDS
        self._waiting: list[str] = []
        self._after_tool = False

    def begin_turn(self, attempts: int) -> None:
        """Begin with a turn."""
        self.now, self._story = Now(self._time), Story(attempts)
        self._told, self._waiting = "", []
        self.calls.begin_turn()

    async def hear(self, items: Sequence[AgentItem]) -> None:
        """Show what is said and what happens."""
        for item in items:
            self.now.hear(item)
            match item:
                case TextDelta(text=text) | RefusalDelta(text=text):
                    if self._after_tool and text.strip():
                        self.gap()
                        self._after_tool = False
                    self.write(self._reply.feed(text))
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
        self.calls.end_turn()
        match ending:
            case None:
                self.say("interrupted; what came is kept. Say “continue” to go on from there", "warn")
            case GaveUp(failure=failure, why=why):
                self.say(f"✗ {failure.reason} Given up: {why.value}. What came is kept: say “continue” to go on", "bad")
                if step := next_step(failure):
                    self.say(step.replace("headway doctor", "/doctor"), "warn")
            case Stopped(words=words):
                self.say(f"✗ stopped: {words}", "bad")
            case Done():
                pass
        self.say(spent, "dim")
        self.gap()

    def finish_reply(self) -> None:
        """Let what is open of the reply stand as it is."""
        self.write(self._reply.end())
        self._tell_what_waits()

    def question(self, call: ToolCall, lines: Sequence[str]) -> None:
        """Write a question about a call, with all that it shows, to the letter."""
        self.finish_reply()
        self.calls.was_asked_about(call)
        self.gap()
        head, *middle, why = lines
        width = self.paper.width
        self.write([*folded(head, width), *middle, *folded(why, width)])

    def live(self) -> list[str]:
        """Return the lines of what is open: an unfinished line, or the newest output of a command."""
        return self.calls.live() or self._reply.tail()

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
        await self.calls.began(call)

    def _ended(self, call: ToolCall, result: ToolResult, *, ran: bool) -> None:
        if not ran:
            self.finish_reply()
        self.calls.ended(call, result, ran=ran)
