"""Sessions on disk: an append-only journal of records, one writer a session, and the state that it comes to."""

from headway.store.errors import StoreFailed, Trouble
from headway.store.fold import Folding, fold
from headway.store.ids import session_id
from headway.store.journal import Heading, Journal, SessionInfo, SessionStore
from headway.store.jsonl import from_lines, to_lines
from headway.store.markdown import to_markdown
from headway.store.memory import MemoryStore
from headway.store.rows import Entry, Row, entries_of
from headway.store.session import Session
from headway.store.sessions import Sessions, open_store
from headway.store.state import SessionState, Totals

__all__ = [
    "Entry",
    "Folding",
    "Heading",
    "Journal",
    "MemoryStore",
    "Row",
    "Session",
    "SessionInfo",
    "SessionState",
    "SessionStore",
    "Sessions",
    "StoreFailed",
    "Totals",
    "Trouble",
    "entries_of",
    "fold",
    "from_lines",
    "open_store",
    "session_id",
    "to_lines",
    "to_markdown",
]
