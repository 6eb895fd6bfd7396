"""The store: can it be opened and written, is every page of it whole, how large is it, and is there room left."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from headway.cli.doctor.findings import Area, Finding, State
from headway.settings import Loaded
from headway.store.errors import StoreFailed, Trouble, from_system
from headway.store.sqlite import SqliteStore

LITTLE_ROOM = 512 * 1024**2
LARGE_LOG = 256 * 1024**2
MOST_CHECKED = 4 * 1024**3
"""A larger file is not read page by page: that would take minutes."""
_SQLITE = "sqlite:"


def about_store(loaded: Loaded) -> Iterator[Finding]:
    """Look at the store. Blocks; changes nothing but what opening it changes."""
    path = Path(loaded.store_url.removeprefix(_SQLITE))
    try:
        yield _opened(path) if path.exists() else _to_be_made(path)
        yield from _room(path)
    except StoreFailed as failed:
        yield _trouble(failed)


def _opened(path: Path) -> Finding:
    store = SqliteStore(path)
    try:
        large = path.stat().st_size > MOST_CHECKED
        damage = () if large else store.check()
        if damage:
            raise StoreFailed(Trouble.DAMAGED, path, damage[0][:200])
        sessions = len(store.sessions())
    finally:
        store.close()
    whole = "too large to be read page by page here" if large else "every page is whole"
    count = "1 session" if sessions == 1 else f"{sessions} sessions"
    size = path.stat().st_size
    words = f"{path}: {count}, {_size(size)}, can be written, {whole}"
    return _found("sessions", words, facts={"path": str(path), "sessions": sessions, "bytes": size})


def _to_be_made(path: Path) -> Finding:
    """Try whether a store could be made there, without making one."""
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise from_system(error, path) from error
    words = f"{path}: will be made with the first session"
    return _found("sessions", words, facts={"path": str(path), "sessions": 0, "bytes": 0})


def _room(path: Path) -> Iterator[Finding]:
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    free = shutil.disk_usage(folder).free
    facts = {"free_bytes": free}
    if free < LITTLE_ROOM:
        advice = "Make room: a session that cannot be written down goes on in memory only."
        yield _found("disk", f"only {_size(free)} are free", State.PROBLEM, advice=advice, facts=facts)
    else:
        yield _found("disk", f"{_size(free)} are free", facts=facts)
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > LARGE_LOG:
        advice = "End the programs that have the store open: the last one to close it puts the log away."
        yield _found("log", f"the write-ahead log has {_size(size)}", State.NOTE, advice=advice, facts={"bytes": size})


def _trouble(failed: StoreFailed) -> Finding:
    advice = str(failed).removeprefix(failed.happened).lstrip(". ")
    return _found("sessions", failed.happened, State.PROBLEM, advice=advice, facts={"trouble": failed.trouble.value})


def _found(
    name: str, words: str, state: State = State.WELL, *, advice: str = "", facts: dict[str, Any] | None = None
) -> Finding:
    return Finding(area=Area.STORE, name=name, words=words, state=state, advice=advice, facts=facts or {})


def _size(count: int) -> str:
    for limit, unit in ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if count >= limit:
            return f"{count / limit:.1f} {unit}"
    return f"{count} bytes"
