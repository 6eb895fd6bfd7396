"""`headway serve` and `headway trace`, as people run them: real processes, real signals, real files."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest
from msgspec.structs import replace

from headway.sim import Final, Pace, Script, read_fault
from headway.sim import serving as simulating
from support.serving import PATIENCE_SECONDS, Client, Serving, serve_command, serving

TEXT = " ".join(f"word{number}" for number in range(100))
TALK = Script(prompt="Go.", steps=(Final(TEXT),), pace=Pace(characters=20))
SLOW = replace(TALK, faults=(read_fault("stall at=200 seconds=4"),))


@pytest.fixture
def home(tmp_path):
    return tmp_path


def settings(home, address: str, more: str = "") -> None:
    (home / "headway.toml").write_text(
        f'[providers.sim]\nwire = "anthropic"\nbase_url = "{address}/v1"\nkeys = []\n'
        f'[routes.default]\nchain = ["sim/model-1"]\n{more}',
        encoding="utf-8",
    )


@pytest.fixture
def sim() -> Iterator:
    with simulating(TALK) as sim:
        yield sim


def headway(home, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = serve_command(home)
    words = [sys.executable, "-m", "headway", *arguments]
    return subprocess.run(
        words, env=command["env"], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
    )


def is_quiet(gateway: Serving) -> None:
    assert not [line for line in gateway.said if "Traceback" in line or "Error" in line], gateway.said


def test_it_serves_says_so_and_stops_in_order(home, sim):
    settings(home, sim.url)
    with serving(home) as gateway:
        assert gateway.ask() == (200, TEXT)
        assert gateway.get("/health/ready")[0] == 200
        models = json.loads(gateway.get("/v1/models")[1])
        assert [one["id"] for one in models["data"]] == ["default", "sim/model-1"]
        assert gateway.stop() == 0
    assert "default: sim/model-1" in gateway.said[0]
    assert "200" in gateway.said[1]
    assert "chat any → sim/model-1" in gateway.said[1]
    is_quiet(gateway)


def test_a_faulty_upstream_is_survived_and_told_in_one_line_and_in_its_trace(home, sim):
    sim.use(replace(TALK, faults=(read_fault("rst at=300 first=1"),)))
    settings(home, sim.url)
    with serving(home) as gateway:
        stream = gateway.begin()
        assert stream.text() == TEXT
        assert "survived 1 (stream_cut)" in gateway.line("sim/model-1  ")
        assert gateway.stop() == 0
    listed = headway(home, "trace", "--config", str(home / "headway.toml"))
    assert stream.id[:8] in listed.stdout
    page = headway(home, "trace", "--config", str(home / "headway.toml"), stream.id[:6]).stdout
    assert "1. sim/model-1" in page
    assert "stream cut" in page
    assert "answered (200)" in page
    lines = headway(home, "trace", "--config", str(home / "headway.toml"), "--json").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == [stream.id]


def test_json_lines_come_at_once(home, sim):
    settings(home, sim.url, '[gateway]\nlog = "json"\n')
    with serving(home) as gateway:
        stream = gateway.begin()
        stream.text()
        trace = json.loads(gateway.line('"outcome"'))
        assert (trace["id"], trace["outcome"], trace["status"]) == (stream.id, "answered", 200)
        gateway.stop()


def test_ctrl_c_stops_it(home, sim):
    settings(home, sim.url)
    with serving(home) as gateway:
        assert gateway.stop(signal.SIGINT) == 0
    is_quiet(gateway)


def test_sigterm_lets_streams_finish_and_takes_nothing_new(home, sim):
    sim.use(SLOW)
    settings(home, sim.url)
    with serving(home) as gateway:
        stream = gateway.begin()
        words = stream.first()
        gateway.process.send_signal(signal.SIGTERM)
        gateway.line("1 streams may finish first")
        with pytest.raises(ConnectionRefusedError):
            gateway.get("/health/live")
        assert words + stream.text() == TEXT
        assert gateway.process.wait(PATIENCE_SECONDS) == 0


def test_a_second_signal_does_not_wait(home, sim):
    sim.use(replace(TALK, faults=(read_fault("stall at=200"),)))
    settings(home, sim.url)
    with serving(home) as gateway:
        stream = gateway.begin()
        stream.first()
        gateway.process.send_signal(signal.SIGTERM)
        gateway.line("may finish first")
        assert gateway.stop() == 1
        stream.close()
    assert not [line for line in gateway.said if "Traceback" in line], gateway.said


def test_streams_that_do_not_finish_in_time_are_dropped_and_told(home, sim):
    sim.use(replace(TALK, faults=(read_fault("stall at=200"),)))
    settings(home, sim.url, "[gateway]\ndrain_seconds = 0.3\n")
    with serving(home) as gateway:
        stream = gateway.begin()
        stream.first()
        assert gateway.stop() == 0
        stream.close()
    assert any("1 streams did not finish in time" in line for line in gateway.said)
    assert not [line for line in gateway.said if "Traceback" in line], gateway.said


def test_sighup_reads_the_settings_again_and_drops_no_stream(home, sim):
    sim.use(SLOW)
    settings(home, sim.url)
    with serving(home) as gateway, simulating(replace(TALK, steps=(Final("From the other."),))) as other:
        stream = gateway.begin()
        words = stream.first()
        settings(home, other.url)
        gateway.process.send_signal(signal.SIGHUP)
        gateway.line("the settings were read again")
        assert gateway.ask() == (200, "From the other.")
        assert words + stream.text() == TEXT
        gateway.stop()
    is_quiet(gateway)


@pytest.mark.parametrize("mistake", ["[gateway]\nlisten = 7\n", "[[", "[gateway]\nkeys = ['env:NOT_SET']\n", None])
def test_settings_that_cannot_be_read_again_leave_the_old_ones_in_force(home, sim, mistake):
    settings(home, sim.url)
    with serving(home) as gateway:
        if mistake is None:
            (home / "headway.toml").unlink()
        else:
            settings(home, sim.url, mistake)
        gateway.process.send_signal(signal.SIGHUP)
        gateway.line("the old ones stay")
        assert gateway.ask() == (200, TEXT)
        gateway.stop()
    is_quiet(gateway)


def test_a_key_that_is_given_by_a_reload_is_wanted_from_then_on(home, sim):
    settings(home, sim.url)
    with serving(home) as gateway:
        assert gateway.ask()[0] == 200
        settings(home, sim.url, '[gateway]\nkeys = ["env:GATE_KEY"]\n')
        gateway.process.send_signal(signal.SIGHUP)
        gateway.line("read again")
        assert gateway.ask()[0] == 401
        gateway.stop()


def test_a_log_that_nobody_reads_is_no_reason_to_fail(home, sim):
    settings(home, sim.url)
    command = serve_command(home, "--listen", "127.0.0.1:0")
    with subprocess.Popen(**command, stderr=subprocess.PIPE) as process:
        port = int(re.search(r"127\.0\.0\.1:(\d+)", process.stderr.readline())[1])
        process.stderr.close()
        try:
            assert [Client(port).ask() for _ in range(3)] == [(200, TEXT)] * 3
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[gatway]\nlisten = ':1'", "gateway"),
        ("[gateway]\nlisten = '0.0.0.0:0'", "keys"),
        ("[gateway]\nlisten = 'somewhere'", "127.0.0.1:8320"),
        ("[gateway]\nkeys = ['a-key-written-out']", "env:"),
        ("[gateway]\nlog = 'loud'", "json"),
        ("[routes.default]\nchain = ['nobody/x']", "nobody"),
        ("[[", "headway.toml"),
    ],
)
def test_wrong_settings_are_one_clear_line(home, text, words):
    (home / "headway.toml").write_text(text, encoding="utf-8")
    done = headway(home, "serve", "--config", str(home / "headway.toml"))
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert "a-key-written-out" not in done.stderr


def test_a_port_in_use_is_one_clear_line(home, sim):
    settings(home, sim.url)
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        done = headway(home, "serve", "--config", str(home / "headway.toml"), "--listen", listen)
    assert done.returncode == 2
    assert "--listen" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_trace_of_nothing_is_one_clear_line(home, sim):
    settings(home, sim.url)
    done = headway(home, "trace", "--config", str(home / "headway.toml"))
    assert done.returncode == 2
    assert "there are no traces yet" in done.stderr


def test_a_trace_that_is_not_there_is_one_clear_line(home, sim):
    settings(home, sim.url)
    with serving(home) as gateway:
        gateway.ask()
        gateway.stop()
    done = headway(home, "trace", "--config", str(home / "headway.toml"), "zzzz")
    assert done.returncode == 2
    assert "no request has that id" in done.stderr


def test_a_trace_is_kept_when_the_gateway_is_killed(home, sim):
    settings(home, sim.url)
    with serving(home) as gateway:
        stream = gateway.begin()
        stream.text()
        for _ in range(100):
            listed = headway(home, "trace", "--config", str(home / "headway.toml"), "--json")
            if stream.id in listed.stdout:
                break
        os.kill(gateway.process.pid, signal.SIGKILL)
    assert stream.id in headway(home, "trace", "--config", str(home / "headway.toml"), "--json").stdout
