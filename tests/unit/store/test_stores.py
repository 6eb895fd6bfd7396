"""What every store does, on a disk or not; and what Sessions makes of it."""

import asyncio
import os

import pytest

from headway.failure import InvalidInput
from headway.messages import Message, Text, ToolResult, assistant, user
from headway.store import MemoryStore, Sessions, StoreFailed, Trouble, fold, open_store
from headway.store import records as r
from headway.store.locks import writer_of
from headway.store.rows import entries_of, row_of
from headway.store.sqlite import SqliteStore
from support.journals import A_TURN, CALL, rows_of


@pytest.fixture(params=["sqlite", "memory"])
def store(request, tmp_path):
    opened = SqliteStore(tmp_path / "a" / "b" / "s.db") if request.param == "sqlite" else MemoryStore()
    yield opened
    opened.close()


@pytest.fixture
def sessions(store):
    times = iter(range(1_760_000_000, 1_770_000_000))
    return Sessions(store, wall=lambda: float(next(times)), chance=lambda: 0.5)


def begun(store, name="s1", *records):
    store.create(name, rows_of([r.SessionOpened(name, "/work", 5.0), *records]))
    return name


def test_rows_come_back_as_they_were_in_order(store):
    journal = store.open(begun(store))
    for records, durable in A_TURN:
        journal.append(rows_of(records, journal.last), durable=durable)
    expected = rows_of([r.SessionOpened("s1", "/work", 5.0)])
    for records, _ in A_TURN:
        expected += rows_of(records, len(expected))
    assert list(store.read("s1")) == expected
    assert journal.last == len(expected)
    journal.close()


def test_a_delta_is_written_at_once_if_nobody_writes(store):
    journal = store.open(begun(store))
    assert journal.try_append(rows_of([r.TextReceived(1, "a")], 1))
    assert journal.last == 2
    journal.close()


@pytest.mark.parametrize("numbers", [[1], [3], [2, 4], [2, 2], [0]])
def test_a_row_out_of_order_is_a_mistake_and_nothing_is_written(store, numbers):
    journal = store.open(begun(store))
    rows = [row_of(number, 1.0, r.TextReceived(1, "a")) for number in numbers]
    with pytest.raises(ValueError, match="is not the next one"):
        journal.append(rows)
    assert len(list(store.read("s1"))) == 1
    journal.append(rows_of([r.TextReceived(1, "a")], 1))
    journal.close()


def test_only_one_writes_and_the_next_one_goes_on_behind_the_last_row(store):
    first = store.open(begun(store))
    with pytest.raises(StoreFailed) as refused:
        store.open("s1")
    assert refused.value.trouble is Trouble.IN_USE
    first.append(rows_of([r.UserSaid(user("a"))], 1))
    first.close()
    second = store.open("s1")
    assert second.last == 2
    second.close()


def test_to_close_a_journal_twice_takes_nothing_from_the_next_writer(store):
    first = store.open(begun(store))
    first.close()
    second = store.open("s1")
    first.close()
    with pytest.raises(StoreFailed):
        store.open("s1")
    second.close()


def test_sessions_do_not_meet(store):
    one, other = store.open(begun(store, "one")), store.open(begun(store, "other"))
    one.append(rows_of([r.UserSaid(user("for one"))], 1))
    other.append(rows_of([r.UserSaid(user("for other"))], 1))
    assert [row.kind for row in store.read("one")] == ["session_opened", "user_said"]
    assert "for other" in list(store.read("other"))[-1].body
    one.close()
    other.close()


def test_what_is_read_is_what_was_there_when_reading_began(store):
    journal = store.open(begun(store, "s1", *[r.TextReceived(1, "x" * 3000)] * 20))
    reading = store.read("s1")
    next(reading)
    journal.append(rows_of([r.TextReceived(1, "new")], 21))
    assert len(list(reading)) == 20
    journal.close()


@pytest.mark.parametrize("act", ["open", "read", "delete"])
def test_a_session_that_is_not_there_is_told_so(store, act):
    with pytest.raises(InvalidInput, match="no such session"):
        getattr(store, act)("nowhere")


def test_a_name_is_given_once(store):
    begun(store)
    with pytest.raises(InvalidInput, match="already"):
        begun(store)


@pytest.mark.parametrize("name", ["../up", "", "a/b", "x" * 100])
def test_a_name_that_is_no_safe_file_is_refused(store, name):
    with pytest.raises(InvalidInput, match="letters, digits"):
        begun(store, name)
    assert store.sessions() == ()


@pytest.mark.parametrize("records", [[], [r.UserSaid(user("a"))]])
def test_a_journal_begins_with_its_opening(store, records):
    with pytest.raises(InvalidInput, match="begin with the opening"):
        store.create("s1", rows_of(records))
    assert store.sessions() == ()


def test_a_list_shows_the_latest_first_with_titles_and_first_words(store):
    begun(store, "old", r.UserSaid(user("  make\n a   page " + "x" * 200)))
    begun(store, "new", r.Renamed("Named"), r.UserSaid(user("first")), r.UserSaid(user("second")))
    new, old = store.sessions()
    assert (new.id, new.name, new.heading.opening, new.records) == ("new", "Named", "first", 4)
    assert (old.id, old.name[:13], len(old.name), old.heading.workspace) == ("old", "make a page x", 81, "/work")
    journal = store.open("old")
    journal.append([row_of(3, 999.0, r.Renamed("Late"))])
    journal.close()
    assert [(info.name, info.updated_at) for info in store.sessions()] == [("Late", 999.0), ("Named", 104.0)]


def test_what_was_taken_over_counts_as_turns_and_gives_the_first_words(store):
    result = Message("user", (ToolResult("c", (Text("given"),)),))
    taken = r.Imported((assistant("Hello."), result, user("First  words."), assistant("Yes."), user("More.")), "codex")
    begun(store, "s1", taken, r.Imported((user("Still more."),)), r.UserSaid(user("Not the first.")))
    (info,) = store.sessions()
    assert info.name == "First words."
    assert fold(entries_of(store.read("s1"))).turn == 3


def test_half_a_character_in_a_heading_stops_nothing(store):
    """Terminals, paths and broken clients have them; the journal keeps them as they came."""
    begun(store, "s1", r.UserSaid(user("half \ud83d a")))
    journal = store.open("s1")
    journal.append(rows_of([r.Renamed("\udcff")], 2))
    journal.close()
    store.create("s2", rows_of([r.SessionOpened("s2", "/caf\udce9", 5.0, "half \ud83d")]))
    found = {info.id: info.heading for info in Sessions(store).list("/caf\udce9")}
    assert found["s2"].title == "half ?"
    assert {info.id: info.name for info in store.sessions()}["s1"] == "?"
    assert fold(entries_of(store.read("s1"))).title == "\udcff"


def test_who_writes_is_known_while_they_do(store):
    begun(store)
    assert store.writer("s1") is None
    journal = store.open("s1")
    assert store.writer("s1") == os.getpid()
    journal.close()
    assert store.writer("s1") is None


def test_a_lock_that_a_dead_process_left_names_nobody(tmp_path):
    (tmp_path / "s1").write_text("999999999\n")
    (tmp_path / "s2").write_text("?\n")
    assert writer_of(tmp_path, "s1") is None
    assert writer_of(tmp_path, "s2") is None


def test_a_deleted_session_is_gone(store):
    begun(store, "kept")
    store.delete(begun(store, "gone", r.UserSaid(user("secret"))))
    assert [info.id for info in store.sessions()] == ["kept"]
    begun(store, "gone")


def test_an_open_session_is_not_deleted(store):
    journal = store.open(begun(store))
    with pytest.raises(StoreFailed):
        store.delete("s1")
    journal.close()


def test_a_name_that_is_drawn_twice_in_a_second_is_drawn_again(store):
    async def work():
        sessions = Sessions(store, wall=lambda: 1_760_000_000.0, chance=iter([0.1, 0.1, 0.1, 0.2, 0.1, 0.3]).__next__)
        async with await sessions.create("/work") as first, await sessions.create("/work") as second:
            assert len({first.id, second.id, sessions.fork(first.id)}) == 3

    asyncio.run(work())


def test_a_die_that_always_falls_the_same_way_is_an_error_and_no_endless_loop(store):
    async def work():
        sessions = Sessions(store, wall=lambda: 1_760_000_000.0, chance=lambda: 0.5)
        async with await sessions.create("/work"):
            with pytest.raises(InvalidInput, match="of this name already"):
                await sessions.create("/work")

    asyncio.run(work())


def test_a_copy_goes_its_own_way_and_the_original_stays(sessions):
    begun(sessions.store, "s1", r.UserSaid(user("a")), r.ReplyReceived(1, assistant("b")), r.UserSaid(user("c")))
    before = list(sessions.store.read("s1"))
    copy = sessions.fork("s1", 3)
    assert [message.text for message in sessions.state(copy).history] == ["a", "b"]
    assert (sessions.state(copy).id, sessions.state(copy).origin) == (copy, "s1")
    assert list(sessions.store.read(copy))[:3] == before[:3]
    whole = sessions.fork("s1")
    assert len(sessions.state(whole).history) == 3
    sessions.delete("s1")
    assert len(sessions.state(copy).history) == 2


@pytest.mark.parametrize("at", [0, -1, 9])
def test_a_copy_up_to_a_record_that_is_not_there_is_refused(sessions, at):
    begun(sessions.store)
    with pytest.raises(InvalidInput, match="no such record"):
        sessions.fork("s1", at)


def test_a_session_is_found_by_the_beginning_of_its_name(sessions):
    for name in ("1abc-1", "1abc-2", "1abd-1", "1abc"):
        begun(sessions.store, name)
    assert sessions.find("1abd").id == "1abd-1"
    assert sessions.find("1ABD").id == "1abd-1"
    assert sessions.find("1abc").id == "1abc", "a whole name is meant as it is"
    with pytest.raises(InvalidInput, match="4 sessions begin so"):
        sessions.find("1ab")
    with pytest.raises(InvalidInput, match="no such session"):
        sessions.find("zzz")
    with pytest.raises(InvalidInput, match="it is empty"):
        sessions.find("")


def test_a_session_is_made_of_records(sessions):
    opened = r.SessionOpened("", "/work", 7.0, "A title")
    name = sessions.take_in(opened, r.Imported((user("a"),)), r.Imported((assistant("b"),)))
    state = sessions.state(name)
    assert (state.id, state.workspace, state.created_at, state.title) == (name, "/work", 7.0, "A title")
    assert state.history == (user("a"), assistant("b"))


def test_a_name_that_somebody_else_gave_is_found_as_it_is_written(sessions):
    begun(sessions.store, "From-Elsewhere")
    assert sessions.find("From-E").id == "From-Elsewhere"


def test_a_title_is_a_record_too(sessions):
    begun(sessions.store)
    sessions.rename("s1", "My page")
    assert sessions.find("s1").name == "My page"
    assert sessions.state("s1").title == "My page"
    sessions.store.open("s1").close()


def test_sessions_of_one_workspace(sessions):
    begun(sessions.store, "s1", r.UserSaid(user("hello")))
    assert [info.id for info in sessions.list("/work")] == ["s1"]
    assert sessions.list("/elsewhere") == ()


def test_where_nothing_was_said_there_is_no_session_unless_somebody_sits_in_it(sessions):
    async def sit_down():
        async with await sessions.create("/work") as session:
            assert [info.id for info in sessions.list()] == [session.id]
            return session.id

    name = asyncio.run(sit_down())
    assert sessions.list() == ()
    assert sessions.find(name).id == name, "who knows its name may still go on with it"
    sessions.rename(name, "Plans")
    assert [info.name for info in sessions.list()] == ["Plans"]


def test_a_session_is_begun_written_and_taken_up_again(sessions):
    async def first():
        async with await sessions.create("/work", "Mine") as session:
            await session.commit(r.UserSaid(user("hello")), r.TurnBegan(1))
            session.note(r.TextReceived(1, "Hi"))
            return session.id

    async def second(name):
        async with await sessions.resume(name) as session:
            assert session.found.partial == "Hi"
            assert session.state.history == (user("hello"), assistant("Hi"))
            assert session.state.ended == r.TurnEnded(1, r.How.DIED)
            return session.found

    name = asyncio.run(first())
    found = asyncio.run(second(name))
    assert (found.id, found.title, found.workspace) == (name, "Mine", "/work")
    assert sessions.find(name).records == 5
    sessions.close()


def test_what_a_dead_process_left_is_settled_once(sessions):
    left = (r.TurnBegan(1), r.ReplyReceived(1, Message("assistant", (CALL,))), r.ToolIntended(1, CALL))
    begun(sessions.store, "s1", r.UserSaid(user("go")), *left)

    async def resume():
        async with await sessions.resume("s1") as session:
            return session.found.unknown, session.state.history

    unknown, history = asyncio.run(resume())
    assert unknown == (CALL,)
    kinds = [type(entry.record) for entry in entries_of(sessions.store.read("s1"))]
    assert kinds[-2:] == [r.ToolUnknown, r.TurnEnded]
    assert asyncio.run(resume()) == ((), history)
    assert len(list(sessions.store.read("s1"))) == len(kinds)


def test_a_session_in_use_is_not_taken_up(sessions):
    async def both():
        async with await sessions.create("/work") as session:
            with pytest.raises(StoreFailed):
                await sessions.resume(session.id)

    asyncio.run(both())


def test_a_store_is_opened_by_its_url(tmp_path):
    assert isinstance(open_store("memory:"), MemoryStore)
    store = open_store(f"sqlite:{tmp_path / 's.db'}")
    assert isinstance(store, SqliteStore)
    store.close()
    for url in ("sqlite:", "memory:x", "oracle:x", "", "/just/a/path"):
        with pytest.raises(InvalidInput, match="names no store"):
            open_store(url)
