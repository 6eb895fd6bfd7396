"""After a resize: where the live part is now. What was said is never taken away; a line too many is the lesser evil.

A terminal that is made narrower either cuts its lines or wraps them anew, and then everything is further down. Which
of both it does cannot be asked. Where it is not known, the live part is taken to be as low as it can be: what stands
above that may be what was said.
"""

from collections.abc import Mapping

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point

_WRAPS_ANEW = frozenset(
    {
        "ALACRITTY_WINDOW_ID",
        "GHOSTTY_RESOURCES_DIR",
        "ITERM_SESSION_ID",
        "KITTY_WINDOW_ID",
        "KONSOLE_VERSION",
        "TMUX",
        "VTE_VERSION",
        "WEZTERM_PANE",
        "WT_SESSION",
    }
)
"""Variables of terminals that wrap their lines anew."""
_PROGRAMS = frozenset({"Apple_Terminal", "vscode", "WezTerm", "ghostty", "iTerm.app"})
_NAMES = ("alacritty", "foot", "tmux", "wezterm", "xterm-ghostty", "xterm-kitty")


def reflows(environment: Mapping[str, str]) -> bool:
    """Say whether the terminal is known to wrap what it shows anew when it is made narrower."""
    if any(environment.get(name) for name in _WRAPS_ANEW) or environment.get("TERM_PROGRAM") in _PROGRAMS:
        return True
    return environment.get("TERM", "").startswith(_NAMES)


class FindsItself(Application[None]):
    """An application that finds its own first row again after a resize."""

    reflows = False
    """Does the terminal wrap its lines anew?"""

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
