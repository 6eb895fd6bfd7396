"""MCP servers as people use them: named in the settings, used by `headway run`, looked at by `headway mcp`."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from msgspec.structs import replace

from headway.cli.lines import RunStatus
from headway.sim.script import Call, Final, Script
from headway.sim.thread import serving
from support.mcp import command, is_alive, pids
from support.newcomer import newcomer  # noqa: F401  # a fixture


@pytest.fixture
def person(newcomer):  # noqa: F811
    """Somebody with servers in their own settings."""

    def has_server(name, *words, more=""):
        own = newcomer.home / ".config" / "headway" / "headway.toml"
        own.parent.mkdir(parents=True, exist_ok=True)
        program = json.dumps([*command(*words, f"log:{newcomer.home / name}.log")])
        with own.open("a", encoding="utf-8") as file:
            file.write(f"[mcp.{name}]\ncommand = {program}\n{more}\n")

    newcomer.has_server = has_server
    return newcomer


def ran(person, script, *arguments):
    with serving(script) as sim:
        person.knows(f"{sim.url}/v1")
        return person.runs("run", "--json", *arguments, "Go.")


def at_once(first, *others):
    """Return calls of one reply: this model would make a call that failed again before it goes on."""
    return (first, *(replace(one, parallel=True) for one in others))


def results(done):
    items = [json.loads(line) for line in done.out.splitlines()]
    return [item for item in items if item["type"] == "tool_ended"]


def text_of(result):
    return "".join(part["text"] for part in result["result"]["parts"])


def test_a_model_uses_the_tools_of_a_server_and_the_server_is_gone_when_the_run_is(person):
    person.has_server("far", "child")
    done = ran(person, Script(steps=(Call("far__echo", {"text": "from afar"}), Final("Done."))), "--approve", "auto")
    assert done.status == 0, done.err
    assert [text_of(one) for one in results(done)] == ["from afar"]
    assert len(pids(person.home, "far")) == 2
    assert not any(map(is_alive, pids(person.home, "far")))


def test_a_talk_has_the_tools_too_and_is_told_of_a_server_that_does_not_start(person):
    person.has_server("far")
    person.has_server("dead", "crash:initialize")
    with serving(Script(steps=(Call("far__echo", {"text": "from afar"}), Final("Done.")))) as sim:
        person.knows(f"{sim.url}/v1")
        done = person.runs("chat", "--approve", "auto", "Go.")
    assert done.status == 0, done.err
    assert "far__echo" in done.out + done.err
    assert "the MCP server dead: it ended with status 1" in done.err
    assert "Done." in done.out
    assert not any(is_alive(pid) for name in ("far", "dead") for pid in pids(person.home, name))


def test_a_server_that_hangs_or_crashes_does_not_stop_the_work(person):
    person.has_server("hung", more="seconds = 0.5")
    person.has_server("weak")
    person.has_server("dead", "crash:initialize")
    calls = at_once(Call("hung__sleep"), Call("weak__once"), Call("hung__echo", {"text": "y"}))
    done = ran(person, Script(steps=(*calls, Final("Done."))), "--approve", "auto")
    assert done.status == 0, done.err
    hung, weak, last = map(text_of, results(done)[:3])
    assert "was given up: nothing came within 0.5 s" in hung
    assert "broke off: it ended with status 1" in weak
    assert last == "y"
    assert "the MCP server dead: it ended with status 1; its last words: out of cheese (handshake)" in done.err
    assert not any(is_alive(pid) for name in ("hung", "weak", "dead") for pid in pids(person.home, name))


def test_tools_of_servers_are_asked_about_and_rules_name_them(person):
    person.has_server("far", more='[agent]\nallow = ["far__echo"]\ndeny = ["far__fa*"]')
    calls = at_once(Call("far__echo", {"text": "allowed"}), Call("far__fail"), Call("far__table"))
    done = ran(person, Script(steps=(*calls, Final("Done."))))
    assert done.status == RunStatus.NOT_ALLOWED
    allowed, denied, unasked = map(text_of, results(done)[:3])
    assert allowed == "allowed"
    assert "The rule `far__fa*` denies this" in denied
    assert "nobody is here to be asked" in unasked


def test_a_server_that_comes_with_a_project_is_not_started_unasked(person):
    log = person.folder / "evil.log"
    with serving(Script(steps=(Final("Done."),))) as sim:
        words = json.dumps([*command(f"log:{log}")])
        person.knows(f"{sim.url}/v1", more=f"[mcp.evil]\ncommand = {words}\n")
        done = person.runs("run", "Go.")
        assert done.status == 0
        assert "headway mcp trust evil" in done.err
        assert not log.exists()
        assert person.runs("mcp", "test", "evil").status == 1
        assert person.runs("mcp", "trust", "evil").status == 0
        assert person.runs("mcp", "test", "evil").status == 0
        assert log.exists()
        log.unlink()
        assert person.runs("mcp", "untrust", "evil").out == "evil does not start any more.\n"
        assert "headway mcp trust evil" in person.runs("run", "Go.").err
        assert not log.exists()
        assert person.runs("mcp", "untrust", "evil").out == "evil was not trusted, and does not start.\n"


def test_to_doubt_what_one_wrote_oneself_is_told_how_to_switch_it_off(person):
    person.has_server("mine")
    refused = person.runs("mcp", "untrust", "mine")
    assert refused.status == 2
    assert "enabled = false in [mcp.mine]" in refused.err
    assert person.runs("mcp", "untrust", "mien").status == 2


def test_a_list_of_servers_that_cannot_be_used_is_no_success(person):
    person.writes('[mcp.strange]\ncommand = ["true"]\n[mcp.off]\ncommand = ["true"]\nenabled = false\n')
    for arguments in (["list"], ["list", "--no-start"], ["test"]):
        done = person.runs("mcp", *arguments)
        assert done.status == 1, "one is not trusted"
        assert "! strange: not trusted" in done.out
        assert "· off: off" in done.out
    states = [json.loads(line)["state"] for line in person.runs("mcp", "list", "--json").out.splitlines()]
    assert states == ["not trusted", "off"]
    person.writes('[mcp.off]\ncommand = ["true"]\nenabled = false\n')
    assert person.runs("mcp", "list").status == 0, "whoever switches one off wants it so"
    assert person.runs("mcp", "test", "off").status == 1, "and whoever names it, does not"


def test_list_and_test_say_what_works_what_does_not_and_what_to_do(person):
    person.has_server("good")
    person.has_server("bad", "crash:initialize")
    done = person.runs("mcp", "list")
    assert done.status == 1
    assert "✓ good: 10 tools" in done.out
    assert "✗ bad: it ended with status 1; its last words: out of cheese (handshake)" in done.out
    assert "→ Try its command by hand" in done.out
    tested = person.runs("mcp", "test", "good")
    assert tested.status == 0
    assert "good__echo runs Say it back." in tested.out
    assert "handshake 0." in tested.out
    good, bad = (json.loads(line) for line in person.runs("mcp", "test", "--json").out.splitlines())
    assert good["seconds"].keys() == {"start", "handshake", "list"}
    assert bad["state"] == "failed"
    assert person.runs("mcp", "test", "god").status == 2
    quiet = person.runs("mcp", "list", "--no-start")
    assert quiet.status == 0
    assert "not started" in quiet.out
    assert not any(is_alive(pid) for name in ("good", "bad") for pid in pids(person.home, name))


def test_without_servers_it_says_how_to_have_one(person):
    done = person.runs("mcp", "list")
    assert done.status == 0
    assert "[mcp.NAME]" in done.out


@contextmanager
def running(person, script):
    """Run a task with `--json`, in a process of its own."""
    with serving(script) as sim:
        person.knows(f"{sim.url}/v1")
        with subprocess.Popen(
            [sys.executable, "-m", "headway", "run", "--json", "--approve", "auto", "Go."],
            env=dict(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            yield process


def test_an_interrupt_in_the_middle_of_a_call_ends_the_servers(person):
    person.has_server("far", "child", "stubborn")
    with running(person, Script(steps=(Call("far__sleep"), Final("Done.")))) as process:
        assert any('"tool_began"' in line for line in process.stdout)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == RunStatus.INTERRUPTED
    assert len(pids(person.home, "far")) == 2
    assert not any(map(is_alive, pids(person.home, "far")))


def test_an_interrupt_while_a_server_starts_is_told_as_any_other(person):
    person.has_server("slow", "hang:initialize")
    with running(person, Script(steps=(Final("Done."),))) as process:
        while not pids(person.home, "slow"):
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
    assert process.returncode == RunStatus.INTERRUPTED
    assert "interrupted" in out.splitlines()[-1]
    assert not any(map(is_alive, pids(person.home, "slow")))
