"""A session in a list: what it is called, how far it came, and what is open in it."""

from collections.abc import Iterator

from msgspec import Struct

from headway.cli.chat.story import about_draft
from headway.cli.terminal import fit, size
from headway.store.fold import fold
from headway.store.journal import SessionInfo
from headway.store.records import Imported
from headway.store.rows import Entry, entries_of
from headway.store.sessions import Sessions
from headway.store.state import SessionState

LONGEST = 60
"""Columns for what something is called."""


class CutCall(Struct, frozen=True):
    """A call that was cut and is kept: its tool, what it is about, and how many characters of it came."""

    tool: str
    about: str
    characters: int


class Overview(Struct, frozen=True):
    """Everything that a list tells of a session; `--json` prints it."""

    id: str
    title: str
    """Its title, or else how the user's first words begin."""
    folder: str
    turns: int
    created_at: float
    updated_at: float
    records: int
    origin: str = ""
    """The session that it was copied from."""
    source: str = ""
    """The agent or the format that it was taken over from."""
    writer: int | None = None
    """The process that has it open now."""
    is_under_way: bool = False
    """Had a turn begun, and not ended?"""
    draft: CutCall | None = None
    unknown: tuple[str, ...] = ()
    """The tools of calls that had begun and have no result: what they did is not known."""
    unreadable: int = 0
    """Records that this Headway does not know."""

    @property
    def is_stopped(self) -> bool:
        """Say whether something was going on in it when its process ended."""
        return self.writer is None and self.is_under_way

    def open_words(self) -> Iterator[str]:
        """Give what is open in it, each in a few words."""
        if self.writer is not None:
            yield f"open in process {self.writer}"
            return  # what looks broken off is going on there
        for tool in self.unknown:
            yield f"{fit(tool, LONGEST)} had begun: what it did is not known"
        if self.draft is not None:
            yield f"a cut call is kept: {size(self.draft.characters)} of {fit(self.draft.about, LONGEST)}"
        elif self.is_stopped and not self.unknown:
            yield "broken off in the middle of a turn"
        if self.unreadable:
            yield f"{self.unreadable} records of a newer Headway"


def overview(sessions: Sessions, info: SessionInfo) -> Overview:
    """Look at a session; nothing of it is changed."""
    source = ""

    def watched() -> Iterator[Entry]:
        nonlocal source
        for entry in entries_of(sessions.store.read(info.id)):
            if isinstance(entry.record, Imported):
                source = source or entry.record.source
            yield entry

    state = fold(watched())
    return Overview(
        info.id,
        info.name,
        info.heading.workspace,
        state.turn,
        info.heading.created_at,
        info.updated_at,
        info.records,
        state.origin,
        source,
        sessions.store.writer(info.id),
        is_under_way=state.is_open,
        draft=_draft(state),
        unknown=tuple(call.name for call in state.unknown),
        unreadable=state.unreadable,
    )


def _draft(state: SessionState) -> CutCall | None:
    draft = state.salvage.draft
    return None if draft is None else CutCall(draft.tool, about_draft(draft), len(draft.arguments))
