"""Calls as they are shown: what runs, the newest of what it prints, and what came of it; all of it on demand."""

from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct

from headway.agent.previews import FileChange, preview
from headway.agent.workspace import Workspace
from headway.cli.asking import coloured, sizes
from headway.cli.calls import call_words
from headway.cli.chat.page import Page
from headway.cli.chat.paint import Span, folded, wrapped
from headway.cli.terminal import fit, visible
from headway.messages import ToolCall, ToolResult

SHOWN_DIFF, SHOWN_OUTPUT, SHOWN_LIVE = 16, 8, 4
SHOWN_COMMAND, SHOWN_REASON = 400, 300
SHOWN_ROWS = 3
"""Of one long line."""
REMEMBERED = 50
LONGEST_REMEMBERED = 2_000
_QUIET_TOOLS = frozenset({"read_file", "list_files", "search", "find_files"})


class Outcome(Struct, frozen=True):
    """What a call came to, in full, for whoever wants to see more."""

    title: str
    lines: tuple[str, ...]


class CallsShown:
    """Shows the calls of one conversation."""

    def __init__(self, page: Page, workspace: Workspace) -> None:
        """Write on a page."""
        self._page, self._workspace = page, workspace
        self._changes: dict[str, FileChange] = {}
        self._seen: set[str] = set()
        self._denied: dict[str, str] = {}
        self._output: deque[str] = deque(maxlen=SHOWN_LIVE)
        self.outcomes: deque[Outcome] = deque(maxlen=REMEMBERED)

    def begin_turn(self) -> None:
        """Begin with a turn."""
        self._changes.clear()
        self._denied.clear()

    def end_turn(self) -> None:
        """Show nothing live any more."""
        self._output.clear()

    def was_asked_about(self, call: ToolCall) -> None:
        """Remember that a question has shown what this call does."""
        self._seen.add(call.id)

    def was_denied(self, call: ToolCall, why: str) -> None:
        """Remember why a call may not run; without words, whoever was asked has said no."""
        self._denied[call.id] = why or "you said no"

    def output(self, _call_id: str, text: str) -> None:
        """Take the next piece of what a command prints."""
        lines = [line for line in visible(text[-4000:].replace("\r", "\n")).split("\n") if line.strip()]
        self._output.extend(lines)
        self._page.paper.changed()

    def live(self) -> list[str]:
        """Return the newest lines that a command has printed."""
        width = self._page.paper.width - 3
        return [self._page.paint(f"  {fit(line, width)}", "dim") for line in self._output]

    async def began(self, call: ToolCall) -> None:
        """Show that a call runs."""
        self._output.clear()
        shown = await preview(call, self._workspace)
        if isinstance(shown, FileChange):
            self._changes[call.id] = shown
        if call.name == "shell" and call.id not in self._seen:
            self._head(f"shell {fit(call_words(call).removeprefix('shell '), SHOWN_COMMAND)}")
        else:
            self._head(call_words(call))

    def ended(self, call: ToolCall, result: ToolResult, *, ran: bool) -> None:
        """Show what came of a call."""
        self._output.clear()
        paint, text = self._page.paint, visible(result.text)
        change = self._changes.pop(call.id, None)
        was_seen = call.id in self._seen
        self._seen.discard(call.id)
        if not ran:
            why = self._denied.pop(call.id, "") or fit(text, SHOWN_REASON)  # the text is for the model
            self._page.say(f"○ {call_words(call)} was not run: {why}", "warn")
        elif change is not None and not result.is_error:
            terminal = self._page.terminal
            self._keep(call, [f"{change.path}: {sizes(change)}", *(coloured(line, terminal) for line in change.diff)])
            if not was_seen:
                self._page.write([paint(f"  {fit(sizes(change), self._page.paper.width - 3)}", "dim")])
                self._some(change.diff, lambda line: coloured(line, terminal), SHOWN_DIFF, first=True)
        else:
            self._keep(call, text.split("\n"))
            if call.name in _QUIET_TOOLS and not result.is_error:
                lines = text.count("\n") + 1 if text else 0
                self._page.write([paint(f"  {lines:,} line{'' if lines == 1 else 's'}", "dim")])
            else:
                style = "bad" if result.is_error else "dim"
                self._some(text.split("\n"), lambda line: paint(line, style))

    def _head(self, title: str) -> None:
        head = [Span("● ", "place"), Span(visible(title), "bold")]
        self._page.write([self._page.paint.line(line) for line in wrapped(head, self._page.paper.width, "", "  ")])

    def _some(
        self, lines: Sequence[str], painted: Callable[[str], str], most: int = SHOWN_OUTPUT, *, first: bool = False
    ) -> None:
        """Write lines, of many only some and of long ones the beginning, with the way to the others."""
        width, left = self._page.paper.width, len(lines) - most
        shown = lines if left <= 0 else lines[:most] if first else lines[-most:]
        where = "more" if first else "before"
        note = [self._page.paint(f"  … {left:,} lines {where} (/show)", "dim")] if left > 0 else []
        short = (line if len(line) <= SHOWN_ROWS * width else f"{line[: SHOWN_ROWS * width]}…" for line in shown)
        body = [row for line in short for row in folded(f"  {painted(line)}", width, "    ")]
        self._page.write([*body, *note] if first else [*note, *body])

    def _keep(self, call: ToolCall, lines: Sequence[str]) -> None:
        self.outcomes.append(Outcome(call_words(call), tuple(lines[:LONGEST_REMEMBERED])))
