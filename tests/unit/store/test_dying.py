"""kill -9, at every write and at any moment: what was acknowledged is there, and the rest is whole or absent."""

import os
import random
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

from headway.dialect import DIALECTS
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import ModelRequest
from headway.store import StoreFailed, Trouble, entries_of, fold
from headway.store.records import TextReceived
from headway.store.sqlite import SqliteStore
from support.journals import A_TURN, DRAFT, OPENED, rows_of

TESTS = Path(__file__).parents[2]
SCRIPT = rows_of([OPENED, *(record for records, _ in A_TURN for record in records)])


@pytest.fixture
def folder():
    """A folder in memory where there is one: a killed process does not care, and syncing is not what is tested here."""
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(dir=place) as name:
        yield Path(name)


@contextmanager
def writing(how, folder):
    command = [sys.executable, "-m", "support.dying", how, str(folder)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(TESTS)})
    try:
        yield child
    finally:
        child.kill()
        child.wait()
        child.stdout.close()


@pytest.fixture
def session(folder):
    store = SqliteStore(folder / "s.db")
    store.create("s1", rows_of([OPENED]))
    yield store
    store.close()


def test_killed_in_the_middle_of_any_write(folder):
    with writing("each", folder) as children:
        assert children.wait(120) == 0
    deaths = sorted(folder.iterdir())
    assert len(deaths) > 40
    lengths = set()
    for place in deaths:
        acknowledged = [int(line) for line in (place / "acknowledged").read_text().split()]
        store = SqliteStore(place / "s.db")
        assert store.check() == ()
        known = [info.id for info in store.sessions()]
        assert known == ["s1"] or not acknowledged
        if known:
            lengths.add(_judge(store, max(acknowledged, default=0)))
        store.close()
    ends = {1 + sum(len(records) for records, _ in A_TURN[:steps]) for steps in range(len(A_TURN) + 1)}
    assert lengths == ends, "an append is whole or did not happen, and each was the last one once"


def _judge(store, acknowledged):
    rows = list(store.read("s1"))
    assert [(row.seq, row.body) for row in rows] == [(row.seq, row.body) for row in SCRIPT[: len(rows)]]
    assert len(rows) >= acknowledged
    state = fold(entries_of(rows))
    for dialect in DIALECTS.values():
        sent = project(ModelRequest("m", state.history), dialect).request
        assert not violations(sent, dialect)
    if 7 <= len(rows) <= 8:
        assert state.salvage.draft == DRAFT
    journal = store.open("s1")  # the lock of the dead is free
    journal.append(rows_of([TextReceived(1, "on we go")], journal.last))
    journal.close()
    assert len(list(store.read("s1"))) == len(rows) + 1
    return len(rows)


def test_killed_at_any_moment(folder, session):
    dice = random.Random(7)
    for _ in range(4):
        with writing("forever", folder) as child:
            acknowledged = [int(child.stdout.readline()) for _ in range(dice.randint(1, 200))]
            child.send_signal(signal.SIGKILL)
            acknowledged += [int(line) for line in child.stdout.read().split(b"\n")[:-1]]
        rows = list(session.read("s1"))
        assert acknowledged[-1] <= len(rows) <= acknowledged[-1] + 1
        assert [row.seq for row in rows] == list(range(1, len(rows) + 1))
        assert session.check() == ()


def test_a_second_process_is_refused_by_the_name_of_the_first_and_let_in_when_that_is_dead(folder, session):
    with writing("holding", folder) as child:
        child.stdout.readline()
        with pytest.raises(StoreFailed, match=f"process {child.pid}") as refused:
            session.open("s1")
        assert (refused.value.trouble, refused.value.owner) == (Trouble.IN_USE, child.pid)
        with pytest.raises(StoreFailed, match=f"process {child.pid}"):
            session.delete("s1")
        assert [row.kind for row in session.read("s1")] == ["session_opened"], "to read is free"
        child.send_signal(signal.SIGKILL)
        child.wait()
        journal = session.open("s1")
        journal.append(rows_of([TextReceived(1, "mine now")], 1))
        journal.close()


def test_a_second_writer_in_the_same_process_is_refused_too(session):
    journal = session.open("s1")
    with pytest.raises(StoreFailed, match="which is this one"):
        session.open("s1")
    journal.close()
    session.open("s1").close()


def test_a_tool_that_the_owner_started_does_not_hold_the_session(session):
    journal = session.open("s1")
    tool = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    journal.close()
    session.open("s1").close()
    tool.communicate(b"\n")
