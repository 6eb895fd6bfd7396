"""A session wedged in another agent is taken over, and the next turn works, on every wire."""

import json
import os
import subprocess
import sys

import pytest

from headway.agent.happenings import Done
from headway.cli.sessions.importing import take_over
from headway.cli.sessions.reading import read_session
from headway.messages import ToolCall
from headway.sim.script import Final, Script
from headway.sim.thread import serving
from headway.turn.notices import Healed
from support.foreign import FILES, lines_of, replied, said, text, use
from support.lab import in_lab
from support.turns import WIRES

WENT_ON = Script(steps=(Final("I went on."),))


def import_into(lab, path):
    account = take_over(read_session(str(path), None, lab.folder), lab.sessions, lab.folder, "")
    return account.session


@WIRES
@pytest.mark.parametrize("source", FILES)
def test_the_next_turn_of_a_wedged_session_works(tmp_path, source, wire):
    async def work(lab):
        endpoint = await lab.provider(WENT_ON, wire)
        lab.session = await lab.sessions.resume(import_into(lab, FILES[source]))
        assert isinstance(await lab.again(endpoint).ask("continue"), Done)
        assert [one.refusal for one in lab.sims[0].log] == [""], "what is strictest took it at once"
        assert isinstance(await lab.again(endpoint).ask("And again."), Done)
        await lab.session.close()

    in_lab(tmp_path, work)


@pytest.mark.parametrize("source", FILES)
def test_what_the_account_told_is_not_told_again(tmp_path, source):
    async def work(lab):
        read = read_session(str(FILES[source]), None, lab.folder)
        account = take_over(read, lab.sessions, lab.folder, "")
        lab.session = await lab.sessions.resume(account.session)
        endpoint = await lab.provider(WENT_ON, read.session.wire)
        await lab.again(endpoint).ask("continue")
        assert account.repaired
        assert lab.told(Healed) == []
        await lab.session.close()

    in_lab(tmp_path, work)


def test_thinking_that_the_provider_does_not_know_again_does_not_stop_the_work(tmp_path):
    forged = {"type": "thinking", "thinking": "Hm.", "signature": "of another account"}
    path = tmp_path / "session.jsonl"
    blocks = (forged, use("toolu_1", "Bash", command="ls"))
    path.write_bytes(b"".join(lines_of(said("u", None, "Go."), replied("a", "u", *blocks))))

    async def work(lab):
        endpoint = await lab.provider(WENT_ON, "anthropic")
        lab.session = await lab.sessions.resume(import_into(lab, path))
        assert isinstance(await lab.again(endpoint).ask("continue"), Done)
        assert [bool(one.refusal) for one in lab.sims[0].log] == [True, False]
        await lab.session.close()

    in_lab(tmp_path, work)


def test_a_call_whose_result_was_lost_is_not_called_undone(tmp_path):
    """It may have been running when the other agent died: nobody can say that it had no effect."""

    async def work(lab):
        lab.session = await lab.sessions.resume(import_into(lab, FILES["claude-code"]))
        endpoint = await lab.provider(WENT_ON, "anthropic")
        await lab.again(endpoint).ask("continue")
        sent = json.dumps(lab.sims[0].log[0].body)
        assert "npm run deploy" in sent
        assert "unknown outcome" in sent
        assert "may or may not have taken effect" in sent
        await lab.session.close()

    in_lab(tmp_path, work)


def test_a_session_of_many_megabytes_is_taken_over_in_pieces(tmp_path):
    long = "All work and no play. " * 20_000
    lines = [said("u0", None, "Begin.")]
    for at in range(1, 21):
        lines.append(replied(f"a{at}", lines[-1]["uuid"], text(f"{at} {long}")))
        lines.append(said(f"u{at}", f"a{at}", f"Go on with {at}."))
    path = tmp_path / "session.jsonl"
    path.write_bytes(b"".join(lines_of(*lines)))

    async def work(lab):
        session = import_into(lab, path)
        kinds = [row.kind for row in lab.sessions.store.read(session)]
        assert kinds.count("imported") > 3
        assert max(len(row.body) for row in lab.sessions.store.read(session)) < 2_000_000
        assert len(lab.sessions.state(session).history) == 41

    in_lab(tmp_path, work)


def test_the_whole_way_as_a_person_goes_it(tmp_path):
    """One command brings a session over, and the next goes on with it."""
    (tmp_path / "work").mkdir()
    kept = {name: value for name, value in os.environ.items() if name == "PATH"}

    def headway(*arguments):
        command = [sys.executable, "-m", "headway", *arguments]
        environment = {**kept, "HEADWAY_HOME": str(tmp_path), "PYTHONUTF8": "1"}
        places = {"cwd": tmp_path / "work", "env": environment, "stdin": subprocess.DEVNULL}
        return subprocess.run(command, **places, capture_output=True, text=True, check=False)

    with serving(WENT_ON) as sim:
        (tmp_path / "headway.toml").write_text(
            f'[providers.sim]\nwire = "anthropic"\nbase_url = "{sim.url}/v1"\nkeys = []\n'
            '[routes.default]\nchain = ["sim/model"]\n'
        )
        taken = headway("sessions", "import", str(FILES["codex"]))
        session = taken.stdout.strip()
        done = headway("run", "--resume", session[:9], "continue")
        assert (done.returncode, done.stdout.strip()) == (0, "I went on.")
        assert [one.refusal for one in sim.log] == [""]
        assert "Fix the failing test." in json.dumps(sim.log[0].body)
    assert "dropped the incomplete call 'call_5' to 'shell'" in taken.stderr
    assert "headway run --resume" in taken.stderr


def test_calls_of_a_reply_that_hang_side_by_side_are_all_there(tmp_path):
    calls = [
        part
        for message in read_session(str(FILES["claude-code"]), None, tmp_path).session.messages
        for part in message.parts
        if isinstance(part, ToolCall)
    ]
    assert [call.id for call in calls][:2] == ["toolu_a", "toolu_b"]
