"""The view that a command gets of the files: steps, each of which changes one place, from the top down.

A step is made upon what the ones above have left there. So a workspace in a folder that is hidden can be seen, and what
is hidden in a workspace cannot.
"""

import sys
from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path

from msgspec import Struct

from headway.agent.sandbox.confinement import Confinement

TEMPORARY = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108  # replaced by folders that nobody else sees
RUN = (Path("/run"), Path("/var/run"))
"""Sockets of daemons are here, and root is behind some of them."""
KEPT_OF_RUN = tuple(Path(one) for one in ("/run/current-system", "/run/booted-system", "/run/opengl-driver"))
"""Where NixOS has its programs."""
RESOLVERS = tuple(Path(one) for one in ("/run/systemd/resolve", "/run/NetworkManager", "/run/resolvconf"))
"""Where /etc/resolv.conf may lead."""
INSIDE = Path(__file__).with_name("inside")


class Kind(Enum):
    """What a step does; those at the same place are made in this order."""

    PRIVATE = "private"
    """Puts a folder of ours there."""
    MASK = "mask"
    """Puts an empty folder there."""
    EMPTY = "empty"
    """Puts an empty file there."""
    WRITE = "write"
    """Lets it be written to."""
    KEEP = "keep"
    """Shows it as it is, read-only."""


class Step(Struct, frozen=True):
    """One place, and what is done to it; `source` is what is put there."""

    kind: Kind
    path: Path
    source: Path | None = None


class Scratch(Struct, frozen=True):
    """A folder of ours: what stands for the temporary folders, and an empty file."""

    folder: Path

    @property
    def empty(self) -> Path:
        """Return the empty file."""
        return self.folder / "empty"

    def stands_for(self, temporary: Path) -> Path:
        """Return what a command sees as one of the temporary folders."""
        return self.folder / temporary.as_posix().strip("/").replace("/", "-")


def steps_for(confinement: Confinement, scratch: Scratch, sockets: Iterable[Path] = ()) -> tuple[Step, ...]:
    """Return the steps to the view of a command, in their order."""
    wanted = _ordered(
        [
            *(Step(Kind.PRIVATE, path, scratch.stands_for(path)) for path in TEMPORARY if _is_folder(path)),
            *(Step(Kind.MASK, path) for path in RUN if _is_folder(path)),
            *(_hiding(path, scratch) for path in (*confinement.hidden, *sockets) if path.exists()),
            *(Step(Kind.WRITE, path) for path in confinement.roots),
            *(Step(Kind.KEEP, path.resolve()) for path in confinement.kept if path.exists()),
        ]
    )
    steps = [step for at, step in enumerate(wanted) if not _is_needless(step, wanted[:at])]
    covered = [step.path for step in steps if step.kind in {Kind.PRIVATE, Kind.MASK}]
    needed = (*KEPT_OF_RUN, *(RESOLVERS if confinement.network else ()), *_of_this_interpreter())
    steps += [Step(Kind.KEEP, path) for path in needed if path.exists() and _is_covered(path, covered)]
    return tuple(_ordered(steps))


def _ordered(steps: Iterable[Step]) -> list[Step]:
    order = list(Kind)
    return sorted(dict.fromkeys(steps), key=lambda step: (len(step.path.parts), order.index(step.kind)))


def _hiding(path: Path, scratch: Scratch) -> Step:
    real = path.resolve()
    return Step(Kind.MASK, real) if real.is_dir() else Step(Kind.EMPTY, real, scratch.empty)


def _is_needless(step: Step, before: Sequence[Step]) -> bool:
    """Say whether a place that would be hidden or kept is gone already, with a folder above it."""
    above = [one for one in before if one.path in step.path.parents]
    last = max(above, key=lambda one: len(one.path.parts), default=None)
    is_gone = last is not None and last.kind in {Kind.MASK, Kind.PRIVATE}
    return is_gone and step.kind in {Kind.MASK, Kind.EMPTY, Kind.KEEP}


def _of_this_interpreter() -> tuple[Path, ...]:
    """Return what the supervisor needs: it is this interpreter again, and a file beside this one."""
    found = (Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent, INSIDE)
    return tuple(dict.fromkeys(path for path in found if path != Path("/usr")))


def _is_covered(path: Path, covered: Iterable[Path]) -> bool:
    return any(one == path or one in path.parents for one in covered)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
