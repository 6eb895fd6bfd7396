"""`headway run`, as a person runs it: real processes, real sockets, a real database."""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from headway.sim.scenario import load_script
from headway.sim.script import WriteFile

WIRES = pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])


@contextmanager
def simulator(*arguments):
    """Start `headway sim` on a free port and give its address."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "headway", "sim", *arguments, "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        address = ""
        for line in process.stdout:
            if "ANTHROPIC_BASE_URL=" in line:
                address = line.split("ANTHROPIC_BASE_URL=")[1].strip()
                break
        yield address
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)


@pytest.fixture
def home(tmp_path):
    (tmp_path / "work").mkdir()
    return tmp_path


def settings(home, address, wire="chat", **limits):
    lines = [f"{name} = {value}" for name, value in ({"silence_seconds": 3} | limits).items()]
    (home / "headway.toml").write_text(
        f'[providers.sim]\nwire = "{wire}"\nbase_url = "{address}/v1"\nkeys = []\n'
        f'[routes.default]\nchain = ["sim/model-1"]\n[limits]\n' + "\n".join(lines)
    )


def command(home, *arguments):
    return [
        *(sys.executable, "-m", "headway", "run", "--config", str(home / "headway.toml")),
        *("--workspace", str(home / "work"), *arguments),
    ]


def run(home, *arguments, given=""):
    environment = {"PATH": os.environ["PATH"], "HEADWAY_HOME": str(home)}
    return subprocess.run(
        command(home, *arguments), input=given, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@WIRES
def test_a_page_is_written_whole_although_every_large_call_is_reset(home, wire):
    script = load_script("every_call_over_8_kb_is_reset")
    page = next(step for step in script.steps if isinstance(step, WriteFile))
    with simulator("every_call_over_8_kb_is_reset") as address:
        settings(home, address, wire)
        done = run(home, "--approve", "auto", script.prompt)
    assert done.returncode == 0, done.stderr
    assert (home / "work" / page.path).read_text(encoding="utf-8") == page.content
    assert "draft" in done.stderr, "what happens is told apart from the reply"
    assert "draft" not in done.stdout


def test_json_prints_one_event_a_line_and_the_session_goes_on(home):
    with simulator("all_is_well") as address:
        settings(home, address)
        done = run(home, "--approve", "auto", "--json", "Write page.html, then list the files.")
        events = [json.loads(line) for line in done.stdout.splitlines()]
        again = run(home, "--json", "--continue", given="And now?")
    assert events[0]["type"] == "headway"
    assert events[0]["format"] == 1
    assert events[-1]["type"] == "done"
    first = json.loads(again.stdout.splitlines()[0])
    assert first["session"] == events[0]["session"]
    assert again.returncode == 0


def test_an_edit_that_nobody_allowed_is_not_made(home):
    with simulator("all_is_well") as address:
        settings(home, address)
        done = run(home, "Write page.html.")
    assert list((home / "work").iterdir()) == []
    assert "--approve" in done.stderr


def test_nothing_listens_is_one_clear_last_line(home):
    settings(home, "http://127.0.0.1:9")
    done = run(home, "hello")
    assert done.returncode == 1
    assert "refused the connection" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[limts]\nx = 1", "limits"),
        ("[routes.default]\nchain = ['nobody/x']", "nobody"),
        ("[providers.x]\nkeys = ['sk-abcdefghijklmnop']", "env:"),
        ("[[", "headway.toml"),
    ],
)
def test_wrong_settings_are_one_clear_line(home, text, words):
    (home / "headway.toml").write_text(text)
    done = run(home, "hello")
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "sk-abc" not in done.stderr


def test_an_interrupt_closes_the_stream_keeps_what_came_and_the_next_run_goes_on(home):
    with simulator("pings_only") as address:
        settings(home, address, silence_seconds=60)
        environment = {"PATH": os.environ["PATH"], "HEADWAY_HOME": str(home)}
        with subprocess.Popen(
            command(home, "Tell me."),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            began = process.stdout.read(200)
            process.send_signal(signal.SIGINT)
            rest, told = process.communicate(timeout=10)
        assert process.returncode == 130
        assert "kept" in told
        assert "Traceback" not in told
        settings(home, address, silence_seconds=1)
        again = run(home, "--continue", "go on")
    assert again.returncode == 0, again.stderr
    assert began + rest
    assert "Traceback" not in again.stderr
