"""Whom a turn asks first, and what it teaches the pool. The ledger and the machine are the real ones."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec.structs import replace

from headway.failure import FailureKind, Plan, Scope
from headway.providers.breaker import BreakerLimits, Stance
from headway.providers.catalog import custom
from headway.providers.changes import Bypassed, KeyRested, ProbeStarted, Restored, WentUnwell, sentence
from headway.providers.health import Health
from headway.providers.keys import KeyRing
from headway.providers.links import link
from headway.providers.pool import Pool, answered, choose, failed, left, upstreams_for
from headway.recovery.decisions import Again, FailOver, GiveUp
from headway.recovery.ledger import Policy, Upstream, open_ledger
from headway.recovery.machine import decide
from support.outcomes import broken, failure

LIMITS = BreakerLimits(failures=3, window_seconds=60, open_seconds=10, longest_seconds=80, probe_seconds=30)
A, B, C = (link(custom(name, "chat", f"https://{name}.example/v1"), "m") for name in "abc")
DOWN = failure(FailureKind.SERVER_FAULT, Plan.RETRY_SAME, scope=Scope.PROVIDER)
LIMITED = failure(FailureKind.RATE_LIMITED, Plan.RETRY_SAME, scope=Scope.KEY)
BAD = failure(FailureKind.BAD_KEY, Plan.ROTATE_CREDENTIAL, scope=Scope.KEY)
CHAIN = (A, B, C)


def pool(**keys):
    return Pool({name: KeyRing(name, tuple(known)) for name, known in keys.items()}, Health(LIMITS))


def unwell(state, *links, now=0.0):
    for one in links:
        for _ in range(3):
            state, _ = failed(state, one, DOWN, now)
    return state


def names(choice):
    return [one.provider.name for one in choice.links]


def test_the_order_is_the_users_as_long_as_all_are_well():
    choice = choose(pool(), CHAIN, 0)
    assert (choice.links, choice.pool, choice.changes) == (CHAIN, pool(), ())


def test_the_fallback_is_asked_first_for_as_long_as_the_primary_is_unwell():
    state = unwell(pool(), A)
    for now in (0, 5, 9.9):
        choice = choose(state, CHAIN, now)
        assert names(choice) == ["b", "c", "a"]
        assert choice.changes == (Bypassed("a/m", "b/m", pytest.approx(10 - now)),)
        state = choice.pool
    assert "asking b/m, because a/m is not fit; it is tried again in" in sentence(choice.changes[0])


def test_the_primary_comes_back_by_one_probe():
    state = unwell(pool(), A)
    first = choose(state, CHAIN, 10)
    assert names(first) == ["a", "b", "c"]
    assert first.changes == (ProbeStarted("a/m"),)
    second = choose(first.pool, CHAIN, 10)
    assert names(second) == ["b", "c", "a"], "another turn does not probe too"
    state, changes = answered(second.pool, A)
    assert [sentence(change) for change in changes] == ["a/m restored by probe"]
    assert names(choose(state, CHAIN, 11)) == ["a", "b", "c"]


def test_a_probe_that_fails_leaves_the_fallback_in_place_for_longer():
    choice = choose(unwell(pool(), A), CHAIN, 10)
    state, changes = failed(choice.pool, A, DOWN, 12)
    assert changes == (WentUnwell("a/m", 20, DOWN.reason),)
    assert names(choose(state, CHAIN, 31)) == ["b", "c", "a"]
    assert names(choose(state, CHAIN, 32)) == ["a", "b", "c"]


def test_a_turn_that_is_interrupted_gives_its_probe_back():
    choice = choose(unwell(pool(), A), CHAIN, 10)
    assert choose(left(choice.pool, A, 11), CHAIN, 11).changes == (ProbeStarted("a/m"),)


def test_one_turn_pays_for_one_probe():
    choice = choose(unwell(pool(), A, B), CHAIN, 10)
    assert names(choice) == ["a", "c", "b"]
    assert choice.changes == (ProbeStarted("a/m"),)


def test_a_fallback_that_is_unwell_is_not_probed_while_the_primary_is_well():
    choice = choose(unwell(pool(), B), CHAIN, 50)
    assert names(choice) == ["a", "c", "b"]
    assert choice.changes == ()


def test_when_all_are_unwell_the_one_that_is_due_first_is_asked_all_the_same():
    state = unwell(unwell(pool(), A, now=5), B, C, now=0)
    choice = choose(state, CHAIN, 6)
    assert names(choice) == ["b", "c", "a"]
    state, changes = answered(choice.pool, B)
    assert changes == (Restored("b/m", by_probe=False),)


def test_a_chain_of_one_is_always_asked():
    assert names(choose(unwell(pool(), A), (A,), 0)) == ["a"]


def test_a_provider_whose_keys_all_rest_gives_way_until_one_is_fit():
    state, changes = failed(pool(a=["k1"]), A, LIMITED, 0, "k1")
    assert changes == (KeyRested("a", "k1", 20, LIMITED.reason),)
    assert names(choose(state, CHAIN, 19)) == ["b", "c", "a"]
    assert names(choose(state, CHAIN, 20)) == ["a", "b", "c"]


def test_a_provider_without_a_good_key_is_not_asked_at_all():
    state, _ = failed(pool(a=["k1"]), A, BAD, 0, "k1")
    choice = choose(state, CHAIN, 1e6)
    assert names(choice) == ["b", "c"]
    assert choice.changes == (Bypassed("a/m", "b/m", None),)
    assert sentence(choice.changes[0]).endswith("it needs another key")
    assert choose(state, (A,), 1e6).links == ()


def test_no_probe_is_taken_without_a_key_to_send_it_with():
    state, _ = failed(unwell(pool(a=["k1"]), A), A, LIMITED, 0, "k1")
    choice = choose(state, CHAIN, 12)
    assert names(choice) == ["b", "c", "a"]
    assert choice.pool.health.stance("a/m", 12) is Stance.DUE


def test_a_link_that_stands_twice_is_asked_once():
    assert names(choose(pool(), (A, B, A), 0)) == ["a", "b"]


def test_a_ledger_counts_the_keys_that_are_fit():
    state = pool(a=["k1", "k2", "k3"])
    able = replace(B, provider=replace(B.provider, reattaches=True))
    assert upstreams_for(state, (A, able), 0) == (Upstream("a/m", 3), Upstream("b/m", 1, reattaches=True))
    state, _ = failed(state, A, LIMITED, 0, "k1")
    assert upstreams_for(state, (A,), 0) == (Upstream("a/m", 2),)
    for key in ("k2", "k3"):
        state, _ = failed(state, A, LIMITED, 0, key)
    assert upstreams_for(state, (A,), 0) == (Upstream("a/m", 1),)
    assert state.keys_for(A, 0) == ("k3",), "all rest alike, so the one in use stays"


def ran(state, chain, causes, now=0.0):
    """Run one turn that only fails; return the pool, what was asked with which key, and how it ended."""
    choice = choose(state, chain, now)
    state, by_name = choice.pool, {one.name: one for one in choice.links}
    ledger = open_ledger(Policy(), upstreams_for(state, choice.links, now))
    asked = []
    while True:
        one = by_name[ledger.upstream.name]
        key = next(iter(state.keys_for(one, now)), None)
        asked.append((one.provider.name, key))
        cause = causes[one.provider.name]
        state, _ = failed(state, one, cause, now, key)
        ledger, decision = decide(ledger, broken(cause, took_seconds=0.5))
        now += 0.5 + getattr(decision, "wait_seconds", 0.0)
        if isinstance(decision, GiveUp):
            return state, asked, now
        assert isinstance(decision, Again | FailOver)


@given(st.integers(1, 5), st.integers(1, 5))
def test_all_keys_of_all_providers_are_tried_and_bad_ones_once_each(of_a, of_b):
    state = pool(a=[f"a{n}" for n in range(of_a)], b=[f"b{n}" for n in range(of_b)])
    _, asked, _ = ran(state, (A, B), {"a": BAD, "b": BAD})
    wanted = [*(("a", f"a{n}") for n in range(of_a)), *(("b", f"b{n}") for n in range(of_b))]
    assert asked == wanted


@given(st.integers(1, 5))
def test_a_limit_on_rates_goes_through_all_keys_before_anybody_waits(count):
    _, asked, _ = ran(pool(a=[f"a{n}" for n in range(count)]), (A,), {"a": LIMITED})
    assert [key for _, key in asked[:count]] == [f"a{n}" for n in range(count)]


def test_the_turn_after_a_turn_that_failed_over_begins_with_the_fallback():
    state, asked, now = ran(pool(), (A, B), {"a": DOWN, "b": BAD})
    assert Counter(name for name, _ in asked)["a"] == 3
    assert names(choose(state, (A, B), now)) == ["b", "a"]


@settings(max_examples=40, stateful_step_count=30)
class TurnsOverOnePool(RuleBasedStateMachine):
    """Many turns share one pool: they begin, succeed, fail and vanish in any order, while time goes by."""

    def __init__(self):
        super().__init__()
        self.pool = pool(a=["a1", "a2"], b=["b1"])
        self.now = 0.0
        self.turns = []
        self.probes = {}

    @rule(seconds=st.floats(0, 40))
    def time_goes_by(self, seconds):
        self.now += seconds

    @rule()
    def a_turn_begins(self):
        choice = choose(self.pool, CHAIN, self.now)
        fit = [one for one in CHAIN if self._is_fit(one)]
        for change in choice.changes:
            if isinstance(change, ProbeStarted):
                started = self.probes.get(change.upstream)
                assert started is None or self.now >= started + LIMITS.probe_seconds, "two probes at once"
                self.probes[change.upstream] = self.now
                assert choice.links[0].name == change.upstream, "a probe is what is asked first"
        probing = any(isinstance(change, ProbeStarted) for change in choice.changes)
        assert list(choice.links[probing : probing + len(fit)]) == fit, "who is fit keeps the user's order"
        assert len(set(names(choice))) == len(choice.links)
        self.pool = choice.pool
        if choice.links:
            self.turns.append(choice.links[0])

    @precondition(lambda self: self.turns)
    @rule(at=st.integers(0, 100), how=st.sampled_from(["answered", "left", DOWN, LIMITED, BAD]))
    def a_turn_ends(self, at, how):
        one = self.turns.pop(at % len(self.turns))
        key = next(iter(self.pool.keys_for(one, self.now)), None)
        self.probes.pop(one.name, None)
        if how == "answered":
            self.pool, _ = answered(self.pool, one, key)
        elif how == "left":
            self.pool = left(self.pool, one, self.now)
        else:
            self.pool, _ = failed(self.pool, one, how, self.now, key)

    @invariant()
    def nobody_is_lost(self):
        asked = choose(self.pool, CHAIN, self.now).links
        barred = [one for one in CHAIN if self.pool.ring(one).wait_seconds("m", self.now) is None]
        assert {one.name for one in (*asked, *barred)} == {one.name for one in CHAIN}

    @invariant()
    def everybody_may_be_asked_again_in_time(self):
        later = self.now + LIMITS.longest_seconds + LIMITS.probe_seconds
        assert all(self.pool.health.stance(one.name, later) is not Stance.UNFIT for one in CHAIN)

    def _is_fit(self, one):
        keyed = self.pool.ring(one).wait_seconds("m", self.now) == 0
        return keyed and self.pool.health.stance(one.name, self.now) is Stance.FIT


test_turns_over_one_pool = TurnsOverOnePool.TestCase
