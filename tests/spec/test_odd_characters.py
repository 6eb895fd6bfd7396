"""Half characters, control characters, content that is no text: the request is sent, and says what it said."""

import pytest

from headway.agent.happenings import Done
from headway.messages import Text, ToolCall, user
from headway.wire.table import wire_named
from support.lab import in_lab
from support.past import call, is_accepted, result, said, texts_in, told
from support.rows import row
from support.turns import TALK, WIRES, WORDS, next_turn_works, refusals, with_history

ODD = "a\x07b\x1bc\x7fd\u200be\u2028f\ufeffg\ufffeh\r\n\t 😀 é"
"""Control characters and other odd ones that are text all the same."""


@row(38)
@WIRES
def test_control_characters_travel_unchanged(tmp_path, wire):
    history = (user(f"U {ODD}"), said(Text(f"A {ODD}"), call(1)), told(result(1, f"R {ODD}")))

    async def work(lab):
        await is_accepted(lab, wire, history, words=f"Now {ODD[:3]}?"[:3])
        sent = [text for text in texts_in(lab.sims[0].log[0].body) if ODD in text]
        assert len(sent) == 3

    in_lab(tmp_path, work)


HIGH, LOW = chr(0xD83D), chr(0xDC00)
"""Halves of a character, each alone."""


@row(38)
@WIRES
@pytest.mark.parametrize("bad", [HIGH, LOW, HIGH + HIGH, "\x00", LOW + "\x00"], ids=ascii)
def test_half_characters_and_nul_are_replaced_and_nothing_else_is(tmp_path, wire, bad):
    history = (
        user(f"<u>{bad}</u> 😀"),
        said(Text(f"<a>{bad}</a> 😀"), call(1)),
        told(result(1, f"<r>{bad}</r> 😀")),
    )

    async def work(lab):
        endpoint = await lab.provider(TALK, wire)
        agent = await with_history(lab, history, endpoint)
        assert await agent.ask(f"<n>{bad}</n> 😀") == Done(WORDS)
        assert refusals(lab) == []
        sent = "\n".join(texts_in(lab.sims[0].log[0].body))
        mark = "\ufffd" * len(bad)
        for tag in "uarn":
            assert f"<{tag}>{mark}</{tag}> 😀" in sent
        assert lab.session.state.history[0] == history[0], "what is stored stays as it was said"
        await next_turn_works(lab, endpoint)

    in_lab(tmp_path, work)


@row(38)
@WIRES
def test_half_a_character_in_arguments_does_not_keep_the_request_from_being_sent(tmp_path, wire):
    """Such arguments are no strict JSON on any wire; what was meant is not guessed, the call goes."""
    half = ToolCall("call_1", "read_file", '{"path":"a\\ud83d.txt"}')

    async def work(lab):
        body = await is_accepted(lab, wire, (user("Go."), said(Text("I read."), half, call(2)), told(result(2, "R 2"))))
        assert "ud83d" not in body
        assert "R 2" in body

    in_lab(tmp_path, work)


CONTENT = {
    "a_number": 42,
    "an_object": {"answer": 42, "text": "<kept>"},
    "a_list_of_strings": ["<kept>", "and more"],
    "null": None,
    "a_truth": True,
    "a_list_with_null": [None, {"type": "text", "text": "<kept>"}, 7],
}


@row(38)
@WIRES
@pytest.mark.parametrize("case", CONTENT)
def test_content_that_is_no_string_is_sent_as_one(tmp_path, wire, case):
    body = {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": CONTENT[case]},
            {"role": "user", "content": CONTENT[case]},
            {"role": "assistant", "content": "Well."},
        ],
    }
    history = wire_named("chat").parse_request(body).messages

    async def work(lab):
        sent = await is_accepted(lab, wire, history)
        assert ("<kept>" in sent) == ("<kept>" in str(CONTENT[case]))
        assert "Well." in sent

    in_lab(tmp_path, work)
