"""Several keys: one in use, the next when it is turned away, all of them before anybody gives up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.failure import FailureKind, Plan, Scope
from headway.providers.changes import KeyRested, KeyRuledOut, KeyTurned
from headway.providers.keys import MOST_REMEMBERED, KeyLimits, KeyRing
from support.outcomes import failure

LIMITS = KeyLimits(rest_seconds=20, longest_rest_seconds=100, account_rest_seconds=900)
RING = KeyRing("main", ("k1", "k2", "k3"))


def key_failure(kind, wait_seconds=None):
    return failure(kind, Plan.ROTATE_CREDENTIAL, scope=Scope.KEY, wait_seconds=wait_seconds)


LIMITED, BAD = key_failure(FailureKind.RATE_LIMITED), key_failure(FailureKind.BAD_KEY)
SPENT, FORBIDDEN = key_failure(FailureKind.QUOTA_SPENT), key_failure(FailureKind.FORBIDDEN)


def after(ring, *story, model="m", now=0.0):
    for key, cause in story:
        ring, _ = ring.failed(key, model, cause, LIMITS, now)
    return ring


def test_a_key_stays_in_use_until_it_is_turned_away():
    assert RING.pick("m", 0) == "k1"
    ring, changes = RING.failed("k1", "m", LIMITED, LIMITS, 0)
    assert changes == (KeyRested("main", "k1", 20, LIMITED.reason), KeyTurned("main", "k2"))
    assert ring.pick("m", 0) == "k2"
    assert ring.pick("m", 1_000) == "k2", "k1 is fit again, but k2 is in use"


def test_a_key_rests_as_long_as_the_provider_says():
    ring = after(RING, ("k1", key_failure(FailureKind.RATE_LIMITED, 7)))
    assert ring.fit("m", 6.9) == ("k2", "k3")
    assert ring.fit("m", 7) == ("k2", "k3", "k1")


def test_a_key_that_may_be_used_again_at_once_still_gives_the_next_one_its_turn():
    ring, changes = RING.failed("k1", "m", key_failure(FailureKind.RATE_LIMITED, 0), LIMITS, 0)
    assert changes[1:] == (KeyTurned("main", "k2"),)
    assert ring.fit("m", 1) == ("k2", "k3", "k1")


def test_a_key_that_is_limited_again_rests_twice_as_long():
    ring, rests, now = KeyRing("main", ("k1",)), [], 0.0
    for _ in range(5):
        ring, changes = ring.failed("k1", "m", LIMITED, LIMITS, now)
        rests.append(changes[0].seconds)
        now += changes[0].seconds
    assert rests == [20, 40, 80, 100, 100]
    ring, changes = ring.answered("k1", "m").failed("k1", "m", LIMITED, LIMITS, now)
    assert changes[0].seconds == 20


def test_several_turns_that_hit_one_limit_are_one_limit():
    ring = after(RING, ("k1", LIMITED), ("k1", LIMITED), ("k1", LIMITED))
    assert ring.wait_seconds("m", 0) == 0
    assert [rest.times for rest in ring.rests] == [1]


def test_a_bad_key_is_never_used_again():
    ring, changes = RING.failed("k1", "m", BAD, LIMITS, 0)
    assert changes == (KeyRuledOut("main", "k1", BAD.reason), KeyTurned("main", "k2"))
    assert ring.usable("other-model") == ("k2", "k3")
    gone = after(ring, ("k2", BAD), ("k3", BAD))
    assert gone.pick("m", 1e9) is None
    assert gone.wait_seconds("m", 0) is None


def test_a_limit_on_rates_or_a_missing_right_is_one_models_and_money_is_everybodys():
    assert after(RING, ("k1", LIMITED), ("k1", FORBIDDEN)).fit("other", 0) == ("k2", "k3", "k1")
    assert after(RING, ("k1", FORBIDDEN)).fit("m", 0) == ("k2", "k3")
    assert after(RING, ("k1", SPENT)).fit("other", 0) == ("k2", "k3")
    assert after(RING, ("k1", SPENT)).fit("other", 900) == ("k2", "k3", "k1")


def test_when_all_keys_rest_the_one_that_rests_the_shortest_is_used():
    ring = after(RING, ("k1", LIMITED), ("k2", key_failure(FailureKind.RATE_LIMITED, 3)), ("k3", LIMITED))
    assert ring.fit("m", 0) == ()
    assert ring.pick("m", 0) == "k2"
    assert ring.wait_seconds("m", 0) == 3


@pytest.mark.parametrize("scope", [scope for scope in Scope if scope is not Scope.KEY])
def test_failures_that_are_not_the_keys_leave_it_alone(scope):
    assert RING.failed("k1", "m", failure(FailureKind.UNKNOWN, scope=scope), LIMITS, 0) == (RING, ())


def test_a_key_of_another_ring_changes_nothing():
    assert RING.failed("k9", "m", BAD, LIMITS, 0) == (RING, ())


def test_a_ring_without_keys_is_always_ready():
    ring = KeyRing("local")
    assert (ring.pick("m", 0), ring.wait_seconds("m", 0)) == (None, 0)


def test_what_is_remembered_has_an_end():
    ring = RING
    for n in range(MOST_REMEMBERED * 2):
        ring = after(ring, ("k1", FORBIDDEN), model=f"model-{n}")
    assert len(ring.rests) == MOST_REMEMBERED


KINDS = [FailureKind.RATE_LIMITED, FailureKind.BAD_KEY, FailureKind.QUOTA_SPENT, FailureKind.FORBIDDEN]
causes = st.builds(key_failure, st.sampled_from(KINDS), st.sampled_from([None, 0.0]) | st.floats(0, 1e5))
stories = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("mn"), st.none() | causes, st.floats(0, 60)), max_size=15
)


def lived(count, story):
    ring, now = KeyRing("main", tuple(f"k{n}" for n in range(count))), 0.0
    for index, model, cause, seconds in story:
        now += seconds
        key = f"k{index % count}"
        ring = ring.answered(key, model) if cause is None else ring.failed(key, model, cause, LIMITS, now)[0]
    return ring, now


@given(st.integers(1, 5), stories)
def test_a_key_that_rests_is_not_used_while_another_is_fit(count, story):
    ring, now = lived(count, story)
    for model in "mn":
        fit, picked = ring.fit(model, now), ring.pick(model, now)
        assert picked in fit if fit else picked is None or picked in ring.usable(model)
        assert set(fit) <= set(ring.usable(model)) <= set(ring.keys)


@given(st.integers(1, 5), stories)
def test_every_key_that_only_rests_is_fit_again_some_day(count, story):
    ring, now = lived(count, story)
    for model in "mn":
        assert set(ring.fit(model, now + 2 * 86_400)) == set(ring.usable(model))


@given(st.integers(1, 5), stories, causes, st.floats(0, 0.5))
def test_all_keys_are_tried_before_one_is_tried_again(count, story, cause, seconds):
    """Each failure turns to a key that has not failed since, as long as there is one, however fast rests are over."""
    ring, now = lived(count, story)
    tried = []
    for _ in ring.fit("m", now):
        key = ring.pick("m", now)
        tried.append(key)
        ring, _ = ring.failed(key, "m", cause, LIMITS, now)
        now += seconds
    assert len(set(tried)) == len(tried)
