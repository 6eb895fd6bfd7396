"""Whose codes they are, when nobody says so or a proxy stands in between."""

import json

import pytest

from headway.failure import FailureKind
from headway.recovery.failures.classify import classify
from headway.recovery.failures.evidence import evidence_of
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.vendors import vendor_called, vendor_of

LOCKED = {"error": {"code": "1121", "message": "?"}}


def vendor(body: object, given: str = "") -> str:
    return vendor_of(evidence_of(Facts(vendor=given, status=400, body=json.dumps(body))))


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Z.AI", "zhipu"),
        ("Google AI Studio", "gemini"),
        ("Amazon Bedrock", "bedrock"),
        ("OpenAI", "openai"),
        ("?", "?"),
    ],
)
def test_a_vendor_is_known_by_all_its_names(name, known):
    assert vendor_called(name) == known


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ({"error_code": 17, "error_msg": "?", "id": "x"}, "baidu"),
        ({"base_resp": {"status_code": 1008, "status_msg": "?"}}, "minimax"),
        ({"error": {"message": "something (1013)"}}, "minimax"),
        (LOCKED, "zhipu"),
        ({"error": {"message": "?", "type": "x", "code": "1121"}}, ""),
        ({"error": {"code": 429, "message": "?"}}, ""),
    ],
)
def test_the_shape_of_a_body_names_a_vendor_that_nobody_named(body, known):
    assert vendor(body) == known
    assert vendor(json.dumps(body)) == known


@pytest.mark.parametrize("given", ["litellm", "openrouter", "a gateway of our own"])
def test_behind_a_proxy_the_codes_are_those_of_the_innermost_vendor(given):
    inner = f"litellm.APIError: OpenAIException - litellm.APIError: MistralException - {json.dumps({'code': 3051})}"
    assert vendor({"error": {"message": inner}}, given) == "mistral"
    assert vendor({"error": {"message": "?", "metadata": {"provider_name": "Groq"}}}, given) == "groq"
    assert vendor({"error": {"message": "SomeException - ?"}}, given) == given


def test_a_vendor_that_was_named_is_believed():
    assert vendor(LOCKED, "openai") == "openai"


def test_the_reason_names_the_one_who_answered():
    body = {"error": {"message": "?", "metadata": {"provider_name": "Z.AI", "raw": json.dumps(LOCKED)}}}
    failure = classify(Facts(vendor="openrouter", status=400, body=json.dumps(body)))
    assert failure.kind is FailureKind.FORBIDDEN
    assert failure.reason.startswith("OpenRouter ")
