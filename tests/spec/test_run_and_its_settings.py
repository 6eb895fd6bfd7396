"""`headway run` does what its settings say, and tells who answered when that is not who was chosen."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import msgspec
import pytest
from msgspec.structs import replace

from headway.agent.happenings import AnsweredBy, Done
from headway.cli.lines import LAST, Line
from headway.cli.reference import PAGES
from headway.events import TextDelta
from headway.providers.changes import Bypassed
from headway.sim.catalog import read_fault
from headway.sim.filler import text_of
from headway.sim.script import Call, Final, Loop, Say, Script, Think, WriteFile
from headway.sim.thread import serving
from headway.transport.watchdog import Stage
from headway.turn.crew import Crew
from support.lab import asked, in_lab
from support.rows import row
from support.turns import TALK, WIRES, WORDS, broken

UNWELL = "wrong_status status=503"
KEPT = ("PATH", "PYTHONIOENCODING")


def started(folder, *arguments, sims, settings="", wire="chat"):
    """Start a task with a chain of providers, one after the other."""
    (folder / "work").mkdir(exist_ok=True)
    providers = "".join(
        f'[providers.p{number}]\nwire = "{wire}"\nbase_url = "{sim.url}/v1"\nkeys = []\n'
        for number, sim in enumerate(sims, 1)
    )
    chain = ", ".join(f'"p{number}/model"' for number in range(1, len(sims) + 1))
    (folder / "headway.toml").write_text(f"{providers}[routes.default]\nchain = [{chain}]\n{settings}\n")
    place = ["--config", str(folder / "headway.toml"), "--workspace", str(folder / "work")]
    return subprocess.Popen(
        [sys.executable, "-m", "headway", "run", *place, *arguments],
        env={name: value for name, value in os.environ.items() if name in KEPT} | {"HEADWAY_HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder, *arguments, **given):
    """Run a task to its end."""
    with started(folder, *arguments, **given) as process:
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def lines(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


# Failures


def test_what_several_upstreams_fail_by_is_said_once_with_their_names(tmp_path):
    with serving(Script(keys=("sk-right",))) as sim:
        done = run(tmp_path, "Go.", sims=[sim, sim, sim])
        told = run(tmp_path, "--json", "Go.", sims=[sim, sim, sim])
    assert done.returncode == told.returncode == 1
    *before, last = done.stderr.splitlines()
    reason = before[0].removeprefix("· p1/model: ")
    assert last.startswith(f"headway: p1/model, p2/model, p3/model: {reason} Given up: ")
    assert done.stderr.count(reason) == 2, "as it happens, and in the last line"
    assert "· p3/model: the same" in before
    assert told.stderr.startswith(f"headway: p1/model, p2/model, p3/model: {reason} Given up: ")


def test_what_one_of_several_fails_by_is_said_of_that_one(tmp_path):
    gone = Script(steps=TALK.steps, faults=(read_fault("wrong_status status=404"),))
    with serving(gone) as one, serving(Script(keys=("sk-right",))) as other:
        done = run(tmp_path, "Go.", sims=[one, other])
    last = done.stderr.splitlines()[-1]
    assert last.startswith("headway: p2/model: ")
    assert "p1/model" not in last


# Settings


def test_a_command_ends_when_its_time_in_the_settings_is_over(tmp_path):
    script = Script(steps=(Call("shell", {"command": "echo begun; sleep 60; echo ended"}), Final("It took too long.")))
    with serving(script) as sim:
        done = run(tmp_path, "--approve", "auto", "Go.", sims=[sim], settings="[agent]\nshell_seconds = 1")
        assert "stopped: it took longer than 1 s" in str(sim.log[-1].body), "the model is told"
    assert "shell failed: begun [stopped: it took longer than 1 s" in done.stderr


def test_an_agent_that_takes_too_many_steps_is_stopped(tmp_path):
    calls = tuple(Call("list_files", {"path": ".", "pattern": f"*.{kind}"}) for kind in ("a", "b", "c", "d", "e", "f"))
    with serving(Script(steps=(Loop(calls),))) as sim:
        done = run(tmp_path, "Go.", sims=[sim], settings="[agent]\nsteps = 4")
        assert len(sim.log) == 4
    assert done.returncode == 3
    assert "took 4 steps" in done.stderr.splitlines()[-1]


# Who answered


@row(34)
def test_the_user_is_told_once_who_answered_in_the_place_of_the_first(tmp_path):
    task = Script(
        steps=(Call("list_files", {"path": "."}), Call("list_files", {"path": "./"}), Final("Nothing there."))
    )
    with serving(replace(task, faults=(read_fault(UNWELL),))) as first, serving(task) as second:
        done = run(tmp_path, "Look.", sims=[first, second])
        told = [line for line in done.stderr.splitlines() if "answered by" in line]
        assert told == ["· answered by p2/model instead of p1/model"], "once, although it answered three times"
        again = run(tmp_path, "--json", "Look.", sims=[first, second])
    (event,) = (line for line in lines(again) if line["type"] == "answered_by")
    assert event == {"type": "answered_by", "upstream": "p2/model", "model": "model", "instead_of": "p1/model"}


@row(34)
@WIRES
def test_the_return_of_the_first_is_told_as_well(tmp_path, wire):
    async def work(lab):
        first = await lab.provider(broken(TALK, UNWELL), wire)
        second = await lab.provider(TALK, wire)
        agent = await lab.agent(first, second)
        assert await agent.ask(TALK.prompt) == Done(WORDS)
        lab.sims[0].provider.use(Script(steps=(Final("I am back."),)))
        assert isinstance(await agent.ask("Are you there?"), Done)
        assert isinstance(await agent.ask("And now?"), Done)
        changes = [(one.upstream, one.instead_of) for one in lab.told(AnsweredBy)]
        assert changes == [(second.name, first.name), (first.name, second.name)]

    in_lab(tmp_path, work)


@row(34)
def test_that_the_first_is_passed_over_is_told_once_and_not_before_every_reply(tmp_path):
    looking = Script(steps=(*(Call("list_files", {"path": "./" * n}) for n in range(1, 4)), Final("Nothing.")))

    async def work(lab):
        endpoint = await lab.provider(looking, "chat")
        agent = await lab.agent(endpoint)
        seconds = iter(range(60, 0, -1))
        agent._muster = lambda: Crew(
            (endpoint,), changes=(Bypassed("p0/x", endpoint.name, next(seconds)),), first="p0/x"
        )
        assert isinstance(await agent.ask("Look."), Done)
        assert len(lab.told(Bypassed)) == 1
        agent._muster = lambda: Crew((endpoint,))
        await agent.ask("And now?")
        agent._muster = lambda: Crew((endpoint,), changes=(Bypassed("p0/x", endpoint.name, None),))
        await agent.ask("And now?")
        assert len(lab.told(Bypassed)) == 2, "it is news again"

    in_lab(tmp_path, work)


def test_a_character_that_the_terminal_lacks_does_not_end_a_run(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    with serving(Script(steps=(Say("naïve “quotes” 😀. "), WriteFile("ä.txt", "ö"), Final("Done.")))) as sim:
        done = run(tmp_path, "--approve", "auto", "Go.", sims=[sim])
    assert done.returncode == 0, done.stderr
    assert "na?ve ?quotes? ?." in done.stdout


@WIRES
def test_nobody_is_told_what_they_expect_anyway(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(TALK, wire)
        await asked(lab, TALK, endpoint)
        assert lab.told(AnsweredBy) == []

    in_lab(tmp_path, work)


# How long it has been quiet


@row(10)
@WIRES
def test_how_long_a_stream_has_been_quiet_can_be_asked_at_any_time(tmp_path, wire):
    async def work(lab):
        endpoint = await lab.provider(broken(TALK, "pings_only at=500 first=1"), wire)
        agent = await lab.agent(endpoint)
        assert agent.quiet() is None
        asking = asyncio.ensure_future(agent.ask(TALK.prompt))
        await asyncio.sleep(12)
        assert lab.told(TextDelta)
        quiet = agent.quiet()
        assert quiet.stage is Stage.SPEAKING
        assert 11 < quiet.content_seconds < 13
        assert quiet.content_limit_seconds == 20
        assert quiet.byte_seconds < 11, "pings are bytes"
        assert await asking == Done(WORDS)
        assert agent.quiet() is None

    in_lab(tmp_path, work)


# What programs read

TROUBLED = Script(
    steps=(
        Think("I think first."),
        Say("I write it now."),
        WriteFile("page.html", text_of(9_000, "page.html")),
        Call("read_file", {"path": "nothing.txt"}),
        Final("The page is ready."),
    ),
    faults=(read_fault("rst at=6000 first=2"), read_fault("overloaded after=3 first=1")),
)


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
def test_every_line_of_a_troubled_run_is_of_a_type_that_is_documented(tmp_path, wire):
    with serving(TROUBLED) as sim:
        done = run(tmp_path, "--json", "--approve", "auto", "Write it.", sims=[sim], wire=wire)
    assert done.returncode == 0, done.stderr
    page = PAGES["events.md"]()
    written = done.stdout.encode().splitlines()
    for line in written:
        read = msgspec.json.decode(line, type=Line)
        assert msgspec.json.encode(read) == line, "nothing in it is unknown"
        assert f"### `{read.__struct_config__.tag}`" in page
    kinds = [json.loads(line)["type"] for line in written]
    assert kinds[0] == "headway"
    assert kinds[-1] == "done"
    assert {"broke", "draft_held", "trying_again", "tool_began", "tool_ended", "text", "answered"} <= set(kinds)
    assert not {one.__struct_config__.tag for one in LAST} & set(kinds[:-1]), "the last line cannot be mistaken"


def test_the_last_line_says_how_it_ended(tmp_path):
    with serving(Script(faults=(read_fault("bad_key"),))) as sim:
        failed = run(tmp_path, "--json", "Go.", sims=[sim])
    assert (failed.returncode, lines(failed)[-1]["type"]) == (1, "gave_up")
    assert len(failed.stderr.splitlines()) == 1, "and people get the cause in one line"
    with serving(Script(steps=(Loop((Call("list_files", {"path": "."}),)),))) as sim:
        stopped = run(tmp_path, "--json", "Go.", sims=[sim])
    assert (stopped.returncode, lines(stopped)[-1]["type"]) == (3, "stopped")


def test_an_interrupted_run_has_a_last_line_too(tmp_path):
    stalling = Script(steps=(Final("Words " * 100),), faults=(read_fault("pings_only at=100"),))
    with serving(stalling) as sim, started(tmp_path, "--json", "Go.", sims=[sim]) as process:
        for line in process.stdout:
            if json.loads(line)["type"] == "text":
                break
        process.send_signal(signal.SIGINT)
        rest, told = process.communicate(timeout=20)
    assert process.returncode == 130
    assert json.loads(rest.splitlines()[-1]) == {"type": "interrupted"}
    assert "interrupted" in told


def test_the_types_of_lines_can_be_told_apart():
    tags = [one.__struct_config__.tag for one in Line.__args__]
    assert len(tags) == len(set(tags))
