"""One JSON object read as facts: whatever is odd is unknown, never an error."""

import pytest

from headway.failure import Where
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.records import facts_of_record


def test_a_record_is_read_by_the_names_of_the_facts():
    record = {
        "vendor": "minimax",
        "where": "http_error",
        "status": 500,
        "code": 1008,
        "headers": {"Retry-After": 3, "X": None},
        "body": {"message": "m"},
        "after_output": True,
        "repeat": 2,
    }
    assert facts_of_record(record) == Facts(
        vendor="minimax",
        where=Where.HTTP_ERROR,
        status=500,
        code="1008",
        headers={"Retry-After": "3"},
        body='{"message":"m"}',
        after_output=True,
        repeat=2,
    )


@pytest.mark.parametrize("odd", [None, True, [], {}, -1, 1.5, "?", float("nan")])
def test_what_is_odd_is_unknown(odd):
    facts = facts_of_record({"status": odd, "where": odd, "after_output": "yes", "headers": odd, "repeat": odd})
    assert (facts.status, facts.where, facts.after_output, facts.headers, facts.repeat) == (None, None, None, {}, 1)


@pytest.mark.parametrize(("status", "read"), [("429", 429), (429.0, 429), (99, None), (10**9, None), ("4x", None)])
def test_a_status_is_a_status_in_any_spelling(status, read):
    assert facts_of_record({"status": status}).status == read


def test_answers_are_not_read():
    answers = {"id": "x", "class": "retry_same", "then": "resume", "meaning": "invalid api key", "evidence": "e"}
    assert facts_of_record(answers) == Facts()
    assert facts_of_record({**answers, "status": 500}) == Facts(status=500)


def test_an_object_with_no_known_name_is_a_body():
    assert facts_of_record({"error": {"message": "Overloaded"}}) == Facts(body='{"error":{"message":"Overloaded"}}')
