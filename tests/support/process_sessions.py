"""The processes of a session, as the kernel knows them: what belongs to a terminal, and should go with it."""

from contextlib import suppress
from pathlib import Path


def in_session(leader: int) -> list[str]:
    """Return the command lines of what still runs in a session; those that have ended and wait to be buried do not."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, _, session, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(session) == leader and state != "Z":
                found.append((folder / "cmdline").read_text().replace("\0", " "))
    return found
