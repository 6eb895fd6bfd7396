"""Every rule has a history that breaks it and it alone says so, and a healthy one says nothing."""

import pytest
from msgspec.structs import replace

from headway.dialect import ANTHROPIC, CHAT, RESPONSES
from headway.history.invariants import INVARIANTS, violations
from headway.messages import (
    CallFragment,
    Image,
    Message,
    ModelRequest,
    Opaque,
    Raw,
    Reasoning,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from support.histories import NINE, PLAIN, PREFILLING, REPLAYING, USER_WANTED

HELLO = user("hello")
CALL = ToolCall("a", "read", "{}")
ASKS = Message("assistant", (CALL,))
ANSWER = ToolResult("a", (Text("42"),))
ANSWERS = Message("user", (ANSWER,))
THOUGHT = Thinking("hm", "anthropic", "c2ln")
HEALTHY = (HELLO, ASKS, ANSWERS, assistant("done"), user("thanks"))


def opaque(wire: str, **value: str) -> Opaque:
    return Opaque(Raw(wire, value))


def said_by_assistant(*parts) -> Message:
    return Message("assistant", parts)


BROKEN = {
    "something_is_said": (CHAT, ()),
    "every_part_stands_in_its_role": (CHAT, (HELLO, said_by_assistant(Text("look:"), Image(url="https://x/a.png")))),
    "no_call_is_malformed": (CHAT, (HELLO, said_by_assistant(Text("I write."), CallFragment("a", "write", '{"x')))),
    "names_are_acceptable": (CHAT, (HELLO, said_by_assistant(ToolCall("a", "functions.read", "{}")), ANSWERS)),
    "ids_fit_the_dialect": (
        NINE,
        (HELLO, said_by_assistant(ToolCall("call-1", "read", "{}")), Message("user", (ToolResult("call-1"),))),
    ),
    "call_ids_are_unique": (CHAT, (HELLO, ASKS, ANSWERS, ASKS, ANSWERS)),
    "every_call_is_answered": (CHAT, (HELLO, ASKS, HELLO)),
    "no_result_without_its_call": (CHAT, (HELLO, ANSWERS)),
    "one_result_per_call": (CHAT, (HELLO, ASKS, ANSWERS, ANSWERS)),
    "results_are_of_the_kind_of_their_call": (
        RESPONSES,
        (HELLO, said_by_assistant(ToolCall("a", "patch", "words", freeform=True)), ANSWERS),
    ),
    "results_follow_their_call_directly": (CHAT, (HELLO, ASKS, HELLO, ANSWERS)),
    "a_turn_calls_in_one_message": (CHAT, (HELLO, ASKS, assistant("and so"), ANSWERS)),
    "no_text_is_blank": (CHAT, (HELLO, user(" \n"))),
    "no_message_is_empty": (CHAT, (HELLO, Message("user", ()))),
    "no_character_is_refused": (CHAT, (user("a\ud800b"),)),
    "media_are_accepted": (CHAT, (Message("user", (Image(),)),)),
    "results_are_as_plain_as_they_must_be": (
        CHAT,
        (HELLO, ASKS, Message("user", (ToolResult("a", (Image(url="https://x/a.png"),)),))),
    ),
    "nothing_foreign_is_sent": (CHAT, (HELLO, said_by_assistant(opaque("responses", type="web_search_call")))),
    "every_opaque_part_is_whole": (CHAT, (Message("user", (Text("see"), opaque("chat", type="image_url"))),)),
    "server_work_is_whole": (
        ANTHROPIC,
        (HELLO, said_by_assistant(opaque("anthropic", type="server_tool_use", id="s"), Text("found")), HELLO),
    ),
    "thinking_goes_only_to_its_issuer": (CHAT, (HELLO, said_by_assistant(THOUGHT, Text("so")))),
    "thinking_is_signed": (ANTHROPIC, (HELLO, said_by_assistant(Thinking("hm", "anthropic"), Text("so")), HELLO)),
    "thinking_leads_to_something": (ANTHROPIC, (HELLO, said_by_assistant(Text("so"), THOUGHT), HELLO)),
    "calls_carry_reasoning": (REPLAYING, (HELLO, ASKS, ANSWERS)),
    "system_messages_stand_where_they_may": (USER_WANTED, (HELLO, Message("system", (Text("be brief"),)))),
    "the_first_message_is_the_users": (ANTHROPIC, (assistant("hi"), HELLO)),
    "a_user_speaks": (USER_WANTED, (Message("system", (Text("be brief"),)),)),
    "the_last_message_is_not_the_assistants": (ANTHROPIC, (HELLO, assistant("and then"))),
    "an_assistant_stands_between_results_and_words": (
        NINE,
        (
            HELLO,
            said_by_assistant(ToolCall("123456789", "read", "{}")),
            Message("user", (ToolResult("123456789", (Text("42"),)),)),
            HELLO,
        ),
    ),
}
BROKEN_REQUESTS = {
    "an_open_tool_turn_begins_with_thinking": (
        ANTHROPIC,
        ModelRequest("m", (HELLO, ASKS, ANSWERS), reasoning=Reasoning(None, 2048)),
    ),
    "tools_are_offered": (PREFILLING, ModelRequest("m", (HELLO, ASKS, ANSWERS))),
}


def rules_broken_by(history, dialect):
    return {violation.rule for violation in violations(history, dialect)}


@pytest.mark.parametrize("dialect", PLAIN.values(), ids=PLAIN.keys())
def test_a_healthy_history_breaks_no_rule(dialect):
    assert violations(HEALTHY, dialect) == []


@pytest.mark.parametrize("rule", BROKEN | BROKEN_REQUESTS)
def test_each_rule_finds_its_break_and_no_other_rule_complains(rule):
    dialect, history = (BROKEN | BROKEN_REQUESTS)[rule]
    assert rules_broken_by(history, dialect) == {rule}


def test_every_rule_has_its_example():
    assert {rule.__name__ for rule in INVARIANTS} == {*BROKEN, *BROKEN_REQUESTS}


def test_a_violation_names_the_message_and_says_it_in_words():
    (violation,) = violations((HELLO, ASKS, HELLO), CHAT)
    assert violation.index == 1
    assert violation.words == "the call 'a' to 'read' has no result"


def test_what_concerns_the_request_has_no_message():
    (violation,) = violations(ModelRequest("m", (HELLO,), system=(Text(" "),)), CHAT)
    assert violation.index is None


def test_words_of_strangers_are_short_and_cannot_move_a_cursor():
    (violation,) = violations(
        (HELLO, Message("user", (ToolResult("\x1b[2J" + "y" * 500),))), replace(CHAT, id_max=999)
    )[:1]
    assert "\x1b" not in violation.words
    assert len(violation.words) < 200


@pytest.mark.parametrize("arguments", ["", "[]", "null", '{"a":1', '{"a":1}{', "\ud800", "[" * 5000])
def test_a_call_is_whole_only_if_its_arguments_are_one_object(arguments):
    asks = said_by_assistant(ToolCall("a", "read", arguments))
    assert "no_call_is_malformed" in rules_broken_by((HELLO, asks, ANSWERS), CHAT)


def test_a_freeform_call_takes_any_text():
    asks = said_by_assistant(ToolCall("a", "patch", '{"a":1', freeform=True))
    assert rules_broken_by((HELLO, asks, ANSWERS), CHAT) == set()


@pytest.mark.parametrize(
    "value", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}], ids=lambda value: next(iter(value))
)
def test_a_result_may_answer_a_call_that_the_provider_holds(value):
    request = ModelRequest("m", (ANSWERS,), raw=Raw("responses", value))
    assert violations(request, RESPONSES) == []
    assert rules_broken_by(request, CHAT) == {"no_result_without_its_call"}, "another provider holds nothing"


def test_a_reference_to_a_stored_item_may_be_the_call():
    reference = said_by_assistant(opaque("responses", type="item_reference", id="fc_1"))
    assert violations((HELLO, reference, ANSWERS), RESPONSES) == []


def test_the_provider_may_go_on_with_its_own_work():
    search = said_by_assistant(opaque("anthropic", type="server_tool_use", id="s"))
    assert violations((HELLO, search), ANTHROPIC) == []
    both = said_by_assistant(opaque("anthropic", type="server_tool_use", id="s"), CALL)
    assert violations((HELLO, both, ANSWERS), ANTHROPIC) == []


def test_results_may_come_in_any_order_in_one_message_or_several():
    asks = said_by_assistant(CALL, ToolCall("b", "read", "{}"))
    two = ToolResult("b", (Text("43"),))
    for answers in ((Message("user", (two, ANSWER)),), (Message("user", (two,)), ANSWERS)):
        assert violations((HELLO, asks, *answers), CHAT) == []


@pytest.mark.parametrize("dialect", [CHAT, RESPONSES])
def test_a_result_may_be_nothing_at_all(dialect):
    for parts in ((), (Text(""),)):
        assert violations((HELLO, ASKS, Message("user", (ToolResult("a", parts),))), dialect) == []


def test_beside_calls_a_bare_blank_is_a_chat_message_that_says_nothing():
    asks = said_by_assistant(Text(""), CALL)
    assert violations((HELLO, asks, ANSWERS), CHAT) == []
    assert rules_broken_by((HELLO, asks, ANSWERS), ANTHROPIC) == {"no_text_is_blank"}


def test_a_prefill_must_not_end_blank_nor_hold_thinking():
    assert violations((HELLO, assistant("so far")), PREFILLING) == []
    for last in (assistant("so far "), said_by_assistant(THOUGHT, Text("so far"))):
        assert rules_broken_by((HELLO, last), PREFILLING) == {"the_last_message_is_not_the_assistants"}
