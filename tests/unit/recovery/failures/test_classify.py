"""The classifier against failures that were met, failures that may be met, and every shape they come in."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.events import Stop
from headway.failure import Failure, FailureKind, Plan, Where
from headway.recovery.failures.classify import classify
from headway.recovery.failures.facts import Facts
from headway.recovery.failures.records import facts_of_record

DATA = Path(__file__).parents[3] / "data"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}_failures.jsonl").read_text().splitlines()]


KNOWN, FURTHER = rows("known"), rows("further")


def plan_of(row: dict[str, Any], **changed: Any) -> str:
    return classify(facts_of_record({**row, **changed})).plan.value


def of(message: str, status: int | None = 400, **fields: Any) -> Failure:
    return classify(Facts(status=status, body=json.dumps({"error": {"message": message}}), **fields))


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row["id"])
def test_a_failure_that_was_met_gets_the_plan_that_cures_it(row):
    assert plan_of(row) == row["class"]


@pytest.mark.parametrize("row", FURTHER, ids=lambda row: row["id"])
def test_a_failure_in_other_words_gets_the_plan_that_cures_it(row):
    assert plan_of(row) == row["class"]


def test_the_answer_names_the_repair_that_the_provider_asks_for():
    named = [row for row in KNOWN if "repair" in row]
    right = [row["id"] for row in named if classify(facts_of_record(row)).repair == row["repair"]]
    assert len(right) >= 0.97 * len(named)


def _in_proxy_text(row: dict[str, Any]) -> dict[str, Any]:
    inner = f"litellm.BadRequestError: litellm.APIError: SomeException - {row['body']}"
    body = {"error": {"message": inner, "type": None, "param": None, "code": str(row["status"])}}
    return {"body": json.dumps(body), "code": None, "type": None}


def _in_metadata(row: dict[str, Any]) -> dict[str, Any]:
    error = {"message": "Provider returned error", "code": row["status"], "metadata": {"raw": row["body"]}}
    return {"body": json.dumps({"error": error}), "code": None, "type": None}


def _in_sdk_text(row: dict[str, Any]) -> dict[str, Any]:
    return {"body": None, "message": f"Error code: {row['status']} - {json.loads(row['body'])!r}"}


WRAPPINGS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "text of a proxy": _in_proxy_text,
    "metadata of an aggregator": _in_metadata,
    "an exception of an SDK": _in_sdk_text,
    "a list of one": lambda row: {"body": f"[{row['body']}]"},
    "an SSE fragment": lambda row: {"body": f"event: error\ndata: {row['body']}\n\n"},
    "a Python repr of bytes": lambda row: {"body": repr(row["body"].encode())},
    "JSON inside a string": lambda row: {"body": json.dumps(row["body"]), "code": None, "type": None},
    "a string of JSON": lambda row: {"body": json.dumps({"error": row["body"]})},
    "JSON that was cut": lambda row: {"body": row["body"][:-2]},
    "an object": lambda row: {"body": json.loads(row["body"])},
}
WRAPPED = [row for row in KNOWN + FURTHER if row["where"] == "http_error" and row.get("body", "")[:1] == "{"]


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_failure_keeps_its_meaning_in(wrapping):
    right = sum(plan_of(row, **WRAPPINGS[wrapping](row)) == row["class"] for row in WRAPPED)
    assert right >= 0.985 * len(WRAPPED)


@pytest.mark.parametrize(
    ("missing", "share"),
    [
        (("vendor",), 0.99),
        (("code", "type"), 0.99),
        (("headers",), 0.99),
        (("status",), 0.98),
        (("wire",), 1.0),
        (("where",), 0.99),
    ],
    ids=str,
)
def test_most_failures_are_still_understood_without(missing, share):
    evidence = {"status", "code", "type", "body", "headers", "finish_reason"} - {*missing}
    told = [row for row in KNOWN + FURTHER if row["where"] != "http_error" or evidence & {*row}]
    right = sum(plan_of(row, **dict.fromkeys(missing)) == row["class"] for row in told)
    assert right >= share * len(told)
    assert len(told) >= 0.97 * len(KNOWN + FURTHER)


@pytest.mark.parametrize(
    ("where", "context", "after_output", "plan", "then"),
    [
        pytest.param("stream_error_event", "", True, "resume", "retry_same", id="output is kept and continued"),
        pytest.param("stream_error_event", "", False, "retry_same", None, id="nothing came: ask again"),
        pytest.param("stream_error_event", "", None, "retry_same", None, id="nobody knows: ask again"),
        pytest.param(
            "stream_error_event", "open_tool_call", True, "ask_smaller_chunks", "failover_now", id="call open"
        ),
        pytest.param("http_error", "", True, "retry_same", None, id="not a stream: nothing to go on from"),
    ],
)
def test_what_was_open_decides_how_a_server_fault_is_met(where, context, after_output, plan, then):
    failure = classify(
        Facts(where=Where(where), status=200, code="server_error", context=context, after_output=after_output)
    )
    assert (failure.kind, failure.plan.value, failure.then.value if failure.then else None) == (
        FailureKind.SERVER_FAULT,
        plan,
        then,
    )


@pytest.mark.parametrize(
    ("facts", "plan"),
    [
        (Facts(where=Where.STREAM_EOF, context="open_tool_call"), Plan.FAILOVER_NOW),
        (Facts(where=Where.STREAM_EOF, context="text_only"), Plan.FAILOVER_NOW),
        (Facts(where=Where.FINISH_REASON, finish_reason="malformed_tool_use"), Plan.ASK_SMALLER_CHUNKS),
        (Facts(status=400, code="invalid_encrypted_content"), Plan.FAILOVER_NOW),
        (Facts(status=401), Plan.ROTATE_CREDENTIAL),
    ],
)
def test_the_same_failure_again_is_not_met_the_same_way_again(facts, plan):
    assert classify(replace(facts, repeat=2)).plan is plan


@pytest.mark.parametrize(
    ("facts", "plan"),
    [
        (Facts(exception="httpx.ReadError", status=200, context="text_only"), Plan.RESUME),
        (Facts(exception="httpx.ReadError"), Plan.RETRY_SAME),
        (Facts(after_output=True, body='{"error":{"type":"overloaded_error"}}'), Plan.RESUME),
        (Facts(context="open_tool_call", body='{"error":{"type":"api_error"}}'), Plan.ASK_SMALLER_CHUNKS),
        (Facts(context="open_tool_call"), Plan.ASK_SMALLER_CHUNKS),
        (Facts(status=200, exception="json.JSONDecodeError", message="Expecting value: line 1"), Plan.RETRY_SAME),
        (Facts(finish_reason="stop", context="open_tool_call"), Plan.ASK_SMALLER_CHUNKS),
        (Facts(status=500, after_output=True), Plan.RETRY_SAME),
        (Facts(body="<html><title>a.com | 526: Invalid SSL certificate</title></html>"), Plan.FAILOVER_NOW),
    ],
    ids=str,
)
def test_where_it_happened_follows_from_the_rest_when_nobody_says_so(facts, plan):
    assert classify(facts).plan is plan


@pytest.mark.parametrize("exception", ["httpx.ReadError", "httpx.ReadTimeout", "httpx.DecodingError", "OSError", ""])
def test_a_stream_that_was_cut_is_resumed_and_else_asked_again(exception):
    failure = classify(Facts(where=Where.STREAM_EOF, exception=exception, after_output=True))
    assert (failure.plan, failure.then) == (Plan.RESUME, Plan.RETRY_SAME)


@pytest.mark.parametrize(
    ("headers", "message", "plan"),
    [
        ({"Retry-After": "90000"}, "", Plan.ROTATE_CREDENTIAL),
        ({"Retry-After": "60"}, "", Plan.RETRY_SAME),
        ({}, "Quota will be replenished in 12.11:08:37.", Plan.ROTATE_CREDENTIAL),
        ({}, "Rate limit: try again in 45 minutes", Plan.RETRY_SAME),
        ({}, "Rate limit: it resets in 6 days", Plan.ROTATE_CREDENTIAL),
    ],
)
def test_a_limit_that_lasts_for_hours_is_not_waited_for(headers, message, plan):
    assert classify(Facts(status=429, headers=headers, message=message)).plan is plan


def test_output_that_is_itself_at_fault_is_not_continued():
    facts = Facts(where=Where.FINISH_REASON, finish_reason="MALFORMED_FUNCTION_CALL", after_output=True)
    assert classify(facts).plan is Plan.RETRY_SAME


@pytest.mark.parametrize(
    ("message", "status", "kind"),
    [
        ("429 tokens over the context window limit", 400, FailureKind.CONTEXT_FULL),
        ("Too many tokens, please wait before trying again.", 400, FailureKind.RATE_LIMITED),
        ("too many tokens: total number of tokens exceeds 4096", 400, FailureKind.CONTEXT_FULL),
        ("Insufficient balance", 500, FailureKind.BILLING),
        ("maximum context length is 8192 tokens", 503, FailureKind.CONTEXT_FULL),
        ("invalid api key", 400, FailureKind.BAD_KEY),
        ("`tool_use` ids were found without `tool_result` blocks", 500, FailureKind.HISTORY_REFUSED),
        ("Rate limit reached: add a payment method to increase your rate limit", 429, FailureKind.RATE_LIMITED),
        ("Your organization's content policy blocked the request", 403, FailureKind.CONTENT_FILTERED),
    ],
)
def test_words_are_read_before_the_status_is_trusted(message, status, kind):
    assert of(message, status).kind is kind


@pytest.mark.parametrize(
    ("message", "plan"),
    [
        ("api key deactivated", "rotate_credential"),
        ("key has been revoked", "rotate_credential"),
        ("Please re-authenticate to continue.", "rotate_credential"),
        ("HTTP 402 Payment Required", "rotate_credential"),
        ("You have hit your usage limit (plus plan)", "rotate_credential"),
        ("request_too_large", "compress_context"),
        ("上下文长度超出模型最大限制", "compress_context"),
        ("Model context window is 128k tokens, you requested 256k tokens", "compress_context"),
        ("tool_use.id should match pattern", "sanitise_history"),
        ("invalid request format", "sanitise_history"),
        ("image exceeds 5 MB maximum", "sanitise_history"),
        ("529 Overloaded", "retry_same"),
        ("Timed out reading request body. Try again, or use a smaller request size.", "retry_same"),
        ("connect ECONNREFUSED 127.0.0.1:11434", "retry_same"),
        ("TypeError: Failed to fetch", "retry_same"),
        ("something exploded", "retry_same"),
        ("no such model", "failover_now"),
        ("The operation does not work with the specified model", "failover_now"),
        ("The model is overloaded. Please try another model.", "retry_same"),
        ("max_completion_tokens must be within (0, 32768]", "lower_max_tokens"),
        ("max_tokens must be at least 1", "sanitise_history"),
        ("The principal is not authorized to call this operation", "rotate_credential"),
        ("'utf-8' codec can't encode character: surrogates not allowed", "sanitise_history"),
        ("'ascii' codec can't encode character", "give_up_clear_error"),
        ("Your request was flagged by our safety system", "failover_now"),
    ],
)
def test_words_alone_are_enough(message, plan):
    assert classify(Facts(message=message)).plan.value == plan


def test_the_same_code_means_what_its_vendor_means_by_it():
    assert of("quota", 429, code="insufficient_quota").plan is Plan.ROTATE_CREDENTIAL
    assert of("quota", 429, code="insufficient_quota", vendor="dashscope").plan is Plan.RETRY_SAME
    assert of("quota", 429, code="insufficient_quota", vendor="Qwen").plan is Plan.RETRY_SAME
    assert of("?", 400, code="1002", vendor="minimax").plan is Plan.RETRY_SAME
    assert of("?", 400, code="1002", vendor="zhipu").plan is Plan.ROTATE_CREDENTIAL


@pytest.mark.parametrize(
    "facts",
    [
        Facts(where=Where.FINISH_REASON, finish_reason="content_filter", after_output=True, context="open_tool_call"),
        Facts(where=Where.FINISH_REASON, stop=Stop.FILTERED),
        Facts(where=Where.STREAM_ERROR_CHUNK, status=200, message="output new_sensitive (1027)", after_output=True),
        Facts(where=Where.HTTP_ERROR, status=500, message="output new_sensitive (1027)"),
        Facts(where=Where.BODY_200, status=200, body='{"promptFeedback":{"blockReason":"SAFETY"}}'),
        Facts(where=Where.BODY_200, status=200, body='{"choices":[],"output_sensitive":true}'),
        Facts(where=Where.STREAM_EOF, context="open_tool_call", repeat=2),
    ],
)
def test_a_filter_goes_to_another_provider_in_whatever_form_it_shows(facts):
    assert classify(facts).plan is Plan.FAILOVER_NOW


def test_nothing_known_is_tried_again_and_then_elsewhere():
    failure = classify(Facts())
    assert (failure.kind, failure.plan, failure.then) == (FailureKind.UNKNOWN, Plan.RETRY_SAME, Plan.FAILOVER_NOW)


VOCABULARY = {
    "retry_same": "rate_limit_exceeded ramp_limit_exceeded slow_down server_is_overloaded"
    " provider_overloaded server_error provider_unavailable timeout vector_store_timeout"
    " compaction_unavailable cmek_key_unreachable ThrottlingException ModelNotReadyException"
    " Throttling.RateQuota UNAVAILABLE DEADLINE_EXCEEDED RESOURCE_EXHAUSTED queue_exceeded",
    "rotate_credential": "authentication permission_denied payment_required insufficient_quota"
    " usage_limit_reached enforced_spend_limit_reached organization_on_hold"
    " billing_hard_limit_reached account_deactivated UNAUTHENTICATED API_KEY_INVALID"
    " ExpiredTokenException UnrecognizedClientException AccessDeniedException Arrearage"
    " InvalidApiKey",
    "failover_now": "content_policy_violation invalid_prompt bio_policy cyber_policy refusal"
    " data_inspection_failed ResponsibleAIPolicyViolation model_not_found unknown_model"
    " DeploymentNotFound ModelNotFound model_decommissioned",
    "compress_context": "context_length_exceeded token_limit_exceeded string_too_long payload_too_large"
    " request_too_large ContextWindowExceededError model_max_prompt_tokens_exceeded"
    " exceed_context_size_error tokens_too_long",
    "sanitise_history": "thread_not_found thread_fingerprint_mismatch compaction_block_misplaced file_expired"
    " invalid_image previous_response_not_found invalid_encrypted_content empty_array"
    " unsupported_parameter tool_name_conflict available_tools_limit_exceeded"
    " invalid_request_message_order UnsupportedParamsError invalid_request_error",
    "lower_max_tokens": "max_tokens_exceeded",
    "give_up_clear_error": "unsupported_charset request_body_encoding_invalid cmek_key_disabled SERVICE_DISABLED"
    " CANCELLED",
}


@pytest.mark.parametrize(
    ("code", "plan"), [(code, plan) for plan, codes in VOCABULARY.items() for code in codes.split()]
)
def test_a_documented_code_alone_is_enough(code, plan):
    assert classify(Facts(code=code)).plan.value == plan
    assert classify(Facts(body=json.dumps({"error": {"type": code, "message": ""}}))).plan.value == plan


@pytest.mark.parametrize("status", range(300, 600))
def test_every_status_alone_is_classified(status):
    failure = classify(Facts(status=status))
    assert failure.kind is not FailureKind.UNKNOWN or status < 400
    assert failure.status == status


def test_what_the_model_wrote_is_not_evidence():
    body = {"error": {"message": "Failed to call a function", "failed_generation": "invalid api key, rate limit"}}
    assert classify(Facts(status=400, body=json.dumps(body))).kind is FailureKind.MALFORMED_OUTPUT


def test_a_limit_that_the_provider_names_is_read():
    assert of("prompt is too long: 213462 tokens > 200000 maximum").limit_tokens == 200000
    assert of("Range of max_tokens should be [1, 8192]").limit_tokens == 8192
    assert of("This model's maximum context length is 131,072 tokens").limit_tokens == 131072
    assert of("input is too long").limit_tokens is None


def _hostile() -> Iterator[str]:
    yield from (" " * 10**6, "{" * 10**5, "[" * 10**5, '{"a":' * 2000 + "1" + "}" * 2000, "model " * 10**5)
    yield from (
        "data: {\n" * 10**5,
        "<html>" + "<script>" * 10**4,
        "b'" + "\\x00" * 10**5,
        "\ud800",
        "FooError: " * 10**5,
    )
    yield from ("{'a': " + "-" * 10**5, "x" * 10**8, '"message":"' * 10**5, "no " * 10**5, "sk-" * 10**5)


@pytest.mark.timeout(60)
def test_no_body_is_too_large_too_deep_or_too_odd():
    for body in _hostile():
        failure = classify(Facts(status=400, body=body, message=body[:1000]))
        assert len(failure.reason) < 600


texts = st.text(max_size=60) | st.sampled_from([row.get("body", "") for row in KNOWN])


@given(
    st.builds(
        Facts,
        vendor=texts,
        where=st.none() | st.sampled_from(Where),
        status=st.none() | st.integers(0, 999),
        code=texts,
        type=texts,
        message=texts,
        exception=texts,
        body=texts,
        headers=st.dictionaries(st.sampled_from(["Retry-After", "Date", "x-ratelimit-reset", "cf-mitigated"]), texts),
        finish_reason=texts,
        stop=st.none() | st.sampled_from(Stop),
        context=st.sampled_from(["", "text_only", "open_tool_call", "?"]),
        after_output=st.none() | st.booleans(),
        repeat=st.integers(-1, 9),
    )
)
def test_any_facts_make_a_failure(facts):
    failure = classify(facts)
    assert failure.reason
    assert len(failure.reason) < 600
    assert "\n" not in failure.reason
    assert failure.wait_seconds is None or 0 <= failure.wait_seconds < 10**9


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["error", "message", "code", "details", "status", "loc", "body", "vendor", "headers"]),
                inner,
            )
        ),
    )
)
def test_any_json_object_is_a_record(value):
    assert classify(facts_of_record({"body": value, "status": value, "headers": value, "code": value})).reason
    assert classify(facts_of_record(value if isinstance(value, dict) else {})).reason
