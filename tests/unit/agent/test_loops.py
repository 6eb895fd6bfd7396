"""Loops are told first and ended then; whatever makes progress is left alone."""

from itertools import cycle, islice

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from headway.agent.loops import End, GoOn, LoopWatch, Tell
from headway.messages import Text, ToolCall, ToolResult


def exchange(name, result="same", identity="1", arguments="{}", *, is_error=False):
    return ToolCall(identity, name, arguments), ToolResult(identity, (Text(result),), is_error=is_error)


def watched(steps, watch=None):
    """Return the verdict of each step, up to the end of the loop or of the steps."""
    watch, verdicts = watch or LoopWatch(), []
    for step in steps:
        watch, verdict = watch.after(step)
        verdicts.append(verdict)
        if isinstance(verdict, End):
            break
    return verdicts


def kinds(steps, watch=None):
    return "".join({GoOn: ".", Tell: "T", End: "E"}[type(verdict)] for verdict in watched(steps, watch))


def test_the_same_call_with_the_same_result_is_told_and_then_ended():
    steps = [[exchange("read_file", identity=str(at))] for at in range(10)]
    told, ended = watched(steps)[2], watched(steps)[-1]
    assert kinds(steps) == "..T.E"
    assert "the same call of `read_file`" in told.text
    assert "went round in circles" in ended.reason


def test_two_steps_in_turn_are_a_loop_too():
    verdicts = watched([[exchange(name)] for name in "ABABABABABABAB"])
    assert [type(verdict).__name__ for verdict in verdicts if verdict != GoOn()] == ["Tell", "End"]
    assert "the same 2 steps" in next(verdict for verdict in verdicts if isinstance(verdict, Tell)).text
    assert len(verdicts) == 10


def test_polling_that_brings_something_new_is_no_loop():
    assert set(kinds([[exchange("shell", f"{at} % done")] for at in range(50)])) == {"."}


def test_other_arguments_are_other_calls_and_their_spelling_is_not():
    assert set(kinds([[exchange("read_file", arguments=f'{{"offset": {at}}}')] for at in range(50)])) == {"."}
    spellings = ['{"a":1,"b":2}', '{"b": 2, "a": 1}', '{ "a" : 1 , "b" : 2 }']
    assert kinds([[exchange("read_file", arguments=arguments)] for arguments in spellings]) == "..T"
    assert kinds([[exchange("read_file", arguments='{"half')] for _ in range(3)]) == "..T"


def test_an_error_and_a_result_of_the_same_words_differ():
    assert set(kinds([[exchange("x", is_error=bool(at % 2))] for at in range(5)])) == {"."}


def test_calls_side_by_side_are_one_step_in_any_order():
    one, other = exchange("a"), exchange("b")
    assert kinds([[one, other], [other, one], [one, other]]) == "..T"
    assert kinds([[one, one, one]]) == "."
    assert kinds([[]] * 10) == ".........."


def test_a_model_that_listens_goes_on_and_a_relapse_ends_sooner():
    same, other = [exchange("same")], [exchange("other")]
    assert kinds([same, same, same, other, [exchange("third")], same, same]) == "..T...E"


def test_a_model_that_always_finds_another_loop_is_stopped():
    steps = [[exchange(f"tool {at // 3}")] for at in range(100)]
    assert kinds(steps) == "..T..T..T..E"


def test_a_watch_can_be_kept_in_a_journal():
    watch = LoopWatch()
    for _ in range(4):
        watch, _ = watch.after([exchange("same")])
    assert msgspec.json.decode(msgspec.json.encode(watch), type=LoopWatch) == watch


NAMES = st.sampled_from("abcdefgh")


@given(st.lists(NAMES, max_size=30), st.lists(NAMES, min_size=1, max_size=6))
def test_every_cycle_is_told_before_it_is_ended_and_ends_soon(before, block):
    """Whatever came before, a short cycle that goes on for ever is ended within a bounded number of rounds."""
    watch = LoopWatch(most_tellings=1_000)
    verdicts = []
    for name in [*before, *islice(cycle(block), 6 * 8)]:
        watch, verdict = watch.after([exchange(name)])
        verdicts.append(verdict)
        if isinstance(verdict, End):
            break
    assert isinstance(verdicts[-1], End)
    assert any(isinstance(verdict, Tell) for verdict in verdicts)
    assert sum(isinstance(verdict, Tell) for verdict in verdicts) <= 2 + len(before) // 3


@given(st.lists(NAMES, max_size=60))
def test_nothing_is_told_unless_something_really_came_three_times_in_a_row(names):
    for at, verdict in enumerate(watched([[exchange(name)] for name in names])):
        if isinstance(verdict, Tell):
            seen = names[: at + 1]
            assert any(seen[-3 * length :] == seen[-length:] * 3 for length in range(1, 7))


@given(st.lists(st.tuples(NAMES, st.integers()), unique=True, max_size=40))
def test_steps_that_all_differ_are_never_a_loop(steps):
    assert set(kinds([[exchange(name, str(result))] for name, result in steps])) <= {"."}


@given(st.lists(NAMES, max_size=60))
def test_what_is_remembered_is_bounded(names):
    watch = LoopWatch()
    for name in names:
        watch, _ = watch.after([exchange(name)])
        assert len(watch.seen) <= 18
        assert len(watch.told) <= 3
