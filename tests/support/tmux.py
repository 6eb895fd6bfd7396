"""A real terminal for a program: a pane of tmux with its scrollback, driven by keys and read as text."""

import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

PATIENCE = 30.0


class Pane:
    """A program in a terminal of its own."""

    def __init__(self, command: list[str], environment: dict[str, str], columns: int = 80, lines: int = 24, **given):
        self.raw, self._last = given.get("raw"), ""
        self._folder = Path(tempfile.mkdtemp(prefix="headway-pane-"))
        self._socket = str(self._folder / "socket")
        words = shlex.join(["env", "-i", *(f"{name}={value}" for name, value in environment.items()), *command])
        words = f"{words}; echo $? > {self._folder}/status.new; mv {self._folder}/status.new {self._folder}/status"
        self._tmux(
            *("-f", os.devnull, "start-server", ";", "set", "-g", "history-limit", "50000", ";"),
            *("set", "-g", "remain-on-exit", "on", ";", "set", "-s", "escape-time", "0", ";"),
            *("new-session", "-d", "-x", str(columns), "-y", str(lines), words),
        )
        self._leader = self._tmux("display-message", "-p", "#{pane_pid}").strip()
        if self.raw:
            self._tmux("pipe-pane", "-O", f"cat > {self.raw}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run(["tmux", "-S", self._socket, "kill-server"], check=False, capture_output=True)
        self._until(lambda: not self._alive(), "the end of all that it had started")
        shutil.rmtree(self._folder)

    def _alive(self) -> bool:
        """Say whether anything of the pane still runs: a terminal that goes away takes its programs along."""
        return subprocess.run(["pgrep", "-s", self._leader], check=False, capture_output=True).returncode == 0

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", "--", text)

    def press(self, *keys: str) -> None:
        self._tmux("send-keys", *keys)

    def enter(self, text: str) -> None:
        self.type(text)
        self.press("Enter")

    def paste(self, text: str) -> None:
        """Paste as terminals do: in brackets, if the program has asked for them."""
        subprocess.run(["tmux", "-S", self._socket, "load-buffer", "-"], input=text.encode(), check=True)
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

    def _tmux(self, *arguments: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", self._socket, *arguments], capture_output=True, text=True, check=False, encoding="utf-8"
        )
        assert done.returncode == 0, f"tmux {arguments[0]}: {done.stderr}"
        return done.stdout
