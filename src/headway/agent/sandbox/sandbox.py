"""A sandbox for the commands of one session: its walls, what is allowed, and how a command is started in it."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from stat import S_ISSOCK
from typing import Any

from msgspec import Struct

from headway.agent.sandbox import bubblewrap
from headway.agent.sandbox.confinement import Confinement, Walls
from headway.agent.sandbox.scratch import HeldScratch
from headway.agent.sandbox.views import INSIDE, RUN, TEMPORARY, Scratch, steps_for
from headway.agent.tools.processes import Ended, run_group
from headway.agent.tools.threads import in_thread
from headway.failure import HeadwayError

PATIENCE_SECONDS = 0.35
"""How long the supervisor is waited for when it is asked to end everything; it takes a third of that."""
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from inside.supervisor import main; main()"
_NOT_HANDED_ON = frozenset(
    {"SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS"}
    | {"DOCKER_HOST", "CONTAINER_HOST", "XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY", "XAUTHORITY"}
    | {"TMP", "TEMP", "TMPDIR"}
)
"""Ways to daemons that could act outside, and to temporary folders that are not seen inside."""


class Means(Struct, frozen=True):
    """What the walls are made of, as it was found on this machine."""

    walls: Walls
    bwrap: str = ""
    nested: bool = False
    """Whether a command can make user namespaces of its own: older versions of `bwrap` cannot forbid it."""
    landlock: int = 0
    """The version of Landlock; 0 if there is none."""


class Found(Struct, frozen=True):
    """The walls to use; None if nothing holds, and then why."""

    means: Means | None
    reasons: tuple[str, ...] = ()


class NotConfined(HeadwayError):
    """The walls could not be put up; nothing was run."""


class Sandbox:
    """Walls for one session. They are looked for, and a folder is made for them, when the first command comes."""

    def __init__(self, walls: Means | Callable[[], Found], confinement: Confinement) -> None:
        """Use walls that are known, or those that will be found; nothing is started yet."""
        self.confinement = confinement
        self._found = Found(walls) if isinstance(walls, Means) else None
        self._look = walls if not isinstance(walls, Means) else None
        self._held: HeldScratch | None = None

    @property
    def means(self) -> Means:
        """Return what the walls are made of; there must be some."""
        assert self._found is not None, "nobody has looked yet"
        assert self._found.means is not None, "there are none"
        return self._found.means

    async def found(self) -> Found:
        """Return the walls there are; looks for them the first time."""
        if self._found is None:
            assert self._look is not None
            self._found = await in_thread(self._look)
        return self._found

    def close(self) -> None:
        """Remove what commands had as temporary folders; the next command has new ones."""
        if self._held is not None:
            self._held.close()
            self._held = None

    @property
    def _scratch(self) -> Scratch:
        if self._held is None:
            self._held = HeldScratch()
        return self._held.scratch

    async def run(
        self,
        program: Sequence[str],
        *,
        environment: Mapping[str, str],
        seconds: float,
        on_text: Callable[[str], None],
    ) -> Ended:
        """Run a program behind the walls, which were found; raises `NotConfined` if they cannot be put up."""
        ours, theirs = os.pipe()
        try:
            try:
                ended = await run_group(
                    self.launch(program, theirs),
                    folder=self.confinement.folder,
                    environment=self._environment(environment),
                    seconds=seconds,
                    on_text=on_text,
                    hands_on=theirs,
                    patience_seconds=PATIENCE_SECONDS,
                )
            finally:
                os.close(theirs)
            return _as_reported(ended, ours)
        finally:
            os.close(ours)

    def launch(self, program: Sequence[str], report: int) -> list[str]:
        """Return what to start instead of a program; `report` is a pipe that it must get as well."""
        confinement, means = self.confinement, self.means
        steps = steps_for(confinement, self._scratch, _sockets(confinement.roots))
        plan: dict[str, Any] = {
            "walls": means.walls.value,
            "report": report,
            "parent": os.getpid(),
            "folder": str(confinement.folder),
            "network": confinement.network,
            "processes": confinement.processes,
            "disk_bytes": confinement.disk_bytes,
            "least_free_bytes": confinement.least_free_bytes,
            "watched": [str(confinement.folder)],
            "writable": [str(path) for path in self._writable()],
            "hidden": [str(path.resolve()) for path in confinement.hidden],
            "steps": [[step.kind.value, str(step.path), str(step.source or "")] for step in steps],
        }
        inside = [sys.executable, "-I", "-S", "-c", _START, str(INSIDE.parent), json.dumps(plan), *program]
        if means.walls is not Walls.BUBBLEWRAP:
            return inside
        before = bubblewrap.arguments(
            means.bwrap,
            steps,
            folder=confinement.folder,
            network=confinement.network,
            is_root=os.geteuid() == 0,
            nested=means.nested,
        )
        return [*before, *inside]

    def _writable(self) -> tuple[Path, ...]:
        if self.means.walls is Walls.LANDLOCK:
            return (*self.confinement.roots, *map(self._scratch.stands_for, TEMPORARY))
        shared = Path("/dev/shm"), Path("/dev/pts"), Path("/dev/ptmx")  # noqa: S108  # those of the new view
        return (*self.confinement.roots, *TEMPORARY, *shared)

    def _environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Return the environment without ways out, and with places that can be written to."""
        kept = {name: value for name, value in given.items() if name not in _NOT_HANDED_ON}
        temporary = self._scratch.stands_for(TEMPORARY[0]) if self.means.walls is Walls.LANDLOCK else TEMPORARY[0]
        return {**kept, "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(temporary / ".cache")}


def _as_reported(ended: Ended, report: int) -> Ended:
    """Return how a program ended, by what the supervisor says, which knows more than its own exit status."""
    os.set_blocking(report, False)
    facts: dict[str, Any] = {}
    with suppress(BlockingIOError):
        for line in os.read(report, 4096).splitlines():
            facts |= json.loads(line)
    if not facts and ended.status is not None:
        raise NotConfined
    if "left" not in facts or ended.status is None:
        return ended  # it was killed, with everything in it
    return Ended(facts["status"], left_running=facts["left"], stopped=facts["stopped"])


def _sockets(roots: Sequence[Path]) -> list[Path]:
    """Return the sockets of programs that listen outside: what they do for a command is not done behind the walls."""
    covered = (*TEMPORARY, *RUN, *roots)
    try:
        lines = Path("/proc/net/unix").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    paths = {Path(words[7]) for line in lines if len(words := line.split(maxsplit=7)) == 8 and words[7][0] == "/"}
    return sorted(path for path in paths if not any(one in path.parents for one in covered) and _is_socket(path))


def _is_socket(path: Path) -> bool:
    try:
        return S_ISSOCK(path.lstat().st_mode)
    except OSError:
        return False
