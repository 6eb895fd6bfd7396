"""The screen: what is finished goes into the terminal's own scrollback, once; below it stands what is open.

The live part has the unfinished line, the status, the queue, the input and a last line of facts. It is drawn again at
most so often, and less often where writing is slow. Nothing is asked of the terminal that a VT100 could not do.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Protocol, TextIO

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import Layout
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from headway.cli.chat.keyboard import Keyboard
from headway.cli.chat.layout import body, style_for
from headway.cli.chat.output import HeldOutput
from headway.cli.chat.resizing import FindsItself, reflows
from headway.cli.chat.waiting import Waiting
from headway.cli.terminal import Terminal

DRAW_SECONDS = 0.06
SLOWEST_DRAW_SECONDS = 2.0
ESCAPE_SECONDS = 0.2
"""After so long an Esc is the key and not the beginning of a sequence; over a slow link these arrive in pieces."""
KEY_SECONDS = 0.35


class Shown(Protocol):
    """What the live part shows."""

    def live(self) -> list[str]:
        """Return the lines of what is open."""

    def status(self) -> tuple[str, str]:
        """Return what is happening now, and what stands behind it and is never cut; empty when nothing is."""

    def queue(self) -> Waiting:
        """Return what waits."""

    def question(self) -> str:
        """Return what is asked; empty when nothing is."""

    def facts(self) -> str:
        """Return the last line."""


class Screen:
    """A terminal with an input line at its bottom."""

    def __init__(self, terminal: Terminal, environment: Mapping[str, str], buffer: Buffer) -> None:
        """Draw on a terminal; `buffer` is what is typed."""
        self.terminal, self.buffer = terminal, buffer
        self._environment = environment
        self._out = HeldOutput(terminal.stream, self._hung_up)
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._app: FindsItself | None = None
        self._is_left = False

    @property
    def width(self) -> int:
        """Return how many columns text may take."""
        return self.terminal.width - 1

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return self._size().rows

    def build(self, shown: Shown, keys: KeyBindingsBase) -> None:
        """Make the application that reads keys and draws."""
        depth = None if self.terminal.has_colours else ColorDepth.DEPTH_1_BIT
        term = self._environment.get("TERM", "")
        output = Vt100_Output(self._out, self._size, term=term, default_color_depth=depth, enable_cpr=False)  # type: ignore[arg-type]
        self._app = FindsItself(
            layout=Layout(body(self, shown)),
            key_bindings=keys,
            output=output,
            input=_keys_of(sys.stdin),
            style=Style.from_dict(style_for(colours=self.terminal.has_colours)),
            erase_when_done=True,
            min_redraw_interval=DRAW_SECONDS / 2,
        )
        self._app.reflows = reflows(self._environment)
        self._app.ttimeoutlen, self._app.timeoutlen = ESCAPE_SECONDS, KEY_SECONDS
        self._app.before_render += lambda _: self._before()
        self._app.after_render += lambda _: self._out.release()

    async def run(self) -> None:
        """Read keys and draw until somebody leaves; raises `EOFError` when the terminal goes away."""
        assert self._app is not None, "it must be built first"
        if self._is_left:
            return
        await self._app.run_async(handle_sigint=False)
        self._flush()

    def leave(self) -> None:
        """End `run`, once, or before it has begun."""
        self._is_left = True
        if self._app is not None and self._app.is_running and not self._app.is_done:
            self._flush()
            self._app.exit()

    def _hung_up(self) -> None:
        """End `run` when nothing can be drawn any more; later, as somebody is in the middle of drawing."""

        def end() -> None:
            if self._app is not None and self._app.is_running and not self._app.is_done:
                self._app.exit(exception=EOFError)

        asyncio.get_running_loop().call_soon(end)

    def suspend(self) -> None:
        """Give the terminal back to the shell until the job is continued."""
        if self._app is not None:
            self._app.suspend_to_background()

    def print(self, *lines: str) -> None:
        """Write lines that stay, soon."""
        self._lines += lines
        self.changed()

    def changed(self) -> None:
        """Draw again, but not more often than anybody could read, or than the link bears."""
        if self._timer is None and self._app is not None and self._app.is_running:
            pause = min(SLOWEST_DRAW_SECONDS, max(DRAW_SECONDS, 4 * self._out.seconds))
            self._timer = asyncio.get_running_loop().call_later(pause, self._flush)
        elif self._timer is None:
            self._flush()

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        lines, self._lines = self._lines, []
        app = self._app
        if app is None or not app.is_running or app.is_done:
            if lines:
                self._out.write("".join(f"{line}\r\n" for line in lines))
                self._out.flush()
            return
        if not lines:
            app.invalidate()
            return
        with self._out.held():
            app.find_itself()
            app.renderer.erase(leave_alternate_screen=False)
            self._out.write("".join(f"{line}\r\n" for line in lines))
            app._redraw()  # noqa: SLF001  # in the same write, so that the input never seems to be gone

    def _before(self) -> None:
        """Take the last drawing away if the next one is lower: its rows would be left below."""
        self._out.hold()
        app = self._app
        assert app is not None, "it draws only when it is built"
        last, size = app.renderer.last_rendered_screen, self._size()
        wanted = app.layout.container.preferred_height(size.columns, size.rows).preferred
        if app.find_itself() or (last is not None and last.height > wanted):
            app.renderer.erase(leave_alternate_screen=False)

    def _size(self) -> Size:
        try:
            columns, rows = os.get_terminal_size(self._out.fileno())
        except OSError:
            columns, rows = 80, 24
        return Size(rows=rows or 24, columns=columns or 80)


def _keys_of(stream: TextIO) -> Input:
    made = create_input(stream)
    if isinstance(made, Vt100Input):
        made.stdin_reader = Keyboard(made.fileno(), encoding=stream.encoding)
    return made
