"""What the journal costs: a delta and a commit while a turn runs, and loading a session of 10,000 records."""

import asyncio
import tempfile
from pathlib import Path
from statistics import quantiles
from time import perf_counter

from headway.dialect import DIALECTS
from headway.history.project import project
from headway.messages import Message, ModelRequest, Text, ToolCall, ToolResult, user
from headway.store import Sessions, entries_of, fold
from headway.store import records as r
from headway.store.rows import row_of
from headway.store.sqlite import SqliteStore

RECORDS = 10_000
_TURN = 10


def session_records(count: int) -> list[r.Record]:
    """Return an agent's session: questions, words as they came, replies with calls, results."""
    records: list[r.Record] = [r.SessionOpened("bench", "/work", 1.0)]
    for turn in range(1, count // _TURN + 1):
        call = ToolCall(f"call_{turn}", "write_file", '{"path":"a.py","text":"' + "x = 1\\n" * 200 + '"}')
        pieces = [f"I look at module {turn}, part {piece}. " * 3 for piece in range(3)]
        records += [
            r.UserSaid(user(f"Step {turn}: look at the module and say what is wrong with it. " * 4)),
            r.TurnBegan(turn, "default"),
            *(r.TextReceived(turn, piece) for piece in pieces),
            r.ReplyReceived(turn, Message("assistant", (Text("".join(pieces)), call)), "model-1", "main"),
            r.ToolIntended(turn, call),
            r.ToolFinished(turn, ToolResult(call.id, (Text("wrote 1400 characters\n" * 10),))),
            r.ReplyReceived(turn, Message("assistant", (Text("Nothing is wrong with it: naïve but right. " * 5),))),
            r.TurnEnded(turn, r.How.ANSWERED),
        ]
    return records[:count]


def timed(job, times: int) -> tuple[float, float]:
    """Return the median and the 99th percentile, in milliseconds."""
    taken = []
    for number in range(times):
        start = perf_counter()
        job(number)
        taken.append((perf_counter() - start) * 1000)
    return _spread(taken)


def _spread(taken: list[float]) -> tuple[float, float]:
    cuts = quantiles(taken, n=100)
    return cuts[49], cuts[98]


async def while_a_turn_runs(sessions: Sessions) -> dict[str, float]:
    """Measure what an event loop pays: a delta that is noted, and a commit, which only its own task waits for."""
    commits, gaps = [], []
    async with await sessions.create("/work") as session:
        start = perf_counter()
        for _ in range(20_000):
            session.note(r.TextReceived(1, "token "))
        noted = (perf_counter() - start) * 1000 / 20_000
        await session.commit()
        watching = asyncio.create_task(_watch(gaps))
        for number in range(150):
            start = perf_counter()
            await session.commit(r.UserSaid(user(f"{number}")))
            commits.append((perf_counter() - start) * 1000)
        watching.cancel()
    median, worst = _spread(commits)
    return {
        "note a delta": noted,
        "commit, median": median,
        "commit, p99": worst,
        "loop held up by commits, p99": _spread(gaps)[1],
    }


async def _watch(gaps: list[float]) -> None:
    while True:
        start = perf_counter()
        await asyncio.sleep(0)
        gaps.append((perf_counter() - start) * 1000)


def main() -> dict[str, float]:
    """Measure, print, and return the figures, in milliseconds."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "s.db")
        store.create("bench", [row_of(1, 1.0, r.SessionOpened("bench", "/work", 1.0))])
        journal = store.open("bench")
        delta = r.TextReceived(1, "words " * 60)

        def append(durable):
            return lambda _: journal.append([row_of(journal.last + 1, 1.0, delta)], durable=durable)

        figures["append, saved, median"], figures["append, saved, p99"] = timed(append(durable=False), 3000)
        figures["append, durable, median"], figures["append, durable, p99"] = timed(append(durable=True), 150)
        journal.close()
        store.delete("bench")

        records = session_records(RECORDS)
        store.create("bench", [row_of(number, float(number), record) for number, record in enumerate(records, 1)])
        start = perf_counter()
        rows = list(store.read("bench"))
        read = perf_counter()
        state = fold(entries_of(rows))
        folded = perf_counter()
        request = project(ModelRequest("m", state.history), DIALECTS["anthropic"]).request
        done = perf_counter()
        assert len(request.messages) >= len(state.history) == RECORDS // _TURN * 4
        figures[f"read {RECORDS} rows"] = (read - start) * 1000
        figures[f"decode and fold {RECORDS} records"] = (folded - read) * 1000
        figures["project the history"] = (done - folded) * 1000
        figures["load in all"] = (done - start) * 1000
        for number in range(200):
            opened = r.SessionOpened(f"s{number}", "/work", 1.0)
            store.create(f"s{number}", [row_of(1, 1.0, opened), row_of(2, 2.0, r.UserSaid(user("hello")))])
        figures["list 201 sessions"], _ = timed(lambda _: store.sessions(), 20)
        sessions = Sessions(store)
        figures |= asyncio.run(while_a_turn_runs(sessions))
        figures["file, MB"] = store.path.stat().st_size / 1e6
        sessions.close()
    for name, value in figures.items():
        print(f"{name:34} {value:9.4f}{'' if 'MB' in name else ' ms'}")
    return figures


if __name__ == "__main__":
    main()
