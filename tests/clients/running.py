"""One run of a client through `headway exec`, in real processes and real time, against simulated providers."""

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from clients.agents import FILE, Agent
from headway.sim import Exchange, Script, SimServer, read_fault, serving

CLIENTS = Path(__file__).parents[2] / ".clients"
SECONDS = 150
PATIENCE = {  # enough for a machine that is busy, and little enough to wait for
    "HEADWAY_LIMITS_SILENCE_SECONDS": "4",
    "HEADWAY_LIMITS_DEAD_SECONDS": "4",
    "HEADWAY_LIMITS_FIRST_CONTENT_SECONDS": "20",
    "HEADWAY_LIMITS_FIRST_BYTE_SECONDS": "20",
}


class Outcome(Struct, frozen=True):
    """What became of a run."""

    status: int
    output: str
    errors: str
    file: str | None
    log: list[Exchange]

    @property
    def summary(self) -> str:
        """Return the line that Headway says at the end."""
        return next((line for line in reversed(self.errors.splitlines()) if line.startswith("headway: ")), "")

    def struck(self) -> list[str]:
        return [name for exchange in self.log for name in exchange.faults]


def program_of(agent: Agent) -> Path:
    """Return where a client is; skip, by name, what is not there."""
    folder = CLIENTS / agent.package
    found = [folder / "node_modules" / ".bin" / agent.program, folder / "bin" / agent.program]
    there = next((path for path in found if path.exists()), None)
    if there is None or not (folder / ".installed").exists():
        pytest.skip(f"{agent.name} ({agent.package}) is not installed: run `make test-clients`")
    return there


class Stage:
    """A home, a workspace, and providers; see `stage` in the tests."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._stack = stack
        self.home, self.workspace = folder / "home", folder / "work"
        self.home.mkdir()
        self.workspace.mkdir()
        self.sims: list[SimServer] = []

    def provider(self, agent: Agent, *faults: str, **more: Any) -> SimServer:
        script = Script(prompt="-", steps=agent.steps(self.workspace), **more)
        sim = self._stack.enter_context(serving(replace(script, faults=tuple(map(read_fault, faults)))))
        self.sims.append(sim)
        return sim

    def environment(self, agent: Agent) -> dict[str, str]:
        path = os.pathsep.join((str(CLIENTS / "node" / "node_modules" / ".bin"), os.environ["PATH"]))
        plain = {"HOME": str(self.home), "PATH": path, "TERM": "xterm", "LANG": "C.UTF-8", "NO_COLOR": "1"}
        # Nothing of a test leaves this machine: what is meant for somebody else meets a closed door.
        shut = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1,localhost"}
        return {**plain, **shut, **PATIENCE, **agent.environment}

    def run(self, agent: Agent, *options: str, **variables: str) -> Outcome:
        program = program_of(agent)
        try:
            started = subprocess.run(
                [sys.executable, "-m", "headway", "exec", *options, "--", str(program), *agent.arguments],
                cwd=self.workspace,
                env=self.environment(agent) | variables,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                encoding="utf-8",
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as late:
            said = f"{(late.stdout or b'')[-1500:]!r}\n{(late.stderr or b'')[-3000:]!r}"
            asked = [(one.path, one.status, one.faults) for sim in self.sims for one in sim.log]
            raise AssertionError(f"it did not come to an end: {said}\n{asked}") from late
        written = self.workspace / FILE
        return Outcome(
            started.returncode,
            started.stdout,
            started.stderr,
            written.read_text(encoding="utf-8") if written.exists() else None,
            [exchange for sim in self.sims for exchange in sim.log],
        )

    def run_at(self, agent: Agent, sim: SimServer, *options: str, **variables: str) -> Outcome:
        """Run a client that has a key and an address in its environment, and nothing else."""
        usual = {agent.key: "sk-from-the-environment", agent.url: sim.url + agent.url_ends}
        return self.run(agent, *options, **{**usual, **variables})

    def settings(self, text: str) -> str:
        file = self.workspace.parent / "headway.toml"
        file.write_text(text, encoding="utf-8")
        return str(file)
