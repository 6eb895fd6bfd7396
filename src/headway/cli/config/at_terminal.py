"""The person at the terminal who is asked: lines break between words, and a key that is typed in is not shown."""

import os
import select
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from textwrap import wrap

import click

from headway.cli.terminal import Terminal

PASTE_SECONDS = 0.1
"""How long the rest of a paste may take to come: a terminal sends it in one go."""


class AtTerminal:
    """Asks by lines that fit the window."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        """Speak to standard output; where that is no terminal, lines stay whole."""
        self._terminal = Terminal(sys.stdout, environ)

    def says(self, words: str) -> None:
        """Tell them something."""
        for line in self._wrapped(words):
            click.echo(line)

    def shows(self, text: str) -> None:
        """Show a text as it is."""
        click.echo(text)

    def asked(self, question: str, default: str = "") -> str:
        """Ask for a line; an empty one means the default."""
        return str(click.prompt(self._last_line(question, f" [{default}]: "), default=default or None))

    def asked_secretly(self, question: str) -> str:
        """Ask for a line that is not shown; more lines that were pasted with it come along."""
        if os.name != "posix":
            return str(click.prompt(f"{question} (not shown)", hide_input=True))
        with _without_echo():  # before anybody is asked: who is quick is not seen either
            click.echo(f"{question} (not shown): ", nl=False)
            line = sys.stdin.readline()
            if not line:
                raise click.Abort
            while select.select([sys.stdin], [], [], PASTE_SECONDS)[0] and (more := sys.stdin.readline()):
                line += more
        click.echo()
        return line

    def agrees(self, question: str, *, default: bool = True) -> bool:
        """Ask for a yes or a no."""
        return click.confirm(self._last_line(question, " [Y/n]: "), default=default)

    def _last_line(self, question: str, behind: str) -> str:
        """Say all of a question but its last line, and return that; there is room behind it."""
        *before, last = self._wrapped(question, len(behind))
        for line in before:
            click.echo(line)
        return last

    def _wrapped(self, words: str, room: int = 0) -> list[str]:
        if not self._terminal.is_seen:
            return [words]
        indent = words[: len(words) - len(words.lstrip(" "))]
        width = max(20, self._terminal.width - room)
        return wrap(words, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


@contextmanager
def _without_echo() -> Iterator[None]:
    """Let nothing that is typed be seen for a while."""
    import termios

    before = termios.tcgetattr(sys.stdin)
    silent = [*before[:3], before[3] & ~termios.ECHO, *before[4:]]
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, silent)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
