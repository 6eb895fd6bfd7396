"""`headway explain` as people and pipes use it: a real process, real bytes, exactly one answer a line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

KNOWN = Path(__file__).parents[2] / "data" / "known_failures.jsonl"
COMMAND = [sys.executable, "-m", "headway", "explain"]
KEYS = {"kind", "scope", "plan", "then", "wait_seconds", "repair", "limit_tokens", "reason"}


def run(*arguments: str, stdin: bytes = b"", status: int = 0) -> str:
    done = subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, timeout=60, check=False)
    assert b"Traceback" not in done.stderr
    assert done.returncode == status, done.stderr
    return done.stdout.decode()


def answers(stdin: bytes, *arguments: str, status: int = 0) -> list[dict[str, object]]:
    return [json.loads(line) for line in run("--json", *arguments, stdin=stdin, status=status).splitlines()]


def test_each_known_failure_is_answered_by_one_line_with_its_plan():
    given = [json.loads(line) for line in KNOWN.read_text().splitlines()]
    found = answers(KNOWN.read_bytes())
    assert [answer["id"] for answer in found] == [row["id"] for row in given]
    assert [answer["plan"] for answer in found] == [row["class"] for row in given]
    assert all(answer.keys() == KEYS | {"id"} for answer in found)


def test_answers_given_with_a_failure_do_not_change_the_answer():
    bare = {"vendor": "openai", "status": 500}
    lying = {**bare, "class": "resume", "meaning": "invalid api key", "message_pattern": "quota", "then": "x"}
    first, second = answers(f"{json.dumps(bare)}\n{json.dumps(lying)}\n".encode())
    assert first == second


def test_a_line_that_cannot_be_read_is_answered_too_and_the_status_says_so():
    stdin = b'{"status": 429}\n\n   \n{"broken\n[1, 2]\n\xff\xfe\n"text"\n{"status": 529}'
    found = answers(stdin, status=1)
    assert [answer["kind"] for answer in found] == [
        "rate_limited",
        "unreadable_input",
        "unreadable_input",
        "unreadable_input",
        "unreadable_input",
        "overloaded",
    ]
    assert "Line 4" in str(found[1]["reason"])
    assert all(answer.keys() == KEYS for answer in found)


def test_wrong_types_and_broken_text_are_unknown_not_errors():
    lines = [
        {"status": "429", "code": None, "headers": [1], "body": {"error": {"message": "Overloaded"}}, "id": 7},
        {"status": [], "where": {}, "vendor": 5, "finish_reason": False, "repeat": "often", "context": []},
        {},
    ]
    stdin = b"\n".join(json.dumps(line).encode() for line in lines) + b'\n{"message": "rate limit \xff\xfe"}\n'
    found = answers(stdin)
    assert [answer["kind"] for answer in found] == ["overloaded", "unknown", "unknown", "rate_limited"]
    assert found[0]["id"] == 7


@pytest.mark.timeout(120)
def test_a_line_of_50_megabytes_is_passed_over_and_the_next_one_answered():
    huge = b'{"body": "' + b"x" * 50_000_000 + b'"}\n'
    first, second = answers(huge + b'{"status": 401}\n', status=1)
    assert (first["kind"], second["kind"]) == ("unreadable_input", "bad_key")
    assert "longer than 16 MB" in str(first["reason"])


def test_a_large_line_within_the_limit_is_read():
    line = json.dumps(
        {"status": 400, "body": json.dumps({"error": {"message": "prompt is too long", "x": "y" * 10**7}})}
    )
    assert answers(line.encode() + b"\n")[0]["kind"] == "context_full"


def test_an_error_body_alone_is_explained():
    assert (
        answers(b'{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}')[0]["kind"]
        == "overloaded"
    )


def test_each_answer_is_written_before_the_next_line_comes():
    with subprocess.Popen([*COMMAND, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for status, kind in ((429, "rate_limited"), (401, "bad_key")):
            process.stdin.write(f'{{"status": {status}}}\n'.encode())
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["kind"] == kind
        process.stdin.close()
        assert process.wait(30) == 0


def test_a_reader_that_goes_away_ends_it_quietly():
    lines = b'{"status": 429}\n' * 20000
    with subprocess.Popen(
        [*COMMAND, "--json"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(lines[:1600])
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        try:
            process.stdin.write(lines)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert b"Traceback" not in process.stderr.read()
        process.wait(30)


def test_flags_describe_one_failure():
    found = json.loads(
        run(
            *("--json", "--vendor", "openai", "--wire", "openai-chat", "--where", "http_error", "--status", "429"),
            *("--header", "Retry-After: 7", "--type", "requests", "--code", "rate_limit_exceeded"),
            *("--message", "Rate limit reached"),
        )
    )
    assert (found["kind"], found["plan"], found["wait_seconds"]) == ("rate_limited", "retry_same", 7.0)


@pytest.mark.parametrize(
    ("arguments", "plan"),
    [
        (["--finish-reason", "content_filter"], "failover_now"),
        (["--finish-reason", "length", "--context", "open_tool_call"], "ask_smaller_chunks"),
        (["--where", "stream_eof", "--after-output"], "resume"),
        (["--where", "stream_eof", "--before-output"], "retry_same"),
        (["--where", "stream_eof", "--context", "open_tool_call", "--repeat", "2"], "failover_now"),
        (["--type", "httpx.ConnectError", "--message", "CERTIFICATE_VERIFY_FAILED"], "give_up_clear_error"),
    ],
)
def test_flags_reach_every_corner_of_the_table(arguments, plan):
    assert json.loads(run("--json", *arguments))["plan"] == plan


def test_a_body_comes_from_the_flag_a_file_or_standard_input(tmp_path):
    body = '{"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}'
    file = tmp_path / "error.json"
    file.write_text(body)
    by_flag = run("--json", "--status", "400", "--body", body)
    assert by_flag == run("--json", "--status", "400", "--body", f"@{file}")
    assert by_flag == run("--json", "--status", "400", "--body", "-", stdin=body.encode())
    assert json.loads(by_flag)["limit_tokens"] == 200000


def test_flags_fill_in_what_the_lines_leave_out():
    found = answers(b'{"code": "1002"}\n{"code": "1002", "vendor": "zhipu"}\n', "--stdin", "--vendor", "minimax")
    assert [answer["kind"] for answer in found] == ["rate_limited", "bad_key"]


def test_a_person_gets_plain_words():
    text = run("--vendor", "anthropic", "--status", "429", "--header", "retry-after: 17")
    assert text.startswith("Rate limited\n  what happened  Anthropic asks for fewer requests")
    assert "Headway        waits 17 seconds as told, then asks the same provider again" in text
    assert max(map(len, text.splitlines())) <= 96


def test_several_failures_for_a_person_are_told_apart():
    text = run(stdin=b'{"id": "a", "status": 500}\n{"id": "b", "status": 413}\n')
    assert text.startswith("Server fault [a]\n")
    assert "\n\nContext full [b]\n" in text


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--header", "nonsense"], 2, "not of the form"),
        (["--body", "@/does/not/exist"], 2, "No such file"),
        (["--status", "many"], 2, "not a valid integer"),
        (["--where", "nowhere"], 2, "nowhere"),
    ],
)
def test_wrong_usage_is_said_in_one_line(arguments, status, said):
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, timeout=30, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == status
    assert said in done.stderr.decode()
    assert b"Traceback" not in done.stderr


def test_nothing_piped_is_nothing_said():
    assert run("--json") == ""


def test_a_terminal_without_flags_gets_a_hint():
    leader, follower = os.openpty()
    try:
        done = subprocess.run(COMMAND, stdin=follower, capture_output=True, timeout=30, check=False)
    finally:
        os.close(leader)
        os.close(follower)
    assert done.returncode == 2
    assert b"Nothing to explain" in done.stderr


def test_help_says_what_the_exit_status_means():
    assert "Exit status: 0" in run("--help")
