"""Installs the clients that tests/clients runs, each into its own folder of .clients/, at the version that is pinned.

One that cannot be had is said, and the tests skip it by name. Nothing is locked: a lock would record addresses.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1] / ".clients"
NODE = "node"
SECONDS = 900


def from_npm() -> dict[str, str]:
    pinned = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    return dict(sorted(pinned.items(), key=lambda pair: pair[0] != NODE))  # what the others run on comes first


def from_pypi() -> dict[str, str]:
    lines = (line.strip() for line in (HERE / "python.txt").read_text(encoding="utf-8").splitlines())
    return dict(line.split("==", 1) for line in lines if line and not line.startswith("#"))


def folder_of(package: str) -> Path:
    return ROOT / package.removeprefix("@").replace("/", "-")


def npm_steps(package: str, version: str) -> list[list[str]]:
    quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error"]
    return [["npm", "install", "--prefix", str(folder_of(package)), *quiet, f"{package}@{version}"]]


def pip_steps(package: str, version: str) -> list[list[str]]:
    folder = folder_of(package)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    return [[sys.executable, "-m", "venv", str(folder)], [*pip, f"{package}=={version}"]]


def install(package: str, version: str, steps: list[list[str]]) -> str:
    """Install one; return what went wrong."""
    folder = folder_of(package)
    mark = folder / ".installed"
    if mark.is_file() and mark.read_text(encoding="utf-8") == version:
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = os.pathsep.join((str(folder_of(NODE) / "node_modules" / ".bin"), os.environ.get("PATH", "")))
    for step in steps:
        try:
            done = subprocess.run(
                step, env=os.environ | {"PATH": path}, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as exc:
            return str(exc)
        if done.returncode:
            return (done.stderr.strip() or done.stdout.strip())[-600:]
    mark.write_text(version, encoding="utf-8")
    return ""


def main() -> int:
    missing = 0
    for known, steps in ((from_npm(), npm_steps), (from_pypi(), pip_steps)):
        for package, version in known.items():
            sys.stdout.write(f"{package} {version}: ")
            sys.stdout.flush()
            problem = install(package, version, steps(package, version))
            missing += bool(problem)
            sys.stdout.write(f"CANNOT BE HAD, its tests are skipped: {problem}\n" if problem else "ready\n")
    return 0 if missing < len(from_npm()) + len(from_pypi()) else 1


if __name__ == "__main__":
    sys.exit(main())
