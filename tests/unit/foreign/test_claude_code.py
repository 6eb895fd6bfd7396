"""Sessions of Claude Code: which lines are the conversation as it stands, and what becomes of the others."""

import pytest

from headway.messages import CallFragment, Text, Thinking, ToolCall, ToolResult
from support.foreign import boundary, claude, gave, replied, said, text, use


def words(session):
    return [message.text or [type(part).__name__ for part in message.parts] for message in session.messages]


def left(session):
    return {one.why: one.count for one in session.left_out}


def test_the_blocks_of_a_reply_are_one_message_again():
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "sig"}
    session = claude(
        said("u1", None, "Read it."),
        replied("a1", "u1", thought, reply="m1"),
        replied("a2", "a1", text("I read."), reply="m1"),
        replied("a3", "a2", use("toolu_1", path="a"), reply="m1"),
        gave("r1", "a3", "toolu_1", "A"),
        replied("a4", "r1", text("It says A."), reply="m2"),
    )
    kinds = [[type(part) for part in message.parts] for message in session.messages]
    assert kinds == [[Text], [Thinking, Text, ToolCall], [ToolResult], [Text]]
    assert (session.id, session.folder) == ("s", "/home/ann")
    assert session.created_at == 1772359200.0
    assert not session.left_out
    assert not session.mended


def test_what_was_rewound_is_left_out():
    session = claude(
        said("u1", None, "One."),
        replied("a1", "u1", text("1")),
        said("u2", "a1", "Two, the wrong way."),
        replied("a2", "u2", text("2")),
        said("u3", "a1", "Two, the right way."),
        replied("a3", "u3", text("II")),
    )
    assert words(session) == ["One.", "1", "Two, the right way.", "II"]
    assert left(session) == {"taken back before the end": 2}


def test_a_summary_stands_for_what_was_before_it():
    session = claude(
        said("u1", None, "One."),
        replied("a1", "u1", text("1")),
        boundary("b", "a1", trigger="auto"),
        said("s1", "b", "Summary: one.", isCompactSummary=True),
        replied("a2", "s1", text("2")),
    )
    assert words(session) == ["Summary: one.", "2"]
    assert left(session) == {"part of a summary, which was taken over": 2}


@pytest.mark.parametrize("next_follows_on", ["a2", "s1"])
def test_what_a_summary_left_standing_follows_it(next_follows_on):
    session = claude(
        said("u1", None, "One."),
        replied("a1", "u1", text("1")),
        said("u2", "a1", "Two."),
        replied("a2", "u2", text("2")),
        boundary("b", "a2", preservedSegment={"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "a2"}),
        said("s1", "b", "Summary: one.", isCompactSummary=True),
        said("u3", next_follows_on, "Three."),
    )
    assert words(session) == ["Summary: one.", "Two.", "2", "Three."]
    assert left(session) == {"part of a summary, which was taken over": 2}


def test_sub_agents_are_left_out():
    session = claude(
        said("u1", None, "Ask around."),
        said("x1", None, "You are a sub-agent.", isSidechain=True),
        replied("x2", "x1", text("Found."), isSidechain=True),
        replied("a1", "u1", text("Done.")),
    )
    assert words(session) == ["Ask around.", "Done."]
    assert left(session) == {"of a sub-agent, whose result is in the conversation": 2}


def test_the_file_of_a_sub_agent_is_its_own_conversation():
    session = claude(
        said("x1", None, "Look for it.", isSidechain=True), replied("x2", "x1", text("Found."), isSidechain=True)
    )
    assert words(session) == ["Look for it.", "Found."]


def test_calls_side_by_side_keep_their_results():
    session = claude(
        said("u1", None, "Read both."),
        replied("a1", "u1", use("toolu_1", path="a"), reply="m1"),
        replied("a2", "u1", use("toolu_2", path="b"), reply="m1"),
        gave("r1", "a1", "toolu_1", "A"),
        gave("r2", "a2", "toolu_2", "B"),
        replied("a3", "r2", text("Both."), reply="m2"),
    )
    assert [call.id for call in session.messages[1].calls] == ["toolu_1", "toolu_2"]
    given = [(result.call_id, result.text) for message in session.messages for result in message.results]
    assert given == [("toolu_1", "A"), ("toolu_2", "B")]
    assert not session.left_out


def test_a_chain_passes_through_lines_that_say_nothing():
    attachment = {"type": "attachment", "uuid": "x", "parentUuid": "u1", "sessionId": "s"}
    session = claude(said("u1", None, "One."), attachment, replied("a1", "x", text("1")))
    assert words(session) == ["One.", "1"]


def test_a_lost_line_does_not_lose_what_was_before():
    session = claude(said("u1", None, "One."), replied("a1", "u1", text("1")), replied("a3", "lost", text("3")))
    assert words(session) == ["One.", "1", "3"]
    assert session.mended == ("a line is lost in the middle: what follows was joined to what stands before",)


def test_a_chain_that_bites_its_tail_ends():
    session = claude(said("u1", "a1", "One."), replied("a1", "u1", text("1")))
    assert words(session) == ["One.", "1"]


def test_errors_in_the_models_name_are_left_out():
    session = claude(
        said("u1", None, "One."),
        replied("a1", "u1", text("API Error: 529"), isApiErrorMessage=True),
        said("u2", "a1", "continue"),
    )
    assert words(session) == ["One.", "continue"]
    assert left(session) == {"an error that the other agent wrote in the model's name": 1}


def test_half_a_call_is_a_fragment_and_a_call_without_result_gets_one():
    half = {"type": "tool_use", "id": "toolu_1", "name": "Write", "input": '{"path": "a", "content": "ha'}
    session = claude(said("u1", None, "Go."), replied("a1", "u1", half, use("toolu_2", "Bash", command="rm x")))
    assert [type(part) for part in session.messages[1].parts] == [CallFragment, ToolCall]
    (result,) = session.messages[2].results
    assert (result.call_id, result.is_error) == ("toolu_2", True)
    assert result.text.startswith("unknown outcome:")
    assert session.mended == ("the call toolu_2 to Bash had no result: its outcome is told to be unknown",)


def test_thinking_without_a_signature_is_left_out():
    unsigned = {"type": "thinking", "thinking": "Hm.", "signature": ""}
    session = claude(said("u1", None, "Go."), replied("a1", "u1", unsigned, text("Done.")))
    assert words(session) == ["Go.", "Done."]
    assert left(session) == {"no provider takes one back without a signature or a seal": 1}


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([{"type": "summary", "summary": "Ours", "leafUuid": "u1"}], "Ours"),
        ([{"type": "summary", "summary": "Another's", "leafUuid": "elsewhere"}], "Go."),
        ([{"type": "ai-title", "aiTitle": "Guessed"}, {"type": "custom-title", "customTitle": "Given"}], "Given"),
    ],
)
def test_the_title_is_the_one_of_this_session(lines, title):
    assert claude(said("u1", None, "Go."), *lines).title == title


def test_the_first_words_that_somebody_typed_are_a_title():
    session = claude(
        said("m", None, "Caveat: what follows was generated.", isMeta=True),
        said("c", "m", "<command-name>/init</command-name>"),
        said("u1", "c", "Build  me a site."),
        boundary("b", "u1"),
        said("s1", "b", "This session is being continued.", isCompactSummary=True),
    )
    assert session.title == "Build me a site."


def test_what_only_its_client_knows_does_not_come_along():
    block = {"type": "text", "text": "Hi.", "cache_control": {"type": "ephemeral"}, "citations": None}
    session = claude(said("u1", None, "Go."), replied("a1", "u1", block))
    assert session.messages[1].raw is None
    assert session.messages[1].parts == (Text("Hi."),)
