"""Walls for tests: each kind of sandbox that can be had on this machine, and a den with something to lose beside it."""

import asyncio
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from headway.agent.approval import Approvals, Mode
from headway.agent.running import run_calls
from headway.agent.sandbox.confinement import Confinement, Walls
from headway.agent.sandbox.finding import candidates, problem_of
from headway.agent.sandbox.sandbox import Means, Sandbox
from headway.agent.tools.builtin import BUILTIN
from headway.agent.tools.environment import without_secrets
from headway.agent.tools.tool import ToolContext
from headway.agent.workspace import Workspace
from headway.messages import ToolCall, ToolResult
from support.lengths import AT_LENGTH

EVERY_WALL = pytest.mark.parametrize("walls", list(Walls), ids=lambda walls: walls.value)
SECRET = "hush-hush-this-is-the-secret"


@cache
def means_of(walls: Walls) -> Means | str:
    """Return what walls are made of here, or why they cannot be had."""
    means, reason = next((means, reason) for means, reason in candidates() if means.walls is walls)
    return reason or problem_of(means) or means


STRONGEST = next((walls for walls in Walls if not isinstance(means_of(walls), str)), Walls.BUBBLEWRAP)
SOME_WALL = EVERY_WALL if AT_LENGTH else pytest.mark.parametrize("walls", [STRONGEST], ids=["in use"])
"""What every kind of walls does in the same way is tried with the kind that is used here; `make test-terminal` tries
all of them. It goes by one name everywhere, as workers must agree on what there is to try."""


def means_or_skip(walls: Walls) -> Means:
    found = means_of(walls)
    if isinstance(found, str):
        pytest.skip(f"NOT TRIED: the sandbox {walls.value} cannot be had here: {found}")
    return found


class Den:
    """A home with secrets, a folder of somebody else's, and a workspace, none of them where temporary files are."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home, self.outside, self.work = (base / name for name in ("home", "outside", "work"))
        for folder in (self.home / ".ssh", self.home / ".aws", self.outside, self.work):
            folder.mkdir(parents=True)
        self.secrets = (self.home / ".ssh" / "id_ed25519", self.home / ".aws" / "credentials", self.home / ".netrc")
        for path in self.secrets:
            path.write_text(SECRET)
        (self.home / "notes.txt").write_text("nothing special\n")
        (self.work / "way-out").symlink_to(self.outside)
        (self.work / "to-secrets").symlink_to(self.home / ".ssh")

    def confinement(self, **given: Any) -> Confinement:
        hidden = (self.home / ".ssh", self.home / ".aws", self.home / ".netrc")
        return Confinement(self.work, **{"hidden": hidden, **given})

    def victim(self, name: str) -> Path:
        """Return a file outside that must stay as it is."""
        path = self.outside / f"{name.replace(' ', '-')}.txt"
        path.write_text("untouched\n")
        path.chmod(0o640)
        os.utime(path, (1_000_000_000, 1_000_000_000))
        return path


@contextmanager
def den() -> Iterator[Den]:
    """Make a den in the home of whoever runs the tests: temporary folders are replaced in a sandbox."""
    base = Path(tempfile.mkdtemp(prefix=".headway-den-", dir=Path.home())).resolve()
    try:
        yield Den(base)
    finally:
        shutil.rmtree(base)


class Prisoner:
    """Calls built-in tools from behind walls, as a model would."""

    def __init__(self, den: Den, means: Means | None, **given: Any) -> None:
        self.den = den
        self.sandbox = Sandbox(means, den.confinement(**given)) if means is not None else None
        environment = {**without_secrets(os.environ), "HOME": str(den.home)}
        self.context = ToolContext(
            Workspace(den.work), Approvals(Mode.AUTO), environment=environment, sandbox=self.sandbox
        )

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        (result,) = await run_calls([ToolCall("c1", tool, json.dumps(arguments))], BUILTIN, self.context)
        return result

    def shell(self, command: str, seconds: float = 60) -> str:
        return asyncio.run(self.call("shell", command=command, timeout_seconds=seconds)).text

    def close(self) -> None:
        if self.sandbox is not None:
            self.sandbox.close()


@contextmanager
def prisoner(walls: Walls, **given: Any) -> Iterator[Prisoner]:
    """Put somebody behind walls; the test is skipped, loudly, where there are none of that kind."""
    means = means_or_skip(walls)
    with den() as place:
        held = Prisoner(place, means, **given)
        try:
            yield held
        finally:
            held.close()
