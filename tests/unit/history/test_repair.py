"""What repair does about each break: the smallest edit, reported as a fact, the same every time."""

import pytest
from msgspec.structs import replace

from headway.dialect import ANTHROPIC, CHAT, RESPONSES
from headway.history.edits import RepairKind
from headway.history.invariants import violations
from headway.history.repair import ONLY_FOR, repair
from headway.history.wording import NOT_EXECUTED, OPENING, PLEASE_CONTINUE, RESULTS_SEEN
from headway.messages import (
    CallFragment,
    Document,
    Image,
    Message,
    Opaque,
    Raw,
    Refusal,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from support.histories import NINE, PREFILLING, REPLAYING, USER_WANTED

HELLO = user("hello")
GO_ON = user("go on")
PICTURE = Image(url="https://x/a.png")


def asks(*calls: ToolCall | CallFragment | Text | Thinking) -> Message:
    return Message("assistant", calls)


def call(name: str, arguments: str = "{}") -> ToolCall:
    return ToolCall(name, "read", arguments)


def result(name: str, text: str = "", **more) -> ToolResult:
    return ToolResult(name, (Text(text or f"result of {name}"),), **more)


def answers(*results: ToolResult) -> Message:
    return Message("user", results)


def cut(name: str, tool: str = "write_file") -> CallFragment:
    return CallFragment(name, tool, '{"path":"a.txt","text":"hal')


def mended(messages, dialect=CHAT):
    """Return the repaired messages and the kinds of what was done, having checked that it is enough and once only."""
    after, repairs = repair(messages, dialect)
    assert violations(after, dialect) == []
    assert repair(after, dialect) == (after, ())
    return after, [one.kind for one in repairs]


# Broken calls


def test_a_malformed_call_goes_with_its_result_and_the_model_is_told():
    history = (HELLO, asks(cut("a")), answers(result("a", "invalid JSON")), GO_ON)
    after, kinds = mended(history)
    assert after == (HELLO, user("(The call to write_file was incomplete and was not run.)"), GO_ON)
    assert kinds == [RepairKind.CALL_DROPPED, RepairKind.RESULT_DROPPED, RepairKind.MODEL_TOLD]


def test_the_other_calls_of_the_turn_keep_their_results_and_their_order():
    history = (HELLO, asks(call("a"), cut("b"), call("c")), answers(result("a")), answers(result("c")), GO_ON)
    after, _ = mended(history)
    assert [one.id for one in after[1].calls] == ["a", "c"]
    assert after[2:4] == history[2:4]
    assert "write_file" in after[4].text, "the model is told after the results, before the user goes on"


def test_a_call_without_a_name_is_malformed():
    after, _ = mended((HELLO, asks(ToolCall("a", " ", "{}")), answers(result("a")), GO_ON))
    assert after == (HELLO, user("(A tool call without a name was not run.)"), GO_ON)


def test_several_malformed_calls_are_told_in_one_sentence():
    after, _ = mended((HELLO, asks(cut("a"), cut("b", "run")), GO_ON))
    assert after[1].text == "(The calls to write_file, run were incomplete and were not run.)"


def test_a_malformed_call_does_not_take_the_result_of_a_whole_one_with_the_same_id():
    after, _ = mended((HELLO, asks(cut("a"), call("a")), answers(result("a", "real")), GO_ON))
    assert after[1].calls == (call("a"),)
    assert after[2].results[0].text == "real"


def test_the_thinking_that_led_to_a_dropped_call_is_dropped_with_it():
    thought = Thinking("hm", "anthropic", "c2ln")
    after, kinds = mended((HELLO, asks(thought, Text("I write."), cut("a")), GO_ON), ANTHROPIC)
    assert after[1] == asks(Text("I write."))
    assert RepairKind.THINKING_DROPPED in kinds


def test_what_followed_dropped_thinking_forgets_the_ids_that_bind_it_to_it():
    def item(kind, name, part):
        raw = Raw("responses", {"type": kind, "id": name})
        return Message("assistant", (replace(part, raw=raw),), raw)

    history = (
        HELLO,
        item("reasoning", "rs_1", Thinking("", "responses", sealed="c2VhbA")),
        item("function_call", "fc_1", cut("a")),
        item("function_call", "fc_2", call("b")),
        answers(result("b")),
    )
    after, _ = mended(history, RESPONSES)
    (kept,) = (message for message in after if message.calls)
    assert kept.raw is None


# Results


def test_an_unanswered_call_gets_a_result_that_says_it_was_not_run():
    after, kinds = mended((HELLO, asks(call("a")), GO_ON))
    assert after[2] == Message("user", (ToolResult("a", (Text(NOT_EXECUTED),), is_error=True),))
    assert after[3] is GO_ON
    assert kinds == [RepairKind.RESULT_ADDED]


def test_a_missing_result_is_added_in_the_order_of_the_calls():
    first, third = answers(result("a")), answers(result("c"))
    after, _ = mended((HELLO, asks(call("a"), call("b"), call("c")), first, third))
    assert [one.call_id for message in after[2:] for one in message.results] == ["a", "b", "c"]
    assert after[2] is first
    assert after[4] is third


def test_a_displaced_result_moves_behind_its_call():
    late = answers(result("a"))
    after, kinds = mended((HELLO, asks(call("a")), GO_ON, assistant("hm"), late))
    assert after[2] is late
    assert after[3] is GO_ON
    assert kinds == [RepairKind.RESULT_MOVED]


def test_text_before_results_moves_behind_them():
    after, _ = mended((HELLO, asks(call("a")), Message("user", (Text("by the way"), result("a")))), ANTHROPIC)
    assert after[2].results
    assert after[3].text == "by the way"


def test_an_orphan_with_something_to_say_becomes_words():
    after, kinds = mended((answers(result("gone", "the answer is 42")), HELLO))
    assert after == (user("(The result of an earlier tool call:)\nthe answer is 42"), HELLO)
    assert kinds == [RepairKind.RESULT_TOLD]


@pytest.mark.parametrize(
    "orphan",
    [ToolResult("gone"), result("gone", " "), result("gone", "boom", is_error=True), result("gone", NOT_EXECUTED)],
)
def test_an_orphan_with_nothing_to_say_is_dropped(orphan):
    after, kinds = mended((answers(orphan), HELLO))
    assert after == (HELLO,)
    assert kinds == [RepairKind.RESULT_DROPPED]


def test_of_two_results_the_first_real_one_stays_and_the_other_becomes_words_if_it_differs():
    synthetic, real, other = result("a", NOT_EXECUTED, is_error=True), result("a", "42"), result("a", "43")
    after, _ = mended((HELLO, asks(call("a")), answers(synthetic), answers(real), answers(other), answers(real)))
    assert after[2:] == (answers(real), user("(Another result of the call to read:)\n43"))


def test_a_result_that_only_words_mark_as_not_executed_gives_way_to_a_real_one():
    spoken = result("a", f"Error:\n{NOT_EXECUTED}")
    after, _ = mended((HELLO, asks(call("a")), answers(spoken), answers(result("a", "42"))))
    assert after[2].results[0].text == "42"


def test_a_result_without_an_id_answers_the_call_just_before_it():
    after, kinds = mended((HELLO, asks(call("a"), call("b")), answers(result("b")), answers(result("", "42"))))
    assert [(one.call_id, one.text) for message in after[2:] for one in message.results] == [
        ("b", "result of b"),
        ("a", "42"),
    ]
    assert kinds == [RepairKind.ID_CHANGED]


# Ids and names


def test_an_id_used_again_is_changed_with_its_own_result():
    first, second = answers(result("a", "one")), answers(result("a", "two"))
    after, kinds = mended((HELLO, asks(call("a")), first, asks(call("a")), second))
    assert after[:3] == (HELLO, asks(call("a")), first)
    assert after[3].calls[0].id == after[4].results[0].call_id != "a"
    assert after[4].results[0].text == "two"
    assert kinds == [RepairKind.ID_CHANGED]


def test_of_two_calls_with_one_id_in_a_turn_each_gets_its_result_by_position():
    after, _ = mended(
        (HELLO, asks(call("a", '{"n":1}'), call("a", '{"n":2}')), answers(result("a", "1"), result("a", "2")))
    )
    given = {one.call_id: one.text for one in after[2].results}
    assert [given[one.id] for one in after[1].calls] == ["1", "2"]


def test_a_result_belongs_to_the_nearest_call_of_its_id():
    after, _ = mended((HELLO, asks(call("a", '{"n":1}')), HELLO, asks(call("a", '{"n":2}')), answers(result("a", "2"))))
    texts = [one.text for message in after for one in message.results]
    assert texts == [NOT_EXECUTED, "2"]


def test_ids_of_another_wire_are_made_to_fit_alike_in_call_and_result():
    name = "toolu_01ABCDEFGHIJKLMNOPQRSTUV"
    after, _ = mended((HELLO, asks(call(name)), answers(result(name))), NINE)
    assert after[1].calls[0].id == after[2].results[0].call_id
    assert len(after[1].calls[0].id) == 9


def test_a_later_message_changes_no_earlier_id():
    history = (HELLO, asks(call("bad id!")), answers(result("bad id!")))
    longer = (*history, asks(call("bad id!")), answers(result("bad id!")))
    assert repair(longer, CHAT)[0][:3] == repair(history, CHAT)[0]


def test_a_tools_name_is_made_to_fit():
    after, kinds = mended((HELLO, asks(ToolCall("a", "functions.read", "{}")), answers(result("a"))))
    assert after[1].calls[0].name == "functions_read"
    assert kinds == [RepairKind.NAME_CHANGED]


# Words


def test_blank_texts_and_empty_messages_go_and_nothing_else():
    keep = Message("user", (Text("hello"),))
    after, kinds = mended((user(" "), Message("user", (Text(""), Text("hello"))), Message("assistant", ()), keep))
    assert after == (keep, keep)
    assert after[1] is keep
    assert sorted(kind.value for kind in kinds) == ["blank_dropped", "blank_dropped", "message_dropped"]


def test_refused_characters_are_replaced_and_the_rest_stays():
    after, kinds = mended((user("a\x00b\ud800c\x1b[1m\t\u200b"),))
    assert after == (user("a\ufffdb\ufffdc\x1b[1m\t\u200b"),)
    assert kinds == [RepairKind.CHARACTERS_REPLACED]


def test_thinking_is_never_edited_but_dropped():
    thought = Thinking("a\x00b", "chat")
    after, _ = mended((HELLO, asks(thought, Text("so")), GO_ON))
    assert after[1] == assistant("so")


def test_parts_in_the_wrong_role_go_to_the_right_one():
    mixed = Message("user", (Text("do it"), call("a"), result("a", "42"), Text("thanks")))
    after, _ = mended((mixed,))
    assert [(message.role, message.parts) for message in after] == [
        ("user", (Text("do it"),)),
        ("assistant", (call("a"),)),
        ("user", (result("a", "42"), Text("thanks"))),
    ]


def test_a_picture_that_cannot_be_sent_leaves_a_note():
    after, _ = mended((Message("user", (Text("see"), PICTURE)),), REPLAYING)
    assert after[0].parts == (Text("see"), Text("(An image was here; it cannot be shown to this model.)"))


def test_a_picture_that_an_assistant_sent_leaves_a_note_too():
    after, kinds = mended((HELLO, asks(Text("look:"), PICTURE), GO_ON))
    assert "An image was here" in after[1].text
    assert kinds == [RepairKind.MEDIA_LEFT_OUT]


@pytest.mark.parametrize("value", [{"type": "image_url"}, {"type": 7}, {"x": 1}, {}])
def test_a_malformed_part_is_dropped(value):
    after, kinds = mended((Message("user", (Text("see"), Opaque(Raw("chat", value)))),))
    assert after == (user("see"),)
    assert kinds == [RepairKind.MALFORMED_DROPPED]


def test_pictures_in_results_that_are_only_text_follow_the_results():
    pictured = ToolResult("a", (Text("a screenshot"), PICTURE, Document(text="notes")))
    after, _ = mended((HELLO, asks(call("a"), call("b")), answers(pictured), answers(result("b")), GO_ON))
    assert after[2].results[0].parts == (Text("a screenshot"), Text("notes"))
    assert after[3] == answers(result("b"))
    assert after[4].parts == (Text("(From the result of a tool call:)"), PICTURE)


# Turns and ends


def test_calls_of_one_turn_are_joined_where_a_message_is_a_turn():
    history = (HELLO, asks(Text("I look.")), asks(call("a")), asks(call("b")), answers(result("a"), result("b")))
    after, kinds = mended(history)
    assert after[1] == asks(Text("I look."), call("a"), call("b"))
    assert kinds == [RepairKind.TURN_JOINED]
    assert repair(history, RESPONSES)[1] == ()


def test_a_history_that_opens_with_the_assistant_gets_a_user_first():
    after, _ = mended((assistant("hi"), HELLO), ANTHROPIC)
    assert after == (user(OPENING), assistant("hi"), HELLO)


def test_a_history_that_ends_with_the_assistant_gets_a_user_last():
    after, _ = mended((HELLO, assistant("hi")), ANTHROPIC)
    assert after == (HELLO, assistant("hi"), user(PLEASE_CONTINUE))
    assert repair((HELLO, assistant("hi")), CHAT)[1] == ()


def test_a_prefill_loses_only_the_whitespace_at_its_end():
    after, kinds = mended((HELLO, assistant("so far \n")), PREFILLING)
    assert after == (HELLO, assistant("so far"))
    assert kinds == [RepairKind.END_TRIMMED]


def test_nothing_at_all_becomes_something():
    assert mended(())[0] == (user(PLEASE_CONTINUE),)


def test_a_user_is_made_to_speak_where_one_must():
    system = Message("system", (Text("be brief"),))
    assert mended((system,), USER_WANTED)[0] == (system, user(PLEASE_CONTINUE))
    assert mended((system,), CHAT)[0] == (system,)


def test_an_assistant_is_put_between_results_and_words_where_one_must():
    after, _ = mended((HELLO, asks(call("123456789")), Message("user", (result("123456789"), Text("thanks")))), NINE)
    assert after[2:] == (answers(result("123456789")), assistant(RESULTS_SEEN), user("thanks"))


def test_empty_reasoning_is_added_to_calls_where_it_must_be_replayed():
    after, _ = mended((HELLO, asks(call("a")), answers(result("a"))), REPLAYING)
    assert after[1] == asks(Thinking("", "thinker"), call("a"))


def test_a_refusal_in_a_users_mouth_is_the_assistants():
    assert mended((Message("user", (Refusal("no"),)),))[0] == (Message("assistant", (Refusal("no"),)),)


def test_unfinished_work_of_the_provider_is_dropped_once_somebody_else_spoke():
    search = Opaque(Raw("anthropic", {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}))
    after, kinds = mended((HELLO, asks(Text("I search."), search), GO_ON), ANTHROPIC)
    assert after[1] == asks(Text("I search."))
    assert kinds == [RepairKind.WORK_DROPPED]


# The report


def test_each_edit_names_the_message_of_the_given_history():
    _, repairs = repair((HELLO, user(""), asks(call("a")), GO_ON), CHAT)
    assert {(one.kind, one.index) for one in repairs} == {
        (RepairKind.BLANK_DROPPED, 1),
        (RepairKind.RESULT_ADDED, 2),
    }


def test_a_pass_is_skipped_only_for_rules_that_exist():
    from headway.history.invariants import INVARIANTS

    names = {rule.__name__ for rule in INVARIANTS}
    assert all(rules <= names for rules in ONLY_FOR.values())
