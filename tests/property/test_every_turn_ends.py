"""Promise 1: every turn ends. Exhaustively over all small ledgers, and by long random runs."""

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.failure import FailureKind
from headway.recovery.decisions import END, Again, FailOver, Finish, RunTools
from headway.recovery.ledger import Ask, Ledger, Policy, Salvage, Strategy, Upstream, open_ledger
from headway.recovery.machine import Answered, Outcome, decide
from support.outcomes import ANSWERS, COMMON, COMMON_OUTCOMES, EVERY_FAILURE, SHAPES, broken

POLICY = Policy(attempts=2, attempts_per_upstream=2, continuations=1)
CHAINS = ((Upstream("a"),), (Upstream("a", keys=2, reattaches=True),), (Upstream("a"), Upstream("b", keys=2)))
SALVAGES = (Salvage(), *(Salvage().after(SHAPES[name]) for name in ("text", "long call", "longer call", "short call")))


def small_ledgers() -> Iterator[Ledger]:
    """Give every small ledger there can be, reachable or not."""
    for upstreams, salvage, ask in product(CHAINS, SALVAGES, Ask):
        for attempts, here, continuations in product((0, 1, 2), (0, 1, 2), (0, 1)):
            yield replace(
                open_ledger(POLICY, upstreams),
                attempts_left=attempts,
                attempts_here_left=here,
                continuations_left=continuations,
                salvage=salvage,
                ask=ask,
            )


def step(ledger: Ledger, outcome: Outcome) -> tuple[Ledger, object]:
    """Take one step and hold it to the rules that make every turn end."""
    after, decision = decide(ledger, outcome)
    assert after.seconds_left <= ledger.seconds_left
    assert after.attempts_left <= ledger.attempts_left
    assert after.continuations_left <= ledger.continuations_left
    assert after.met >= ledger.met
    if isinstance(decision, END):
        return after, decision
    assert after.remaining < ledger.remaining, "a decision that leads to a request must cost something"
    (new,) = after.met - ledger.met
    assert new not in ledger.met, "the same failure was met with the same strategy twice"
    if isinstance(decision, Again):
        assert decision.strategy is new[1]
        assert 0 <= decision.wait_seconds <= ledger.policy.longest_wait_seconds
        assert decision.strategy not in ledger.policy.forbidden
    else:
        assert isinstance(decision, FailOver)
        assert new[1] is Strategy.FAIL_OVER
        assert decision.to == after.upstream.name
    return after, decision


@pytest.mark.parametrize("shape", SHAPES)
def test_every_small_ledger_comes_nearer_to_its_end_under_every_common_outcome(shape):
    """By induction over `remaining`, which is finite and never below zero, every turn ends."""
    for ledger in small_ledgers():
        for cause in COMMON:
            outcome = broken(cause, SHAPES[shape])
            after, decision = step(ledger, outcome)
            while not isinstance(decision, END):  # the same again, until the ladder is at its end
                after, decision = step(after, outcome)


def test_every_small_ledger_ends_with_an_answer():
    for ledger in small_ledgers():
        for received in ANSWERS.values():
            _, decision = step(ledger, Answered(received))
            assert isinstance(decision, Finish | RunTools)


@pytest.mark.parametrize("shape", ["nothing", "text", "long call"])
def test_every_failure_that_can_be_written_down_is_decided(shape):
    ledger = open_ledger(POLICY, CHAINS[2])
    for cause in EVERY_FAILURE:
        step(ledger, broken(cause, SHAPES[shape]))


@given(
    st.lists(
        st.one_of(
            st.sampled_from(COMMON_OUTCOMES),
            st.builds(
                broken, st.sampled_from(EVERY_FAILURE), st.sampled_from(list(SHAPES.values())), st.floats(0, 2000)
            ),
        ),
        min_size=80,
        max_size=80,
    ),
    st.builds(
        Policy,
        attempts=st.integers(0, 8),
        attempts_per_upstream=st.integers(1, 4),
        continuations=st.integers(0, 30),
        forbidden=st.frozensets(st.sampled_from(Strategy), max_size=6),
        stays_home=st.frozensets(st.sampled_from(FailureKind), max_size=4),
    ),
    st.lists(st.builds(Upstream, st.sampled_from("abc"), st.integers(1, 4), st.booleans()), min_size=1, max_size=4),
)
def test_a_long_random_run_ends_within_its_budget(outcomes, policy, upstreams):
    ledger = open_ledger(policy, tuple(upstreams))
    budget = ledger.remaining
    for taken, outcome in enumerate(outcomes):
        ledger, decision = step(ledger, outcome)
        if isinstance(decision, END):
            return
        assert taken < budget
    raise AssertionError("no end")


@given(st.lists(st.sampled_from(COMMON_OUTCOMES), max_size=12))
def test_an_answer_ends_the_turn_wherever_it_comes(outcomes):
    ledger = open_ledger(Policy(), (Upstream("a", keys=3), Upstream("b")))
    for outcome in outcomes:
        after, decision = step(ledger, outcome)
        if isinstance(decision, END):
            break
        ledger = after
    _, decision = step(ledger, Answered(ANSWERS["answer"]))
    assert isinstance(decision, END)
