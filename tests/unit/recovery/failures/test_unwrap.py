"""Every envelope gives up what it holds; none gives more than is worth reading."""

import json

import pytest

from headway.recovery.failures.unwrap import MAX_ITEMS, WORDS_LIMIT, Clues, unwrap


def clues(body: object) -> Clues:
    return unwrap(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False))


@pytest.mark.parametrize(
    ("body", "code", "words"),
    [
        ({"error": {"message": "m", "type": "t", "code": "c"}}, "c", "m"),
        ({"error": "some text"}, None, "some text"),
        ({"object": "error", "message": "m", "type": "t", "code": 3505}, "3505", "m"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "m"}}, "overloaded_error", "m"),
        ({"message": "m"}, None, "m"),
        ({"Message": "m"}, None, "m"),
        ({"detail": "not here"}, None, "not here"),
        (
            {"detail": [{"loc": ["body", "messages", 0], "msg": "Field required", "type": "missing"}]},
            "missing",
            "body.messages.0: Field required",
        ),
        ({"code": "Client specified an invalid argument", "error": "some text"}, None, "some text"),
        ({"code": "InvalidApiKey", "message": "m", "request_id": "x"}, "InvalidApiKey", "m"),
        ({"error_code": 110, "error_msg": "m"}, "110", "m"),
        ({"base_resp": {"status_code": 1027, "status_msg": "m"}}, "1027", "m"),
        ([{"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}], "UNAVAILABLE", "m"),
        ({"error": {"details": [{"@type": "x", "reason": "API_KEY_INVALID"}], "message": "m"}}, "API_KEY_INVALID", "m"),
        ({"error": {"message": "m", "details": {"error_code": "ramp_limit_exceeded"}}}, "ramp_limit_exceeded", "m"),
        ({"type": "response.failed", "response": {"error": {"code": "slow_down", "message": "m"}}}, "slow_down", "m"),
        ({"choices": [{"error": {"code": "server_error", "message": "m"}}]}, "server_error", "m"),
        ("error code: 524", None, "error code: 524"),
        ('data: {"error":{"code":"c","message":"m"}}\n\ndata: [DONE]', "c", "m"),
        ('error: {"code":500,"message":"m","type":"server_error"}', "server_error", "m"),
        ("Error code: 400 - {'error': {'message': \"it's m\", 'code': None, 'type': 'x'}}", "x", "it's m"),
        ('b\'{"error":{"message":"m"}}\'', None, "m"),
        ('{"error":{"code":"c","message":"cut in the mid', "c", "cut in the mid"),
        ("<html><head><title>502 Bad Gateway</title></head></html>", "html_page", "502 Bad Gateway"),
        ({"unknown": "only this"}, None, '{"unknown": "only this"}'),
    ],
)
def test_each_envelope_gives_its_code_and_its_words(body, code, words):
    found = clues(body)
    assert words in found.words
    assert code is None or code in found.codes


def test_text_of_a_proxy_is_peeled_off_layer_by_layer():
    inner = json.dumps({"error": {"message": "Overloaded", "type": "overloaded_error"}})
    text = f"litellm.InternalServerError: litellm.APIError: AnthropicException - {inner} Received Model Group=x"
    found = clues({"error": {"message": text, "code": "500"}})
    assert found.codes == ("InternalServerError", "APIError", "AnthropicException", "overloaded_error")
    assert found.words == ("Overloaded",)
    assert found.statuses == (500,)


def test_a_status_in_a_body_is_told_from_a_vendors_own_number():
    assert clues({"error": {"code": 429}}).statuses == (429,)
    assert clues({"error": {"http_code": "500"}}).statuses == (500,)
    assert (clues({"error_code": 429}).codes, clues({"error_code": 429}).statuses) == (("429",), ())
    assert clues({"base_resp": {"status_code": 1004}}).codes == ("1004",)


def test_echoes_of_prompts_and_generations_are_not_read():
    body = {
        "error": {
            "message": "m",
            "metadata": {"flagged_input": "SECRET", "patterns": ["SECRET"]},
            "failed_generation": "SECRET",
        },
        "messages": [{"message": "SECRET"}],
        "choices": [{"message": {"content": "SECRET"}, "finish_reason": "stop"}],
    }
    found = clues(body)
    assert "SECRET" not in repr(found)
    assert "failed_generation" in found.codes
    assert found.finishes == ("stop",)


def test_arguments_quoted_in_prose_are_not_taken_for_an_error():
    found = clues('Failed to parse tool call arguments. Arguments: {"path": "a", "mode": "w"}')
    assert found.words == ('Failed to parse tool call arguments. Arguments: {"path": "a", "mode": "w"}',)


def test_flags_count_when_they_are_set():
    assert clues({"output_sensitive": True, "input_sensitive": False}).codes == ("outputsensitive",)


def test_waits_keep_the_name_they_stood_under():
    body = {"error": {"details": [{"@type": "RetryInfo", "retryDelay": "34s"}], "resets_at": 1760000000}}
    assert clues(body).waits == (("resetsat", "1760000000"), ("retrydelay", "34s"))


@pytest.mark.parametrize("times", [1, 2, 3])
def test_json_inside_a_string_is_read_however_often_it_was_wrapped(times):
    body = json.dumps({"error": {"code": "c", "message": "余额不足"}})
    for _ in range(times):
        body = json.dumps(body)
    assert (clues(body).codes, clues(body).words) == (("c",), ("余额不足",))


def test_json_inside_a_string_that_was_cut_still_gives_its_fields():
    body = json.dumps(json.dumps({"error": {"code": "c", "message": "some words"}}))
    assert clues(body[:-6]).codes == ("c",)


def test_a_string_wrapped_without_end_is_left_alone():
    body = json.dumps({"error": {"code": "c"}})
    for _ in range(16):
        body = json.dumps(body)
    assert "c" not in clues(body).codes


def test_words_that_only_begin_with_a_quote_stay_words():
    assert clues('"auto" tool choice needs a flag').words == ('"auto" tool choice needs a flag',)
    assert clues('"Internal Server Error"').words == ("Internal Server Error",)


def test_who_a_proxy_asked_is_told_and_what_shape_the_answer_had():
    body = {"error": {"message": "m", "metadata": {"provider_name": "Some One", "raw": '{"error_code":3,"id":"x"}'}}}
    assert clues(body).makers == ("Some One",)
    assert clues(body).shapes == ("error", "message metadata", "provider_name raw", "error_code=3 id")


def test_nothing_in_nothing_out():
    assert clues("") == Clues()
    assert clues("null") == Clues(words=("null",))


def test_a_crowd_of_messages_is_cut_to_a_few():
    found = clues([{"message": f"m{number}" + "x" * 10**4} for number in range(10**4)])
    assert len(found.words) <= 2 * MAX_ITEMS
    assert all(len(text) <= WORDS_LIMIT + 3 for text in found.words)
