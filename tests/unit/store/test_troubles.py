"""Disk full, read-only home, damaged files, wrong files: a clear error each, and the data kept.

As root, rights are no obstacle; these tests then put them on as nobody, in a folder that nobody can reach.
"""

import asyncio
import os
import shlex
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from headway.dialect import DIALECTS
from headway.failure import InvalidInput
from headway.history.edits import RepairKind
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import CallFragment, Message, ModelRequest, Text, ToolCall, ToolResult, user
from headway.store import Sessions, StoreFailed, Trouble
from headway.store import records as r
from headway.store.sqlite import SqliteStore
from support.disks import FillingDisk, writing_by
from support.journals import A_TURN, OPENED, rows_of

NOBODY = 65534
POISON = (
    user("write it"),
    Message("assistant", (ToolCall("call_1", "write_file", '{"path":"a.txt","text":"half'),)),
    Message("user", (ToolResult("call_1", (Text("error: bad arguments"),), is_error=True),)),
    Message("assistant", (ToolCall("call_2", "write_file", '{"path":"b.txt"}'),)),
    Message("user", (ToolResult("call_9", (Text("whose?"),)),)),
    Message("assistant", (Text("half a \ud83d"), CallFragment("call_3", "shell", '{"comm'))),
)


@contextmanager
def without_privileges():
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable():
    """A folder that an unprivileged user can look into: pytest's own is closed to others."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.db"


def filled(path, *records, close=True):
    store = SqliteStore(path)
    store.create("s1", rows_of([OPENED, *records]))
    if close:
        store.close()
    return store


def trouble_of(failing, *words):
    with pytest.raises(StoreFailed) as failed:
        failing()
    assert all(word in str(failed.value) for word in words), str(failed.value)
    return failed.value.trouble


def dump(path):
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    rows = list(db.execute("select session, seq, at, kind, body from event order by session, seq"))
    db.close()
    return rows


def test_a_full_disk_at_any_write_leaves_what_was_acknowledged_and_writing_goes_on_when_there_is_room(path):
    needed = FillingDisk(10**6)
    with writing_by(needed.write):
        _write_turn(path, needed)
    assert needed.writes > 20
    for room in range(1, needed.writes, 3):
        place = path.with_name(f"{room}.db")
        disk = FillingDisk(room)
        with writing_by(disk.write):
            troubles = _write_turn(place, disk)
        assert set(troubles) <= {Trouble.DISK_FULL}
        store = SqliteStore(place)
        assert store.check() == ()
        assert len(list(store.read("s1"))) == 1 + sum(len(records) for records, _ in A_TURN)
        store.close()


def _write_turn(path, disk):
    """Write the scripted turn; whenever the disk is full, make room and do the same again. Return the troubles."""
    troubles = []

    def insist(act):
        try:
            return act()
        except StoreFailed as failed:
            troubles.append(failed.trouble)
            disk.room = 10**6
            return act()

    store = insist(lambda: SqliteStore(path))
    insist(lambda: store.create("s1", rows_of([OPENED])))
    journal = store.open("s1")
    for records, durable in A_TURN:
        rows, before = rows_of(records, journal.last), journal.last
        insist(lambda rows=rows, durable=durable: journal.append(rows, durable=durable))
        assert journal.last == before + len(rows)
    store.close()
    return troubles


def test_a_file_that_may_not_grow_is_a_full_disk(path):
    store = filled(path, close=False)
    journal = store.open("s1")
    store._database._db.pragma("max_page_count", 12)
    big = rows_of([r.TextReceived(1, "x" * 100_000)], 1)
    assert trouble_of(lambda: journal.append(big), str(path), "full", "kept", "Make room") is Trouble.DISK_FULL
    assert trouble_of(lambda: journal.try_append(big)) is Trouble.DISK_FULL
    assert len(list(store.read("s1"))) == 1
    store._database._db.pragma("max_page_count", 10**6)
    journal.append(big)
    assert store.check() == ()
    store.close()


def test_a_folder_that_may_not_be_written_to(reachable):
    path = reachable / "home" / "s.db"
    filled(path)
    path.parent.chmod(0o555)
    path.chmod(0o444)
    try:
        with without_privileges():
            wanted = ("cannot be written to", str(path), "Nothing was changed", "headway.toml")
            assert trouble_of(lambda: SqliteStore(path), *wanted) is Trouble.READ_ONLY
            assert trouble_of(lambda: SqliteStore(path.parent / "sub" / "s.db")) is Trouble.READ_ONLY
            assert trouble_of(lambda: SqliteStore(path.with_name("new.db"))) is Trouble.READ_ONLY
            store = SqliteStore(path, read_only=True)
            assert [info.id for info in store.sessions()] == ["s1"]
            assert [row.kind for row in store.read("s1")] == ["session_opened"]
            for act in (lambda: store.open("s1"), lambda: store.delete("s1"), lambda: store.create("s2", [])):
                assert trouble_of(act, "only to be read") is Trouble.READ_ONLY
            store.close()
    finally:
        path.parent.chmod(0o755)


LEFT_BEHIND = pytest.mark.parametrize(
    "gone", [(), ("-shm",), ("-shm", "-wal")], ids=["log and index", "log alone", "nothing"]
)
"""What is missing beside the file: a kill leaves both, a copy may lack the index, and a good end leaves nothing."""


def left_by_a_killed_process(place, gone):
    """Return a store as it is found after a kill: what was said is in the log, unless that was put away."""
    path = place / "home" / "s.db"
    store = filled(path, r.UserSaid(user("in the log")), close=False)
    if "-wal" in gone:
        store.close()
    copy = place / "copy"
    subprocess.run(["cp", "-a", str(path.parent), str(copy)], check=True)
    store.close()
    for end in gone:
        (copy / f"s.db{end}").unlink(missing_ok=True)
    assert bool((copy / "s.db-wal").exists()) is ("-wal" not in gone)
    return copy / "s.db"


def is_read(path):
    found = SqliteStore(path, read_only=True)
    try:
        assert [info.id for info in found.sessions()] == ["s1"]
        return [row.kind for row in found.read("s1")] == ["session_opened", "user_said"]
    finally:
        found.close()


@LEFT_BEHIND
def test_what_a_killed_process_left_is_read_where_nothing_may_be_written(reachable, gone):
    path = left_by_a_killed_process(reachable, gone)
    subprocess.run(["chmod", "-R", "a+rX", str(path.parent)], check=True)
    path.parent.chmod(0o555)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    with without_privileges():
        assert is_read(path)
    path.parent.chmod(0o755)
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


@LEFT_BEHIND
def test_what_a_killed_process_left_is_read_on_a_full_disk_and_written_to_when_there_is_room(tmp_path, gone):
    path = left_by_a_killed_process(tmp_path, gone)
    with writing_by(FillingDisk(0).write):
        assert is_read(path)
        assert is_read(path), "a look leaves nothing in the way of the next"
    store = SqliteStore(path)
    store.open("s1").append(rows_of([r.UserSaid(user("go on"))], 2))
    assert len(list(store.read("s1"))) == 3
    assert store.check() == ()
    store.close()


def test_a_full_disk_is_read_while_somebody_has_it_open(path):
    store = filled(path, r.UserSaid(user("a")), close=False)
    with writing_by(FillingDisk(0).write):
        assert is_read(path)
    store.close()


@pytest.mark.parametrize("place", ["/dev/null/s.db", "/dev/null/a/b/s.db"])
def test_a_place_where_no_folder_can_be(place):
    assert trouble_of(lambda: SqliteStore(Path(place)), place, "Nothing was changed") is Trouble.NO_PLACE


def test_a_folder_in_the_place_of_the_file(tmp_path):
    assert trouble_of(lambda: SqliteStore(tmp_path), str(tmp_path)) is Trouble.NO_PLACE


def test_a_store_that_is_not_there_is_not_made_by_looking(path):
    assert trouble_of(lambda: SqliteStore(path, read_only=True)) is Trouble.NO_PLACE
    assert not path.exists()


def test_a_file_that_is_no_database_is_left_as_it_is(path):
    path.write_bytes(b"Dear diary, " * 1000)
    assert trouble_of(lambda: SqliteStore(path), "not a session store", "left as it is") is Trouble.NOT_OURS
    assert path.read_bytes() == b"Dear diary, " * 1000


def test_the_database_of_another_program_is_left_as_it_is(path):
    db = apsw.Connection(str(path))
    db.execute("create table bookmarks (url text)")
    db.close()
    before = path.read_bytes()
    assert trouble_of(lambda: SqliteStore(path), "another program") is Trouble.NOT_OURS
    assert path.read_bytes() == before


def test_a_store_of_a_newer_headway_is_left_as_it_is(path):
    filled(path)
    db = apsw.Connection(str(path))
    db.pragma("user_version", 99)
    db.close()
    before = path.read_bytes()
    wanted = ("its version is 99", "Update Headway")
    assert trouble_of(lambda: SqliteStore(path), *wanted) is Trouble.TOO_NEW
    assert trouble_of(lambda: SqliteStore(path, read_only=True), *wanted) is Trouble.TOO_NEW
    assert path.read_bytes() == before


def test_a_damaged_page_is_told_and_other_sessions_are_still_read(path):
    store = SqliteStore(path)
    for name in ("a", "b", "c"):
        opened = r.SessionOpened(name, "/work", 1.0)
        store.create(name, rows_of([opened, *[r.TextReceived(1, f"{name} {n} " * 300) for n in range(40)]]))
    store.close()
    data = bytearray(path.read_bytes())
    at = data.index(b"b 20 b 20") // 4096 * 4096
    data[at : at + 64] = b"\xff" * 64
    path.write_bytes(data)
    store = SqliteStore(path)
    assert trouble_of(lambda: list(store.read("b")), "damaged", "left as it is") is Trouble.DAMAGED
    assert store.check() != ()
    assert len(list(store.read("a"))) == len(list(store.read("c"))) == 41
    assert trouble_of(lambda: asyncio.run(Sessions(store).resume("b"))) is Trouble.DAMAGED
    store.open("a").close()
    store.close()


def test_the_advice_about_a_damaged_file_keeps_it_and_works(path):
    filled(path, r.UserSaid(user("precious")))
    damaged = b"\xff" * 100 + path.read_bytes()[100:]
    path.write_bytes(damaged)
    path.with_name("s.db-wal").write_bytes(b"the log of it")
    with pytest.raises(StoreFailed) as failed:
        SqliteStore(path)
    command = str(failed.value).partition("run: ")[2].partition(". ")[0]
    assert shlex.quote(str(path)) in command
    subprocess.run(command, shell=True, check=True)
    assert (path.parent / "s-damaged" / "s.db").read_bytes() == damaged
    assert (path.parent / "s-damaged" / "s.db-wal").read_bytes() == b"the log of it"
    SqliteStore(path).close()


@pytest.mark.parametrize("size", [4_095, 9_000, 20_000, 20_480, -1])
def test_a_file_cut_short_is_damaged(path, size):
    filled(path, *[r.TextReceived(1, "x" * 5000)] * 20)
    path.write_bytes(path.read_bytes()[:size])
    before = path.read_bytes()
    assert trouble_of(lambda: SqliteStore(path), str(path)) is Trouble.DAMAGED
    assert path.read_bytes() == before


def test_an_empty_file_is_a_new_store(path):
    path.touch()
    looked_at = SqliteStore(path, read_only=True)
    assert looked_at.sessions() == ()
    with pytest.raises(InvalidInput, match="no such session"):
        looked_at.read("s1")
    assert not path.stat().st_size, "it is not made by looking"
    filled(path).close()


def test_what_a_full_disk_let_nobody_make_is_a_store_without_sessions(path):
    for room in range(100):
        place = path.with_name(f"{room}.db")
        with writing_by(FillingDisk(room).write):
            try:
                SqliteStore(place).close()
            except StoreFailed as failed:
                assert failed.trouble is Trouble.DISK_FULL
            else:
                break
            assert SqliteStore(place, read_only=True).sessions() == ()
    assert 2 < room < 100


def test_what_must_be_secured_is_synced_to_the_disk_and_deltas_are_not(path):
    store = filled(path, close=False)
    journal = store.open("s1")
    synced = []
    for durable in (False, True, False, True):
        journal.append(rows_of([r.TextReceived(1, "a")], journal.last), durable=durable)
        synced.append(store._database._db.pragma("synchronous"))
    assert synced == [1, 2, 1, 2], "NORMAL and FULL"
    store.close()


def test_the_journal_is_append_only_for_everybody(path):
    filled(path, r.UserSaid(user("a")))
    db = apsw.Connection(str(path))
    for sql in ("update event set body = ''", "delete from event", "update event set seq = seq + 10"):
        with pytest.raises(apsw.ConstraintError, match="append-only"):
            db.execute(sql)
    db.close()
    assert len(dump(path)) == 2


def test_a_poisoned_session_is_read_and_healed_and_not_a_byte_of_it_changes(path):
    store = filled(path, r.Imported(POISON, "elsewhere"), r.UserSaid(user("go on")), close=False)
    before = dump(path)

    async def first_turn():
        async with await Sessions(store).resume("s1") as session:
            for dialect in DIALECTS.values():
                projection = project(ModelRequest("m", session.state.history), dialect)
                assert not violations(projection.request, dialect)
                kinds = {repair.kind for repair in projection.repairs}
                assert {RepairKind.CALL_DROPPED, RepairKind.RESULT_ADDED} <= kinds
                await session.commit(r.Repaired(session.state.unreported(projection.repairs)))
                assert session.state.unreported(projection.repairs) == ()

    asyncio.run(first_turn())
    assert dump(path)[: len(before)] == before
    store.close()


def test_conversations_are_private(tmp_path):
    path = tmp_path / "new" / "s.db"
    store = filled(path, close=False)
    store.open("s1")
    files = [path.parent, *path.parent.rglob("*")]
    assert len(files) >= 5
    assert {stat.S_IMODE(file.stat().st_mode) & 0o077 for file in files} == {0}
    store.close()


def test_what_was_deleted_is_in_no_file_any_more(path):
    store = filled(path, r.UserSaid(user("my secret is zebra")), close=False)
    store.delete("s1")
    assert not any(b"zebra" in file.read_bytes() for file in path.parent.glob("s.db*"))
    store.close()


def test_a_closed_store_leaves_one_file_and_no_locks(path):
    store = filled(path, close=False)
    store.open("s1")
    store.close()
    left = [file.name for file in path.parent.rglob("*") if file.is_file()]
    assert left == ["s.db"]
