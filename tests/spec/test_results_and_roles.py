"""Results without calls, calls without results, ids used twice, roles in no order: accepted, with nothing real lost."""

import pytest

from headway.history.wording import NOT_EXECUTED
from headway.messages import Message, Text, ToolCall, ToolResult, assistant, user
from support.lab import in_lab
from support.past import call, is_accepted, result, said, told
from support.rows import row
from support.turns import WIRES

REAL = {
    "an_orphan_result": ((user("Go."), told(result(9, "REAL 9")), assistant("I see.")), ["REAL 9"]),
    "an_orphan_result_at_the_beginning": ((told(result(9, "REAL 9")), user("Go.")), ["REAL 9"]),
    "a_missing_result": (
        (user("Go."), said(call(1), call(2)), told(result(2, "REAL 2")), assistant("So.")),
        ["REAL 2"],
    ),
    "no_result_at_all": ((user("Go."), said(call(1)), user("What is it?")), []),
    "a_missing_result_at_the_end": ((user("Go."), said(call(1), call(2)), told(result(1, "REAL 1"))), ["REAL 1"]),
    "a_late_result": (
        (user("Go."), said(call(1)), user("Are you there?"), told(result(1, "REAL 1"))),
        ["REAL 1"],
    ),
    "the_same_id_twice_in_one_reply": (
        (user("Go."), said(call(1), call(1, "b.txt")), told(result(1, "REAL A"), result(1, "REAL B"))),
        ["REAL A", "REAL B"],
    ),
    "an_id_used_again_in_a_later_turn": (
        (
            user("Go."),
            said(call(1)),
            told(result(1, "REAL A")),
            user("Again."),
            said(call(1, "b.txt")),
            told(result(1, "REAL B")),
            user("And again."),
            said(call(1, "c.txt")),
            told(result(1, "REAL C")),
        ),
        ["REAL A", "REAL B", "REAL C"],
    ),
    "two_results_for_one_call": (
        (user("Go."), said(call(1)), told(result(1, "REAL A")), told(result(1, "REAL B"))),
        ["REAL A", "REAL B"],
    ),
    "a_result_said_twice": (
        (user("Go."), said(call(1)), told(result(1, "REAL A"), result(1, "REAL A"))),
        ["REAL A"],
    ),
    "a_result_before_its_call": (
        (user("Go."), told(result(1, "REAL A")), said(call(1)), user("Well?")),
        ["REAL A"],
    ),
    "ids_that_no_wire_takes": (
        (
            user("Go."),
            said(ToolCall("functions.read:0|" + "x" * 90, "read_file", '{"path":"a"}')),
            told(ToolResult("functions.read:0|" + "x" * 90, (Text("REAL A"),))),
        ),
        ["REAL A"],
    ),
    "no_ids_at_all": (
        (
            user("Go."),
            said(ToolCall("", "read_file", '{"path":"a"}'), ToolCall("", "read_file", '{"path":"b"}')),
            told(ToolResult("", (Text("REAL A"),)), ToolResult("", (Text("REAL B"),))),
        ),
        ["REAL A", "REAL B"],
    ),
    "results_in_another_order": (
        (user("Go."), said(call(1), call(2)), told(result(2, "REAL 2")), told(result(1, "REAL 1"))),
        ["REAL 1", "REAL 2"],
    ),
    "words_between_a_call_and_its_result": (
        (user("Go."), said(call(1)), assistant("One moment."), told(result(1, "REAL 1"))),
        ["REAL 1"],
    ),
}


@row(36)
@WIRES
@pytest.mark.parametrize("case", REAL)
def test_results_and_ids_that_do_not_fit_are_mended_and_no_real_result_is_lost(tmp_path, wire, case):
    history, real = REAL[case]

    async def work(lab):
        body = await is_accepted(lab, wire, history)
        for text in real:
            assert body.count(text) == 1, f"{text} is there, once"

    in_lab(tmp_path, work)


@row(36)
@WIRES
@pytest.mark.parametrize(
    "case",
    [
        *("the_same_id_twice_in_one_reply", "an_id_used_again_in_a_later_turn", "a_late_result", "no_ids_at_all"),
        *("ids_that_no_wire_takes", "results_in_another_order", "words_between_a_call_and_its_result"),
    ],
)
def test_every_call_that_has_a_result_keeps_it_as_its_result(tmp_path, wire, case):
    history, real = REAL[case]

    async def work(lab):
        body = await is_accepted(lab, wire, history)
        assert NOT_EXECUTED not in body, "no call is said not to have run"
        assert "result of" not in body, "no result has become mere words"
        paths = [path for path in ("a.txt", "b.txt", "c.txt") if path in body]
        places = [body.index(text) for text in (*paths, *real)] if case == "the_same_id_twice_in_one_reply" else []
        assert places == sorted(places), "in the order of the calls"

    in_lab(tmp_path, work)


TAILS = {
    "user_user": (user("One."), user("Two.")),
    "assistant_assistant": (user("One."), assistant("A."), assistant("B.")),
    "assistant_first": (assistant("A."), user("One.")),
    "a_result_and_then_a_user": (user("One."), said(call(1)), told(result(1, "R 1")), user("Stop, wait.")),
    "ends_with_results": (user("One."), said(call(1)), told(result(1, "R 1"))),
    "ends_with_an_assistant": (user("One."), assistant("A.")),
    "ends_with_a_call": (user("One."), said(Text("A."), call(1))),
    "empty_content": (user("One."), user(""), assistant(""), user("Two.")),
    "only_space": (user("One."), assistant(" \n\t "), user("Two.")),
    "nothing_in_a_message": (user("One."), Message("assistant", ()), Message("user", ()), assistant("A.")),
    "an_empty_result": (user("One."), said(call(1)), told(ToolResult("call_1", ())), assistant("A.")),
    "a_blank_result": (user("One."), said(call(1)), told(result(1, " ")), assistant("A.")),
    "blank_text_beside_calls": (user("One."), said(Text(""), call(1)), told(result(1, "R 1"))),
    "a_blank_name": (user("One."), said(ToolCall("call_1", "  ", "{}")), told(result(1, "R 1")), assistant("A.")),
    "a_name_that_no_wire_takes": (
        user("One."),
        said(ToolCall("call_1", "my tool/v1.0 – größe" * 9, "{}")),
        told(result(1, "R 1")),
    ),
    "system_messages_in_between": (user("One."), Message("system", (Text("Be brief."),)), assistant("A.")),
    "a_call_said_by_the_user": (Message("user", (Text("One."), call(1))), told(result(1, "R 1"))),
    "a_result_said_by_the_assistant": (user("One."), said(call(1)), said(result(1, "R 1"), Text("A."))),
}


@row(37)
@WIRES
@pytest.mark.parametrize("case", TAILS)
def test_messages_in_no_order_and_with_nothing_in_them_are_accepted(tmp_path, wire, case):
    history = TAILS[case]

    async def work(lab):
        body = await is_accepted(lab, wire, history)
        for text in ("One.", "Two.", "A.", "B.", "Stop, wait.", "Be brief."):
            if any(text == part.text for message in history for part in message.parts if isinstance(part, Text)):
                assert text in body, "what somebody said is still there"

    in_lab(tmp_path, work)
