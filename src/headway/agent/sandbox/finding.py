"""Which walls there are on this machine: those that hold when they are tried. The strongest that do are used."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import which

from msgspec.structs import replace

from headway.agent.sandbox.confinement import Confinement, Walls
from headway.agent.sandbox.sandbox import Found, Means, Sandbox
from headway.agent.sandbox.scratch import sweep

TRIAL_SECONDS = 20.0
_TRIAL = ("/bin/sh", "-c", "echo in >inside; echo out >../outside")


@cache
def find() -> Found:
    """Try the walls there are, once. Blocks for some tens of milliseconds."""
    if sys.platform != "linux":
        return Found(None, ("there is none for this system yet",))
    sweep()
    reasons: list[str] = []
    for means, reason in candidates():
        problem = reason or problem_of(means)
        if not problem:
            return Found(means)
        reasons.append(f"{means.walls.value}: {problem}")
    return Found(None, tuple(reasons))


def are_likely() -> bool:
    """Say whether there probably are walls, without trying any; at once."""
    return sys.platform == "linux" and any(not reason for _, reason in candidates())


def candidates() -> Iterator[tuple[Means, str]]:
    """Return what could be used, the strongest first, and why it cannot if that is known without trying."""
    from headway.agent.sandbox.inside import landlock

    version = landlock.version()
    bwrap = which("bwrap")
    first = Means(Walls.BUBBLEWRAP, bwrap or "", landlock=version)
    yield first, "" if bwrap else "it is not installed"
    if bwrap:
        yield replace(first, nested=True), ""
    users = Path("/proc/sys/user/max_user_namespaces")
    has_users = os.geteuid() == 0 or (users.exists() and users.read_text().strip() != "0")
    yield Means(Walls.NAMESPACES, landlock=version), "" if has_users else "users may not make any"
    yield Means(Walls.LANDLOCK, landlock=version), "" if version else "this kernel does not have it"


def problem_of(means: Means) -> str:
    """Put walls up and throw something against them; say what is wrong with them, if anything is."""
    with tempfile.TemporaryDirectory(prefix="headway-trial-") as name:
        folder = Path(name).resolve() / "workspace"
        folder.mkdir()
        sandbox = Sandbox(means, Confinement(folder))
        try:
            said = _tried(sandbox)
        finally:
            sandbox.close()
        if not (folder / "inside").exists():
            return said or "a command could not write to its own folder"
        return "a command could write elsewhere" if (folder.parent / "outside").exists() else ""


def _tried(sandbox: Sandbox) -> str:
    """Run the trial; return the last line that was said."""
    ours, theirs = os.pipe()
    try:
        done = subprocess.run(  # noqa: S603
            sandbox.launch(_TRIAL, theirs),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            pass_fds=(theirs,),
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    finally:
        os.close(ours)
        os.close(theirs)
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else ""
