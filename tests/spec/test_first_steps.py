"""The first ten minutes: no key, a wrong key, no network, the simulator. Each stop says what to do next.

`docs/guides/first-steps.md` walks the same way.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from headway.cli.main import COMMANDS
from headway.sim import Script, load_script, serving
from support.newcomer import newcomer

__all__ = ["newcomer"]
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "first-steps.md"
AT_ONCE = "[limits]\nattempts = 1\n"


def words(ended):
    return " ".join((ended.out + ended.err).split())


# No key


def test_headway_alone_says_where_to_begin(newcomer):
    done = newcomer.runs()
    assert "Begin here: headway config init." in words(done)


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("chta", "No such command 'chta'. Did you mean 'chat'?"),
        ("Session list", "Did you mean 'sessions'?"),
        ("sessions shwo 1n8k", "Did you mean 'show'?"),
        ("config int", "Did you mean 'init'?"),
        ("mcp trst x", "Did you mean 'trust'?"),
        ("import litelm", "Did you mean 'litellm'?"),
        ("sessions 1n8k", "There is: delete, export, fork, import, list, rename, show."),
        ("run --aprove ask hi", "'--approve'"),
    ],
)
def test_a_misspelt_command_gets_the_one_that_was_meant(newcomer, typed, words):
    done = newcomer.runs(*typed.split())
    assert done.status == 2
    assert words in done.last_line


@pytest.mark.parametrize("command", [("run", "hi"), ("chat",), ("chat", "hi")], ids=" ".join)
def test_without_a_key_the_ways_to_one_are_named(newcomer, command):
    done = newcomer.runs(*command)
    assert done.status == 2
    for way in ("ANTHROPIC_API_KEY", "headway config init", "headway demo"):
        assert way in done.last_line
    assert "Traceback" not in done.err


def test_the_doctor_without_a_key_finds_just_that(newcomer):
    done = newcomer.runs("doctor", "--no-request")
    assert done.status == 1
    assert done.out.count("✗") - 1 == 1, "the other is in the last line"
    assert "→ Set ANTHROPIC_API_KEY" in done.out


def test_init_without_a_key_names_the_simulator(newcomer):
    done = newcomer.runs("config", "init", "--yes")
    assert (done.status, "--provider sim" in done.last_line) == (2, True)


def test_a_gateway_without_a_key_runs_and_says_what_it_lacks(tmp_path):
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "headway", "serve", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, cwd=tmp_path, text=True) as process:
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert "nobody to ask yet: run `headway config init`, then send SIGHUP" in line


# A wrong key


@pytest.mark.parametrize("command", ["run", "chat"])
def test_a_wrong_key_is_named_as_such_and_leads_to_the_doctor(newcomer, command):
    with serving(load_script("bad_key")) as sim:
        newcomer.has(OPENAI_API_KEY="sk-wrong-0123456789", OPENAI_BASE_URL=f"{sim.url}/v1")
        done = newcomer.runs(command, "hi")
        told = newcomer.runs("doctor", "openai")
    assert done.status == 1
    cause = next(line for line in done.err.splitlines() if "Given up" in line)
    assert "does not accept this key" in cause
    assert cause.endswith("headway doctor")
    assert "env:OPENAI_API_KEY holds a key, but not one for 127.0.0.1" in words(told)
    assert "0123456789" not in done.err + told.out


# No network


@pytest.mark.parametrize("command", ["run", "chat"])
def test_without_a_network_the_name_is_named_and_the_doctor_knows_what_works_all_the_same(newcomer, command):
    newcomer.knows("https://nobody.invalid/v1", more=AT_ONCE)
    done = newcomer.runs(command, "hi")
    assert done.status == 1
    cause = next(line for line in done.err.splitlines() if "Given up" in line)
    assert "nobody.invalid could not be resolved" in cause
    assert cause.endswith("headway doctor")
    assert "`headway demo` needs no network" in words(newcomer.runs("doctor", "one"))


# The simulator


def test_the_simulator_from_settings_to_a_page(newcomer):
    made = newcomer.runs("config", "init", "--provider", "sim", "--yes", "--here")
    assert made.status == 0
    assert made.out.splitlines()[-2] == "Next, in another terminal: headway sim"
    before = newcomer.runs("doctor", "sim")
    assert "Start the server at http://127.0.0.1:8321 (the simulator: `headway sim`)" in words(before)
    with serving(load_script("all_is_well")) as sim:
        path = newcomer.folder / "headway.toml"
        path.write_text(path.read_text().replace("127.0.0.1:8321", f"127.0.0.1:{sim.port}"))
        assert newcomer.runs("doctor", "sim").status == 0
        task = made.out.splitlines()[-1].partition('"')[2].rstrip('"')
        unattended = newcomer.runs("run", task)
        assert unattended.status == 4
        assert unattended.last_line.endswith("To allow such calls beforehand: --approve edits")
        assert newcomer.runs("run", "--approve", "edits", task).status == 0
    assert (newcomer.folder / "page.html").exists()


def test_what_answers_ends_in_an_answer(newcomer):
    with serving(Script()) as sim:
        newcomer.knows(f"{sim.url}/v1")
        done = newcomer.runs("run", "hi")
    assert (done.status, bool(done.out)) == (0, True)


# The guide


def test_the_guide_names_only_commands_that_there_are():
    text = GUIDE.read_text(encoding="utf-8")
    named = {line.split()[1] for line in text.splitlines() if line.startswith("headway ")}
    assert {"config", "doctor", "demo", "run", "chat", "sim", "serve"} <= named <= COMMANDS.keys()
