"""Rollouts of Codex: what its model saw in the end."""

from headway.messages import CallFragment, Thinking, ToolCall
from support.foreign import codex, event, item, spoken


def words(session):
    return [message.text for message in session.messages]


def left(session):
    return {one.why: one.count for one in session.left_out}


def compacted(*history, message=""):
    held = {"replacement_history": [one["payload"] for one in history]} if history else {}
    return {"type": "compacted", "payload": {"message": message, **held}}


def test_items_are_the_conversation_and_the_rest_is_bookkeeping():
    session = codex(
        {"type": "session_meta", "payload": {"id": "t1", "cwd": "/home/ann", "timestamp": "2026-03-01T10:00:00Z"}},
        {"type": "turn_context", "payload": {"model": "gpt-x"}},
        spoken("developer", "Sandboxed."),
        spoken("user", "<environment_context>\n<cwd>/home/ann</cwd></environment_context>"),
        spoken("user", "Go."),
        event("user_message", message="Go."),
        item("function_call", id="fc_1", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        item("function_call_output", call_id="c1", output="a"),
        spoken("assistant", "There is a."),
    )
    assert words(session) == ["Go.", "", "", "There is a."]
    assert (session.id, session.folder, session.created_at) == ("t1", "/home/ann", 1772359200.0)
    assert left(session) == {
        "the other agent's own bookkeeping": 2,
        "about the other agent's surroundings": 1,
        "written for the other agent; Headway has its own": 1,
    }


def test_a_replacement_takes_the_place_of_the_history_before_it():
    session = codex(
        spoken("user", "One."), spoken("assistant", "1"), compacted(spoken("user", "Summary.")), spoken("user", "Two.")
    )
    assert words(session) == ["Summary.", "Two."]
    assert left(session) == {"part of a summary, which was taken over": 2}


def test_an_old_summary_keeps_what_the_user_said():
    session = codex(
        spoken("user", "One."), spoken("assistant", "1"), compacted(message="It was about one."), spoken("user", "Two.")
    )
    assert words(session) == ["One.", "It was about one.", "Two."]
    assert left(session) == {"part of a summary, which was taken over": 1}


def test_a_sealed_summary_is_not_taken_for_what_it_stands_for():
    sealed = item("compaction", encrypted_content="…")
    session = codex(spoken("user", "One."), spoken("assistant", "1"), compacted(spoken("user", "One."), sealed))
    assert words(session) == ["One.", "1"]
    assert session.mended == ("a summary is sealed for its own server: what it stands for was taken over instead",)


def test_a_rollback_takes_turns_away():
    session = codex(
        spoken("user", "One."),
        spoken("assistant", "1"),
        spoken("user", "Two."),
        spoken("assistant", "2"),
        event("thread_rolled_back", num_turns=1),
        spoken("user", "Two, again."),
    )
    assert words(session) == ["One.", "1", "Two, again."]
    assert left(session) == {"taken back before the end": 2}


def test_sealed_reasoning_stays_and_ids_of_the_server_go():
    session = codex(
        spoken("user", "Go."),
        item("reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "Hm."}], encrypted_content="seal"),
        item("reasoning", id="rs_2", summary=[], encrypted_content=None),
        spoken("assistant", "Done."),
    )
    assert session.messages[1].parts == (Thinking("Hm.", "responses", sealed="seal"),)
    assert len(session.messages) == 3
    assert "rs_1" not in str(session.messages)


def test_half_a_call_is_a_fragment():
    session = codex(
        spoken("user", "Go."), item("function_call", name="shell", arguments='{"command":["ls', call_id="c1")
    )
    assert isinstance(session.messages[1].parts[0], CallFragment)


def test_a_command_of_the_servers_own_shell_is_a_call():
    action = {"type": "exec", "command": ["ls"]}
    session = codex(
        spoken("user", "Go."),
        item("local_shell_call", call_id="c1", status="completed", action=action),
        item("function_call_output", call_id="c1", output={"content": "a", "success": True}),
    )
    assert session.messages[1].parts == (ToolCall("c1", "local_shell", '{"type":"exec","command":["ls"]}'),)
    assert session.messages[2].results[0].text == "a"


def test_rollouts_of_the_first_versions_are_read():
    session = codex(
        {"id": "t0", "timestamp": "2025-05-01T10:00:00Z", "instructions": None},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"record_type": "state"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    )
    assert words(session) == ["Go.", "Done."]
    assert session.id == "t0"


def test_a_thread_that_was_named_keeps_its_name():
    assert codex(spoken("user", "Go."), event("thread_name_updated", thread_name="Bridges")).title == "Bridges"
