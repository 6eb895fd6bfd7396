"""The store of a command: opened no further than it must be, and closed whatever happens."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headway.failure import InvalidInput
from headway.settings import Loaded
from headway.store.errors import StoreFailed, Trouble
from headway.store.journal import SessionInfo, SessionStore
from headway.store.memory import MemoryStore
from headway.store.sessions import Sessions, open_store

_SQLITE = "sqlite:"


@contextmanager
def to_read(loaded: Loaded) -> Iterator[Sessions]:
    """Open the store without changing it. Where there is none yet there are no sessions."""
    yield from _opened(_readable(loaded.store_url))


@contextmanager
def to_write(loaded: Loaded) -> Iterator[Sessions]:
    """Open the store to change it; it is made if there is none."""
    yield from _opened(open_store(loaded.store_url))


def _opened(store: SessionStore) -> Iterator[Sessions]:
    sessions = Sessions(store)
    try:
        yield sessions
    finally:
        sessions.close()


def _readable(url: str) -> SessionStore:
    if url.startswith(_SQLITE) and not Path(url.removeprefix(_SQLITE)).exists():
        return MemoryStore()
    try:
        return open_store(url, read_only=True)
    except StoreFailed as failed:
        if failed.trouble is not Trouble.READ_ONLY:
            raise
        return open_store(url)  # an older Headway wrote it: it is brought up to date first


def chosen(sessions: Sessions, name: str | None, folder: Path) -> SessionInfo:
    """Return the session that is meant: by the beginning of its id, or else the latest of the folder."""
    if name is not None:
        return sessions.find(name)
    found = sessions.list(str(folder))
    if not found:
        raise InvalidInput(str(folder), "it has no session yet", "`headway sessions --all` lists those of all folders.")
    return found[0]
