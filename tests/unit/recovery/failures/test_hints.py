"""How long a provider says to wait, wherever it says so, without a clock."""

import json

import pytest

from headway.recovery.failures.classify import classify
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.hints import duration

DATE = {"Date": "Wed, 21 Oct 2026 07:28:00 GMT"}


def wait(message: str = "", body: object = None, **headers: str) -> float | None:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    text = "" if body is None else json.dumps(body)
    return classify(Facts(status=429, message=message, body=text, headers=named)).wait_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("17", 17),
        ("0.5", 0.5),
        ("34s", 34),
        ("6m0s", 360),
        ("2m59.56s", 179.56),
        ("350ms", 0.35),
        ("1h2m3s", 3723),
        ("1d", 86400),
    ],
)
def test_durations_are_read_in_every_spelling(text, seconds):
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "soon", "-5", "1e9999", "nan", "inf", "5 parsecs", "٣", "1" * 40])
def test_what_is_no_duration_is_none(text):
    assert duration(text) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "17"}, 17),
        ({"Retry_After": " 4 "}, 4),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": "Wed, 21 Oct 2026 07:29:30 GMT", **DATE}, 90),
        ({"retry_after": "Wed, 21 Oct 2026 07:29:30 GMT"}, None),
        ({"retry_after": "Wed, 21 Oct 2026 07:00:00 GMT", **DATE}, 0),
        ({"x_ratelimit_remaining_tokens": "0", "x_ratelimit_reset_tokens": "6m0s"}, 360),
        ({"x_ratelimit_remaining_tokens": "12", "x_ratelimit_reset_tokens": "6m0s"}, None),
        ({"x_ratelimit_reset_tokens": "6m0s"}, None),
        ({"x_ratelimit_reset": "12"}, 12),
        ({"x_ratelimit_reset": "1792567690", **DATE}, 10),
        ({"x_ratelimit_reset": "1792567690000", **DATE}, 10),
        ({"x_ratelimit_reset": "1792567690"}, None),
        (
            {
                "anthropic_ratelimit_requests_remaining": "0",
                "anthropic_ratelimit_requests_reset": "2026-10-21T07:28:42Z",
                **DATE,
            },
            42,
        ),
        ({"retry_after": "-1"}, None),
        ({"retry_after": "9" * 30}, None),
    ],
)
def test_headers_are_believed_as_far_as_they_can_be_computed(headers, seconds):
    assert wait(**headers) == (None if seconds is None else pytest.approx(seconds))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 11.054s.", 11.054),
        ("Please try again in 20ms.", 0.02),
        ("Please retry after 60 seconds.", 60),
        ("Try again in 60 seconds", 60),
        ("Please try again in 6m0s.", 360),
        ("please try again after 1 seconds", 1),
        ("Please wait 2 minutes before retrying", 120),
        ("请 30 秒后重试", 30),
        ("请在5分钟后再试", 300),
        ("Please try again later.", None),
        ("Limit 100, used 99 seconds", None),
        ("retry 3 times", None),
    ],
)
def test_words_are_read_when_nothing_better_says_it(text, seconds):
    assert wait(text) == (None if seconds is None else pytest.approx(seconds))


def test_the_body_says_it_in_fields():
    assert wait(body={"error": {"details": [{"retryDelay": "34s"}]}}) == 34
    assert wait(body={"error": {"retry_after_ms": 250}}) == 0.25
    assert wait(body={"error": {"resets_in_seconds": 90}}) == 90
    assert wait(body={"error": {"resets_at": 1792567690}}, **DATE) == 10
    assert wait(body={"error": {"resets_at": 1792567690}}) is None


def test_a_header_is_believed_before_the_body_and_the_body_before_the_words():
    body = {"error": {"message": "try again in 3s", "details": [{"retryDelay": "2s"}]}}
    assert wait(body=body, retry_after="1") == 1
    assert wait(body=body) == 2
