"""Where requests go, how keys stand in them, and what each endpoint is told in its own words."""

import pytest
from msgspec.structs import replace

from headway.providers.catalog import Auth, body_for, custom, endpoint, request_headers
from headway.providers.presets import PRESETS
from headway.providers.secret import Secret

ANTHROPIC, OPENAI, MISTRAL = PRESETS["anthropic"], PRESETS["openai"], PRESETS["mistral"]
API_KEY, TOKEN = Secret("sk-ant-api03-x", "env:KEY"), Secret("sk-ant-oat01-x", "env:TOKEN")


def headers(provider, key=None, **more):
    pairs = request_headers(provider, key, **more)
    assert len({name for name, _ in pairs}) == len(pairs), "a header stands twice"
    return dict(pairs)


@pytest.mark.parametrize(
    ("base_url", "wire", "url"),
    [
        ("https://a.example", "chat", "https://a.example/v1/chat/completions"),
        ("https://a.example/", "chat", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1", "chat", "https://a.example/v1/chat/completions"),
        ("https://a.example/api/v4/", "chat", "https://a.example/api/v4/chat/completions"),
        ("https://a.example/v1/chat/completions", "chat", "https://a.example/v1/chat/completions"),
        ("https://a.example/v1", "responses", "https://a.example/v1/responses"),
        ("https://a.example", "anthropic", "https://a.example/v1/messages"),
        ("https://a.example/v1", "anthropic", "https://a.example/v1/messages"),
        ("https://a.example/v1/messages", "anthropic", "https://a.example/v1/messages"),
        ("https://a.example/anthropic", "anthropic", "https://a.example/anthropic/v1/messages"),
        ("http://[::1]:8000", "chat", "http://[::1]:8000/v1/chat/completions"),
        ("https://a.example/v1?tier=2", "chat", "https://a.example/v1/chat/completions?tier=2"),
    ],
)
def test_a_base_url_may_be_written_as_people_write_it(base_url, wire, url):
    assert endpoint(custom("x", wire, base_url)) == url


def test_a_path_of_ones_own_may_hold_the_model_and_a_query():
    path = "/openai/deployments/{model}/chat/completions?api-version=2024-10-21"
    azure = replace(PRESETS["azure-chat"], base_url="https://me.openai.azure.com", root="", path=path)
    wanted = "https://me.openai.azure.com/openai/deployments/my%20gpt%2F4/chat/completions?api-version=2024-10-21"
    assert endpoint(azure, "my gpt/4") == wanted


def test_azure_needs_only_the_name_of_its_host():
    azure = replace(PRESETS["azure"], base_url="https://me.openai.azure.com/")
    assert endpoint(azure) == "https://me.openai.azure.com/openai/v1/responses"


def test_a_reply_that_can_be_taken_up_again_runs_in_the_background_unless_nothing_may_be_kept():
    assert body_for(OPENAI, {"model": "m"}) == {"model": "m", "background": True, "store": True}
    assert body_for(OPENAI, {"store": False}) == {"store": False}
    assert body_for(replace(OPENAI, reattaches=False), {}) == {}


def test_each_provider_gets_its_key_where_it_looks_for_it():
    assert headers(OPENAI, Secret("k"))["authorization"] == "Bearer k"
    assert headers(ANTHROPIC, API_KEY)["x-api-key"] == "sk-ant-api03-x"
    assert headers(PRESETS["azure"], Secret("k"))["api-key"] == "k"


def test_no_request_carries_two_keys():
    places = {"authorization", "x-api-key", "api-key"}
    for provider in PRESETS.values():
        for auth in Auth:
            for key in (API_KEY, TOKEN, Secret("k"), None):
                assert len(places & headers(replace(provider, auth=auth), key).keys()) <= 1


def test_an_oauth_token_is_a_bearer_with_its_beta_and_an_api_key_is_not():
    by_token, by_key = headers(ANTHROPIC, TOKEN), headers(ANTHROPIC, API_KEY)
    assert by_token["authorization"] == "Bearer sk-ant-oat01-x"
    assert by_token["anthropic-beta"] == "oauth-2025-04-20"
    assert "anthropic-beta" not in by_key
    assert by_token["anthropic-version"] == by_key["anthropic-version"] == "2023-06-01"


def test_a_bearer_that_is_no_oauth_token_asks_for_no_oauth():
    assert "anthropic-beta" not in headers(replace(ANTHROPIC, auth=Auth.BEARER), Secret("gateway-token"))
    assert headers(replace(ANTHROPIC, auth=Auth.OAUTH), Secret("federated"))["anthropic-beta"] == "oauth-2025-04-20"


def test_betas_are_carried_along_each_once():
    provider = replace(ANTHROPIC, betas=("context-1m",))
    sent = headers(provider, TOKEN, betas=["interleaved-thinking, context-1m", "oauth-2025-04-20"])
    assert sent["anthropic-beta"] == "context-1m,interleaved-thinking,oauth-2025-04-20"
    assert sent == headers(provider, TOKEN, betas=["interleaved-thinking, context-1m", "oauth-2025-04-20"])


def test_betas_are_not_sent_where_the_wire_has_none():
    assert not [name for name in headers(OPENAI, Secret("k"), betas=["x"]) if "beta" in name]


def test_nobody_is_shown_an_empty_key():
    assert headers(PRESETS["ollama"]) == {"content-type": "application/json"}
    assert "x-api-key" not in headers(ANTHROPIC, Secret(""))


def test_the_cap_on_output_is_said_in_the_providers_own_word():
    asked = {"model": "m", "max_completion_tokens": 100}
    assert body_for(MISTRAL, asked) == {"model": "m", "max_tokens": 100}
    assert body_for(PRESETS["openai-chat"], {"max_tokens": 7}) == {"max_completion_tokens": 7}
    assert body_for(OPENAI, {"max_output_tokens": 7})["max_output_tokens"] == 7
    assert asked == {"model": "m", "max_completion_tokens": 100}, "the body that was given is left alone"


def test_usage_is_not_asked_for_where_that_is_refused():
    asked = {"stream": True, "stream_options": {"include_usage": True}}
    assert body_for(MISTRAL, asked) == {"stream": True}
    assert body_for(PRESETS["groq"], asked) == asked


def test_what_a_provider_wants_in_every_request_gives_way_to_what_was_asked():
    assert body_for(PRESETS["minimax"], {})["reasoning_split"] is True
    assert body_for(PRESETS["minimax"], {"reasoning_split": False})["reasoning_split"] is False
