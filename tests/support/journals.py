"""Journals for tests: every kind of record, and one scripted turn."""

from headway.events import Usage
from headway.failure import Failure, FailureKind, Plan, Scope
from headway.history.edits import Repair, RepairKind
from headway.messages import CallFragment, Message, Text, ToolCall, ToolResult, user
from headway.recovery.drafts import draft_of
from headway.recovery.ledger import Ask, Break
from headway.store import records as r
from headway.store.rows import Entry, Row, row_of

CUT = Failure(FailureKind.CALL_CUT, Scope.MODEL, Plan.ASK_SMALLER_CHUNKS, "the stream stopped inside a call")
DRAFT = draft_of(CallFragment("call_d", "write_file", '{"path":"a.html","text":"<p>' + "word " * 200))
CALL = ToolCall("call_1", "write_file", '{"path":"a.txt","text":"ä\\n\\u0000"}')
RESULT = ToolResult("call_1", (Text("wrote 3 characters"),))
USAGE = Usage(100, 20, 50, 10, 5)

EVERY_KIND = (
    r.SessionOpened("s1", "/work", 1760000000.5, "A title"),
    r.Imported((user("from elsewhere"), Message("assistant", (CALL,))), "other.json"),
    r.UserSaid(user("write the page")),
    r.TurnBegan(1, "default"),
    r.TextReceived(1, "I write "),
    r.ArgumentsReceived(1, 0, "call_d", "write_file", '{"path":"a'),
    r.TextWithdrawn(1),
    r.AttemptBroken(1, "main/model", CUT, 900, 850, USAGE),
    r.DraftKept(1, DRAFT),
    r.ReplyReceived(1, Message("assistant", (Text("Here."), CALL)), "model-1", "main", USAGE),
    r.LedgerClosed(1, Ask.CONTINUE_DRAFT, Break.LIMIT, DRAFT, (10, 20), (900,)),
    r.ToolIntended(1, CALL),
    r.ToolFinished(1, RESULT),
    r.ToolUnknown(1, "call_1"),
    r.TurnEnded(1, r.How.FAILED, CUT),
    r.Repaired((Repair(RepairKind.CALL_DROPPED, 3, "call_1", "dropped the call"),)),
    r.Compacted(user("a summary"), 4),
    r.Renamed("Another title"),
    r.Forked("s2", "s1", 12),
)

OPENED = r.SessionOpened("s1", "/work", 1.0)
A_TURN: tuple[tuple[tuple[r.Record, ...], bool], ...] = (
    ((r.UserSaid(user("write the page")),), True),
    ((r.TurnBegan(1, "default"), r.TextReceived(1, "I write ")), False),
    ((r.TextReceived(1, "it. " * 300),), False),
    ((r.ArgumentsReceived(1, 0, "call_d", "write_file", DRAFT.arguments),), False),
    ((r.AttemptBroken(1, "main", CUT, 2000, 1900), r.DraftKept(1, DRAFT)), True),
    ((r.ReplyReceived(1, Message("assistant", (Text("I write " + "it. " * 300), CALL)), usage=USAGE),), True),
    ((r.ToolIntended(1, CALL),), True),
    ((r.ToolFinished(1, RESULT),), True),
    ((r.TextReceived(1, "Done."),), False),
    ((r.ReplyReceived(1, Message("assistant", (Text("Done."),))), r.TurnEnded(1, r.How.ANSWERED)), True),
)
"""The steps of one turn, each one append, and whether it is a durable one."""


def rows_of(records, after=0) -> list[Row]:
    return [row_of(after + number, 100.0 + number, record) for number, record in enumerate(records, 1)]


def entries(records) -> list[Entry]:
    return [Entry(number, 100.0 + number, record) for number, record in enumerate(records, 1)]
