"""What is said to a person: specific, short, and without a secret."""

import json

import pytest

from headway.recovery.failures.classify import classify
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.reasons import redact

SECRETS = [
    "sk-proj-abcdefghijklmnop",
    "sk-ant-api03-AAAAAAAAAAAA",
    "sk-abc***xyz",
    "****6789",
    "AIzaSyA1234567890abcdefg",
    "AKIAIOSFODNN7EXAMPLE",
    "gsk_abcdefghij1234567890",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi",
    "0123456789abcdef0123456789abcdef",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_key_is_never_repeated(secret):
    for text in (f"Incorrect API key provided: {secret}.", f"Authorization: Bearer {secret}", f"key={secret}"):
        assert secret not in redact(text)
    failure = classify(Facts(vendor="openai", status=401, message=f"Incorrect API key provided: {secret}"))
    assert secret not in failure.reason


def test_a_long_quotation_is_not_repeated():
    prompt = "tell me how to " * 20
    assert prompt[:40] not in classify(Facts(status=400, message=f'Your input was flagged: "{prompt}"')).reason


@pytest.mark.parametrize(
    "text",
    [
        "This request would exceed your organization's rate limit of 80,000 input tokens per minute.",
        "max_tokens: 100000 > 64000, which is the maximum allowed for claude-sonnet-4-5-20250929",
        "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after",
        "Failed to parse keyword_arguments",
    ],
)
def test_ordinary_words_are_left_alone(text):
    assert redact(text) == text


def test_the_sentence_says_who_what_and_how():
    body = json.dumps({"error": {"message": "Rate limit reached.", "code": "rate_limit_exceeded"}})
    reason = classify(Facts(vendor="openai", status=429, code="rate_limit_exceeded", body=body)).reason
    assert reason == (
        "OpenAI asks for fewer requests or tokens a minute (HTTP 429, rate_limit_exceeded): “Rate limit reached.”"
    )


def test_a_person_is_told_what_to_do_when_nothing_automatic_helps():
    reason = classify(Facts(message="CERTIFICATE_VERIFY_FAILED")).reason
    assert reason.startswith("The provider cannot be trusted")
    assert reason.endswith("any proxy that inspects traffic.")


def test_it_stays_one_bounded_line_whatever_came():
    reason = classify(Facts(vendor="x" * 500, code="y" * 500, message="a\nb\x00\u2028" * 500)).reason
    assert len(reason) < 500
    assert reason.isprintable()
