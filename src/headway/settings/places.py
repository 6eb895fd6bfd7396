"""Where settings and data live, by the habits of each system. The only reader of the process's own surroundings."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

FILE_NAME = "headway.toml"


class Surroundings(Struct, frozen=True):
    """What a process was started with."""

    environ: Mapping[str, str]
    folder: Path
    home: Path
    platform: str = "linux"

    def __repr__(self) -> str:  # variables hold keys
        return f"Surroundings({len(self.environ)} variables, {str(self.folder)!r}, {self.platform!r})"

    def variable(self, name: str) -> str:
        """Return a variable; unset and empty are the same."""
        return self.environ.get(name, "").strip()

    @property
    def config_folder(self) -> Path:
        """Return the folder for what people write."""
        return self._folder("XDG_CONFIG_HOME", ".config", "APPDATA")

    @property
    def data_folder(self) -> Path:
        """Return the folder for what Headway keeps."""
        return self._folder("XDG_DATA_HOME", ".local/share", "LOCALAPPDATA")

    @property
    def traces_file(self) -> Path:
        """Return where the gateway keeps what became of its requests."""
        return self.data_folder / "traces.db"

    @property
    def config_files(self) -> tuple[Path, ...]:
        """Return the files that may be there, those that count more first."""
        return (self.folder / FILE_NAME, self.config_folder / FILE_NAME)

    def _folder(self, xdg: str, usual: str, windows: str) -> Path:
        if own := self.variable("HEADWAY_HOME"):
            return Path(own).expanduser()
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support" / "headway"
        if self.platform == "win32":
            return Path(self.variable(windows) or self.home / "AppData" / "Local") / "headway"
        given = Path(self.variable(xdg))
        # The standard says that a relative path there is to be ignored.
        return (given if given.is_absolute() else self.home / usual) / "headway"


def surroundings() -> Surroundings:
    """Return what this process was started with."""
    return Surroundings(dict(os.environ), Path.cwd(), Path.home(), sys.platform)
