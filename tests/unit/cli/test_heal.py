"""`headway heal`, as a person runs it: through a real process."""

import json
import subprocess
import sys

import pytest

from headway.wire.detection import detect
from support.validators import VALIDATORS

CUT = '{"path": "a.txt", "content": "half'
WEDGED = {
    "chat": {
        "model": "gpt-x",
        "vendor_field": {"kept": [1]},
        "messages": [
            {"role": "user", "content": "Write it.", "name": "ann"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "write_file", "arguments": CUT}},
                    {
                        "id": "call_2",
                        "type": "function",
                        "function": {"name": "read_file", "arguments": '{"path":"b"}'},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "call_1", "content": "error"},
            {"role": "user", "content": "continue"},
        ],
    },
    "responses": {
        "model": "gpt-x",
        "input": [
            {"role": "user", "content": "Write it."},
            {"type": "function_call", "call_id": "call_1", "name": "write_file", "arguments": CUT},
            {"type": "function_call", "call_id": "call_2", "name": "read_file", "arguments": '{"path":"b"}'},
            {"type": "function_call_output", "call_id": "call_9", "output": "the answer is 42"},
        ],
    },
    "anthropic": {
        "model": "claude-x",
        "max_tokens": 100,
        "messages": [
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": [{"type": "text", "text": " "}]},
            {"role": "user", "content": "Write it."},
            {
                "role": "assistant",
                "content": [
                    {"type": "tool_use", "id": "a b", "name": "read_file", "input": {"path": "b"}},
                    {"type": "tool_use", "id": "toolu_2", "name": "write_file", "input": CUT},
                ],
            },
            {"role": "user", "content": "continue"},
        ],
    },
}


def heal(*arguments, given=None):
    data = given if isinstance(given, bytes) else json.dumps(given).encode() if given is not None else b""
    return subprocess.run(
        [sys.executable, "-m", "headway", "heal", *arguments], input=data, capture_output=True, check=False
    )


@pytest.mark.parametrize("wire", WEDGED)
def test_a_wedged_body_comes_out_valid_in_the_same_shape_and_says_what_was_changed(wire):
    done = heal("-", given=WEDGED[wire])
    assert done.returncode == 0, done.stderr
    body = json.loads(done.stdout)
    assert VALIDATORS[wire](body) == []
    assert body["model"] == WEDGED[wire]["model"]
    assert "write_file" in done.stderr.decode()
    assert CUT not in done.stdout.decode()
    assert "{}" not in done.stdout.decode().replace(" ", ""), "a malformed call is dropped, never emptied"


@pytest.mark.parametrize("wire", WEDGED)
def test_healing_twice_changes_nothing_more(wire):
    once = heal("-", "--wire", wire, given=WEDGED[wire])
    twice = heal("-", "--wire", wire, given=once.stdout)
    assert twice.stdout == once.stdout
    assert b"nothing had to be changed" in twice.stderr


@pytest.mark.parametrize("wire", WEDGED)
@pytest.mark.parametrize("to", WEDGED)
def test_every_wire_converts_to_every_other(wire, to):
    done = heal("-", "--wire", wire, "--to", to, given=WEDGED[wire])
    assert done.returncode == 0, done.stderr
    assert VALIDATORS[to](json.loads(done.stdout)) == []


@pytest.mark.parametrize("wire", WEDGED)
def test_a_bare_list_stays_a_bare_list(wire):
    field = "input" if wire == "responses" else "messages"
    done = heal("-", given=WEDGED[wire][field])
    messages = json.loads(done.stdout)
    assert isinstance(messages, list)
    assert VALIDATORS[wire]({**WEDGED[wire], field: messages}) == []


@pytest.mark.parametrize("wire", WEDGED)
def test_check_only_judges_by_its_exit_status(wire):
    sick = heal("-", "--check", given=WEDGED[wire])
    assert (sick.returncode, sick.stdout) == (1, b"")
    assert b"not valid" in sick.stderr
    healthy = heal("-", "--check", "--wire", wire, given=heal("-", given=WEDGED[wire]).stdout)
    assert healthy.returncode == 0, healthy.stderr


def test_what_is_valid_is_not_touched():
    body = {
        "model": "m",
        "x": {"y": 1},
        "messages": [
            {"role": "developer", "content": "Act.", "z": 0},
            {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}]},
            {"role": "assistant", "content": "Hello.", "refusal": None},
            {"role": "user", "content": "more"},
        ],
    }
    assert json.loads(heal("-", given=body).stdout) == body


def test_unknown_fields_of_what_was_changed_survive():
    body = json.loads(heal("-", given=WEDGED["chat"]).stdout)
    assert body["vendor_field"] == {"kept": [1]}
    assert body["messages"][0]["name"] == "ann"


def test_a_body_without_a_model_stays_without_one():
    body = json.loads(heal("-", given={"messages": [{"role": "user", "content": "hi"}]}).stdout)
    assert body == {"messages": [{"role": "user", "content": "hi"}]}


def test_one_message_a_line_is_read():
    lines = b"\n".join(json.dumps(message).encode() for message in WEDGED["chat"]["messages"])
    assert isinstance(json.loads(heal("-", given=lines).stdout), list)


def test_characters_that_cannot_be_sent_are_mended_and_reported():
    done = heal("-", given=b'[{"role":"user","content":"a\\ud800b\xff\\u0000"}]')
    (message,) = json.loads(done.stdout)
    assert message["content"].startswith("a\ufffdb\ufffd")
    assert "surrogates" in done.stderr.decode()


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"{",
        b"\x00\x01\x02",
        b"[" * 2000 + b"]" * 2000,
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
        b'"text"',
        b"42",
        b'{"model": "m"}',
        b'{"messages": 7, "model": "m"}',
        b"<html>",
    ],
)
@pytest.mark.parametrize("check", [(), ("--check",)])
def test_bad_input_is_one_clear_line_and_no_traceback(given, check):
    done = heal("-", *check, given=given)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr
    assert done.stderr.decode().splitlines()[-1].startswith("headway heal:")


def test_duplicate_keys_are_told():
    done = heal("-", given=b'[{"role":"user","content":"one","content":"two"}]')
    assert b"appears twice" in done.stderr
    assert json.loads(done.stdout) == [{"role": "user", "content": "two"}]


def test_a_file_that_is_not_there_or_a_folder_is_said_so(tmp_path):
    for path in (tmp_path, tmp_path / "missing.json"):
        done = heal(str(path))
        assert done.returncode == 2
        assert str(path) in done.stderr.decode()


def test_output_is_written_whole_or_not_at_all(tmp_path):
    target = tmp_path / "out.json"
    target.write_text("precious")
    assert heal("-", "--output", str(target), given=b"{").returncode == 2
    assert target.read_text() == "precious"
    assert heal("-", "--output", str(target), given=WEDGED["chat"]).returncode == 0
    assert VALIDATORS["chat"](json.loads(target.read_text())) == []
    assert list(tmp_path.iterdir()) == [target]


def test_the_file_that_is_replaced_keeps_its_permissions_and_its_links(tmp_path):
    target, link = tmp_path / "out.json", tmp_path / "link.json"
    target.write_text(json.dumps(WEDGED["chat"]))
    target.chmod(0o640)
    link.symlink_to(target)
    assert heal(str(link), "--output", str(link)).returncode == 0
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o640
    assert VALIDATORS["chat"](json.loads(target.read_text())) == []


def test_an_output_that_cannot_be_written_is_said_so(tmp_path):
    done = heal("-", "--output", str(tmp_path / "no" / "such" / "folder.json"), given=WEDGED["chat"])
    assert done.returncode == 2
    assert b"Nothing was written" in done.stderr


def test_a_file_too_large_to_heal_is_refused_unread(tmp_path):
    huge = tmp_path / "huge.json"
    with huge.open("wb") as stream:
        stream.truncate(300 * 2**20)
    done = heal(str(huge))
    assert done.returncode == 2
    assert b"larger than 256 MB" in done.stderr


def test_fields_around_the_messages_stay_as_they_are():
    body = {"model": "m", "stream": True, "stop": "END", "messages": [{"role": "user", "content": "hi"}]}
    done = heal("-", given=body)
    assert json.loads(done.stdout) == body
    assert b"nothing had to be changed" in done.stderr


@pytest.mark.parametrize(
    ("wire", "message", "field"),
    [
        ("chat", {"role": "assistant", "content": "hm", "tool_calls": []}, "tool_calls"),
        ("chat", {"role": "user", "content": 42}, "content"),
        ("responses", {"role": "assistant", "content": [{"type": "input_text", "text": "hm"}]}, "content"),
        ("anthropic", {"role": "user", "content": {"type": "text", "text": "hm"}}, "content"),
    ],
)
def test_a_form_that_the_wire_does_not_take_is_put_right_and_told(wire, message, field):
    history = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes"}, message]
    history += [{"role": "user", "content": "so?"}]
    assert heal("-", "--wire", wire, "--check", given=history).returncode == 1
    done = heal("-", "--wire", wire, given=history)
    assert f"message 2: `{field}` is not written as this wire takes it" in done.stderr.decode()
    assert heal("-", "--wire", wire, "--check", given=done.stdout).returncode == 0


def test_what_the_wire_requires_is_added_and_what_it_refuses_removed_and_both_are_told():
    done = heal("-", "--wire", "anthropic", given={"messages": [{"role": "user", "content": "hi"}]})
    assert json.loads(done.stdout)["max_tokens"] > 0
    assert b"`max_tokens` was added" in done.stderr
    choosy = {"model": "m", "tool_choice": "auto", "messages": [{"role": "user", "content": "hi"}]}
    done = heal("-", "--wire", "chat", given=choosy)
    assert "tool_choice" not in json.loads(done.stdout)
    assert b"`tool_choice` was removed" in done.stderr


def test_neighbours_of_one_role_are_merged_where_roles_alternate():
    done = heal("-", "--wire", "anthropic", given=[{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])
    (message,) = json.loads(done.stdout)
    assert [block["text"] for block in message["content"]] == ["a", "b"]
    assert b"written as one" in done.stderr


def test_a_bare_list_says_where_its_system_words_belong():
    history = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    done = heal("-", "--to", "anthropic", given=history)
    assert [message["role"] for message in json.loads(done.stdout)] == ["system", "user"]
    assert b"send them as `system`" in done.stderr


def test_wrong_usage_is_status_2_and_help_tells_every_status():
    assert heal("-", "--wire", "telex", given=[]).returncode == 2
    assert heal().returncode == 2
    told = heal("--help").stdout.decode()
    assert all(word in told for word in ("Exit status", "0 done", "1 with --check", "2 the input"))


def test_the_report_can_be_read_by_machines():
    done = heal("-", "--json", given=WEDGED["chat"])
    facts = [json.loads(line) for line in done.stderr.splitlines()]
    assert {"kind", "index", "words"} <= facts[0].keys()


@pytest.mark.parametrize(
    ("value", "wire"),
    [
        ([{"role": "user", "content": "hi"}], "chat"),
        ({"input": "hi", "model": "m"}, "responses"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "x"}]}], "responses"),
        ([{"type": "reasoning", "summary": []}], "responses"),
        ([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}], "anthropic"),
        ({"messages": [{"role": "user", "content": "hi"}], "system": "s"}, "anthropic"),
        ({"messages": [{"role": "user", "content": "hi"}], "tools": [{"input_schema": {}}]}, "anthropic"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "chat"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "chat"),
        ({"messages": [None, 3]}, "chat"),
    ],
)
def test_the_wire_is_found_by_its_shapes(value, wire):
    assert detect(value).wire == wire
