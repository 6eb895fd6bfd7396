"""A desk to load settings at: a project's folder, a home, and an environment of its own."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from headway.failure import InvalidInput
from headway.settings import Loaded, Surroundings, load
from headway.settings.trusting import trust_file


class Desk:
    """Files and variables that a process would find."""

    def __init__(self, root: Path) -> None:
        self.project, self.home = root / "project", root / "home"
        self.project.mkdir()
        self.home.mkdir()
        self.environ: dict[str, str] = {}
        self.platform = "linux"

    @property
    def around(self) -> Surroundings:
        return Surroundings(self.environ, self.project, self.home, self.platform)

    def write(self, text: str, path: Path | None = None) -> Path:
        path = path or self.project / "headway.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")
        return path

    def write_own(self, text: str) -> Path:
        return self.write(text, self.around.config_folder / "headway.toml")

    def load(self, text: str = "", config: Path | None = None, flags: Mapping[str, object] | None = None) -> Loaded:
        if text:
            self.write(text)
        if (path := self.project / "headway.toml").is_file():
            trust_file(path, self.around)
        return self.load_strange(config, flags)

    def load_strange(self, config: Path | None = None, flags: Mapping[str, object] | None = None) -> Loaded:
        """Load as somebody does who has not said that they trust the project's file."""
        return load(config, flags, self.around)

    def refuses(self, text: str = "", **how: object) -> InvalidInput:
        with pytest.raises(InvalidInput) as caught:
            self.load(text, **how)
        return caught.value


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path)
