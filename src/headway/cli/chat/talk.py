"""A talk at the terminal: what is typed is said, queued or obeyed; one turn at a time; a stop keeps what came."""

import asyncio
import time
from collections.abc import Awaitable, Sequence

from headway.agent.approval import Mode
from headway.agent.happenings import AgentItem, Ending
from headway.cli.chat.commands import is_command, read
from headway.cli.chat.conversation import Conversation, Hooks
from headway.cli.chat.pasting import Pastes
from headway.cli.chat.questions import Questions
from headway.cli.chat.screen import Screen
from headway.cli.chat.view import View
from headway.cli.chat.waiting import Waiting
from headway.failure import HeadwayError

TICK_SECONDS = 0.5
TWICE_SECONDS = 2.0
"""A second Ctrl-C or Esc within this leaves."""
MODES = (Mode.ASK, Mode.EDITS, Mode.PLAN, Mode.AUTO)


class Talk:
    """Ties the conversation to the screen."""

    def __init__(self, conversation: Conversation, view: View, screen: Screen, pastes: Pastes) -> None:
        """Begin idle."""
        self.conversation, self.view, self.screen, self.pastes = conversation, view, screen, pastes
        self.waiting = Waiting()
        """Messages and commands that are sent when the turn is over."""
        self.questions = Questions(screen, view, conversation.workspace)
        self._task: asyncio.Task[None] | None = None
        self._began = 0.0
        self._stopping_at = -TWICE_SECONDS
        self._hint = ""
        self._bug: BaseException | None = None
        conversation.wire(
            Hooks(self._hear, self.questions.ask, self._warn, view.calls.was_denied, on_output=view.calls.output)
        )

    @property
    def is_busy(self) -> bool:
        """Say whether a turn or a command is going on."""
        return self._task is not None

    # What the screen shows

    def live(self) -> list[str]:
        """Return the lines of what is open."""
        return self.view.live()

    def status(self) -> tuple[str, str]:
        """Return what is happening now, and what stands behind it however long that is."""
        if self._hint:
            return self._hint, ""
        if not self.is_busy:
            return "", ""
        if self.questions.is_open:
            return "waiting for your answer", " · Esc stops"
        words = self.view.status(self.conversation.quiet()) or self._doing()
        return words, f" · {time.monotonic() - self._began:.0f} s · Esc stops"

    def _doing(self) -> str:
        return f"{self.view.now.upstream} answers" if self.view.now.upstream else "working"

    def queue(self) -> Waiting:
        """Return what waits."""
        return self.waiting

    def question(self) -> str:
        """Return what is asked."""
        return self.questions.words

    def facts(self) -> str:
        """Return the mode, who is asked, what was spent."""
        chain = self.conversation.plan.chain
        others = f" +{len(chain) - 1}" if len(chain) > 1 else ""
        mode = self.conversation.mode.value
        return f"{mode} (⇧⇥) · {chain[0].name}{others} · {self.conversation.tally.session.brief()} · /help"

    # What the keys do

    def submit(self, typed: str) -> None:
        """Take a line: an answer, a command, or words for the model; an empty one sends what is held."""
        self._hint = ""
        typed = typed.strip()
        if self.questions.is_open and not is_command(typed):
            if answer := self.pastes.unfold(typed).strip():
                self.questions.answer(answer)
        elif typed := typed or self.waiting.take_held():
            self._take(typed)
        self.screen.changed()

    def say(self, words: str, shown: str = "") -> None:
        """Begin a turn."""
        self.view.you(shown or words)
        self.start(self._turn(words))

    def start(self, work: Awaitable[None]) -> None:
        """Do something that may take a while, and then what waits."""
        self._began = time.monotonic()
        self._task = asyncio.ensure_future(self._done(work))
        self._task.add_done_callback(self._look_for_a_bug)

    def stop(self) -> None:
        """Stop what is going on; when that, or nothing, is done twice, leave."""
        at, before = time.monotonic(), self._stopping_at
        self._stopping_at = at
        if at - before < TWICE_SECONDS:
            self.leave()
            return
        if self._task is not None:
            self._task.cancel()
        self._hint = "stopped; once more leaves" if self.is_busy else "once more leaves (or Ctrl-D)"
        asyncio.get_running_loop().call_later(TWICE_SECONDS, self._forget_hint)
        self.screen.changed()

    def leave(self) -> None:
        """End the talk."""
        if self._task is not None:
            self._task.cancel()
        self.screen.leave()

    def take_back(self) -> str:
        """Take the last message that waits out of the queue, to be edited."""
        return self.waiting.take_last()

    def next_mode(self) -> None:
        """Switch to the next mode."""
        self.set_mode(MODES[(MODES.index(self.conversation.mode) + 1) % len(MODES)])

    def set_mode(self, mode: Mode) -> None:
        """Switch to a mode; a question that it answers is answered."""
        self.conversation.mode = mode
        self.questions.look_again()
        self.screen.changed()

    async def run(self, first: str) -> None:
        """Talk until somebody leaves."""
        ticking = asyncio.ensure_future(self._tick())
        try:
            if first:
                self.say(first)
            await self.screen.run()
        finally:
            ticking.cancel()
            if self._task is not None:
                self._task.cancel()
                await asyncio.wait({self._task})
        if self._bug is not None:
            raise self._bug

    # Inside

    async def _done(self, work: Awaitable[None]) -> None:
        was_stopped = False
        try:
            await work
        except asyncio.CancelledError:
            was_stopped = True
        except (HeadwayError, OSError) as error:  # a full disk ends no talk
            self.view.finish_reply()
            self.view.say(f"✗ {error}", "bad")
            self.view.gap()
        finally:
            self._task = None
            if was_stopped:
                self.waiting.hold()
            self.screen.changed()
        if typed := self.waiting.take_next():
            self._take(typed)

    def _take(self, typed: str) -> None:
        """Obey a command, or say what was typed; while something goes on, that waits."""
        words = self.pastes.unfold(typed).strip()
        if is_command(words):
            self._obey(words)
        elif words and self.is_busy:
            self.waiting.add(typed)
        elif words:
            self.say(words.removeprefix("/") if words.startswith("//") else words, shown=typed)

    async def _turn(self, words: str) -> None:
        conversation, ending = self.conversation, None
        self.view.begin_turn(conversation.plan.policy.attempts)
        try:
            ending = await conversation.ask(words)
        except asyncio.CancelledError:
            self._end_turn(None)
            raise
        self._end_turn(ending)

    def _end_turn(self, ending: Ending | None) -> None:
        took = time.monotonic() - self._began
        self.view.end_turn(ending, f"{took:.0f} s · {self.conversation.tally.turn.words()}")

    async def _hear(self, items: Sequence[AgentItem]) -> None:
        for item in items:
            self.conversation.tally.hear(item)
        await self.view.hear(items)

    def _warn(self, words: str) -> None:
        self.view.finish_reply()
        self.view.say(f"! {words}", "warn")

    def _obey(self, words: str) -> None:
        """Do what a command says: at once, or, if it has to, when the turn is over."""
        try:
            command, argument = read(words)
        except HeadwayError as error:
            self.view.say(str(error), "warn")
            return
        if self.is_busy and not command.at_once:
            self.waiting.add(words)
            return
        self.view.you(words)
        if command.at_once:
            acting = asyncio.ensure_future(self._at_once(command.act(self, argument)))
            acting.add_done_callback(self._look_for_a_bug)
        else:
            self.start(command.act(self, argument))

    async def _at_once(self, act: Awaitable[None]) -> None:
        try:
            await act
        except (HeadwayError, OSError) as error:
            self.view.say(str(error), "warn")
        self.view.gap()

    def _forget_hint(self) -> None:
        self._hint = ""
        self.screen.changed()

    def _look_for_a_bug(self, task: "asyncio.Task[None]") -> None:
        """End the talk by what nobody foresaw, instead of going on as if nothing had been."""
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._bug = error
            self.leave()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            if self.is_busy:
                self.screen.changed()
