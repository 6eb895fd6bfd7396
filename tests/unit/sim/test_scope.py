"""Whom faults strike, and where in a reply: counted, chosen by size, content, key, model and wire, or by the seed."""

from random import Random

import pytest

from headway.events import CallArguments, CallOpened, Stop, StreamEnded, StreamOpened, TextDelta, ThinkingDelta
from headway.failure import InvalidInput
from headway.sim import Call, Final, Script, SimServer, WriteFile, read_fault
from headway.sim.catalog import SCOPE
from headway.sim.fault import Fault
from headway.sim.place import FORMS, Place, read_place, split_at
from headway.sim.play import Altered, Finish, Head, Play, words
from headway.transport.clock import run_virtual
from unit.sim.talking import asking, post

PLAY: Play = [
    Head(),
    StreamOpened("r", "m"),
    ThinkingDelta("hmm."),
    TextDelta("Hello "),
    TextDelta("world"),
    CallOpened(0, "c0", "first"),
    CallArguments(0, '{"a":'),
    CallArguments(0, '"xyz"}'),
    CallOpened(1, "c1", "second"),
    CallArguments(1, '{"b":"0123456789"}'),
    StreamEnded(Stop.CALLS),
    Finish(),
]


def struck(fault: str, times: int, script: Script | None = None, seed: int = 0, **asked: object) -> list[int]:
    """Return which of so many equal requests were struck."""

    async def talk() -> list[int]:
        base = script or Script()
        async with SimServer(Script(steps=base.steps, faults=(read_fault(fault),)), seed=seed) as sim:
            for _ in range(times):
                await post(sim, "chat", asking("chat", **asked), {"authorization": "Bearer key-one"})  # type: ignore[arg-type]
            return [one.number for one in await sim.quiet() if one.faults]

    return run_virtual(talk())


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("first=2", [1, 2]),
        ("after=2", [3, 4, 5, 6]),
        ("every=2", [1, 3, 5]),
        ("after=1 every=2", [2, 4, 6]),
        ("after=1 every=2 first=2", [2, 4]),
        ("chance=0", []),
        ("chance=1.0", [1, 2, 3, 4, 5, 6]),
    ],
)
def test_requests_are_counted(scope: str, expected: list[int]) -> None:
    assert struck(f"overloaded {scope}", 6) == expected


def test_the_seed_decides_by_chance_and_nothing_else_does() -> None:
    by_seed = [struck("overloaded chance=0.5", 12, seed=seed) for seed in (1, 1, 2)]
    assert by_seed[0] == by_seed[1] != by_seed[2]
    assert 0 < len(by_seed[0]) < 12


@pytest.mark.parametrize(
    ("scope", "hits"),
    [
        ("key=key-one", True),
        ("key=key-*", True),
        ("key=key-two", False),
        ("model=sim-*", True),
        ("model=other", False),
        ("wire=chat", True),
        ("wire=anthropic", False),
        ("matching='do your t.sk'", True),
        ("matching='simulated model'", True),
        ("matching=nowhere", False),
        ("tool=write_file", False),
        ("over=10", False),
    ],
)
def test_a_scope_narrows_whom_a_fault_strikes(scope: str, hits) -> None:
    assert struck(f"overloaded {scope}", 1) == ([1] if hits else [])


def test_only_replies_with_a_large_call_are_struck() -> None:
    small = Script(steps=(Call("shell", {"command": "ls"}),))
    large = Script(steps=(WriteFile("a", "x" * 9_000),))
    assert struck("overloaded over=8192 tool=shell", 1, small) == struck("overloaded over=8192", 1, small) == []
    assert struck("overloaded over=8192 tool=write_file", 1, large) == [1]


def test_a_fault_that_finds_no_place_is_not_counted() -> None:
    assert struck("stall at=100000 first=1", 3) == []


def test_an_answer_instead_of_a_reply_comes_first_and_alone() -> None:
    faults = tuple(map(read_fault, ("rst first=1", "overloaded first=1", "rate_limit first=2")))

    async def talk() -> list[tuple[str, ...]]:
        async with SimServer(Script(faults=faults)) as sim:
            for _ in range(5):
                await post(sim, "chat", asking("chat"))
            return [one.faults for one in await sim.quiet()]

    assert run_virtual(talk()) == [("overloaded",), ("rate_limit",), ("rate_limit",), ("rst",), ()]


def test_every_parameter_of_the_scope_is_described() -> None:
    fields = set(Fault.__struct_fields__)
    assert fields - {"at"} == set(SCOPE)


@pytest.mark.parametrize(
    ("at", "before"),
    [
        (0, ""),
        (7, "hmm.Hel"),
        ("7", "hmm.Hel"),
        ("10", "hmm.Hello "),
        ("50%", 'hmm.Hello world{"a":"x'),
        (0.5, 'hmm.Hello world{"a":"x'),
        ("2 events", "hmm.Hello "),
        ("1 event", "hmm."),
        ("start", ""),
        ("headers", ""),
        ("opened", ""),
        ("thinking+2", "hm"),
        ("text", "hmm."),
        ("text+8", "hmm.Hello wo"),
        ("text 50%", "hmm.Hello"),
        ("call", "hmm.Hello world"),
        ("call 2", 'hmm.Hello world{"a":"xyz"}'),
        ("call+3", 'hmm.Hello world{"a'),
        ("call+12", 'hmm.Hello world{"a":"xyz"}{"b":"012345'),
        ("call 2+1", 'hmm.Hello world{"a":"xyz"}{'),
        ("call 2 50%", 'hmm.Hello world{"a":"xyz"}{"b":"012'),
        ("string", 'hmm.Hello world{"a":"xyz"'),
        ("end", 'hmm.Hello world{"a":"xyz"}{"b":"0123456789"}'),
    ],
)
def test_a_place_splits_a_play_to_the_character(at: float | str, before: str) -> None:
    halves = split_at(PLAY, at, Random(0))
    assert halves is not None
    assert words(halves[0]) == before
    assert words(halves[0]) + words(halves[1]) == words(PLAY)


@pytest.mark.parametrize("at", [1000, "99 events", "call+100", "call 3", "call 3+1", "text+11", "thinking+4"])
def test_a_place_that_a_reply_does_not_reach_is_none(at: int | str) -> None:
    assert split_at(PLAY, at, Random(0)) is None


def test_a_place_before_the_headers_is_not_one_behind_them() -> None:
    assert [split_at(PLAY, at, Random(0))[0] for at in ("start", "headers", "opened")] == [[], PLAY[:1], PLAY[:2]]


def test_anywhere_is_somewhere_else_for_another_seed() -> None:
    places = {words(split_at(PLAY, "anywhere", Random(seed))[0]) for seed in range(20)}
    assert len(places) > 10


def test_a_delta_of_a_stored_response_goes_out_whole() -> None:
    play: Play = [Head(), Altered(TextDelta("Hello"), whole=True), Finish()]
    before, rest = split_at(play, 2, Random(0))
    assert (words(before), words(rest)) == ("Hello", "")


def test_a_delta_that_was_changed_stays_changed_in_both_halves() -> None:
    play: Play = [Altered(TextDelta("Hello"), bytes.upper)]
    before, rest = split_at(play, 2, Random(0))
    assert [one.alter(b"x") for one in (*before, *rest)] == [b"X", b"X"]


@pytest.mark.parametrize("at", ["", "nowhere", "50", "call %", "-3", "events", "12.5", "call 2+", "text+x"])
def test_what_is_no_place_is_refused_with_all_that_are(at: str) -> None:
    if at == "50":
        assert read_place(at) == Place(offset=50)
        return
    with pytest.raises(InvalidInput, match="no place"):
        read_place(at)


def test_every_form_of_a_place_that_is_documented_can_be_read() -> None:
    for form in FORMS:
        for one in form.split(", "):
            assert read_place(one)


def test_a_fin_ends_the_script_of_final_words() -> None:
    assert struck("fin at=5", 2, Script(steps=(Final("Hello you"),))) == [1, 2]
