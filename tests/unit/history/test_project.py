"""A request as one endpoint can take it: its history, and what goes along with it."""

from headway.dialect import ANTHROPIC, CHAT, RESPONSES
from headway.history.edits import RepairKind
from headway.history.project import project
from headway.messages import (
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
    ToolSpec,
    assistant,
    user,
)
from support.histories import PREFILLING, USER_WANTED

HELLO = user("hello")
SYSTEM = Message("system", (Text("be brief"),))
ASKS = Message("assistant", (ToolCall("a", "read", "{}"),))
ANSWERS = Message("user", (ToolResult("a", (Text("42"),)),))


def projected(dialect, *messages, **fields):
    return project(ModelRequest("m", messages, **fields), dialect).request


def test_leading_system_messages_go_above_where_the_wire_has_a_place_for_them():
    request = projected(ANTHROPIC, SYSTEM, HELLO, system=(Text("first"),))
    assert request.system == (Text("first"), Text("be brief"))
    assert request.messages == (HELLO,)


def test_later_system_messages_are_said_by_the_user_in_their_place():
    request = projected(ANTHROPIC, HELLO, SYSTEM, HELLO)
    assert request.messages == (HELLO, user("be brief"), HELLO)


def test_system_messages_that_may_only_lead_stay_when_they_do():
    request = projected(USER_WANTED, SYSTEM, HELLO, SYSTEM)
    assert request.messages == (SYSTEM, HELLO, user("be brief"))


def test_thinking_goes_only_to_its_issuer():
    thought = Thinking("hm", "anthropic", "c2ln")
    turn = Message("assistant", (thought, Text("so")))
    assert projected(ANTHROPIC, HELLO, turn, HELLO).messages[1] is turn
    assert projected(CHAT, HELLO, turn, HELLO).messages[1] == assistant("so")


def test_thinking_of_a_message_is_kept_or_dropped_as_one():
    turn = Message(
        "assistant", (Thinking("a", "anthropic", "c2ln"), Text("so"), Thinking("b", "anthropic"), Text("on"))
    )
    assert projected(ANTHROPIC, HELLO, turn, HELLO).messages[1].parts == (Text("so"), Text("on"))


def test_parts_of_another_wire_are_left_out():
    turn = Message("assistant", (Text("found it"), Opaque(Raw("responses", {"type": "web_search_call"}))))
    assert projected(ANTHROPIC, HELLO, turn, HELLO).messages[1] == assistant("found it")


def test_a_file_id_means_nothing_to_another_provider():
    there = Message("user", (Image(file_id="file-1", raw=Raw("chat", {})),))
    assert "cannot be shown" in projected(RESPONSES, there).messages[0].text
    here = Message("user", (Image(file_id="file-1", raw=Raw("responses", {})),))
    assert projected(RESPONSES, here).messages[0] is here


def test_thinking_is_not_asked_for_when_the_open_tool_turn_has_none_to_show():
    budget = Reasoning(None, 2048)
    projection = project(ModelRequest("m", (HELLO, ASKS, ANSWERS), reasoning=budget), ANTHROPIC)
    assert projection.request.reasoning is None
    assert [one.kind for one in projection.repairs] == [RepairKind.THINKING_SWITCHED_OFF]
    thought = Message("assistant", (Thinking("hm", "anthropic", "c2ln"), *ASKS.parts))
    assert projected(ANTHROPIC, HELLO, thought, ANSWERS, reasoning=budget).reasoning == budget
    assert projected(ANTHROPIC, HELLO, ASKS, ANSWERS, assistant("so"), HELLO, reasoning=budget).reasoning == budget


def test_the_effort_stays_when_the_budget_goes():
    assert projected(ANTHROPIC, HELLO, ASKS, ANSWERS, reasoning=Reasoning("high", 2048)).reasoning == Reasoning("high")


def test_the_tools_of_the_history_are_offered_where_they_must_be():
    assert [tool.name for tool in projected(PREFILLING, HELLO, ASKS, ANSWERS).tools] == ["read"]
    own = (ToolSpec("other", None, {"type": "object"}),)
    assert projected(PREFILLING, HELLO, ASKS, ANSWERS, tools=own).tools == own


def test_system_texts_are_judged_like_all_others():
    request = projected(CHAT, HELLO, system=(Text(" "), Text("a\x00b"), Text("fine")))
    assert request.system == (Text("a\ufffdb"), Text("fine"))


def test_a_history_that_begins_at_its_provider_keeps_what_refers_to_it():
    raw = Raw("responses", {"previous_response_id": "resp_1"})
    request = ModelRequest("m", (ANSWERS,), raw=raw)
    assert project(request, RESPONSES).request is request
    assert project(request, ANTHROPIC).request.messages[0].text.endswith("42"), "elsewhere the result becomes words"


def test_a_request_that_only_continues_a_stored_one_needs_no_messages():
    raw = Raw("responses", {"previous_response_id": "resp_1"})
    assert project(ModelRequest("m", (), raw=raw), RESPONSES).request.messages == ()
    assert project(ModelRequest("m", (user(" "),), raw=raw), RESPONSES).request.messages == ()


def test_a_valid_request_comes_back_as_itself_with_nothing_reported():
    request = ModelRequest("m", (HELLO, ASKS, ANSWERS))
    projection = project(request, CHAT)
    assert projection.request is request
    assert projection.repairs == ()
