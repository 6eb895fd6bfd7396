"""Several at once, on one file: each waits for the other, or is refused; nobody overwrites anybody."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

from headway.store import StoreFailed, Trouble, locks
from headway.store import records as r
from headway.store.locks import SessionLock
from headway.store.sqlite import SqliteStore
from support.journals import OPENED, rows_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.db"


def filled(path):
    store = SqliteStore(path)
    store.create("s1", rows_of([OPENED]))
    return store


def trouble_of(failing, *words):
    with pytest.raises(StoreFailed) as failed:
        failing()
    assert all(word in str(failed.value) for word in words), str(failed.value)
    return failed.value.trouble


def test_a_new_file_that_another_process_is_making_is_waited_for(path):
    other = apsw.Connection(str(path))
    other.execute("begin immediate")
    done = threading.Timer(0.1, lambda: other.execute("commit"))
    done.start()
    filled(path).close()
    done.join()
    other.close()


def test_several_that_make_one_store_at_the_same_time_have_one(tmp_path):
    def make(path, name):
        store = SqliteStore(path)
        store.create(name, rows_of([r.SessionOpened(name, "/w", 1.0)]))
        return store

    with ThreadPoolExecutor(4) as threads:
        for number in range(8):
            path = tmp_path / f"{number}.db"
            stores = list(threads.map(make, [path] * 4, "abcd"))
            assert {info.id for info in stores[0].sessions()} == {*"abcd"}
            for store in stores:
                store.close()


def test_a_lock_on_a_file_that_is_gone_is_no_lock(tmp_path, monkeypatch):
    folder, really_lock, others = tmp_path / "locks", locks._lock, []

    def lock_late(handle):
        monkeypatch.setattr(locks, "_lock", really_lock)
        (folder / "s1").unlink()  # its owner let go of it just now, and somebody else was faster
        others.append(SessionLock(folder, "s1"))
        really_lock(handle)

    monkeypatch.setattr(locks, "_lock", lock_late)
    assert trouble_of(lambda: SessionLock(folder, "s1")) is Trouble.IN_USE
    others[0].release()
    SessionLock(folder, "s1").release()


def test_a_lock_has_one_owner_however_many_want_it(tmp_path):
    inside, most = [], []

    def work(_):
        for _ in range(200):
            try:
                lock = SessionLock(tmp_path / "locks", "s1")
            except StoreFailed as refused:
                assert refused.trouble is Trouble.IN_USE
                continue
            inside.append(1)
            most.append(len(inside))
            inside.pop()
            lock.release()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert set(most) == {1}
    assert list((tmp_path / "locks").iterdir()) == []


def test_another_program_that_holds_the_file_is_not_waited_for_by_deltas(path):
    store = filled(path)
    journal = store.open("s1")
    other = apsw.Connection(str(path))
    other.execute("begin immediate")
    began = time.monotonic()
    assert not journal.try_append(rows_of([r.TextReceived(1, "a")], 1))
    assert time.monotonic() - began < 1
    other.execute("commit")
    other.close()
    assert journal.try_append(rows_of([r.TextReceived(1, "a")], 1))
    store.close()


def test_a_row_that_somebody_else_wrote_is_not_overwritten(path):
    store = filled(path)
    journal = store.open("s1")
    other = apsw.Connection(str(path))
    other.execute("insert into event values ('s1', 2, 'user_said', '{}', 1.0)")
    other.close()
    rows = rows_of([r.TextReceived(1, "a")], 1)
    assert trouble_of(lambda: journal.append(rows), "somebody else wrote") is Trouble.OVERTAKEN
    assert [row.body for row in store.read("s1")][1] == "{}"
    store.close()
