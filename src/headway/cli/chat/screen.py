"""The screen: what is finished goes into the terminal's own scrollback, once; below it stands what is open.

The live part has the unfinished line, the status, the queue, the input and a last line of facts. It is drawn again at
most so often, and less often where writing is slow. Nothing is asked of the terminal that a VT100 could not do.
"""

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Point, Size
from prompt_toolkit.input import create_input
from prompt_toolkit.key_binding import KeyBindingsBase
from prompt_toolkit.layout import Layout
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import Style

from headway.cli.chat.layout import body, style_for
from headway.cli.chat.output import HeldOutput
from headway.cli.terminal import Terminal

DRAW_SECONDS = 0.06
SLOWEST_DRAW_SECONDS = 2.0
ESCAPE_SECONDS = 0.2
"""After so long an Esc is the key and not the beginning of a sequence; over a slow link these arrive in pieces."""
KEY_SECONDS = 0.35
_KEEPS_LINES_AS_THEY_ARE = ("linux", "rxvt", "vt", "screen")


class Shown(Protocol):
    """What the live part shows."""

    def live(self) -> list[str]:
        """Return the lines of what is open."""

    def status(self) -> str:
        """Return what is happening now; empty when nothing is."""

    def queue(self) -> list[str]:
        """Return the messages that wait."""

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
        self._out = HeldOutput(terminal.stream)
        self._lines: list[str] = []
        self._timer: asyncio.TimerHandle | None = None
        self._is_stale = False
        self._app: _App | None = None

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
        self._app = _App(
            layout=Layout(body(self, shown)),
            key_bindings=keys,
            output=output,
            input=create_input(sys.stdin),
            style=Style.from_dict(style_for(colours=self.terminal.has_colours)),
            erase_when_done=True,
            min_redraw_interval=DRAW_SECONDS / 2,
        )
        self._app.reflows = self._reflows()
        self._app.ttimeoutlen, self._app.timeoutlen = ESCAPE_SECONDS, KEY_SECONDS
        self._app.before_render += self._before
        self._app.after_render += lambda _: self._out.release()

    async def run(self) -> None:
        """Read keys and draw until somebody leaves."""
        assert self._app is not None, "it must be built first"
        await self._app.run_async(handle_sigint=False)
        self._flush()

    def leave(self) -> None:
        """End `run`, once."""
        if self._app is not None and self._app.is_running and not self._app.is_done:
            self._flush()
            self._app.exit()

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

    def _before(self, app: "Application[Any]") -> None:
        """Take the last drawing away if the next one is lower: its rows would be left below."""
        self._out.hold()
        last, size = app.renderer.last_rendered_screen, self._size()
        wanted = app.layout.container.preferred_height(size.columns, size.rows).preferred
        has_moved = isinstance(app, _App) and app.find_itself()
        if has_moved or (last is not None and last.height > wanted):
            app.renderer.erase(leave_alternate_screen=False)

    def _size(self) -> Size:
        try:
            columns, rows = os.get_terminal_size(self._out.fileno())
        except OSError:
            columns, rows = 80, 24
        return Size(rows=rows or 24, columns=columns or 80)

    def _reflows(self) -> bool:
        """Say whether the terminal wraps what it shows anew when it is made narrower; most do."""
        given = self._environment
        if given.get("TMUX"):
            return True
        return not given.get("XTERM_VERSION") and not given.get("TERM", "").startswith(_KEEPS_LINES_AS_THEY_ARE)


class _App(Application[None]):
    """An application that finds its own first row again after a resize."""

    reflows = True

    def find_itself(self) -> bool:
        """Correct the place of the first row if the size has changed since the last drawing; say whether it has.

        The terminal has wrapped what it shows anew by then, and the signal that says so may still be on its way.
        """
        renderer, size = self.renderer, self.output.get_size()
        screen, last = renderer.last_rendered_screen, renderer._last_size  # noqa: SLF001  # nobody else knows
        if screen is None or last is None or last == size:
            return False
        if self.reflows:
            at = renderer._cursor_pos  # noqa: SLF001  # as above
            rows = at.x // size.columns
            for row in range(at.y):
                used = max((x + 1 for x, cell in screen.data_buffer[row].items() if cell.char.strip()), default=1)
                rows += -(-used // size.columns)
            renderer._cursor_pos = Point(at.x % size.columns, min(rows, size.rows - 1))  # noqa: SLF001  # as above
        return True

    def _on_resize(self) -> None:
        self.find_itself()
        super()._on_resize()


class TypingPause:
    """Knows when somebody last pressed a key, so that a question does not catch them in mid-word."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        """Start as if long ago."""
        self._now, self._last = now, 0.0

    def pressed(self) -> None:
        """Note a key."""
        self._last = self._now()

    async def lasts(self, seconds: float) -> None:
        """Wait until no key was pressed for so long."""
        while (left := self._last + seconds - self._now()) > 0:  # noqa: ASYNC110  # a key moves the end of the pause
            await asyncio.sleep(left)
