"""Where other agents keep their sessions, and which one is meant when none is named: the latest of this folder."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from headway.cli.sessions.files import Source, first_objects
from headway.cli.sessions.opencode_folders import latest_session, storage_in
from headway.failure import InvalidInput
from headway.foreign import claude_code, codex, opencode
from headway.settings.places import Surroundings

LOOKED_AT = 200
"""Rollouts that are opened, from the latest on, to find one of this folder."""

_WAYS = ("*.jsonl", "*/*.jsonl", "projects/*/*.jsonl", "*/*/*/rollout-*.jsonl", "sessions/*/*/*/rollout-*.jsonl")
"""Where sessions lie, seen from the folders that somebody may name. Nobody wants a whole disk to be looked through."""


def latest_of(source: str, around: Surroundings, folder: Path) -> Path:
    """Return the file of the latest session that an agent had in a folder."""
    if source not in _FINDERS:
        known = ", ".join(_FINDERS)
        raise InvalidInput("the session to import", "there is none", f"Name its file, or an agent: --from {known}.")
    found, where = _FINDERS[source](around, folder)
    if found is None:
        raise InvalidInput(str(where), f"no session of {folder} is there", "Name the file of the session.")
    return found


def in_folder(path: Path, folder: Path) -> Path:
    """Return the latest session that lies in a folder of some agent."""
    if storage := storage_in(path):
        found = latest_session(storage, folder)
    else:
        found = _latest(one for way in _WAYS for one in path.glob(way) if not one.name.startswith("agent-"))
    if found is None:
        hint = "Newer opencodes keep a database: run `opencode export ID > session.json` first."
        raise InvalidInput(str(path), "no session lies in it", hint if (path / "opencode.db").exists() else "")
    return found


def _claude_code(around: Surroundings, folder: Path) -> tuple[Path | None, Path]:
    own = around.variable("CLAUDE_CONFIG_DIR")
    home = Path(own).expanduser() if own else around.home / ".claude"
    where = home / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(folder))
    return _latest(one for one in where.glob("*.jsonl") if not one.name.startswith("agent-")), where


def _codex(around: Surroundings, folder: Path) -> tuple[Path | None, Path]:
    own = around.variable("CODEX_HOME")
    where = (Path(own).expanduser() if own else around.home / ".codex") / "sessions"
    # Their names begin with the time.
    latest = sorted(where.rglob("rollout-*.jsonl"), key=lambda path: path.name, reverse=True)[:LOOKED_AT]
    return next((path for path in latest if _is_of(path, folder)), None), where


def _is_of(path: Path, folder: Path) -> bool:
    first = first_objects(Source(str(path)).lines(), 1)
    payload = first[0].get("payload") if first else None
    return isinstance(payload, dict) and payload.get("cwd") == str(folder)


def _opencode(around: Surroundings, folder: Path) -> tuple[Path | None, Path]:
    given = Path(around.variable("XDG_DATA_HOME"))
    where = (given if given.is_absolute() else around.home / ".local" / "share") / "opencode"
    storage = storage_in(where)
    if storage is None and (where / "opencode.db").exists():
        raise InvalidInput(
            str(where / "opencode.db"),
            "this opencode keeps a database",
            "Run `opencode export ID > session.json` first.",
        )
    return (latest_session(storage, folder) if storage else None), where


def _latest(paths: Iterable[Path]) -> Path | None:
    return max(paths, key=lambda path: path.stat().st_mtime, default=None)


_FINDERS: dict[str, Callable[[Surroundings, Path], tuple[Path | None, Path]]] = {
    claude_code.NAME: _claude_code,
    codex.NAME: _codex,
    opencode.NAME: _opencode,
}
