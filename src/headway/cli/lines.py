"""What `headway run --json` prints: the first line, everything that is said and happens, and the last line.

The page about it is written from these unions, so a line that is not in them cannot be printed and documented apart.
"""

from enum import IntEnum
from typing import TypeAlias

from msgspec import Struct

from headway.agent.happenings import Done, Ending, GaveUp, Happening, Stopped
from headway.events import Content, KeepAlive, StreamOpened, Unread, Usage
from headway.turn.notices import Notice

FORMAT = 1
"""The version of what is printed; it rises when a reader would have to change. New types and fields do not raise it."""


class RunStatus(IntEnum):
    """How a run ended, as its exit status."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    STOPPED = 3
    NOT_ALLOWED = 4
    INTERRUPTED = 130


MEANINGS = {
    RunStatus.DONE: "The task is done.",
    RunStatus.FAILED: "No answer could be had, or something failed that the task needs; the last line says what.",
    RunStatus.USAGE: "The settings or the command line are wrong; nothing was done.",
    RunStatus.STOPPED: "The agent was stopped because it went round in circles or took too many steps.",
    RunStatus.NOT_ALLOWED: "The agent ended, but calls were not run because nobody was there to allow them.",
    RunStatus.INTERRUPTED: "It was interrupted (Ctrl-C, SIGTERM); what came is kept in the session.",
}


class RunBegan(Struct, frozen=True, tag="headway"):
    """The first line."""

    session: str
    """The session, for `headway run --resume`."""
    format: int = FORMAT
    """The version of this format."""


class Interrupted(Struct, frozen=True, tag="interrupted"):
    """The last line of a run that was interrupted; what came is kept in the session."""


class Failed(Struct, frozen=True, tag="failed"):
    """The last line of a run that an error of the store, the settings or the machine has ended."""

    reason: str


Said: TypeAlias = StreamOpened | Content | Usage | KeepAlive | Unread
Last: TypeAlias = Ending | Interrupted | Failed
Line: TypeAlias = RunBegan | Said | Notice | Happening | Last
LAST: dict[type[Done | GaveUp | Stopped | Interrupted | Failed], tuple[RunStatus, ...]] = {
    Done: (RunStatus.DONE, RunStatus.NOT_ALLOWED),
    GaveUp: (RunStatus.FAILED,),
    Stopped: (RunStatus.STOPPED, RunStatus.NOT_ALLOWED),
    Interrupted: (RunStatus.INTERRUPTED,),
    Failed: (RunStatus.FAILED, RunStatus.USAGE),
}
"""The types that the last line can have, with the exit statuses that go along."""
