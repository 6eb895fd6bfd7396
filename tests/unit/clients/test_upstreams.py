"""Where the doors of a client lead when nobody wrote a route."""

import pytest

from headway.clients.gatehouse import plan_run
from headway.clients.table import CLIENTS
from headway.clients.upstreams import UpstreamWays, has_routes, upstreams_of
from headway.failure import InvalidInput
from headway.providers.secret import Secret
from headway.settings import load, open_pool
from headway.settings.places import Surroundings

KEY = Secret("of-this-run", "this run's")


@pytest.fixture
def loaded(tmp_path):
    def make(text="", **environ):
        if text:
            (tmp_path / "headway.toml").write_text(text, encoding="utf-8")
        return load(around=Surroundings(environ, tmp_path, tmp_path))

    return make


def asked(loaded, client, door, wire, key, model="m-1", **headers):
    """Return where a request goes: the address, the model, and the headers that hold keys."""
    (upstream,) = [one for one in upstreams_of(CLIENTS[client], loaded) if one.door.provider == door]
    given = {"authorization": f"Bearer {key}", **headers}
    way = UpstreamWays(upstream, KEY).way(model, wire, given)
    plan = plan_run(CLIENTS[client], loaded)
    (ready,) = way.route.make_ready(open_pool(plan.loaded), way.route.chain, 0.0)
    held = {name: value for name, value in ready.endpoint.headers[0].items() if name in ("authorization", "x-api-key")}
    return ready.endpoint.url, ready.endpoint.model, held


def test_the_key_of_the_run_stands_for_the_key_in_the_environment(loaded):
    found = asked(loaded(ANTHROPIC_API_KEY="mine"), "claude", "anthropic", "anthropic", "of-this-run")
    assert found == ("https://api.anthropic.com/v1/messages", "m-1", {"x-api-key": "mine"})


def test_a_token_in_the_environment_stays_a_token(loaded):
    found = asked(loaded(ANTHROPIC_AUTH_TOKEN="mine"), "claude", "anthropic", "anthropic", "of-this-run")
    assert found[2] == {"authorization": "Bearer mine"}


def test_a_login_is_passed_on_as_it_is(loaded):
    found = asked(loaded(), "claude", "anthropic", "anthropic", "sk-ant-oat01-theirs")
    assert found[2] == {"authorization": "Bearer sk-ant-oat01-theirs"}


def test_a_login_to_another_place_goes_to_that_place(loaded):
    key = asked(loaded(), "codex", "openai", "responses", "sk-stored")
    login = asked(loaded(), "codex", "openai", "responses", "jwt", **{"chatgpt-account-id": "a"})
    assert key[0] == "https://api.openai.com/v1/responses"
    assert login == ("https://chatgpt.com/backend-api/codex/responses", "m-1", {"authorization": "Bearer jwt"})


@pytest.mark.parametrize(("wire", "path"), [("chat", "/chat/completions"), ("responses", "/responses")])
def test_one_door_serves_each_wire_of_its_vendor(loaded, wire, path):
    found = asked(loaded(OPENAI_API_KEY="k"), "sdks", "openai", wire, "of-this-run")
    assert found[0] == f"https://api.openai.com/v1{path}"


def test_an_address_in_the_environment_is_asked_and_known_by_its_host(loaded):
    url = "https://dashscope-intl.aliyuncs.com/compatible-mode/v1"
    settings = loaded(OPENAI_API_KEY="k", OPENAI_BASE_URL=url)
    assert asked(settings, "qwen", "openai", "chat", "of-this-run")[0] == f"{url}/chat/completions"
    (upstream,) = upstreams_of(CLIENTS["qwen"], settings)
    way = UpstreamWays(upstream, KEY).way("m", "chat", {"authorization": "Bearer of-this-run"})
    assert way.route.chain[0].provider.vendor == "dashscope"


def test_a_model_with_a_slash_is_a_model_and_no_provider(loaded):
    settings = loaded(OPENROUTER_API_KEY="k", ANTHROPIC_API_KEY="a")
    found = asked(settings, "opencode", "openrouter", "chat", "of-this-run", "anthropic/claude-sonnet-4.6")
    assert found[:2] == ("https://openrouter.ai/api/v1/chat/completions", "anthropic/claude-sonnet-4.6")


def test_only_what_somebody_wrote_counts_as_a_route(loaded):
    assert not has_routes(loaded(ANTHROPIC_API_KEY="k"))
    assert not has_routes(loaded("[limits]\nattempts = 3\n", ANTHROPIC_API_KEY="k"))
    assert has_routes(loaded('[routes.default]\nchain = ["anthropic/*"]\n', ANTHROPIC_API_KEY="k"))


def test_doors_that_nobody_has_a_key_for_are_left_out(loaded):
    settings = loaded(OPENAI_API_KEY="k")
    assert [one.door.provider for one in upstreams_of(CLIENTS["aider"], settings)] == ["openai"]
    assert upstreams_of(CLIENTS["aider"], loaded()) == ()
    with pytest.raises(InvalidInput, match="there is nobody to ask"):
        plan_run(CLIENTS["aider"], loaded())


def test_limits_of_the_settings_stay_in_force(loaded):
    settings = loaded("[limits]\nattempts = 2\n", ANTHROPIC_API_KEY="k")
    (upstream,) = upstreams_of(CLIENTS["claude"], settings)
    way = UpstreamWays(upstream, KEY).way("m", "anthropic", {"x-api-key": "of-this-run"})
    assert way.route.policy.attempts == 2
