"""One line at the bottom that says what is happening now: rewritten in place, and gone before anything is printed.

The reply may stand in the middle of a line of the same screen. Then the row is drawn on the line below, and the cursor
is brought back to where the reply goes on: a line is made below without moving along (index, reverse index), the place
is saved, and restored. Terminals since the VT100 know these four.
"""

from headway.cli.terminal import Terminal, fit

_CLEAR_LINE = "\r\x1b[K"
_CLEAR_BELOW = "\x1b[J"
_MAKE_ROOM_BELOW = "\x1bD\x1bM"
_SAVE, _RESTORE = "\x1b7", "\x1b8"
_DOWN = "\x1b[B\r"


class StatusRow:
    """A row on a terminal; on one that cannot rewrite its lines, or on no terminal, it never shows."""

    def __init__(self, terminal: Terminal) -> None:
        """Draw on a terminal."""
        self._terminal = terminal
        self._shown = ""
        self._is_below = False

    def show(self, text: str, *, below: bool = False) -> None:
        """Show a text in the row; `below`: the cursor stands in the middle of a line that must stay."""
        if not self._terminal.is_live:
            return
        line = fit(text, self._terminal.width - 1)
        if line == self._shown and below == self._is_below:
            return
        if self._shown and below != self._is_below:
            self.hide()
        styled = self._terminal.styled(line, dim=True)
        if below:
            room = "" if self._shown else _MAKE_ROOM_BELOW
            self._terminal.write(f"{room}{_SAVE}{_DOWN}{styled}\x1b[K{_RESTORE}")
        else:
            self._terminal.write(f"\r{styled}\x1b[K")
        self._shown, self._is_below = line, below

    def hide(self) -> None:
        """Remove the row; the cursor is where it was before."""
        if self._shown:
            self._terminal.write(_CLEAR_BELOW if self._is_below else _CLEAR_LINE)
            self._shown = ""
