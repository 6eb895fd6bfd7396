"""`headway sim`: lists, help for people, and a server that tells what happens and stops when told."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from headway.cli.sim import sim
from headway.failure import InvalidInput
from headway.sim import fault_table, scenarios
from headway.sim.answers import in_stream, statuses

PROGRAM = "from headway.cli.sim import sim; sim()"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(sim, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_the_list_has_every_scenario_with_what_it_shows() -> None:
    listed = run("--list")
    assert all(f"{name}\n    {about}" in listed for name, about in scenarios().items())


def test_the_faults_are_listed_with_their_parameters_places_and_answers() -> None:
    listed = run("--faults")
    assert all(f"\n  {row.name}" in listed and row.about in listed for row in fault_table())
    assert "stall at=50% seconds=0" in listed
    assert "call+2000" in listed
    assert all(name in listed for name in (*in_stream(), *statuses()))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["stale_strem_in_a_large_call"], "Did you mean 'stale_stream_in_a_large_call'"),
        (["--listen", "nowhere"], "it is no address"),
        (["--listen", "127.0.0.1:99999"], "it is no address"),
        (["--listen", "203.0.113.9:1"], "cannot listen there"),
        (["--fault", "stal"], "Did you mean 'stall'"),
        (["--fault", "stall at"], "is no parameter"),
        (["--fault", "stall at='2"], "Close every quote"),
    ],
)
def test_what_is_wrong_is_said_for_people(arguments: list[str], said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        CliRunner().invoke(sim, arguments, catch_exceptions=False)
    assert said in str(caught.value)


def test_it_serves_tells_and_stops_with_a_summary(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", PROGRAM, "cut_text", "--listen", "127.0.0.1:0", "--fault", "overloaded first=1"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        greeting = ""
        while "Ctrl-C" not in greeting:
            greeting += process.stdout.readline()
        address = re.search(r"OPENAI_BASE_URL=(http://127\.0\.0\.1:\d+/v1)", greeting)
        assert address
        assert "ANTHROPIC_BASE_URL=http://127.0.0.1:" in greeting
        for _ in range(2):
            body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Tell me."}]}).encode()
            request = urllib.request.Request(f"{address[1]}/chat/completions", body)
            with pytest.raises(OSError, match=r"503|[Rr]eset|closed"):
                urllib.request.urlopen(request, timeout=10)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=10)
    assert process.returncode == 0
    assert errors == ""
    assert "#1   chat       overloaded\n#1   chat       503 answered, after" in output
    assert "#2   chat       rst\n#2   chat       --- cut by us, after" in output
    assert "2 requests on 2 connections. Faults: overloaded 1×, rst 1×." in output
