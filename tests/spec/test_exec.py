"""`headway exec` in real processes: the client is pointed at the gateway, its keys move upstream, its end is ours."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from headway.sim import Final, Pace, Say, Script, WriteFile, read_fault, serving
from support.screen import Seat

TEXT = " ".join(f"word{number}" for number in range(400))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
CLIENT = """\
import json, os, sys, urllib.error, urllib.request

base = os.environ.get("ASK", os.environ.get("ANTHROPIC_BASE_URL", ""))
key = os.environ.get("SHOW") or os.environ.get("ANTHROPIC_AUTH_TOKEN") or os.environ.get("ANTHROPIC_API_KEY", "")
message = {"role": "user", "content": "Go."}
asked = json.dumps({"model": "m-1", "max_tokens": 9000, "stream": True, "messages": [message]})
head = {"content-type": "application/json", "anthropic-version": "2023-06-01", "authorization": f"Bearer {key}"}
said = {"environ": dict(os.environ), "arguments": sys.argv[1:]}
if "ask" in sys.argv:
    try:
        with urllib.request.urlopen(urllib.request.Request(base + "/v1/messages", asked.encode(), head)) as answer:
            frames = [json.loads(line[6:]) for line in answer.read().decode().splitlines() if line.startswith("data: ")]
            said["text"] = "".join(frame.get("delta", {}).get("text", "") for frame in frames)
            said["status"] = answer.status
    except urllib.error.HTTPError as refused:
        said |= {"status": refused.code, "text": refused.read().decode()}
print(json.dumps(said))
"""
WAITS = """\
import os, select, signal, sys
for name in ("SIGTERM", "SIGHUP", "SIGINT"):
    signal.signal(getattr(signal, name), lambda *_: None)
readable, writable = os.pipe()
os.set_blocking(writable, False)
signal.set_wakeup_fd(writable)
print("ready", flush=True)
select.select([readable], [], [], 60)
got = os.read(readable, 99)  # one byte for each signal
if len(got) == 1 and select.select([readable], [], [], 1)[0]:  # would a second one come, it would come now
    got += os.read(readable, 99)
sys.exit(50 + got[0] if len(got) == 1 else 40)
"""


@pytest.fixture
def sim():
    with serving(TALK) as server:
        yield server


class Bench:
    """A home with programs in it that pretend to be clients."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        self.programs.mkdir()
        self.environ = {"PATH": f"{self.programs}:{os.environ['PATH']}", "HOME": str(folder), "LANG": "C.UTF-8"}

    def program(self, name: str, code: str = CLIENT) -> str:
        path = self.programs / name
        path.write_text(f"#!{sys.executable}\n{code}", encoding="utf-8")
        path.chmod(0o755)
        return name

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "headway", "exec", *words]

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=self.environ | variables,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def said_by(done: subprocess.CompletedProcess[str]) -> dict:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_key_in_the_environment_moves_upstream_and_the_client_has_another(bench, sim):
    done = bench.run("--", bench.program("claude"), "ask", ANTHROPIC_API_KEY="sk-mine", ANTHROPIC_BASE_URL=sim.url)
    said = said_by(done)
    assert said["text"] == TEXT
    assert "sk-mine" not in said["environ"].values(), "the client does not have it any more"
    assert [exchange.key for exchange in sim.log] == ["sk-mine"]
    assert sim.log[0].model == "m-1", "the model that the client asks for"
    assert done.stderr == "headway: 1 stream, 0 faults survived\n"


def test_a_client_that_logged_in_shows_its_own_key_upstream(bench, sim):
    done = bench.run("--", bench.program("claude"), "ask", SHOW="its-own-token", ANTHROPIC_BASE_URL=sim.url)
    assert said_by(done)["text"] == TEXT
    assert [exchange.key for exchange in sim.log] == ["its-own-token"]


def test_who_shows_another_key_gets_nowhere_with_ours(bench, sim):
    """Somebody else on this machine finds the port; a client that logs in is let in, with its own key only."""
    given = {"ANTHROPIC_API_KEY": "sk-mine", "ANTHROPIC_BASE_URL": sim.url, "SHOW": "a-strangers-key"}
    said_by(bench.run("--", bench.program("claude"), "ask", **given))
    assert [exchange.key for exchange in sim.log] == ["a-strangers-key"]
    said = said_by(bench.run("--", bench.program("aider"), "ask", **given))
    assert said["status"] == 401
    assert len(sim.log) == 1, "and nobody was asked"


def test_faults_are_survived_and_told_in_one_line_at_the_end(bench):
    script = replace(TALK, faults=(read_fault("rst at=900 first=1"), read_fault("overloaded after=1 first=1")))
    with serving(script) as sim:
        done = bench.run("--", bench.program("claude"), "ask", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=sim.url)
    assert said_by(done)["text"] == TEXT
    assert done.stderr.startswith("headway: 1 stream, 2 faults survived (")
    assert "tokens saved" in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_failure_that_nothing_helps_against_is_told(bench):
    with serving(replace(TALK, faults=(read_fault("wrong_status status=500"),))) as sim:
        done = bench.run(
            *("--", bench.program("claude"), "ask"),
            ANTHROPIC_API_KEY="k",
            ANTHROPIC_BASE_URL=sim.url,
            HEADWAY_LIMITS_ATTEMPTS="1",
        )
    assert said_by(done)["status"] >= 500
    assert "1 failed (headway trace says why)" in done.stderr


def test_a_run_that_asks_nobody_ends_without_a_word(bench):
    done = bench.run("--", bench.program("claude"), ANTHROPIC_API_KEY="k")
    assert done.stderr == ""


def test_quiet_says_nothing_at_the_end(bench, sim):
    done = bench.run("-q", "--", bench.program("claude"), "ask", ANTHROPIC_API_KEY="k", ANTHROPIC_BASE_URL=sim.url)
    assert (done.returncode, done.stderr) == (0, "")


def test_routes_of_the_settings_decide_whatever_the_client_asks_for(bench):
    steps = (Say("I write it."), WriteFile("a", "b" * 500), Final("Done."))
    with serving(TALK) as first, serving(replace(TALK, steps=steps)) as second:
        (bench.folder / "headway.toml").write_text(
            f'[providers.one]\nwire = "chat"\nbase_url = "{first.url}"\nkeys = ["env:ONE"]\n'
            f'[providers.two]\nwire = "responses"\nbase_url = "{second.url}"\nkeys = ["env:TWO"]\n'
            '[routes.default]\nchain = ["one/x-1"]\n[routes.m-1]\nchain = ["two/y-2"]\n',
            encoding="utf-8",
        )
        done = bench.run("--", bench.program("claude"), "ask", ONE="1", TWO="2", ANTHROPIC_API_KEY="sk-mine")
        assert said_by(done)["text"].startswith("I write it.")
        assert [(exchange.model, exchange.key) for exchange in second.log] == [("y-2", "2")]
        assert list(first.log) == []


def test_with_routes_nobody_gets_in_without_the_key_of_the_run(bench, sim):
    (bench.folder / "headway.toml").write_text(
        f'[providers.one]\nwire = "chat"\nbase_url = "{sim.url}"\nkeys = ["env:ONE"]\n'
        '[routes.default]\nchain = ["one/x"]\n',
        encoding="utf-8",
    )
    assert said_by(bench.run("--", bench.program("claude"), "ask", ONE="1", SHOW="a-strangers-key"))["status"] == 401
    assert list(sim.log) == []


def test_keys_of_another_provider_answer_when_the_clients_own_has_none(bench):
    done = bench.run("--", bench.program("aider"), GROQ_API_KEY="g")
    assert said_by(done)["environ"]["OPENAI_BASE_URL"].endswith("/v1")
    assert "groq will answer, whatever model is asked for" in done.stderr


def test_nobody_to_ask_is_said_before_anything_runs(bench):
    done = bench.run("--", bench.program("aider"))
    assert done.returncode == 2
    assert "there is nobody to ask" in done.stderr
    assert "Set ANTHROPIC_API_KEY or OPENAI_API_KEY" in done.stderr


def test_a_client_that_nobody_knows_gets_the_usual_variables_and_those_it_is_given(bench):
    done = bench.run(
        *("--env", "MY_URL={url}/v1", "--env", "MY_KEY={key}", "--wire", "chat", "--", bench.program("my-agent")),
        OPENAI_API_KEY="sk-mine",
        ANTHROPIC_API_KEY="sk-mine",
    )
    environ = said_by(done)["environ"]
    assert environ["MY_URL"] == environ["OPENAI_BASE_URL"] == environ["OPENAI_API_BASE"]
    assert environ["MY_KEY"] == environ["OPENAI_API_KEY"] != "sk-mine"
    assert "ANTHROPIC_BASE_URL" not in environ, "only the wire that was named"
    assert "not known" not in done.stderr, "who is given variables is not told about others"
    assert "this client is not known" in bench.run("--", bench.program("my-agent"), OPENAI_API_KEY="k").stderr


def test_arguments_reach_the_client_as_they_are(bench):
    done = bench.run("--", bench.program("claude"), "-p", "--config", "x", "--", "é $HOME", ANTHROPIC_API_KEY="k")
    assert said_by(done)["arguments"] == ["-p", "--config", "x", "--", "é $HOME"]


def test_config_overrides_stand_before_the_clients_own_arguments(bench):
    arguments = said_by(bench.run("--", bench.program("codex"), "exec", "Go.", OPENAI_API_KEY="k"))["arguments"]
    assert arguments[0] == "-c"
    assert arguments[-2:] == ["exec", "Go."]


def test_a_file_that_a_client_needs_is_there_while_it_runs_and_gone_afterwards(bench):
    code = "import sys, pathlib; path = pathlib.Path(sys.argv[2]); print(path); print(path.read_text())"
    done = bench.run("--", bench.program("pi", code), ANTHROPIC_API_KEY="k")
    path, _, text = done.stdout.partition("\n")
    assert "registerProvider" in text
    assert not Path(path).exists()


@pytest.mark.parametrize(
    ("code", "status"),
    [("import sys; sys.exit(7)", 7), ("import os; os.kill(os.getpid(), 9)", 137), ("import os; os.abort()", 134)],
)
def test_the_end_of_the_client_is_the_end_of_the_command(bench, code, status):
    assert bench.run("--", bench.program("claude", code), ANTHROPIC_API_KEY="k").returncode == status


def test_a_command_that_is_not_there_is_127_and_a_sentence(bench):
    done = bench.run("--", "no-such-agent", ANTHROPIC_API_KEY="k")
    assert done.returncode == 127
    assert done.stderr == "headway: no-such-agent: there is no such command. Is it installed, and in PATH?\n"


def test_a_file_that_cannot_be_run_is_126(bench):
    path = bench.folder / "claude"
    path.write_text("no program", encoding="utf-8")
    assert bench.run("--", str(path), ANTHROPIC_API_KEY="k").returncode == 126
    path.chmod(0o755)
    assert bench.run("--", str(path), ANTHROPIC_API_KEY="k").returncode == 126


def test_a_client_of_a_foreign_wire_is_refused(bench):
    done = bench.run("--", bench.program("gemini"), ANTHROPIC_API_KEY="k")
    assert done.returncode == 2
    assert "Google's own wire" in done.stderr


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_that_is_sent_to_us_reaches_the_client_once(bench, name):
    number = getattr(signal, name)
    started = subprocess.Popen(
        bench.command("--", bench.program("claude", WAITS)),
        env=bench.environ | {"ANTHROPIC_API_KEY": "k"},
        cwd=bench.folder,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    with started:
        assert started.stdout is not None
        assert started.stdout.readline() == b"ready\n"
        started.send_signal(number)
        assert started.wait(30) == 50 + number


def test_an_interrupt_from_the_terminal_reaches_the_client_once(bench):
    """Two would mean "quit" to most agents."""
    bench.program("claude", WAITS)
    environment = bench.environ | {"ANTHROPIC_API_KEY": "k"}
    with Seat(bench.command("--", "claude"), environment, cwd=bench.folder) as seat:
        seat.sees("ready")
        seat.type("\x03")
        assert seat.ends() == 50 + signal.SIGINT


def test_a_path_that_is_not_there_is_said_in_the_clients_words(bench, sim):
    done = bench.run(
        *("--env", "ASK={url}/nowhere", "--", bench.program("claude"), "ask"),
        ANTHROPIC_API_KEY="k",
        ANTHROPIC_BASE_URL=sim.url,
    )
    assert said_by(done)["status"] == 404
