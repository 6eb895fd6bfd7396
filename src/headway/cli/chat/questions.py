"""Questions at the screen: one at a time, never in mid-word, answered by a line or by a switch of the mode.

What was being typed when a question came is put aside, and comes back after it.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from headway.agent.approval import Allow, Ask, Deny, Judgement
from headway.agent.previews import preview
from headway.agent.workspace import Workspace
from headway.cli.asking import command_of, is_always, question, verdict
from headway.cli.chat.screen import Screen
from headway.cli.chat.view import View
from headway.messages import ToolCall

PAUSE_SECONDS = 0.7
"""A question takes the input only when nobody has typed for so long."""


class TypingPause:
    """Knows when somebody last pressed a key, so that a question does not catch them in mid-word."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Start as if long ago."""
        self._now, self._last = now, float("-inf")

    def pressed(self) -> None:
        """Note a key."""
        self._last = self._now()

    async def lasts(self, seconds: float) -> None:
        """Wait until no key was pressed for so long."""
        while (left := self._last + seconds - self._now()) > 0:  # noqa: ASYNC110  # a key moves the end of the pause
            await asyncio.sleep(left)


class Questions:
    """Puts questions to whoever sits at the screen, and remembers what is always allowed while the process runs."""

    def __init__(self, screen: Screen, view: View, workspace: Workspace) -> None:
        """Ask on a screen, below what the view has written."""
        self._screen, self._view, self._workspace = screen, view, workspace
        self.typing = TypingPause()
        self.words = ""
        """What is asked now; empty when nothing is."""
        self._answer: asyncio.Future[str] | None = None
        self._always: set[tuple[str, str]] = set()
        self._one_at_a_time = asyncio.Lock()
        self._mode_changed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Say whether an answer is waited for."""
        return self._answer is not None

    def answer(self, words: str) -> None:
        """Answer the question that stands."""
        if self._answer is not None and not self._answer.done():
            self._view.say(f"  {words}", "dim")
            self._answer.set_result(words)

    def look_again(self) -> None:
        """Let a switch of the mode answer the question that stands, if it does."""
        self._mode_changed.set()

    async def ask(self, call: ToolCall, ask: Ask, now: Callable[[], Judgement]) -> Allow | Deny:
        """Ask, unless this was always allowed; `now` judges the call by the mode of the moment."""
        async with self._one_at_a_time:
            key = (call.name, command_of(call))
            if key in self._always:
                return Allow()
            if not isinstance(judged := now(), Ask):  # the mode was switched while another question stood
                return judged
            shown = await preview(call, self._workspace)
            self._view.question(call, question(call, ask, shown, self._screen.terminal))
            answer = await self._answered(now, "this command" if key[1] else f"every {call.name}")
            if not isinstance(answer, str):
                return answer
            if is_always(answer):
                self._always.add(key)
            return verdict(answer)

    async def _answered(self, now: Callable[[], Judgement], always: str) -> str | Allow | Deny:
        """Return the line that was typed, or what the mode that was switched to says."""
        await self.typing.lasts(PAUSE_SECONDS)
        buffer = self._screen.buffer
        typed, place = buffer.text, buffer.cursor_position
        buffer.text = ""
        self._answer = asyncio.get_running_loop().create_future()
        self.words = f"[y]es, [n]o, [a]lways ({always}), or what instead"
        self._screen.changed()
        try:
            while True:
                self._mode_changed.clear()
                if await _is_first(self._answer, self._mode_changed.wait()):
                    return self._answer.result()
                if not isinstance(judged := now(), Ask):
                    return judged
        finally:
            self._answer.cancel()
            self._answer, self.words = None, ""
            buffer.text = typed
            buffer.cursor_position = place
            self._screen.changed()


async def _is_first(answer: asyncio.Future[str], other: Awaitable[Any]) -> bool:
    """Wait for either; say whether it is the answer that came."""
    task = asyncio.ensure_future(other)
    try:
        await asyncio.wait({answer, task}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()
    return answer.done()
