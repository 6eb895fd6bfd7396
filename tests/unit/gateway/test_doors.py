"""Who may come in, and how often."""

import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.gateway.doors import Doors, Limits
from headway.gateway.errors import Trouble
from headway.providers import secret as secrets
from headway.providers.secret import Secret

KEYS = (Secret("first-key", "env:ONE"), Secret("second-key", "env:TWO"))


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


def test_without_keys_everybody_may_come_in():
    doors = Doors((), Limits())
    assert doors.who({}) == ""
    assert doors.who(bearer("anything")) == ""


@pytest.mark.parametrize(
    ("headers", "who"),
    [
        (bearer("first-key"), "env:ONE"),
        ({"authorization": "bearer   second-key "}, "env:TWO"),
        ({"x-api-key": "second-key"}, "env:TWO"),
        ({"x-api-key": "first-key", **bearer("of-something-else")}, "env:ONE"),
        ({"x-api-key": "of-a-provider", **bearer("first-key")}, "env:ONE"),
    ],
)
def test_a_key_may_be_shown_in_both_ways(headers, who):
    assert Doors(KEYS, Limits()).who(headers) == who


@pytest.mark.parametrize(
    "headers",
    [
        *({}, bearer(""), bearer("first-ke"), bearer("first-key2"), {"authorization": "Basic first-key"}),
        *({"authorization": "first-key"}, {"x-api-key": "FIRST-KEY"}, {"x-api-key": "clé–ключ"}, {"x-api-key": "\x00"}),
    ],
)
def test_no_key_and_a_wrong_one_are_refused_without_being_repeated(headers):
    trouble = Doors(KEYS, Limits()).who(headers)
    assert isinstance(trouble, Trouble)
    assert (trouble.status, trouble.retry) == (401, False)
    assert not any(value.split()[-1] in trouble.message for value in headers.values() if value.strip() != "Bearer")
    assert "first-key" not in trouble.message


def test_every_key_is_compared_and_in_constant_time(monkeypatch):
    compared = []

    def watched(a, b):
        compared.append((a, b))
        return hmac.compare_digest(a, b)

    monkeypatch.setattr(secrets, "compare_digest", watched)
    assert Doors(KEYS, Limits()).who(bearer("first-key")) == "env:ONE"
    assert len(compared) == len(KEYS), "the first match does not end it"


def test_no_more_are_let_in_than_may_be_at_once():
    doors = Doors((), Limits(streams=2))
    assert [doors.enter("", 0.0) for _ in range(2)] == [None, None]
    assert doors.enter("", 0.0).status == 529
    assert doors.open == 2, "who is refused does not have to leave"
    doors.leave()
    assert doors.enter("", 0.0) is None


def test_a_budget_is_each_keys_own_and_says_when_there_is_more():
    doors = Doors(KEYS, Limits(requests_per_minute=2))
    assert [doors.enter("env:ONE", 0.0) for _ in range(2)] == [None, None]
    trouble = doors.enter("env:ONE", 0.0)
    assert (trouble.status, trouble.wait_seconds) == (429, 30.0)
    assert doors.enter("env:TWO", 0.0) is None
    assert doors.enter("env:ONE", trouble.wait_seconds) is None, "what was said is true"


@given(
    rate=st.integers(1, 100),
    gaps=st.lists(st.floats(0, 30, allow_nan=False), max_size=200),
)
def test_nobody_gets_more_than_the_budget_in_any_minute_after_the_first(rate, gaps):
    doors, now, let_in = Doors((), Limits(streams=10**6, requests_per_minute=rate)), 0.0, []
    for gap in gaps:
        now += gap
        trouble = doors.enter("", now)
        if trouble is None:
            let_in.append(now)
        else:
            assert 0 < trouble.wait_seconds <= 60 / rate + 1e-6
    for began in let_in:
        within = sum(began <= at <= began + 60 for at in let_in)
        assert within <= 2 * rate + 1, "a full bucket, and what comes in a minute"
