"""`shell`: real processes, and nothing of them left when the call is over."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from headway.agent.approval import Approvals, Mode
from headway.agent.tools.environment import without_secrets
from headway.agent.tools.terminal import plain
from headway.agent.tools.tool import ToolContext
from headway.transport.clock import run_virtual


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def is_running(pid: int) -> bool:
    """Say whether a process is there and more than a name that waits to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def are_gone(*pids: int) -> bool:
    deadline = time.monotonic() + 1
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(map(is_running, pids))


def pids_in(path: Path, count: int) -> list[int]:
    deadline = time.monotonic() + 5
    while not path.exists() or len(path.read_text().split()) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return [int(pid) for pid in path.read_text().split()]


def test_output_and_status_come_back_and_the_command_runs_in_the_workspace(hand, root):
    assert (
        hand.does("shell", command="pwd; echo to stderr >&2; echo done") == f"{root}\nto stderr\ndone\n[exit status 0]"
    )
    assert hand.does("shell", command="exit 3") == "[no output]\n[exit status 3]"
    assert hand.does("shell", command="kill -SEGV $$") == "[no output]\n[ended by SIGSEGV]"
    assert hand.does("shell", command="kill -50 $$") == "[no output]\n[ended by 50]"
    assert "not found" in hand.does("shell", command="no-such-command-here")


def test_a_command_gets_no_input_and_no_terminal(hand):
    assert hand.does("shell", command="cat; wc -c </dev/stdin; tty") == "0\nnot a tty\n[exit status 1]"
    assert "No such device" in hand.does("shell", command="echo x >/dev/tty")


def test_secrets_are_not_in_its_environment(root, monkeypatch, hand):
    for name in ("MY_API_KEY", "GITHUB_TOKEN", "db_password", "CLIENT_SECRET", "SSH_PASSPHRASE", "GOOGLE_CREDENTIALS"):
        monkeypatch.setenv(name, "hush-hush")
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:hush-hush@host/db")
    monkeypatch.setenv("PLAIN", "seen")
    hand.context = ToolContext(hand.context.workspace, Approvals(Mode.AUTO))
    seen = hand.does("shell", command="env")
    assert "hush-hush" not in seen
    assert "PLAIN=seen" in seen
    assert "GIT_TERMINAL_PROMPT=0" in seen
    assert without_secrets({"A_TOKEN": "x", "B_TOKEN": "y"}, keep={"A_TOKEN"}) == {"A_TOKEN": "x"}


def test_a_command_that_takes_too_long_ends_with_everything_it_started(hand, root):
    began = time.monotonic()
    command = (
        "echo $$ >pids; (trap '' TERM; sleep 60 & echo $! >>pids; wait; sleep 60) & echo $! >>pids; echo so far; wait"
    )
    told = hand.fails("shell", command=command, timeout_seconds=0.4)
    assert time.monotonic() - began < 1.5
    assert told.startswith("so far\n[stopped: it took longer than 0.4 s")
    assert are_gone(*pids_in(root / "pids", 3))


def test_a_program_that_is_asked_to_end_may_tidy_up(hand, root):
    told = hand.fails("shell", command="trap 'echo tidied; exit' TERM; sleep 5 & wait", timeout_seconds=0.3)
    assert "tidied" in told


def test_what_is_left_in_the_background_is_ended_and_said(hand, root):
    began = time.monotonic()
    answer = hand.does("shell", command="sleep 60 & echo $! >pids; echo started")
    assert time.monotonic() - began < 2
    assert answer == "started\n[exit status 0]\n[processes that it left in the background were ended]"
    assert are_gone(*pids_in(root / "pids", 1))
    assert hand.does("shell", command="true & true & echo x") == "x\n[exit status 0]"


def test_a_process_that_left_the_group_holds_nobody_up(hand, root):
    began = time.monotonic()
    answer = hand.does(
        "shell", command="setsid sh -c 'echo $$ >pids; exec sleep 60' & while [ ! -s pids ]; do :; done; echo on"
    )
    (daemon,) = pids_in(root / "pids", 1)
    os.kill(daemon, 9)
    assert time.monotonic() - began < 3
    assert "on\n[exit status 0]" in answer


@pytest.mark.parametrize("command", ["sleep 60 & echo $! >>pids; wait", "trap '' TERM INT; while :; do :; done"])
def test_cancelled_a_command_is_gone_within_half_a_second(hand, root, command):
    async def scenario():
        task = asyncio.create_task(hand.call("shell", command=f"echo $$ >pids; {command}"))
        await asyncio.to_thread(pids_in, root / "pids", 1)
        await asyncio.sleep(0.05)
        began = time.monotonic()
        task.cancel()
        await asyncio.wait({task})
        assert task.cancelled()
        return time.monotonic() - began

    assert asyncio.run(scenario()) < 0.5
    assert are_gone(*pids_in(root / "pids", 1))


def test_cancelled_twice_it_is_gone_at_once(hand, root):
    async def scenario():
        task = asyncio.create_task(hand.call("shell", command="trap '' TERM; echo $$ >pids; while :; do :; done"))
        await asyncio.to_thread(pids_in, root / "pids", 1)
        task.cancel()
        await asyncio.sleep(0.02)
        task.cancel()
        await asyncio.wait({task})

    asyncio.run(scenario())
    assert are_gone(*pids_in(root / "pids", 1))


def test_a_flood_is_kept_at_both_ends_in_bounded_space(hand):
    hand.limits(output_characters=1_000)
    answer = hand.does("shell", command="echo first; yes | head -c 50000000; echo last")
    assert len(answer) < 1_300
    assert answer.startswith("first\n")
    assert "characters left out" in answer
    assert answer.endswith("last\n[exit status 0]")


def test_a_flood_without_end_is_stopped_by_its_time(hand):
    assert "[stopped" in hand.fails("shell", command="yes", timeout_seconds=0.3)


def test_output_is_told_as_it_comes(hand):
    pieces = []
    hand.context = ToolContext(
        hand.context.workspace,
        hand.context.approvals,
        environment=hand.context.environment,
        on_output=lambda call, text: pieces.append((call, text, time.monotonic())),
    )
    hand.does("shell", command="printf 'one é'; sleep 0.2; printf '\\303'; sleep 0.1; printf '\\251'")
    assert [call for call, _, _ in pieces] == ["c1"] * len(pieces)
    assert "".join(text for _, text, _ in pieces) == "one éé"
    assert pieces[-1][2] - pieces[0][2] > 0.2


def test_what_was_meant_for_a_terminal_becomes_text(hand):
    printed = r"printf '\033[31mred\033[0m 10%%\r 50%%\r100%%\n\033]0;title\007plain\000\n'"
    assert hand.does("shell", command=printed) == "100%\nplain\n[exit status 0]"
    assert plain("a\x1b[2K\rb\r\nc\r") == "b\nc"


def test_what_no_command_can_be_is_refused_in_words(hand, root):
    assert "NUL" in hand.fails("shell", command="echo a\0b")
    assert "too long" in hand.fails("shell", command="x" * 3_000_000)
    root.rmdir()
    assert "No such file" in hand.fails("shell", command="true")


def test_no_pipe_is_left_open(hand):
    before = len(names_in(Path("/proc/self/fd")))
    hand.does("shell", command="true")
    hand.fails("shell", command="x" * 3_000_000)
    hand.fails("shell", command="sleep 5", timeout_seconds=0.1)
    assert len(names_in(Path("/proc/self/fd"))) == before


def test_in_virtual_time_a_command_takes_its_real_time(hand):
    result = run_virtual(hand.call("shell", command="sleep 0.2; echo done", timeout_seconds=30))
    assert result.text == "done\n[exit status 0]"
