"""A talk without a screen: each line of the input is a turn, the reply is plain text, what happens goes beside it."""

import asyncio
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Thread

from msgspec.structs import replace

from headway.agent.approval import Allow, Ask, Deny, Judgement, Mode
from headway.agent.happenings import AgentItem, Done, Ending, GaveUp, Stopped, ToolEnded
from headway.cli.asking import TerminalAsker, Unattended, keyboard
from headway.cli.chat.commands import is_command, read
from headway.cli.chat.conversation import Conversation, Hooks
from headway.cli.chat.hangup import is_gone, say_last
from headway.cli.chat.view import View
from headway.cli.chat.waiting import Waiting
from headway.cli.lines import Interrupted, RunStatus
from headway.cli.showing import ForPeople
from headway.cli.terminal import Terminal
from headway.failure import HeadwayError
from headway.messages import Text, ToolCall


class _Lines:
    """Paper that is only written on."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    @property
    def width(self) -> int:
        return self._terminal.width

    def print(self, *lines: str) -> None:
        self._terminal.write("".join(f"{line}\n" for line in lines))

    def changed(self) -> None:
        """Nothing here can be drawn again."""


class PlainTalk:
    """Reads lines, one turn each."""

    def __init__(self, conversation: Conversation, terminal: Terminal) -> None:
        """Talk where nothing can be drawn."""
        self.conversation, self._terminal = conversation, terminal
        self.waiting = Waiting()
        status = Terminal(sys.stderr, conversation.loaded.around.environ)
        self._people = ForPeople(terminal, status)
        self.view = View(_Lines(terminal), terminal, conversation.workspace, asyncio.get_running_loop().time)
        keys = keyboard() if status.is_seen and sys.stdin.isatty() else None
        self._asker: TerminalAsker | Unattended = Unattended()
        if keys is not None:
            folder = conversation.workspace
            self._asker = TerminalAsker(keys, status, folder, self._people.paused, self._next_line)
        self._lines = asyncio.Queue[str | None]()
        self._awaited: asyncio.Future[bytes] | None = None
        """The answer to a question, while one stands: the next line is that, and no message."""
        self._denied: dict[str, str] = {}
        conversation.wire(Hooks(self._hear, self._ask, _warn, self._was_denied))
        self._turn: asyncio.Future[Ending] | None = None
        self._status = RunStatus.DONE
        self._is_left = False

    def set_mode(self, mode: Mode) -> None:
        """Switch to a mode."""
        self.conversation.mode = mode

    def leave(self) -> None:
        """Take no more lines."""
        self._is_left = True

    async def run(self, first: str) -> RunStatus:
        """Answer line by line until the input ends; a signal stops a turn, and without one the talk."""
        loop, lines = asyncio.get_running_loop(), self._lines
        _read_into(self._typed, loop, self._hang_up)
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._interrupt)
        loop.add_signal_handler(signal.SIGHUP, self._hang_up)
        if first:
            await self._take(first)
        while not self._is_left:
            if self._terminal.is_seen and sys.stdin.isatty():
                self._terminal.write("> ")
            line = await lines.get()
            if line is None:
                break
            await self._take(line.strip())
        return self._status

    def _typed(self, line: str | None) -> None:
        """Take a line: it answers a question that stands, or is a message. None is the end of all."""
        awaited = self._awaited if self._awaited is not None and not self._awaited.done() else None
        if awaited is not None:
            awaited.set_result((line or "").encode())
        if awaited is None or line is None:
            self._lines.put_nowait(line)

    async def _next_line(self) -> bytes:
        """Return what is typed from now on; what was typed before waits its turn."""
        self._awaited = asyncio.get_running_loop().create_future()
        try:
            return await self._awaited
        finally:
            self._awaited = None

    def _interrupt(self) -> None:
        if self._turn is not None:
            self._turn.cancel()
        else:
            self._status = RunStatus.INTERRUPTED
            self._lines.put_nowait(None)

    def _hang_up(self) -> None:
        """Leave, as the terminal is gone; what is going on is stopped, and what came of it is kept."""
        self._status, self._is_left = RunStatus.INTERRUPTED, True
        self._lines.put_nowait(None)
        if self._turn is not None:
            self._turn.cancel()

    async def _take(self, words: str) -> None:
        if not words:
            return
        try:
            if is_command(words):
                command, argument = read(words)
                await command.act(self, argument)
            else:
                await self._say(words.removeprefix("/") if words.startswith("//") else words)
        except HeadwayError as error:
            self._people.end(Interrupted(), f"headway: {error}")
            self._status = RunStatus.FAILED
        except OSError:
            if not is_gone(sys.stdout):
                raise
            self._status, self._is_left = RunStatus.INTERRUPTED, True

    async def _say(self, words: str) -> None:
        self._turn = asyncio.ensure_future(self.conversation.ask(words))
        try:
            with self._people.watching(self.conversation.quiet):
                ending = await self._turn
        except asyncio.CancelledError:
            self._people.end(Interrupted(), "headway: interrupted; what came is kept")
            if not self._terminal.is_seen:
                self._status, self._is_left = RunStatus.INTERRUPTED, True
            return
        finally:
            self._turn = None
        self._people.end(ending, self._judged(ending))

    def _judged(self, ending: Ending) -> str:
        if isinstance(self._asker, Unattended) and self._asker.refused:
            count, way_out = len(self._asker.refused), self._asker.way_out
            self._asker.refused.clear()
            self._status = RunStatus.NOT_ALLOWED
            return f"headway: {count} not allowed, as nobody was here to be asked. To allow it beforehand: {way_out}"
        match ending:
            case Done():
                return ""
            case GaveUp(failure=failure, why=why):
                self._status = RunStatus.FAILED
                return f"headway: {failure.reason} Given up: {why.value}. What came is kept."
            case Stopped(words=words):
                self._status = RunStatus.STOPPED
                return f"headway: stopped: {words}"

    async def _ask(self, call: ToolCall, ask: Ask, _: Callable[[], Judgement]) -> Allow | Deny:
        return await self._asker(call, ask)

    async def _hear(self, items: Sequence[AgentItem]) -> None:
        for item in items:
            self.conversation.tally.hear(item)
        await self._people.hear([self._for_people(item) for item in items])

    def _was_denied(self, call: ToolCall, why: str) -> None:
        no = "nobody is here to be asked" if isinstance(self._asker, Unattended) else "you said no"
        self._denied[call.id] = why or no

    def _for_people(self, item: AgentItem) -> AgentItem:
        """Say to people why a call was denied, and not what the model is told to do about it."""
        if isinstance(item, ToolEnded) and not item.ran and (why := self._denied.pop(item.call.id, "")):
            return replace(item, result=replace(item.result, parts=(Text(why),)))
        return item


def _warn(words: str) -> None:
    say_last(sys.stderr, f"headway: {words}")


def _read_into(
    typed: Callable[[str | None], None], loop: asyncio.AbstractEventLoop, hang_up: Callable[[], None]
) -> None:
    """Read lines in a thread that nobody waits for: a line may never come. None is the end."""

    def read_all() -> None:
        with suppress(OSError):  # the terminal is gone, or somebody else's
            for line in sys.stdin:
                tell(typed, line)
        if is_gone(sys.stdin):
            tell(hang_up)
        tell(typed, None)

    def tell(act: Callable[..., None], *what: str | None) -> None:
        with suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(act, *what)

    Thread(target=read_all, name="headway input", daemon=True).start()
