"""A session as lines and back, exactly; and as a page to read."""

import json

import pytest
from hypothesis import given

from headway.failure import InvalidInput
from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from headway.store import MemoryStore, Row, Sessions, fold, from_lines, to_lines, to_markdown
from headway.store import records as r
from headway.store.sqlite import SqliteStore
from support.histories import broken_histories
from support.journals import CALL, DRAFT, EVERY_KIND, OPENED, entries, rows_of
from support.sessions import sessions as journals


def test_every_row_comes_back_from_its_line_as_it_was():
    rows = [*rows_of(EVERY_KIND), Row(len(EVERY_KIND) + 1, 1.5, "telepathy", '{"kind":"telepathy", "x" : [1, 2]}')]
    lines = list(to_lines(rows))
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in lines)
    assert json.loads(lines[0])["headway"] == 1
    assert list(from_lines(lines)) == rows


@given(broken_histories)
def test_a_poisoned_session_survives_the_trip(messages):
    rows = rows_of([OPENED, r.Imported(messages)])
    assert list(from_lines(to_lines(rows))) == rows


@given(journals())
def test_an_exported_session_is_the_same_session_elsewhere(records):
    here, there = MemoryStore(), Sessions(MemoryStore())
    here.create("s1", rows_of(records))
    assert there.adopt(from_lines(to_lines(here.read("s1")))) == "s1"
    assert there.state("s1") == fold(entries(records))


def test_a_session_of_the_same_name_gets_another_one(tmp_path):
    store = SqliteStore(tmp_path / "s.db")
    sessions = Sessions(store, wall=lambda: 1_760_000_000.0)
    lines = list(to_lines(rows_of([OPENED, r.UserSaid(user("a"))])))
    assert sessions.adopt(from_lines(lines)) == "s1"
    copy = sessions.adopt(from_lines(lines))
    assert copy != "s1"
    assert (sessions.state(copy).id, sessions.state(copy).origin) == (copy, "s1")
    assert sessions.state(copy).history == (user("a"),)
    sessions.close()


GOOD = list(to_lines(rows_of([OPENED, r.UserSaid(user("a")), r.UserSaid(user("b"))])))


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([b"not json\n"], "line 1 of a.jsonl: "),
        ([GOOD[0], b'{"seq":2}\n'], "line 2 of a.jsonl"),
        ([GOOD[0], GOOD[1][: len(GOOD[1]) // 2]], "line 2 of a.jsonl"),
        ([GOOD[0], GOOD[2]], "Records are missing"),
        ([GOOD[0].replace(b'"headway":1', b'"headway":9')], "its format is 9"),
        ([b'{"headway":1,"seq":1,"at":1,"record":{"no":"kind"}}'], "line 1 of a.jsonl"),
        ([b'{"headway":1,"seq":1,"at":1,"record":"\xff"}'], "line 1 of a.jsonl"),
        ([GOOD[1].replace(b'"seq":2', b'"seq":1')], "does not begin with the opening"),
        ([GOOD[0].replace(b'"id":"s1"', b'"id":"../../s1"')], "letters, digits"),
        ([], "does not begin with the opening"),
    ],
)
def test_an_export_that_is_broken_is_refused_with_its_line_and_nothing_is_taken_in(lines, said):
    sessions = Sessions(MemoryStore())
    with pytest.raises(InvalidInput) as refused:
        sessions.adopt(from_lines(lines, "a.jsonl"))
    assert said in str(refused.value)
    assert sessions.list() == ()


def test_blank_lines_do_no_harm():
    assert list(from_lines([b"\n", GOOD[0], b"  \r\n", GOOD[1]])) == list(from_lines(GOOD[:2]))


def test_a_conversation_reads_well():
    state = fold(
        entries(
            [
                r.SessionOpened("s1", "/w", 1.0, "A\n page"),
                r.UserSaid(user("Write it.")),
                r.ReplyReceived(
                    1, Message("assistant", (Thinking("hm", "x"), Text("I will."), ToolCall("c", "wri`te", '{"a":1}')))
                ),
                r.ToolFinished(1, ToolResult("c", (Text("```\nok\n```"), Image(url="https://x/y.png")))),
                r.ReplyReceived(1, assistant("Done.")),
                r.UserSaid(Message("user", (Image(), Document(name="a.pdf")))),
                r.ReplyReceived(2, Message("assistant", (CallFragment("d", "run", '{"b'), CALL))),
                r.ToolIntended(2, CALL),
                r.DraftKept(2, DRAFT),
            ]
        )
    )
    page = to_markdown(state)
    assert page.startswith("# A page\n\n## You\n\nWrite it.\n\n## Assistant\n\nI will.\n\n**Calls `write`**")
    assert (
        "**Result**\n\n````\n```\nok\n```\n(an image: https://x/y.png)\n````\n\nDone.\n\n## You\n\n(an image)" in page
    )
    assert "(a document: a.pdf)" in page
    assert "**Began to call `run`**, which did not arrive whole" in page
    assert "**Error**\n\n```\nunknown outcome: the process died" in page
    assert "*Not finished: a call to `write_file`, of which this arrived:*" in page
    assert "hm" not in page


@given(journals())
def test_every_word_of_a_session_is_on_its_page(records):
    page = to_markdown(fold(entries(records)))
    for record in records:
        if isinstance(record, r.UserSaid):
            assert record.message.text in page
