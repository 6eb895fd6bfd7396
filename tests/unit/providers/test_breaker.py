"""An upstream that fails is left alone, never for ever, and comes back by one probe."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.failure import FailureKind, Plan, Scope
from headway.providers.breaker import (
    BreakerLimits,
    Closed,
    Open,
    Probing,
    Stance,
    Verdict,
    failed,
    probed,
    released,
    stance,
    verdict,
)
from headway.providers.changes import ProbeStarted, Restored, WentUnwell, sentence
from headway.providers.health import MOST_REMEMBERED, Health
from support.outcomes import failure

LIMITS = BreakerLimits(failures=3, window_seconds=60, open_seconds=10, longest_seconds=80, probe_seconds=30)
DOWN = failure(FailureKind.SERVER_FAULT, Plan.RETRY_SAME, scope=Scope.PROVIDER)
CUT = failure(FailureKind.STREAM_CUT, scope=Scope.NETWORK)
LIMITED = failure(FailureKind.RATE_LIMITED, scope=Scope.KEY)
FILTERED = failure(FailureKind.CONTENT_FILTERED, scope=Scope.PROVIDER)


def unwell(now=0.0, times=1):
    health = Health(LIMITS)
    for _ in range(3):
        health, changes = health.failed("a", DOWN, now)
    for _ in range(times - 1):
        now += health.wait_seconds("a", now)
        health, _ = health.probed("a", now)
        health, changes = health.failed("a", DOWN, now)
    return health, changes


def test_failures_in_a_row_open_it_and_an_answer_between_them_does_not():
    health = Health(LIMITS)
    for cause in (DOWN, CUT):
        health, changes = health.failed("a", cause, 0)
        assert changes == ()
    health, _ = health.answered("a")
    for cause in (DOWN, CUT):
        health, _ = health.failed("a", cause, 0)
    assert health.stance("a", 0) is Stance.FIT
    health, changes = health.failed("a", DOWN, 0)
    assert changes == (WentUnwell("a", 10, DOWN.reason),)
    assert health.stance("a", 0) is Stance.UNFIT


def test_failures_that_lie_far_apart_do_not_add_up():
    health = Health(LIMITS)
    for now in (0, 61, 122, 183):
        health, _ = health.failed("a", DOWN, now)
    assert health.stance("a", 183) is Stance.FIT


def test_upstreams_are_judged_apart():
    health, _ = unwell()
    assert health.stance("b", 0) is Stance.FIT


@pytest.mark.parametrize("kind", [FailureKind.MODEL_UNAVAILABLE, FailureKind.TLS_REFUSED, FailureKind.MISCONFIGURED])
def test_what_lasts_opens_it_at_once(kind):
    assert isinstance(failed(Closed(), failure(kind, scope=Scope.MODEL), LIMITS, 0), Open)


@pytest.mark.parametrize("scope", [Scope.REQUEST, Scope.HISTORY, Scope.KEY])
def test_what_belongs_to_a_request_or_a_key_says_nothing_about_health(scope):
    health = Health(LIMITS)
    for _ in range(20):
        health, changes = health.failed("a", failure(FailureKind.UNKNOWN, scope=scope), 0)
        assert changes == ()
    assert health == Health(LIMITS)


@pytest.mark.parametrize(
    ("cause", "says"),
    [
        (DOWN, Verdict.UNWELL),
        (CUT, Verdict.UNWELL),
        (failure(FailureKind.EMPTY_REPLY, scope=Scope.MODEL), Verdict.UNWELL),
        (FILTERED, Verdict.WELL),
        (failure(FailureKind.REFUSED, scope=Scope.MODEL), Verdict.WELL),
        (failure(FailureKind.OUTPUT_LIMIT, scope=Scope.MODEL), Verdict.WELL),
        (LIMITED, Verdict.NOTHING),
    ],
)
def test_scope_says_whose_failure_it_is_and_an_answer_of_its_own_is_a_sign_of_health(cause, says):
    assert verdict(cause) is says


def test_it_is_left_alone_twice_as_long_each_time_up_to_a_limit():
    assert [unwell(times=times)[1][0].seconds for times in range(1, 7)] == [10, 20, 40, 80, 80, 80]


def test_a_wait_that_the_provider_names_is_kept_within_the_limit():
    def seconds(wait):
        cause = failure(FailureKind.MODEL_UNAVAILABLE, scope=Scope.MODEL, wait_seconds=wait)
        return failed(Closed(), cause, LIMITS, 100).until - 100

    assert [seconds(wait) for wait in (1, 33, 1e9)] == [10, 33, 80]


def test_when_the_time_is_over_it_is_due_and_one_probe_restores_it():
    health, _ = unwell()
    assert health.stance("a", 9.9) is Stance.UNFIT
    assert health.stance("a", 10) is Stance.DUE
    health, changes = health.probed("a", 10)
    assert changes == (ProbeStarted("a"),)
    assert health.stance("a", 11) is Stance.UNFIT, "the probe is single"
    health, changes = health.answered("a")
    assert changes == (Restored("a", by_probe=True),)
    assert sentence(changes[0]) == "a restored by probe"
    assert health == Health(LIMITS)


def test_a_probe_that_is_filtered_or_refused_shows_that_it_is_well():
    health, _ = unwell()
    health, _ = health.probed("a", 10)
    health, changes = health.failed("a", FILTERED, 11)
    assert changes == (Restored("a", by_probe=True),)


def test_a_probe_that_teaches_nothing_is_free_for_the_next():
    for end in (lambda health: health.left("a", 12), lambda health: health.failed("a", LIMITED, 12)[0]):
        health, _ = unwell()
        health, _ = health.probed("a", 10)
        assert end(health).stance("a", 12) is Stance.DUE


def test_a_probe_that_nobody_ends_runs_out():
    breaker = probed(Open(10), LIMITS, 10)
    assert stance(breaker, 39.9) is Stance.UNFIT
    assert stance(breaker, 40) is Stance.DUE


def test_requests_for_want_of_anybody_else_do_not_keep_it_open():
    health, _ = unwell()
    for now in range(10):
        health, changes = health.failed("a", DOWN, now)
        assert changes == ()
    assert health.stance("a", 10) is Stance.DUE
    health, changes = health.answered("a")
    assert changes == (Restored("a", by_probe=False),)


def test_what_is_remembered_has_an_end():
    health = Health(LIMITS)
    gone = failure(FailureKind.MODEL_UNAVAILABLE, scope=Scope.MODEL)
    for n in range(MOST_REMEMBERED + 50):
        health, _ = health.failed(f"a/model-{n}", gone, 0)
    assert len(health.breakers) == MOST_REMEMBERED
    assert health.stance(f"a/model-{MOST_REMEMBERED + 49}", 0) is Stance.UNFIT


breakers = st.one_of(
    st.lists(st.floats(0, 1e6), max_size=5).map(tuple).map(Closed),
    st.builds(Open, st.floats(0, 1e6), st.integers(1, 10_000)),
    st.builds(Probing, st.floats(0, 1e6), st.integers(1, 10_000)),
)
causes = st.builds(
    failure,
    st.sampled_from(FailureKind),
    scope=st.sampled_from(Scope),
    wait_seconds=st.none() | st.floats(0, 1e12),
)
limits = st.builds(
    BreakerLimits,
    failures=st.integers(1, 10),
    window_seconds=st.floats(1, 1e4),
    open_seconds=st.floats(0.1, 100),
    longest_seconds=st.floats(100, 1e4),
    probe_seconds=st.floats(1, 1e3),
)


@given(breakers, causes, limits, st.floats(0, 1e6))
def test_no_failure_keeps_it_open_for_longer_than_the_limit(breaker, cause, bounds, now):
    after = failed(breaker, cause, bounds, now)
    if after != breaker and not isinstance(after, Closed):
        assert now <= after.until <= now + bounds.longest_seconds


@given(breakers, limits, st.lists(st.tuples(st.sampled_from("pfar"), st.floats(0, 500), causes), max_size=15))
def test_it_never_stays_open_for_ever(breaker, bounds, story):
    """Whatever happened before, somebody may ask again within the longest of all waits."""
    health, now = Health(bounds, {"a": breaker}), 1e6
    for what, seconds, cause in story:
        now += seconds
        match what:
            case "p" if health.stance("a", now) is Stance.DUE:
                health, _ = health.probed("a", now)
            case "f":
                health, _ = health.failed("a", cause, now)
            case "a":
                health, _ = health.answered("a")
            case "r":
                health = health.left("a", now)
            case _:
                pass
    patience = bounds.longest_seconds + bounds.probe_seconds
    assert health.stance("a", now + patience) is not Stance.UNFIT


@given(breakers, st.floats(0, 1e6))
def test_giving_up_a_request_changes_only_a_probe(breaker, now):
    after = released(breaker, now)
    assert after == breaker or (isinstance(breaker, Probing) and stance(after, now) is Stance.DUE)
