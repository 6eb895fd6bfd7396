"""The format of a session is found out from what it holds."""

import json

import pytest

from headway.foreign.formats import format_of, format_of_lines
from headway.foreign.histories import read_history
from headway.foreign.lines import objects_of
from headway.foreign.session import Account
from headway.messages import Thinking
from support.foreign import FILES


@pytest.mark.parametrize("source", ["claude-code", "codex"])
def test_lines_tell_their_format(source):
    lines = FILES[source].read_bytes().splitlines()
    assert format_of_lines(list(objects_of(lines, Account()))).name == source


@pytest.mark.parametrize("source", ["opencode", "openai-chat", "openai-responses", "anthropic"])
def test_values_tell_their_format(source):
    value = json.loads(FILES[source].read_text(encoding="utf-8"))
    assert format_of_lines([value] if isinstance(value, dict) else []) is None
    assert format_of(value).name == source


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ({"headway": 1, "seq": 1, "at": 0, "record": {"kind": "session_opened"}}, "headway"),
        ({"type": "permission-mode", "sessionId": "s"}, "claude-code"),
        ({"id": "t", "timestamp": "2025-05-01", "instructions": None}, "codex"),
        ({"role": "user", "content": "Hi."}, None),
        ({"type": ["odd"], "payload": {}}, None),
    ],
)
def test_one_line_may_be_enough(line, name):
    found = format_of_lines([line])
    assert (found.name if found else None) == name


def test_replies_of_an_sdk_are_known_by_what_is_in_them():
    reply = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    assert format_of([{**reply, "content": [{"type": "tool_use", "id": "a", "name": "b"}]}]).name == "anthropic"
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
    assert format_of([item]).name == "openai-responses"


def test_a_history_loses_the_names_that_only_its_provider_knows():
    items = [
        {"type": "message", "id": "msg_1", "role": "user", "content": "Go."},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "seal"},
        {"type": "item_reference", "id": "msg_2"},
        {"type": "message", "id": "msg_3", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]},
    ]
    session = read_history({"input": items, "instructions": "Be.", "previous_response_id": "r"}, "openai-responses")
    assert session.messages[1].parts == (Thinking("", "responses", sealed="seal"),)
    assert not {"msg_1", "rs_1", "msg_2", "msg_3"} & set(str(session.messages).replace("'", " ").split())
    assert {one.one for one in session.left_out} == {"system prompt", "part", "earlier part"}


def test_thinking_that_needs_no_proof_stays():
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Hi.", "reasoning_content": "Hm."}]
    assert read_history(messages, "openai-chat").messages[1].parts[0] == Thinking("Hm.", "chat")


def test_lines_that_cannot_be_read_are_told_apart():
    account = Account()
    assert list(objects_of([b"{}\n", b"oops\n", None, b"[1]\n", b'{"a": 1}\n', b'{"a'], account)) == [{}, {"a": 1}]
    assert {one.why: one.count for one in account.left_out} == {
        "no JSON stands there": 2,
        "longer than any message can be": 1,
        "the file ends in the middle of it": 1,
    }
