"""What broken streams cost, on all three wires: bytes of the model, failing requests, seconds. With the simulator.

Waste is what the model generated over what it generates when nothing breaks. Every row tells the worst of its cases;
each of them must end as it should, or there is no row. Time is virtual, except in the rows that say otherwise.
"""

import asyncio
import sys
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, suppress
from functools import cache
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.happenings import Done, GaveUp
from headway.recovery.ledger import Policy, Strategy
from headway.sim.catalog import read_fault
from headway.sim.exchange import Exchange
from headway.sim.filler import text_of
from headway.sim.scenario import load_script
from headway.sim.script import Final, Pace, Script, WriteFile
from headway.turn import notices

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.lab import Lab, asked, in_lab  # the lab lives with the tests

WIRES = ("chat", "responses", "anthropic")
CUTS = ("stall", "rst", "fin", "output_limit")
PAGES = (24_000, 64_000)
ROUNDS = 5
DRAFTS, NO_DRAFTS = Policy(), Policy(forbidden=frozenset({Strategy.CONTINUE_DRAFT}))
TALK = Script(prompt="Tell me.", steps=(Final(text_of(2_000)),))


class Row(Struct, frozen=True):
    """One line of the table: the worst that `measure` finds on a wire must not be more than the goal."""

    what: str
    goal: float
    measure: Callable[[str], Iterable[float]]
    unit: str = ""
    digits: int = 0

    def shown(self, value: float) -> str:
        return f"{value:.{self.digits}f}{self.unit}"


def main() -> dict[str, float]:
    """Measure, print, and return the worst of each row."""
    results: dict[str, float] = {}
    print(f"{'':<64}{''.join(f'{wire:>11}' for wire in WIRES)}   goal")
    for row in rows():
        worst = [max(row.measure(wire)) for wire in WIRES]
        results[row.what] = max(worst)
        verdict = f"≤ {row.goal:g}{row.unit} {'met' if max(worst) <= row.goal else 'MISSED'}"
        print(f"{row.what:<64}{''.join(f'{row.shown(value):>11}' for value in worst)}   {verdict}", flush=True)
    return results


def rows() -> Iterable[Row]:
    for drafts, policy, goal in (("with drafts", DRAFTS, 1.15), ("without drafts", NO_DRAFTS, 1.45)):
        for cut in CUTS:
            what = f"waste, calls over 8 KB cut by {cut}, {drafts}"
            yield Row(
                what, goal, lambda wire, cut=cut, policy=policy: (waste(wire, cut, policy, n) for n in PAGES), "×", 2
            )
    for drafts, policy in (("with drafts", DRAFTS), ("without drafts", NO_DRAFTS)):
        what = f"failing requests until a piece is through 2.5 KB, {drafts}"
        yield Row(what, 3, lambda wire, policy=policy: (failing_first(wire, cut, policy) for cut in CUTS))
    yield Row("failing requests, content filter and a fallback", 1, filtered)
    yield Row("the same, a filter that only cuts (the second cut shows it)", 2, silently_filtered)
    yield Row("requests to one upstream, everything down", 3, lambda wire: (one for _, one in all_down(wire)))
    yield Row("time to a clear error, everything down", 30, lambda wire: (one for one, _ in all_down(wire)), " s", 1)
    yield Row("requests with a key that got a 401 or 403", 1, requests_a_bad_key)
    yield Row("from a transient cut to the next request, real clock", 0.3, recoveries, " s", 3)
    yield Row("from an interrupt to a closed upstream, real clock", 0.2, interrupts, " s", 3)


def page(size: int, *faults: str) -> Script:
    steps = (WriteFile("page.html", text_of(size, "page.html")), Final("The page is ready."))
    return Script(prompt="Write page.html.", steps=steps, faults=tuple(read_fault(fault) for fault in faults))


def written(script: Script, wire: str, policy: Policy = DRAFTS) -> list[Exchange]:
    """Let the agent write the page, see that it is whole, and return what was asked of the provider."""
    log: list[Exchange] = []

    async def work(lab: Lab) -> None:
        ending = await asked(lab, script, await lab.provider(script, wire), policy=policy)
        assert isinstance(ending, Done), ending
        assert lab.file("page.html") == script.steps[0].content
        log.extend(lab.sims[0].log)

    play(work)
    return log


@cache
def needed(wire: str, size: int) -> int:
    return sum(one.generated_bytes for one in written(page(size), wire))


def waste(wire: str, cut: str, policy: Policy, size: int) -> float:
    log = written(page(size, f"{cut} at=call+8000"), wire, policy)
    assert any(one.faults for one in log)
    return sum(one.generated_bytes for one in log) / needed(wire, size)


def failing_first(wire: str, cut: str, policy: Policy) -> int:
    log = written(page(PAGES[0], f"{cut} at=call+2500"), wire, policy)
    return [bool(one.faults) for one in log].index(False)


def filtered(wire: str) -> Iterable[int]:
    """Give the requests that a filter ate, for each way in which it says so, until the fallback has done the work."""
    for shows in ("finish", "error", "http"):
        for looks_at in ("output", "input"):
            yield failing_at_filter(wire, f"content_filter pattern=harbour looks_at={looks_at} shows={shows}")


def silently_filtered(wire: str) -> Iterable[int]:
    yield failing_at_filter(wire, "content_filter pattern=harbour shows=cut")


def failing_at_filter(wire: str, fault: str) -> int:
    script = replace(load_script("silent_filter"), faults=(read_fault(fault),))
    failing: list[int] = []

    async def work(lab: Lab) -> None:
        strict = await lab.provider(script, wire)
        lenient = await lab.provider(replace(script, faults=()), wire)
        ending = await asked(lab, script, strict, lenient)
        assert isinstance(ending, Done), ending
        assert lab.file("report.md") == script.steps[0].content
        failing.append(sum(bool(one.faults) for one in lab.sims[0].log))

    play(work)
    return failing[0]


@cache
def all_down(wire: str) -> list[tuple[float, int]]:
    """Return the seconds to the error and the requests to one upstream, for each way in which two can be down."""
    return [down(wire, fault) for fault in ("wrong_status status=503", "overloaded", "rst at=start", "unreachable")]


def down(wire: str, fault: str) -> tuple[float, int]:
    measured: list[tuple[float, int]] = []

    async def work(lab: Lab) -> None:
        script = TALK if fault == "unreachable" else replace(TALK, faults=(read_fault(fault),))
        endpoints = [await lab.provider(script, wire) for _ in range(2)]
        if fault == "unreachable":
            for sim in lab.sims:
                await sim.close()
        began = asyncio.get_running_loop().time()
        ending = await asked(lab, script, *endpoints)
        assert isinstance(ending, GaveUp), ending
        assert ending.failure.reason
        requests = Counter(notice.upstream for notice in lab.told(notices.Asking))
        measured.append((asyncio.get_running_loop().time() - began, max(requests.values())))

    play(work)
    return measured[0]


def requests_a_bad_key(wire: str) -> Iterable[int]:
    for status in (401, 403):
        requests: Counter[str] = Counter()

        async def work(lab: Lab, status=status, requests=requests) -> None:
            script = replace(TALK, faults=(read_fault(f"bad_key status={status}"),))
            ending = await asked(lab, script, await lab.provider(script, wire, keys=("one", "two", "three")))
            assert isinstance(ending, GaveUp), ending
            requests.update(one.key for one in lab.sims[0].log)

        play(work)
        yield max(requests.values())


def recoveries(wire: str) -> Iterable[float]:
    """Give the real seconds from a cut to the request that goes on from it, in text and in a call."""
    for cut in ("rst", "fin", "fin framing=open", "truncated_chunk"):
        for healthy in (TALK, page(6_000)):
            script = replace(healthy, faults=(read_fault(f"{cut} first=1"),))
            for _ in range(ROUNDS):
                gaps: list[float] = []

                async def work(lab: Lab, script=script, gaps=gaps) -> None:
                    assert isinstance(await asked(lab, script, await lab.provider(script, wire)), Done)
                    first, second, *_ = lab.sims[0].log
                    assert first.faults
                    gaps.append(second.started_at - first.ended_at)

                play(work, really=True)
                yield from gaps


def interrupts(wire: str) -> Iterable[float]:
    """Give the real seconds from an interrupt until the provider saw the connection close, in each phase."""
    flowing = replace(TALK, pace=Pace(seconds=0.005))
    for script in (
        *(replace(TALK, faults=(read_fault(one),)) for one in ("no_headers", "stall", "pings_only")),
        flowing,
    ):
        for _ in range(ROUNDS):
            gaps: list[float] = []

            async def work(lab: Lab, script=script, gaps=gaps) -> None:
                endpoint = await lab.provider(script, wire)
                turn = asyncio.create_task(asked(lab, script, endpoint))
                while not lab.sims[0].log:  # noqa: ASYNC110  # the simulator has no event for it
                    await asyncio.sleep(0.01)
                await asyncio.sleep(0.05)
                at = asyncio.get_running_loop().time()
                turn.cancel()
                with suppress(asyncio.CancelledError):
                    await turn
                (exchange,) = await lab.sims[0].quiet()
                assert exchange.client_left_at is not None
                gaps.append(exchange.client_left_at - at)

            play(work, really=True)
            yield from gaps


def play(work: Callable[[Lab], Awaitable[None]], *, really: bool = False) -> None:
    """Run a scenario in a lab, in virtual time or by the clock on the wall."""

    async def in_real_time(folder: Path) -> None:
        async with AsyncExitStack() as stack:
            lab = Lab(folder, stack)
            await work(lab)
            lab.client.close()

    with tempfile.TemporaryDirectory() as folder:
        if really:
            asyncio.run(in_real_time(Path(folder)))
        else:
            in_lab(Path(folder), work)


if __name__ == "__main__":
    main()
