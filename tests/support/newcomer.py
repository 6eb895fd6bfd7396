"""Somebody who has just installed Headway: an empty home, an empty folder, and commands run in this process."""

import os
import sys
from pathlib import Path

import pytest
from msgspec import Struct

from headway.cli.main import main


class Ended(Struct, frozen=True):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str

    @property
    def last_line(self) -> str:
        return self.err.splitlines()[-1] if self.err else ""


class Newcomer:
    """Has nothing but what a test gives."""

    def __init__(self, root: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.home, self.folder = root / "home", root / "work"
        self._patch, self._capture = patch, capture
        for path in (self.home, self.folder):
            path.mkdir()
        for name in list(os.environ):
            if name != "PATH":
                patch.delenv(name)
        patch.setenv("HOME", str(self.home))
        patch.chdir(self.folder)

    def has(self, **variables: str) -> None:
        for name, value in variables.items():
            self._patch.setenv(name, value)

    def writes(self, text: str, name: str = "headway.toml") -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def knows(self, address: str, *, wire: str = "chat", model: str = "m", keys: str = "[]", more: str = "") -> None:
        """Write settings with one provider, called `one`."""
        self.writes(
            f'[providers.one]\nwire = "{wire}"\nbase_url = "{address}"\nkeys = {keys}\n'
            f'[routes.default]\nchain = ["one/{model}"]\n{more}'
        )

    def runs(self, *arguments: str, typed: str = "") -> Ended:
        piped = self.home.with_name("typed")
        piped.write_text(typed, encoding="utf-8")
        self._capture.readouterr()
        with piped.open(encoding="utf-8") as stdin:
            self._patch.setattr(sys, "stdin", stdin)
            status = main(list(arguments))
        said = self._capture.readouterr()
        return Ended(status, said.out, said.err)


@pytest.fixture
def newcomer(tmp_path, monkeypatch, capsys):
    return Newcomer(tmp_path, monkeypatch, capsys)
