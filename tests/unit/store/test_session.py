"""A session while it is written: deltas soon, commits secured, and the work going on when the disk does not."""

import asyncio
import threading

import apsw
import pytest

from headway.failure import InvalidInput
from headway.messages import Message, Raw, assistant, user
from headway.store import MemoryStore, Sessions, StoreFailed, Trouble, entries_of, fold
from headway.store import records as r
from headway.store.batch import HELD_CHARACTERS, HELD_SECONDS
from headway.store.sqlite import SqliteStore
from headway.transport.clock import run_virtual
from support.disks import FillingDisk, writing_by
from support.journals import A_TURN, CALL, RESULT, rows_of


@pytest.fixture
def store(tmp_path):
    opened = SqliteStore(tmp_path / "s.db")
    yield opened
    opened.close()


def stored(store, session):
    return [entry.record for entry in entries_of(store.read(session.id))][1:]


def with_session(store, body, run=asyncio.run):
    async def main():
        sessions = Sessions(store)
        async with await sessions.create("/work") as session:
            return await body(session)

    return run(main())


def test_words_are_in_the_journal_a_quarter_of_a_second_later_even_if_nothing_follows(store):
    async def body(session):
        session.note(r.TextReceived(1, "Once "))
        session.note(r.TextReceived(1, "upon"))
        assert stored(store, session) == []
        await asyncio.sleep(HELD_SECONDS + 0.01)
        assert stored(store, session) == [r.TextReceived(1, "Once upon")]
        assert session.unwritten == 0

    with_session(store, body, run_virtual)


def test_a_flood_of_words_is_written_before_its_time(store):
    async def body(session):
        for _ in range(HELD_CHARACTERS // 4):
            session.note(r.TextReceived(1, "word"))
        assert stored(store, session) == [r.TextReceived(1, "word" * (HELD_CHARACTERS // 4))]

    with_session(store, body, run_virtual)


def test_a_commit_brings_everything_noted_before_it_in_order(store):
    async def body(session):
        session.note(r.TurnBegan(1))
        session.note(r.TextReceived(1, "Once"))
        await session.commit(r.ReplyReceived(1, assistant("Once")), r.TurnEnded(1, r.How.ANSWERED))
        kinds = [type(record) for record in stored(store, session)]
        assert kinds == [r.TurnBegan, r.TextReceived, r.ReplyReceived, r.TurnEnded]
        assert session.state.history == (assistant("Once"),)

    with_session(store, body)


def test_closing_writes_what_is_left(store):
    async def body(session):
        session.note(r.TextReceived(1, "last words"))
        return session

    session = with_session(store, body)
    assert stored(store, session) == [r.TextReceived(1, "last words")]
    store.open(session.id).close()


def test_the_loop_is_not_held_up_while_the_disk_is_waited_for(store):
    async def body(session):
        other = apsw.Connection(str(store.path))
        other.execute("begin immediate")  # as good as a slow disk
        commit = asyncio.create_task(session.commit(r.UserSaid(user("a"))))
        await asyncio.sleep(0)
        for number in range(50):
            session.note(r.TextReceived(1, f"{number} " * 3000))
            await asyncio.sleep(0)
        found = commit.done(), session.unwritten
        other.execute("commit")
        other.close()
        await commit
        assert found == (False, 51)
        records = stored(store, session)
        assert records[0] == r.UserSaid(user("a"))
        await session.commit()
        assert session.unwritten == 0
        assert len(stored(store, session)) == 51

    with_session(store, body)


def test_commits_at_the_same_time_are_all_secured_in_the_order_they_were_made(store):
    async def body(session):
        await asyncio.gather(*(session.commit(r.UserSaid(user(f"{number}"))) for number in range(40)))
        assert [record.message.text for record in stored(store, session)] == [f"{number}" for number in range(40)]

    with_session(store, body)


def test_a_commit_that_is_given_up_on_is_not_lost(store):
    async def body(session):
        commit = asyncio.create_task(session.commit(r.UserSaid(user("a"))))
        await asyncio.sleep(0)
        commit.cancel()
        with pytest.raises(asyncio.CancelledError):
            await commit
        await session.commit(r.UserSaid(user("b")))
        assert [record.message.text for record in stored(store, session)] == ["a", "b"]

    with_session(store, body)


def test_on_a_full_disk_the_session_goes_on_in_memory_and_is_written_when_there_is_room(store):
    async def body(session):
        database = store._database._db
        await session.commit(r.UserSaid(user("before")))
        database.pragma("max_page_count", database.pragma("page_count"))
        big = "x" * 50_000
        with pytest.raises(StoreFailed) as failed:
            await session.commit(r.UserSaid(user(big)))
        assert failed.value.trouble is Trouble.DISK_FULL
        session.note(r.TextReceived(1, big))
        assert session.trouble.trouble is Trouble.DISK_FULL
        assert session.unwritten == 2
        assert [message.text for message in session.state.history] == ["before", big, big]
        assert stored(store, session) == [r.UserSaid(user("before"))]
        database.pragma("max_page_count", 10**6)
        await session.commit(r.ReplyReceived(1, assistant(big)))
        assert (session.trouble, session.unwritten) == (None, 0)
        assert len(stored(store, session)) == 4
        assert fold(entries_of(store.read(session.id))) == session.state

    with_session(store, body)
    assert store.check() == ()


def test_a_store_that_fails_at_the_end_says_so_and_lets_go_of_the_session(store):
    async def body(session):
        database = store._database._db
        database.pragma("max_page_count", database.pragma("page_count"))
        session.note(r.TextReceived(1, "x" * 50_000))
        return session

    with pytest.raises(StoreFailed):
        with_session(store, body)
    name = store.sessions()[0].id
    store.open(name).close()


def test_a_record_that_cannot_be_written_harms_no_other(store):
    deep = {}
    for _ in range(100_000):
        deep = {"a": deep}

    async def body(session):
        with pytest.raises(InvalidInput):
            await session.commit(r.UserSaid(Message("user", (), Raw("chat", deep))))
        await session.commit(r.UserSaid(user("fine")))
        assert stored(store, session) == [r.UserSaid(user("fine"))]

    with_session(store, body)


def test_the_state_is_what_the_journal_would_say(store):
    async def body(session):
        for records, durable in A_TURN:
            if durable:
                await session.commit(*records)
            else:
                for record in records:
                    session.note(record)
        assert fold(entries_of(store.read(session.id))) == session.state

    with_session(store, body)


def test_many_sessions_share_one_thread(store):
    async def main():
        sessions = Sessions(store, wall=lambda: 1.0, chance=iter(n / 100 for n in range(100)).__next__)
        several = [await sessions.create("/work") for _ in range(12)]
        before = threading.active_count()
        for number, session in enumerate(several):
            session.note(r.TextReceived(1, f"{number}"))
        await asyncio.gather(
            *(session.commit(r.ToolIntended(1, CALL), r.ToolFinished(1, RESULT)) for session in several)
        )
        assert threading.active_count() <= before
        assert all(session.state.partial == f"{number}" for number, session in enumerate(several))
        for session in several:
            await session.close()
        assert [info.records for info in sessions.list()] == [4] * 12

    asyncio.run(main())


def test_a_session_in_memory_never_leaves_the_loop():
    store = MemoryStore()

    async def body(session):
        before = threading.active_count()
        session.note(r.TextReceived(1, "a"))
        await session.commit(r.UserSaid(user("b")))
        assert threading.active_count() == before
        return session

    session = with_session(store, body, run_virtual)
    assert len(stored(store, session)) == 2


def test_resuming_on_a_full_disk_works_in_memory_and_says_so(store):
    left = [r.SessionOpened("s1", "/w", 1.0), r.UserSaid(user("go")), r.TurnBegan(1), r.TextReceived(1, "half")]
    store.create("s1", rows_of(left))
    disk = FillingDisk(0)

    async def main():
        async with await Sessions(store).resume("s1") as session:
            assert session.trouble.trouble is Trouble.DISK_FULL
            assert session.found.partial == "half"
            assert session.state.history == (user("go"), assistant("half"))
            assert stored(store, session) == left[1:]
            disk.room = 10**6
            return session

    with writing_by(disk.write):
        session = asyncio.run(main())
    assert stored(store, session)[-1] == r.TurnEnded(1, r.How.DIED)


def test_no_delta_takes_a_waiting_commit_along_unsecured(store):
    async def body(session):
        gate = threading.Event()
        session._thread.submit(gate.wait)
        commit = asyncio.create_task(session.commit(r.UserSaid(user("a"))))
        await asyncio.sleep(0)
        session.note(r.TextReceived(1, "x" * HELD_CHARACTERS))
        written = stored(store, session)
        gate.set()
        await commit
        assert written == []
        assert len(stored(store, session)) == 2

    with_session(store, body)
