"""The question whether a call may run, put to the person at the terminal. Nothing runs while it waits.

What was typed before the question was asked does not answer it. An answer is a line: yes, no, always, or words, which
are a no that says what to do instead. Ctrl-C interrupts the run, as everywhere.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path

from headway.agent.approval import Allow, Ask, Deny, Kind, nobody_to_ask
from headway.agent.previews import CommandLine, Doubtful, FileChange, Preview, preview
from headway.agent.workspace import Workspace
from headway.cli.calls import call_words
from headway.cli.terminal import Terminal, size, visible
from headway.messages import ToolCall
from headway.wire.json_text import BadJson, strict_object

LONGEST_ANSWER = 4096
SAID_NO = "The user said no to this call. Do not repeat it or try to get around it; ask, or find another way."


class Unattended:
    """Stands in where there is nobody to ask: it says no, with the way out, and remembers that it had to."""

    def __init__(self) -> None:
        """Start with nothing refused."""
        self.refused: list[ToolCall] = []
        self.kinds: set[Kind] = set()

    async def __call__(self, call: ToolCall, ask: Ask) -> Allow | Deny:
        """Say no."""
        self.refused.append(call)
        self.kinds.add(ask.kind)
        return nobody_to_ask(call, ask)

    @property
    def way_out(self) -> str:
        """Return the flag that would have allowed it all."""
        return "--approve edits" if self.kinds == {Kind.EDITS} else "--approve auto"


class TerminalAsker:
    """Asks at the terminal, and remembers what is always allowed for as long as the process runs."""

    def __init__(
        self,
        keyboard: int,
        terminal: Terminal,
        workspace: Workspace,
        leave_screen: Callable[[], AbstractContextManager[None]],
        next_line: Callable[[], Awaitable[bytes]] | None = None,
    ) -> None:
        """Read answers from a file descriptor; `leave_screen` keeps others from writing while a question stands.

        Where somebody else reads that descriptor already, `next_line` gives what is typed from now on.
        """
        self._keyboard, self._terminal, self._workspace = keyboard, terminal, workspace
        self._next_line = next_line
        self._leave_screen = leave_screen
        self._always: set[tuple[str, str]] = set()

    async def __call__(self, call: ToolCall, ask: Ask) -> Allow | Deny:
        """Ask, unless this was always allowed."""
        key = (call.name, command_of(call))
        if key in self._always:
            return Allow()
        shown = await preview(call, self._workspace)
        with self._leave_screen():
            self._terminal.write("\n".join(question(call, ask, shown, self._terminal)) + "\n")
            answer = await self._answer("this command" if key[1] else f"every {call.name}")
        if is_always(answer):
            self._always.add(key)
        return verdict(answer)

    async def _answer(self, always: str) -> str | None:
        """Return the line that was typed; None when the input was closed."""
        if self._next_line is None:
            self._forget_what_was_typed()
        while True:
            self._terminal.write(f"  [y]es, [n]o, [a]lways {always}, or what to do instead: ")
            line = await (self._next_line or self._line)()
            if not line:
                self._terminal.write("\n")
                return None
            if answer := line.decode("utf-8", "replace").strip():
                return answer

    async def _line(self) -> bytes:
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[bytes] = loop.create_future()

        def ready() -> None:
            data = b""
            with suppress(OSError):  # the terminal went away: nobody answers
                data = os.read(self._keyboard, LONGEST_ANSWER)
            if not typed.done():
                typed.set_result(data)

        loop.add_reader(self._keyboard, ready)
        try:
            return await typed
        except asyncio.CancelledError:
            self._terminal.write("\n")
            raise
        finally:
            loop.remove_reader(self._keyboard)

    def _forget_what_was_typed(self) -> None:
        import termios  # there is none on every platform, and none is asked for where it is not

        with suppress(termios.error):
            termios.tcflush(self._keyboard, termios.TCIFLUSH)


def keyboard() -> int | None:
    """Return where a person can be asked: standard input, or the terminal itself if something is piped in."""
    if os.name != "posix":
        return None
    if sys.stdin is not None and sys.stdin.isatty():
        return sys.stdin.fileno()
    try:
        return os.open(Path("/dev/tty"), os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return None


def question(call: ToolCall, ask: Ask, shown: Preview, terminal: Terminal) -> list[str]:
    """Return the lines that say what would happen, and why it is asked."""
    title, lines = call_words(call), list[str]()
    match shown:
        case CommandLine(command=command, seconds=seconds):
            title = f"{call.name}, for at most {seconds:g} s" if seconds else call.name
            lines = [f"  $ {line}" for line in visible(command).split("\n")]
        case FileChange():
            title = f"{call.name} {shown.path}: {sizes(shown)}"
            lines = [f"  {coloured(line, terminal)}" for line in shown.diff]
            lines += [f"  … and {shown.left_out:,} lines more"] if shown.left_out else []
        case Doubtful(why=why):
            lines = [f"  as things are, it would fail: {visible(why)}"]
        case None:
            pass
    head = terminal.styled(f"? {visible(title)}", bold=True)
    return [head, *lines, terminal.styled(f"  asked because {visible(ask.why)}", dim=True)]


def coloured(line: str, terminal: Terminal) -> str:
    """Return a line of a difference in its colour."""
    colour = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1])
    return terminal.styled(visible(line), fg=colour) if colour else visible(line)


def is_always(answer: str | None) -> bool:
    """Say whether an answer allows more than the call that was asked about."""
    return answer is not None and answer.lower() in ("a", "always")


def verdict(answer: str | None) -> Allow | Deny:
    """Return what an answer means: yes, no, or a no with what to do instead; None is a closed input."""
    if answer is None or answer.lower() in ("n", "no"):
        return Deny(SAID_NO)
    if is_always(answer) or answer.lower() in ("y", "yes"):
        return Allow()
    return Deny(f"{SAID_NO} The user said: {answer}")


def command_of(call: ToolCall) -> str:
    """Return the command line of a call, word for word: what is always allowed is that one and no other."""
    try:
        command = call.arguments if call.freeform else strict_object(call.arguments).get("command")
    except BadJson:
        return ""
    return command if isinstance(command, str) else ""


def sizes(change: FileChange) -> str:
    """Return how large a file is, and was."""
    lines = f"{change.lines:,} line{'' if change.lines == 1 else 's'}"
    if change.before is None:
        return f"a new file, {size(change.after)}, {lines}"
    return f"{size(change.before)} → {size(change.after)}, {lines}"
