"""The session of a command: taken up, begun, or held in memory when no store can be had; what is not kept is said.

A new task does not need a store to be done, so it is done without one. To go on with a session needs that session.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from headway.failure import InvalidInput
from headway.store.errors import StoreFailed
from headway.store.memory import MemoryStore
from headway.store.session import Session
from headway.store.sessions import Sessions, open_store

INTERRUPTED = 130


class Wanted(Struct, frozen=True):
    """Which session is meant: a new one of the workspace, its latest one, or one by the beginning of its name."""

    workspace: Path
    latest: bool = False
    name: str = ""


def wanted_by(workspace: Path, given: Mapping[str, Any]) -> Wanted:
    """Return the session that flags mean."""
    name = given["resume"]
    if name is not None and not name.strip():
        raise InvalidInput("--resume", "it names no session", "`headway sessions` lists them.")
    return Wanted(workspace, latest=given["latest"], name=name or "")


class Held(Struct):
    """A session that is open, and what keeps it from being kept, if anything does."""

    sessions: Sessions
    session: Session
    trouble: StoreFailed | None = None


@asynccontextmanager
async def held_session(url: str, wanted: Wanted, say: Callable[[str], None]) -> AsyncIterator[Held]:
    """Hold a session until the block ends. What could not be kept of it is the last thing that is said."""
    held = await _held(url, wanted)
    last = "not all of this is kept" if held.trouble is None else "nothing of this is kept"
    try:
        yield held
    except StoreFailed:
        last = ""  # it stopped the work, and is the last thing said anyway
        raise
    except asyncio.CancelledError:
        last = f"interrupted, and {last}"
        raise
    finally:
        trouble = await _closed(held)
        if trouble is not None and last:
            say(f"{last}: {trouble}")
            if last.startswith("interrupted"):
                raise click.exceptions.Exit(INTERRUPTED)


async def _held(url: str, wanted: Wanted) -> Held:
    try:
        sessions = Sessions(open_store(url))
    except StoreFailed as failed:
        return await _in_memory(wanted, failed)
    with ExitStack() as undo:
        undo.callback(sessions.close)
        try:
            session = await _session(sessions, wanted)
        except StoreFailed as failed:
            return await _in_memory(wanted, failed)
        undo.pop_all()
    return Held(sessions, session)


async def _in_memory(wanted: Wanted, failed: StoreFailed) -> Held:
    if wanted.latest or wanted.name:
        raise failed
    sessions = Sessions(MemoryStore())
    return Held(sessions, await sessions.create(str(wanted.workspace)), failed)


async def _session(sessions: Sessions, wanted: Wanted) -> Session:
    if wanted.name:
        return await sessions.resume(sessions.find(wanted.name).id)
    if wanted.latest:
        found = sessions.list(str(wanted.workspace))
        if not found:
            reason = f"there is no session of {wanted.workspace} yet"
            raise InvalidInput("--continue", reason, "Leave it out to begin one")
        return await sessions.resume(found[0].id)
    return await sessions.create(str(wanted.workspace))


async def _closed(held: Held) -> StoreFailed | None:
    """Close the session and its store; return what was not kept and why."""
    try:
        await held.session.close()
    except StoreFailed as failed:
        held.trouble = held.trouble or failed
    try:
        held.sessions.close()
    except StoreFailed as failed:
        held.trouble = held.trouble or failed
    return held.trouble
