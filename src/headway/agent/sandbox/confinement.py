"""What a command may reach: the folders it writes to, what it does not see, and how much of the machine it may take."""

from enum import Enum
from pathlib import Path

from msgspec import Struct

GIBIBYTE = 1024**3


class Walls(Enum):
    """By what a command is held, the strongest first."""

    BUBBLEWRAP = "bubblewrap"
    """The program `bwrap`: namespaces with an own view of the files."""
    NAMESPACES = "namespaces"
    """The same namespaces, made by Headway itself, and Landlock behind them where the kernel has it."""
    LANDLOCK = "landlock"
    """Landlock alone: no privileges are needed, and some things cannot be denied."""


class Confinement(Struct, frozen=True):
    """What is allowed. Everything can be read but what is hidden; only the folders that are named are written to."""

    folder: Path
    """Where a command begins; it can be written to."""
    writable: tuple[Path, ...] = ()
    """Further folders, or files, that can be."""
    hidden: tuple[Path, ...] = ()
    """Files and folders that are not seen, or not read, wherever they are."""
    kept: tuple[Path, ...] = ()
    """What stays as it is although it lies in a folder that can be written to."""
    network: bool = False
    processes: int = 1024
    disk_bytes: int = 32 * GIBIBYTE
    """How much one command may add to a disk."""
    least_free_bytes: int = GIBIBYTE
    """A command is stopped when a disk has less room left than this, or half of what it had."""

    @property
    def roots(self) -> tuple[Path, ...]:
        """Return everything that can be written to, without links, the folder first."""
        return tuple(dict.fromkeys(path.resolve() for path in (self.folder, *self.writable)))
