"""The last traces on disk, which must never be in the way of a request."""

import asyncio
import os
import stat

import apsw
import pytest

from headway.cli.traces import line_of, page_of
from headway.failure import InvalidInput
from headway.gateway.trace import Trace, Tried
from headway.gateway.trace_log import FLUSH_SECONDS, MOST_WAITING, TraceLog, read_traces
from headway.transport.clock import run_virtual
from support.peers import virtual_time


def trace(number: int = 0, **fields) -> Trace:
    made = {"id": f"{number:016x}", "at": 1.0, "wire": "chat", "path": "/v1/chat/completions", "outcome": "answered"}
    return Trace(**{**made, **fields})


@virtual_time
async def test_a_trace_is_on_disk_a_moment_later_and_nobody_waited_for_it(tmp_path):
    path = tmp_path / "new folder" / "traces.db"
    log = TraceLog(path, 10, pytest.fail)
    log.add(trace(1))
    assert not path.exists(), "not in the way of who adds it"
    await asyncio.sleep(FLUSH_SECONDS + 1)
    assert [one.id for one in read_traces(path)] == [trace(1).id]


@virtual_time
async def test_what_waits_is_written_at_the_end(tmp_path):
    log = TraceLog(tmp_path / "traces.db", 10, pytest.fail)
    log.add(trace(1))
    log.flush()
    log.flush()
    assert len(read_traces(tmp_path / "traces.db")) == 1
    await asyncio.sleep(FLUSH_SECONDS + 1)
    assert len(read_traces(tmp_path / "traces.db")) == 1


@virtual_time
async def test_only_the_last_ones_are_kept(tmp_path):
    log = TraceLog(tmp_path / "traces.db", 5, pytest.fail)
    for number in range(12):
        log.add(trace(number))
        log.flush()
    assert [one.id for one in read_traces(tmp_path / "traces.db", last=100)] == [trace(n).id for n in range(11, 6, -1)]
    await asyncio.sleep(FLUSH_SECONDS + 1)


@virtual_time
async def test_none_are_kept_where_none_are_wanted(tmp_path):
    log = TraceLog(tmp_path / "traces.db", 0, pytest.fail)
    log.add(trace())
    log.flush()
    assert not (tmp_path / "traces.db").exists()


@virtual_time
async def test_they_do_not_pile_up_in_memory(tmp_path):
    log = TraceLog(tmp_path / "traces.db", 10**6, pytest.fail)
    for number in range(MOST_WAITING + 10):
        log.add(trace(number))
    assert len(log._waiting) == MOST_WAITING
    await asyncio.sleep(FLUSH_SECONDS + 5)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
@virtual_time
async def test_a_folder_that_cannot_be_written_to_is_told_once(tmp_path):
    tmp_path.chmod(0o500)
    await assert_told_once(tmp_path / "inside" / "traces.db")


@virtual_time
async def test_a_place_where_no_file_can_be_is_told_once(tmp_path):
    (tmp_path / "a file").write_text("in the way", encoding="utf-8")
    await assert_told_once(tmp_path / "a file" / "traces.db")


@virtual_time
async def test_a_file_that_is_no_database_is_told_once(tmp_path):
    path = tmp_path / "traces.db"
    path.write_bytes(b"this is something else entirely" * 100)
    await assert_told_once(path)
    with pytest.raises(InvalidInput, match="move it away"):
        read_traces(path)


async def assert_told_once(path) -> None:
    told = []
    log = TraceLog(path, 10, told.append)
    for number in range(3):
        log.add(trace(number))
        await asyncio.sleep(FLUSH_SECONDS + 1)
    log.flush()
    assert len(told) == 1
    assert str(path) in told[0]
    assert "requests are answered all the same" in told[0]


@virtual_time
async def test_only_its_owner_can_read_them(tmp_path):
    path = tmp_path / "own" / "traces.db"
    log = TraceLog(path, 10, pytest.fail)
    log.add(trace())
    log.flush()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await asyncio.sleep(FLUSH_SECONDS + 1)


@virtual_time
async def test_two_gateways_may_write_to_one_file(tmp_path):
    path = tmp_path / "traces.db"
    logs = [TraceLog(path, 100, pytest.fail) for _ in range(2)]
    for number in range(20):
        logs[number % 2].add(trace(number))
        if number % 5 == 0:
            logs[number % 2].flush()
    for log in logs:
        log.flush()
    assert len(read_traces(path, last=100)) == 20
    await asyncio.sleep(FLUSH_SECONDS + 1)


def test_one_is_found_by_the_beginning_of_its_id(tmp_path):
    async def write():
        log = TraceLog(tmp_path / "traces.db", 10, pytest.fail)
        for name in ("abc1", "abd2", "xyz3"):
            log.add(trace(id=name))
        log.flush()
        await asyncio.sleep(1)

    run_virtual(write())
    found = [
        [one.id for one in read_traces(tmp_path / "traces.db", id_begins=begins)] for begins in ("ab", "abc", "q", "%")
    ]
    assert found == [["abd2", "abc1"], ["abc1"], [], []]


def test_no_file_yet_says_who_would_write_it(tmp_path):
    with pytest.raises(InvalidInput, match="headway serve"):
        read_traces(tmp_path / "traces.db")


def test_traces_of_a_later_version_are_read_as_far_as_they_are_known(tmp_path):
    async def write():
        log = TraceLog(tmp_path / "traces.db", 10, pytest.fail)
        log.add(trace(1))
        log.flush()
        await asyncio.sleep(1)

    run_virtual(write())
    db = apsw.Connection(str(tmp_path / "traces.db"))
    db.execute("update trace set body = cast(replace(cast(body as text), '{', '{\"new_field\": 1, ') as blob)")
    db.close()
    assert [one.id for one in read_traces(tmp_path / "traces.db")] == [trace(1).id]


def test_what_strangers_wrote_cannot_move_a_terminals_cursor():
    tried = Tried(upstream="p/\x1b[31mred", began=0.0, failure="stalled", reason="line\r\nbreak \x07")
    odd = trace(model="\x1b[2J\nmodel", path="/v1/\x1b]0;title\x07", attempts=[tried])
    for line in (line_of(odd), *page_of(odd)):
        assert line.isprintable()
