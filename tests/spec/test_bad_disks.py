"""Full disks, read-only homes, damaged stores, sessions in use: a clear last line, nothing lost, and work that goes on.

A new task needs no store to be done: it is done, and the last line says what is not kept. To go on with a session needs
that session. What could have an effect is not done if that cannot be written down first.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from itertools import count
from pathlib import Path

import apsw
import pytest

from headway.sim.catalog import read_fault
from headway.sim.script import Call, Final, Script
from headway.sim.thread import serving
from headway.store import records as r
from headway.store.sqlite import SqliteStore
from support.desk import Desk
from support.journals import rows_of
from support.nursery import Death, Nursery, Weather
from support.rows import row

COUNT = 'echo "$PPID" >> ran.txt; echo counted'
TALK = Script(steps=(Final("Patience is a virtue."),))
WORK = Script(
    steps=(
        Call("list_files", {}),
        Call("shell", {"command": COUNT}),
        Call("write_file", {"path": "page.html", "content": "<p>whole</p>\n" * 100}),
        Final("All is done."),
    )
)
FULL = "full"
NOTHING_KEPT = "headway: nothing of this is kept: "


@pytest.fixture(scope="module")
def sim():
    with serving(TALK) as server:
        yield server


@pytest.fixture(scope="module")
def nursery():
    with tempfile.TemporaryDirectory() as name:
        nursery = Nursery(Path(name))
        yield nursery
        nursery.close()


@pytest.fixture
def home():
    """A home in memory where there is one: syncing is not what is tested here."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        yield Path(name)


@pytest.fixture
def desk(home, sim, nursery):
    sim.use(TALK)
    return Desk(home, sim, nursery)


def is_clear(ended, *words):
    """Say whether the last line is one for people: who speaks, what happened to what, what to do next."""
    assert "Traceback" not in ended.err, ended.err
    line = ended.last_line
    assert line.startswith("headway: "), ended.err
    assert all(word in line for word in words), line
    assert len(line) < 900
    return True


def has_words(desk):
    """Say whether what the user said is kept."""
    return any(isinstance(record, r.UserSaid) for record in desk.records())


# A full disk


def test_a_disk_that_fills_at_any_write_never_lets_an_effect_happen_unwritten(home, sim, nursery):
    seen = set()
    for room in count(0, 3):
        place = home / str(room)
        place.mkdir()
        sim.use(WORK)
        desk = Desk(place, sim, nursery)
        ended = desk.run("Do it.", weather=Weather(full_after=room))
        if not ended.err.splitlines()[-1].startswith("headway: "):
            break
        assert is_clear(ended, str(desk.database), FULL, "kept", "Make room")
        if NOTHING_KEPT in ended.err:
            seen.add("nothing was kept, and all was done")
            assert ended.status == 0
            assert desk.ran() == [ended.pid]
            assert desk.has_nothing_to_go_on_with()
            continue
        intended = [one.call.name for one in desk.records() if isinstance(one, r.ToolIntended)]
        assert len(desk.ran()) == intended.count("shell")
        assert (desk.file("page.html") is not None) == ("write_file" in intended)
        assert ended.status == ("write_file" not in intended)
        seen.add(f"stopped after {len(intended)} intents" if ended.status else "all was done and not all was kept")
        if not has_words(desk):
            assert desk.has_nothing_to_go_on_with()
            continue
        desk.goes_on()
        assert desk.every_intent_is_of_another_call()
        assert desk.file("page.html") == "<p>whole</p>\n" * 100
    assert {"nothing was kept, and all was done", "all was done and not all was kept"} < seen
    assert any(what.startswith("stopped after") for what in seen)


def test_an_answer_comes_although_it_cannot_be_written_down(desk):
    desk.run("Hello.")
    for room in count():
        before = len(desk.records())
        ended = desk.run("--continue", "Tell me.", weather=Weather(full_after=room))
        if ended.status == 0:
            break
        assert is_clear(ended, str(desk.database), FULL, "Make room"), "without its session it cannot go on"
        assert len(desk.records()) == before
    assert ended.out == "There is nothing left to do.\n"
    assert is_clear(ended, "not all of this is kept", str(desk.database), FULL, "Make room")
    assert len(desk.records()) == before
    desk.goes_on()


def test_a_disk_that_is_full_for_a_while_costs_nothing(home, sim, nursery):
    for room in count(20):
        place = home / str(room)
        place.mkdir()
        sim.use(WORK)
        desk = Desk(place, sim, nursery)
        ended = desk.run("Do it.", weather=Weather(full_after=room, full_for=1))
        if "going on in memory" in ended.err and "nothing of this" not in ended.err and ended.status == 0:
            break
    assert "headway: " not in ended.err, "in the end, all is kept"
    kinds = [record.__struct_config__.tag for record in desk.records()]
    assert kinds[-1] == "turn_ended"
    assert {kind: kinds.count(kind) for kind in ("user_said", "reply_received", "tool_intended", "tool_finished")} == {
        "user_said": 1,
        "reply_received": 4,
        "tool_intended": 3,
        "tool_finished": 3,
    }


def test_machines_are_told_on_their_own_channel(desk):
    ended = desk.run("--json", "Tell me.", weather=Weather(full_after=0))
    assert ended.status == 0
    events = [json.loads(line) for line in ended.out.splitlines()]
    assert [event["type"] for event in events if event["type"] in {"not_kept", "done"}] == ["not_kept", "done"]
    assert is_clear(ended, FULL)


def test_an_interrupt_while_the_disk_is_full_does_not_claim_that_all_is_kept(home, sim, nursery):
    for room in count(20):
        place = home / str(room)
        place.mkdir()
        sim.use(WORK)
        desk = Desk(place, sim, nursery)
        dies = Death("interrupted", "tool_finished", 2)
        ended = desk.run("Do it.", weather=Weather(full_after=room), dies=dies)
        if ended.status == 130 and has_words(desk):
            break
    assert is_clear(ended, "interrupted", "not all of this is kept", FULL, "Make room")
    desk.goes_on()


def test_a_file_that_cannot_grow_stays_as_it_was_and_the_model_is_told(desk):
    big = "line\n" * 300_000
    (desk.work / "big.txt").write_text(big)
    call = Call("write_file", {"path": "big.txt", "content": "more", "append": True})
    desk.sim.use(Script(steps=(call, Final("Done."))))
    ended = desk.run("Add to it.", weather=Weather(most_bytes=1_000_000))
    assert ended.status == 0, ended.err
    assert "write_file failed" in ended.err
    assert "File too large" in ended.err
    assert desk.file("big.txt") == big
    assert [path.name for path in desk.work.iterdir()] == ["big.txt"], "no temporary file is left"
    assert "Traceback" not in ended.err
    desk.goes_on()


@pytest.mark.parametrize("weather", [Weather(full_after=0), Weather(heeds_rights=True)], ids=["full", "read-only"])
def test_sessions_are_read_where_nothing_can_be_written(desk, weather):
    desk.run("Hello, this is precious.")
    before = desk.database.read_bytes()
    if weather.heeds_rights:
        read_only(desk.home)
    listed, shown, exported = (
        desk.nursery.run(desk.home, "sessions", *words, weather=weather)
        for words in (["list", "--all"], ["show", "1"], ["export", "1"])
    )
    desk.home.chmod(0o755)
    for ended in (listed, shown, exported):
        assert ended.status == 0, ended.err
        assert "Hello, this is precious." in ended.out
    assert desk.database.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_disk_behind_standard_output_is_one_clear_line_and_what_was_said_goes_on(desk, more):
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "headway", *desk.arguments(*more, "Tell me.")],
            env={"PATH": "/usr/bin:/bin", "HEADWAY_HOME": str(desk.home)},
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    assert ended.stderr == "headway: the output could not be read or written: No space left on device\n"
    assert has_words(desk) is not bool(more), "a program is told of the session before the task is"
    if more:
        assert desk.has_nothing_to_go_on_with()
    else:
        desk.goes_on()


# Places that cannot be written to


def test_a_read_only_home_does_not_keep_a_task_from_being_done(desk):
    desk.run("Hello.")
    before = desk.database.read_bytes()
    desk.sim.use(WORK)
    read_only(desk.home)
    ended = desk.run("Do it.", weather=Weather(heeds_rights=True))
    assert ended.status == 0, ended.err
    assert desk.ran() == [ended.pid]
    assert is_clear(ended, NOTHING_KEPT, str(desk.database), "cannot be written to", "headway.toml")
    assert desk.database.read_bytes() == before
    refused = desk.run("--continue", "go on", weather=Weather(heeds_rights=True))
    assert refused.status == 1
    assert is_clear(refused, str(desk.database), "cannot be written to", "Nothing was changed")
    desk.home.chmod(0o755)
    desk.goes_on()


def read_only(home):
    """Leave nobody the right to write there, but into the folder of work."""
    for path in home.iterdir():
        path.chmod(0o777 if path.name == "work" else 0o444)
    home.chmod(0o555)


@pytest.mark.parametrize("name", ["new/headway.db", "headway.db"])
def test_a_home_in_which_nothing_can_be_made(desk, name):
    desk = Desk(desk.home, desk.sim, desk.nursery, extra=f'[store]\nurl = "sqlite:{name}"\n')
    read_only(desk.home)
    ended = desk.run("Tell me.", weather=Weather(heeds_rights=True))
    desk.home.chmod(0o755)
    assert ended.status == 0, ended.err
    assert ended.out == "Patience is a virtue.\n"
    assert is_clear(ended, NOTHING_KEPT, name, "cannot be written to")


def test_a_home_that_is_a_file(desk):
    desk = Desk(desk.home, desk.sim, desk.nursery, extra='[store]\nurl = "sqlite:headway.toml/headway.db"\n')
    ended = desk.run("Tell me.")
    assert ended.status == 0
    assert is_clear(ended, NOTHING_KEPT, "headway.toml/headway.db", "cannot be opened or made", "Make sure")


# Stores that are damaged, strange, or too new


def header_of_noise(path):
    path.write_bytes(bytes(range(7, 107)) + path.read_bytes()[100:])


def cut_short(path):
    path.write_bytes(path.read_bytes()[:9000])


def other_text(path):
    path.write_bytes(b"Dear diary, " * 1000)


def other_program(path):
    path.unlink()
    db = apsw.Connection(str(path))
    db.execute("create table bookmarks (url text)")
    db.close()


def too_new(path):
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()


def first_page_of_noise(path):
    data = bytearray(path.read_bytes())
    data[100:4096] = b"\xff" * 3996
    path.write_bytes(data)


@row(42)
@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (header_of_noise, "If it should be one, it is damaged"),
        (first_page_of_noise, "is damaged"),
        (cut_short, "is damaged"),
        (other_text, "is not a session store"),
        (other_program, "another program"),
        (too_new, "Update Headway"),
    ],
)
def test_a_store_that_cannot_be_used_is_left_as_it_is_and_the_task_is_done(desk, damage, words):
    desk.run("Hello, this is precious.")
    damage(desk.database)
    before = desk.database.read_bytes()
    desk.sim.use(WORK)
    ended = desk.run("Do it.")
    assert ended.status == 0, ended.err
    assert desk.ran() == [ended.pid]
    assert is_clear(ended, NOTHING_KEPT, str(desk.database), words, "left as it is")
    refused = desk.run("--continue", "go on")
    assert refused.status == 1
    assert is_clear(refused, str(desk.database), words, "left as it is")
    assert desk.database.read_bytes() == before
    if "run: " in ended.last_line:
        judge_the_advice(desk, ended.last_line, before)


def judge_the_advice(desk, line, damaged):
    """Do as the line says: what is damaged is kept, and from then on all is well."""
    command = re.search(r"run: (.*?)\.( |$)", line)[1]
    assert shlex.quote(str(desk.database)) in command
    subprocess.run(command, shell=True, check=True)
    assert damaged in [path.read_bytes() for path in desk.home.rglob("headway.db")]
    ended = desk.run("Hello again.")
    assert ended.status == 0
    assert "headway: " not in ended.err
    desk.goes_on()


def test_a_folder_in_the_place_of_the_store(desk):
    desk.database.mkdir()
    (desk.database / "kept").touch()
    ended = desk.run("Tell me.")
    assert ended.status == 0
    assert ended.out == "Patience is a virtue.\n"
    assert is_clear(ended, NOTHING_KEPT, str(desk.database), "names a file")
    assert (desk.database / "kept").exists()


def test_an_empty_file_is_a_new_store(desk):
    desk.database.touch()
    ended = desk.run("Hello.")
    assert (ended.status, ended.err) == (0, "")
    desk.goes_on()


def test_one_damaged_session_does_not_take_the_others_with_it(desk):
    store = SqliteStore(desk.database)
    for name in ("a", "b", "c"):
        opened = r.SessionOpened(name, str(desk.work), 1.0)
        store.create(name, rows_of([opened, *[r.TextReceived(1, f"{name} {n} " * 300) for n in range(40)]]))
    store.close()
    data = bytearray(desk.database.read_bytes())
    at = data.index(b"b 20 b 20") // 4096 * 4096
    data[at : at + 64] = b"\xff" * 64
    desk.database.write_bytes(data)
    refused = desk.run("--resume", "b", "go on")
    assert refused.status == 1
    assert is_clear(refused, str(desk.database), "is damaged", "left as it is")
    assert bytes(data) == desk.database.read_bytes()
    fine = desk.run("--resume", "a", "go on")
    assert (fine.status, fine.out) == (0, "Patience is a virtue.\n"), fine.err
    assert desk.run("Something new.").status == 0


# Sessions in use


def test_a_session_in_use_is_refused_by_the_name_of_its_owner_and_a_new_one_is_not(desk):
    desk.sim.use(Script(steps=TALK.steps, faults=(read_fault("stall at=text+8 first=1"),)))
    owner = subprocess.Popen(
        [sys.executable, "-m", "headway", *desk.arguments("Tell me.")],
        env={"PATH": "/usr/bin:/bin", "HEADWAY_HOME": str(desk.home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    with owner:
        assert os.read(owner.stdout.fileno(), 100), "it is at work"
        refused = desk.run("--continue", "go on")
        assert refused.status == 1
        assert is_clear(refused, "open already", f"process {owner.pid}", "Nothing was changed", "Let the other one end")
        other = desk.run("Another task.")
        assert (other.status, other.err) == (0, "")
        owner.send_signal(signal.SIGKILL)
        owner.wait()
    desk.goes_on()
