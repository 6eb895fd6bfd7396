"""A real terminal for a program: a pane of tmux with its scrollback, driven by keys and read as text."""

import atexit
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from functools import cache
from itertools import count
from pathlib import Path
from typing import Self

from support.process_sessions import in_session

PATIENCE = 30.0
_numbers = count()


@cache
def _socket() -> str:
    """Start one server for all panes of this process, which ends with it; a server for each would cost as much again
    as the programs in them."""
    folder = tempfile.mkdtemp(prefix="headway-tmux-")
    socket = f"{folder}/socket"

    def end() -> None:
        subprocess.run(["tmux", "-S", socket, "kill-server"], check=False, capture_output=True)
        shutil.rmtree(folder)

    atexit.register(end)
    _tmux(
        *(socket, "-f", os.devnull, "new-session", "-d", "-s", "keeper", "sleep 3600", ";"),
        *("set", "-g", "history-limit", "50000", ";", "set", "-g", "remain-on-exit", "on", ";"),
        *("set", "-s", "escape-time", "0", ";", "set", "-s", "exit-unattached", "off"),
    )
    return socket


def _tmux(socket: str, *arguments: str) -> str:
    done = subprocess.run(
        ["tmux", "-S", socket, *arguments], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, f"tmux {arguments}: {done.stderr}"
    return done.stdout


class Pane:
    """A program in a terminal of its own."""

    def __init__(self, command: list[str], environment: dict[str, str], columns: int = 80, lines: int = 24, **given):
        self.raw, self._last = given.get("raw"), ""
        self._name = f"pane-{next(_numbers)}"
        self._folder = Path(tempfile.mkdtemp(prefix="headway-pane-"))
        words = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *command])
        words = f"{words}; echo $? > {self._folder}/status.new; mv {self._folder}/status.new {self._folder}/status"
        piping = ("pipe-pane", "-t", self._name, "-O", f"cat > {self.raw}", ";") if self.raw else ()
        leader = _tmux(
            *(_socket(), "new-session", "-d", "-s", self._name, "-x", str(columns), "-y", str(lines), words, ";"),
            *(*piping, "display-message", "-p", "-t", self._name, "#{pane_pid}"),
        )
        self._leader = int(leader)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Take the terminal away; that ends whatever runs in it."""
        self._tmux("kill-session")
        self._until(lambda: not in_session(self._leader), "the end of all that it had started")
        shutil.rmtree(self._folder)

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def enter(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def paste(self, text: str) -> None:
        """Paste as terminals do: in brackets, if the program has asked for them."""
        subprocess.run(["tmux", "-S", _socket(), "load-buffer", "-"], input=text.encode(), check=True)
        self._tmux("paste-buffer", "-p")

    def resize(self, columns: int, lines: int) -> None:
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    @property
    def text(self) -> str:
        """Return all lines, what has scrolled away included; those that the terminal has wrapped are joined."""
        self._last = self._tmux("capture-pane", "-p", "-J", "-S", "-").rstrip()
        return self._last

    @property
    def screen(self) -> str:
        """Return what can be seen now."""
        self._last = self._tmux("capture-pane", "-p").rstrip()
        return self._last

    @property
    def coloured(self) -> str:
        return self._tmux("capture-pane", "-p", "-e", "-S", "-").rstrip()

    def sees(self, pattern: str, *, anywhere: bool = False) -> re.Match:
        """Look at the screen until the pattern is on it; `anywhere`: also in what has scrolled away."""
        return self._until(lambda: re.search(pattern, self.text if anywhere else self.screen), pattern)

    def misses(self, pattern: str) -> None:
        """Look at the screen until the pattern is not on it."""
        self._until(lambda: not re.search(pattern, self.screen), f"the end of {pattern}")

    def ends(self) -> int:
        """Look until the program has ended, and return its status."""
        self._until((self._folder / "status").exists, "its end")
        return int((self._folder / "status").read_text())

    def _until(self, done, what: str):
        ends_at = time.monotonic() + PATIENCE
        pause = 0.02
        while not (found := done()):
            assert time.monotonic() < ends_at, f"{what} was not seen on:\n{self._last}"
            time.sleep(pause)
            pause = min(0.1, pause * 1.5)
        return found

    def _tmux(self, command: str, *arguments: str) -> str:
        return _tmux(_socket(), command, "-t", self._name, *arguments)
