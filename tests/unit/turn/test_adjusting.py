"""A request that is too long becomes shorter by leaving out what is old, and stays a conversation."""

import pytest
from hypothesis import given

from headway.dialect import DIALECTS
from headway.history.exchanges import size_of
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import Message, ModelRequest, Text, ToolCall, ToolResult, ToolSpec, assistant, user
from headway.turn.adjusting import FORGOTTEN, LONG_RESULT, shortened
from support.histories import sound_histories

TOOLS = (ToolSpec("read", parameters={"type": "object"}),)


def read(number, size=3_000):
    called = Message("assistant", (ToolCall(f"c{number}", "read", '{"path":"a"}'),))
    return called, Message("user", (ToolResult(f"c{number}", (Text(f"{number} " + "x" * size),)),))


def asking(*messages):
    return ModelRequest("m", messages, tools=TOOLS)


def test_a_long_tool_run_after_a_single_task_can_be_shortened_too():
    """There is only one message of words, and everything else came after it."""
    request = asking(user("the task"), *(part for number in range(20) for part in read(number, 1_500)))
    short = shortened(request)
    assert size_of(short.messages) <= size_of(request.messages) * 0.55
    assert short.messages[:2] == (user("the task"), user(FORGOTTEN))
    assert short.messages[-2:] == request.messages[-2:]


def test_old_results_are_cut_before_anything_is_left_out():
    request = asking(user("the task"), *read(1, 50_000), *read(2, 500), assistant("so"), user("and now?"))
    short = shortened(request)
    assert len(short.messages) == len(request.messages)
    assert LONG_RESULT < size_of(short.messages) < 5_000


def test_the_last_result_is_cut_if_nothing_else_is_enough():
    request = asking(user("the task"), *read(1, 100_000))
    assert size_of(shortened(request).messages) < 5_000


def test_the_newest_words_stay_when_everything_behind_them_is_tools():
    many = (part for number in range(20) for part in read(number, 1_500))
    request = asking(user("the task"), assistant("done"), user("something else"), assistant("ok"), user("now"), *many)
    short = shortened(request)
    assert short.messages[:3] == (user("the task"), user("now"), user(FORGOTTEN))


@pytest.mark.parametrize("wire", DIALECTS)
@given(sound_histories)
def test_what_is_left_is_valid_everywhere(wire, messages):
    request = asking(*messages)
    for _ in range(3):
        request = shortened(request)
        sent = project(request, DIALECTS[wire])
        assert violations(sent.request, DIALECTS[wire]) == []
        called = {one.id for message in request.messages for one in message.calls}
        answered = {one.call_id for message in request.messages for one in message.results}
        assert called == answered
