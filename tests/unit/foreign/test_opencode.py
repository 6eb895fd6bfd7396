"""Sessions of opencode: steps are replies, and what came of each call is told as it was."""

from headway.foreign.opencode import read_opencode
from headway.messages import CallFragment, Document, Image, Text, Thinking, ToolCall
from support.foreign import exported, oc, text, tool


def read(*messages, **about):
    return read_opencode(exported(*messages, **about))


def words(session):
    return [message.text for message in session.messages]


def left(session):
    return {one.why: one.count for one in session.left_out}


def results(session):
    return {result.call_id: result for message in session.messages for result in message.results}


def test_each_step_is_a_reply_followed_by_its_results():
    start, done = {"type": "step-start"}, {"type": "step-finish", "reason": "tool-calls"}
    session = read(
        oc("m1", "user", text("Go.")),
        oc("m2", "assistant", start, text("A."), tool("c1", "completed", output="one"), done, start, text("B.")),
        title="A title",
        time={"created": 1_770_000_000_000},
    )
    assert [message.role for message in session.messages] == ["user", "assistant", "user", "assistant"]
    assert results(session)["c1"].text == "one"
    assert (session.id, session.title, session.created_at) == ("ses_1", "A title", 1_770_000_000.0)


def test_what_came_of_a_call_is_told_as_it_was():
    session = read(
        oc("m1", "user", text("Go.")),
        oc(
            "m2",
            "assistant",
            tool("done", "completed", output="one"),
            tool("cleared", "completed", output="long ago", time={"compacted": 1}),
            tool("failed", "error", error="exit 1"),
            tool("running", "running", input={"command": "deploy"}),
            tool("waiting", "pending", raw='{"command":"ls"}'),
            tool("half", "pending", raw='{"command":"l'),
            tool("nothing", "pending", raw=""),
        ),
    )
    given = results(session)
    assert given["done"].text == "one"
    assert given["cleared"].text == "(The result was cleared to make room.)"
    assert (given["failed"].text, given["failed"].is_error) == ("exit 1", True)
    assert given["running"].text.startswith("unknown outcome:")
    assert given["waiting"].text.startswith("not executed")
    parts = session.messages[1].parts
    assert [part.id for part in parts if isinstance(part, CallFragment)] == ["half", "nothing"]
    assert [part.arguments for part in parts if isinstance(part, ToolCall)][-1] == '{"command":"ls"}'


def test_thoughts_keep_their_proof():
    session = read(
        oc("m1", "user", text("Go.")),
        oc(
            "m2",
            "assistant",
            {"type": "reasoning", "text": "Hm.", "metadata": {"anthropic": {"signature": "sig"}}},
            {"type": "reasoning", "text": "Ah.", "metadata": {"openai": {"reasoningEncryptedContent": "seal"}}},
            {"type": "reasoning", "text": "Oh."},
            text("Done."),
        ),
    )
    expected = (Thinking("Hm.", "anthropic", "sig"), Thinking("Ah.", "responses", sealed="seal"), Text("Done."))
    assert session.messages[1].parts == expected
    assert left(session) == {"no provider takes one back without a signature or a seal": 1}


def test_files_come_along_if_they_are_inside():
    session = read(
        oc(
            "m1",
            "user",
            text("Look."),
            {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
            {"type": "file", "mime": "application/pdf", "filename": "a.pdf", "url": "data:application/pdf;base64,BBBB"},
            {"type": "file", "mime": "text/plain", "url": "file:///a.txt"},
            {"type": "file", "mime": "image/png", "url": "file:///a.png"},
        )
    )
    assert session.messages[0].parts[1:] == (
        Image("image/png", "AAAA"),
        Document("application/pdf", "BBBB", name="a.pdf"),
    )


def test_the_talk_begins_with_the_latest_summary():
    session = read(
        oc("m1", "user", text("One.")),
        oc("m2", "assistant", text("1")),
        oc("m3", "user", {"type": "compaction", "auto": True, "tail_start_id": "m2"}),
        oc("m4", "assistant", text("It was about one."), summary=True),
        oc("m5", "user", text("Two.")),
    )
    assert words(session) == ["What did we do so far?", "It was about one.", "1", "Two."]
    assert left(session) == {"part of a summary, which was taken over": 1}


def test_a_summary_that_failed_stands_for_nothing():
    session = read(
        oc("m1", "user", text("One.")),
        oc("m2", "user", {"type": "compaction", "auto": True}),
        oc("m3", "assistant", text("It w"), summary=True, error={"name": "APIError"}),
    )
    assert words(session) == ["One.", "What did we do so far?", "It w"]


def test_what_was_undone_is_left_out():
    messages = [oc("m1", "user", text("One.")), oc("m2", "assistant", text("1")), oc("m3", "user", text("Two."))]
    assert words(read(*messages, revert={"messageID": "m2"})) == ["One."]
    assert left(read(*messages, revert={"messageID": "m2"})) == {"taken back before the end": 2}


def test_a_reply_that_failed_keeps_what_came_of_it():
    failed = {"name": "APIError", "data": {"message": "overloaded"}}
    session = read(
        oc("m1", "user", text("Go.")),
        oc("m2", "assistant", error=failed),
        oc("m3", "assistant", text("Half an answ"), error=failed),
    )
    assert words(session) == ["Go.", "Half an answ"]
    assert left(session) == {"failed before anything came": 1}


def test_a_title_that_nobody_gave_is_none():
    assert read(oc("m1", "user", text("Go.")), title="New session - 2026-03-01T10:00:00.000Z").title == ""
