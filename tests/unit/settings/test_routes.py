"""From settings to whom a turn asks: default routes, chains, policies, limits, and the pool."""

import pytest

from headway.failure import FailureKind, InvalidInput
from headway.providers.breaker import BreakerLimits
from headway.providers.catalog import Auth
from headway.providers.keys import KeyRing
from headway.providers.models import Source
from headway.providers.pool import choose
from headway.recovery.ledger import Policy, Strategy
from headway.settings import From, made_ready, open_pool, plan_for
from headway.transport.limits import Overrides

TWO = """
[providers.main]
wire = "anthropic"
base_url = "https://main.example"
keys = ["env:MAIN_KEY", "env:MAIN_KEY_2"]

[providers.backup]
preset = "openai"
wire = "chat"
keys = ["env:BACKUP_KEY"]

[routes.default]
chain = ["main/some-model", "backup/gpt-5.5"]
"""
KEYS = {"MAIN_KEY": "m1", "MAIN_KEY_2": "m2", "BACKUP_KEY": "b1"}


def names(plan):
    return [link.name for link in plan.chain]


def refuses(loaded, name="default"):
    with pytest.raises(InvalidInput) as caught:
        plan_for(loaded, name)
    return str(caught.value)


def test_without_settings_the_default_route_is_made_of_the_keys_that_are_there(desk):
    desk.environ = {"OPENAI_API_KEY": "sk", "ANTHROPIC_API_KEY": "sk-ant", "GROQ_API_KEY": ""}
    loaded = desk.load()
    assert names(plan_for(loaded)) == ["anthropic/claude-sonnet-4-6", "openai/gpt-5.5"]
    assert loaded.settings.providers["openai"].keys == ("env:OPENAI_API_KEY",)
    assert str(loaded.origin("providers", "openai", "keys")) == "OPENAI_API_KEY"
    assert loaded.origin("routes", "default", "chain").kind is From.DEFAULT


def test_without_settings_and_keys_there_is_nobody_to_ask(desk):
    assert refuses(desk.load()) == (
        "settings: there is nobody to ask. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or another provider's key, "
        "or run `headway config init`. `headway demo` needs no key."
    )


def test_a_token_in_the_usual_variable_is_sent_as_a_bearer(desk):
    desk.environ = {"ANTHROPIC_AUTH_TOKEN": "t", "ANTHROPIC_BASE_URL": "https://gateway.example"}
    loaded = desk.load()
    (link,) = plan_for(loaded).chain
    assert (link.provider.auth, link.url) == (Auth.BEARER, "https://gateway.example/v1/messages")
    assert str(loaded.origin("providers", "anthropic", "base_url")) == "ANTHROPIC_BASE_URL"


def test_an_address_that_was_written_counts_before_a_variable_that_other_programs_share(desk):
    desk.environ = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "http://127.0.0.1:8320"}
    loaded = desk.load('[providers.anthropic]\nbase_url = "https://mine.example"\n')
    assert plan_for(loaded).chain[0].url == "https://mine.example/v1/messages"


def test_an_address_from_a_variable_is_checked_too(desk):
    desk.environ = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "localhost:8000"}
    assert str(desk.refuses()).startswith("OPENAI_API_KEY: providers.openai.base_url: it is no address of a server")


def test_providers_that_were_written_are_the_only_ones(desk):
    desk.environ = {"OPENAI_API_KEY": "sk", "ANTHROPIC_API_KEY": "sk-ant"}
    assert names(plan_for(desk.load("[providers.anthropic]"))) == ["anthropic/claude-sonnet-4-6"]


def test_a_chain_may_name_presets_without_an_entry(desk):
    desk.environ = {"MISTRAL_API_KEY": "k"}
    loaded = desk.load('[routes.default]\nchain = ["mistral/x", "ollama/llama9"]\n')
    assert names(plan_for(loaded)) == ["mistral/x", "ollama/llama9"]


def test_a_provider_alone_stands_for_its_own_model(desk):
    desk.environ = {"OPENAI_API_KEY": "k"}
    text = '[providers.openai]\nmodel = "gpt-9"\n[routes.default]\nchain = ["openai"]\n'
    assert names(plan_for(desk.load(text))) == ["openai/gpt-9"]


def test_a_route_a_model_or_the_default_for_names_that_nobody_knows(desk):
    desk.environ = dict(KEYS)
    loaded = desk.load(TWO + '\n[routes.quick]\nchain = ["backup/gpt-5.4-mini"]\n')
    assert names(plan_for(loaded, "quick")) == ["backup/gpt-5.4-mini"]
    assert names(plan_for(loaded, "main/vendor/model-7")) == ["main/vendor/model-7"]
    for unknown in ("gpt-4o", "nobody/x", "main/", ""):
        assert plan_for(loaded, unknown).route == "default"


def test_a_default_route_is_missing_where_nobody_has_a_model(desk):
    said = refuses(desk.load('[providers.local]\nwire = "chat"\nbase_url = "http://127.0.0.1:1/v1"\n'))
    assert said.startswith("routes.default: there is none, and no provider has a model of its own. Add to ")
    assert said.endswith('headway.toml: [routes.default] chain = ["local/MODEL"].')


def test_links_know_where_to_go_and_how_to_speak(desk):
    desk.environ = dict(KEYS)
    main, backup = plan_for(desk.load(TWO)).chain
    assert main.url == "https://main.example/v1/messages"
    assert backup.url == "https://api.openai.com/v1/chat/completions"
    assert (backup.provider.name, backup.provider.vendor, backup.dialect.wire) == ("backup", "openai", "chat")


def test_who_has_no_key_is_left_out_with_a_notice(desk):
    desk.environ = {"BACKUP_KEY": "b1"}
    plan = plan_for(desk.load(TWO))
    assert names(plan) == ["backup/gpt-5.5"]
    assert plan.notices[0] == "main: env:MAIN_KEY: the variable MAIN_KEY is not set. Try: export MAIN_KEY=…"


def test_a_key_that_is_not_there_is_left_out_of_the_ring(desk):
    desk.environ = {**KEYS, "MAIN_KEY": ""}
    loaded = desk.load(TWO)
    assert open_pool(loaded).rings["main"] == KeyRing("main", ("env:MAIN_KEY_2",))
    assert plan_for(loaded).notices == ("main: env:MAIN_KEY: the variable is empty. Put a key into it.",)


def test_what_is_wrong_with_several_in_the_same_way_is_said_once_with_their_names(desk):
    entries = "".join(
        f'[providers.{name}]\nwire = "chat"\nbase_url = "https://{name}.example"\nkeys = ["env:ONE_KEY"]\n'
        for name in ("a", "b", "c")
    )
    said = refuses(desk.load(f'{entries}[routes.default]\nchain = ["a/m", "b/m", "b/n", "c/m"]\n'))
    assert said.endswith("can be asked. a, b, c: env:ONE_KEY: the variable ONE_KEY is not set. Try: export ONE_KEY=…")


REPLACING = '[providers.openai]\nmodel = "gpt-5.5"\n'


@pytest.mark.parametrize("route", ["", '[routes.default]\nchain = ["openai"]\n'], ids=["by default", "by a route"])
def test_keys_that_stand_in_an_entry_which_another_replaced_are_told_of(desk, route):
    desk.environ = {"MINE": "sk-1"}
    own = desk.write_own('[providers.openai]\nkeys = ["env:MINE"]\n')
    assert plan_for(desk.load_strange()).notices == ()
    loaded = desk.load(REPLACING + route)
    project = desk.project / "headway.toml"
    assert f"openai: its entry in {project} replaced the one in {own}, and the keys in that" in refuses(loaded)
    assert "set OPENAI_API_KEY, or write keys" in refuses(loaded)
    named = desk.load(f'{REPLACING}keys = ["env:THEIRS"]\n{route}')
    assert f"replaced the one in {own}" in refuses(named)
    assert "the variable THEIRS is not set" in refuses(named)
    desk.environ = {"THEIRS": "sk-2"}
    assert plan_for(desk.load()).notices == (), "with a key of its own there is nothing to say"


def test_a_key_that_is_kept_from_a_strangers_address_is_not_called_missing(desk):
    desk.environ = {"OPENAI_API_KEY": "sk-1"}
    path = desk.write('[providers.openai]\nbase_url = "https://evil.example/v1"\n')
    said = refuses(desk.load_strange())
    assert f"{path} came with this folder and names the address, which does not get OPENAI_API_KEY" in said
    assert "headway config trust" in said
    assert plan_for(desk.load()).notices == ()


def test_when_nobody_has_a_key_every_reason_is_given(desk):
    said = refuses(desk.load(TWO))
    assert said.startswith("routes.default: nobody in its chain can be asked. main: env:MAIN_KEY: ")
    assert "backup: env:BACKUP_KEY" in said
    said = refuses(desk.load('[routes.default]\nchain = ["anthropic"]\n'))
    assert "anthropic: no key; set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or write keys" in said


@pytest.mark.parametrize(
    "entry",
    [
        '[providers.x]\nwire = "chat"\nbase_url = "http://127.0.0.1:1"',
        '[providers.x]\npreset = "openai"\nbase_url = "https://proxy.example"\nkeys = []',
        '[providers.x]\npreset = "openai"\nauth = "none"',
    ],
)
def test_who_wants_no_key_is_asked_without_one(desk, entry):
    loaded = desk.load(f'{entry}\n[routes.default]\nchain = ["x/m"]\n')
    plan, pool = plan_for(loaded), open_pool(loaded)
    (ready,) = made_ready(loaded, plan, pool, plan.chain, 0)
    assert ready.keys == ()
    assert "authorization" not in ready.endpoint.headers[0]


def test_a_key_in_the_clear_is_worth_a_notice(desk):
    desk.environ = {"K": "k"}
    text = (
        '[providers.x]\nwire = "chat"\nbase_url = "http://{}/v1"\nkeys = ["env:K"]\n[routes.default]\nchain = ["x/m"]\n'
    )
    assert "crosses the network in the clear" in plan_for(desk.load(text.format("x.example"))).notices[0]
    assert plan_for(desk.load(text.format("192.168.1.5:8000"))).notices == ()


def test_limits_of_a_route_count_before_a_providers_and_those_before_all_others(desk):
    desk.environ = dict(KEYS)
    loaded = desk.load(
        TWO
        + """
        [routes.default.limits]
        silence_seconds = 1
        attempts = 9
        [providers.main.limits]
        silence_seconds = 2
        dead_seconds = 2
        [limits]
        silence_seconds = 3
        dead_seconds = 3
        connect_seconds = 3
        turn_seconds = 300
        attempts = 3
        """.replace("        ", "")
    )
    plan = plan_for(loaded)
    wanted = Overrides(connect_seconds=3, dead_seconds=2, silence_seconds=1, turn_seconds=300)
    assert plan.limits["main/some-model"] == wanted
    assert plan.limits["backup/gpt-5.5"].dead_seconds == 3
    assert (plan.policy.attempts, plan.policy.turn_seconds) == (9, 300)
    assert plan_for(loaded, "main/x").policy.attempts == 3


def test_without_limits_headway_chooses(desk):
    desk.environ = dict(KEYS)
    plan = plan_for(desk.load(TWO))
    assert plan.limits["main/some-model"] == Overrides()
    assert plan.policy == Policy()


def test_a_route_says_what_stays_home_and_whether_drafts_are_kept(desk):
    desk.environ = dict(KEYS)
    plan = plan_for(desk.load(TWO + 'stay_home = ["content_filtered"]\ndrafts = false\n'))
    assert plan.policy.stays_home == {FailureKind.CONTENT_FILTERED}
    assert plan.policy.forbidden == {Strategy.CONTINUE_DRAFT}


def test_health_and_keys_have_their_limits(desk):
    text = "[limits]\nunwell_after = 1\nunwell_seconds = 400\nlongest_unwell_seconds = 9\nkey_rest_seconds = 2\n"
    pool = open_pool(desk.load(text))
    assert pool.health.limits == BreakerLimits(failures=1, open_seconds=400, longest_seconds=400)
    assert pool.key_limits.rest_seconds == 2


def test_facts_that_were_set_count_before_those_that_are_listed(desk):
    desk.environ = dict(KEYS)
    text = "[providers.main.models.some-model]\ncontext = 9000\nimages = false\ninput_price = 2\n"
    facts = plan_for(desk.load(TWO + text)).chain[0].facts
    assert (facts.context, facts.images, facts.source) == (9000, False, Source.SET)
    assert (facts.prices[0].input, facts.prices[0].output) == (2, 0)


def test_entries_change_what_a_preset_says(desk):
    desk.environ = {"OPENAI_API_KEY": "k"}
    loaded = desk.load(
        """
        [providers.openai]
        reattach = false
        betas = ["x"]
        headers = { X-Team = "search" }
        auth = "api-key"
        path = "/custom?v=1"
        """
    )
    link = plan_for(loaded).chain[0]
    assert not link.provider.reattaches
    assert link.url == "https://api.openai.com/v1/custom?v=1"
    assert dict(link.provider.headers)["x-team"] == "search"


def test_an_endpoint_of_ones_own_may_be_taken_up_again_too(desk):
    text = '[providers.x]\nwire = "responses"\nbase_url = "http://127.0.0.1:1"\nmodel = "m"\nreattach = true\n'
    loaded = desk.load(text)
    plan, pool = plan_for(loaded), open_pool(loaded)
    (ready,) = made_ready(loaded, plan, pool, plan.chain, 0)
    assert ready.endpoint.reattaches
    assert ready.endpoint.fit({}) == {"background": True, "store": True}


def test_a_version_of_the_wire_can_be_chosen(desk):
    desk.environ = {"ANTHROPIC_API_KEY": "k"}
    loaded = desk.load('[providers.anthropic.headers]\nAnthropic-Version = "2026-10-21"\n')
    assert dict(plan_for(loaded).chain[0].provider.headers) == {"anthropic-version": "2026-10-21"}


def test_endpoints_hold_their_keys_in_the_order_of_use(desk):
    desk.environ = dict(KEYS)
    loaded = desk.load(TWO)
    plan, pool = plan_for(loaded), open_pool(loaded)
    main, backup = made_ready(loaded, plan, pool, choose(pool, plan.chain, 0).links, 0, betas=["b1"])
    assert [headers["x-api-key"] for headers in main.endpoint.headers] == ["m1", "m2"]
    assert main.endpoint.headers[0]["anthropic-beta"] == "b1"
    assert [main.key_with(left) for left in (2, 1)] == ["env:MAIN_KEY", "env:MAIN_KEY_2"]
    assert main.endpoint.headers_with(1)["x-api-key"] == "m2"
    assert (main.endpoint.name, main.endpoint.model) == (main.link.name, "some-model")
    assert backup.endpoint.headers[0]["authorization"] == "Bearer b1"


def test_who_lost_its_keys_on_the_way_is_left_out(desk):
    key = desk.write("k1", desk.project / "main.key")
    text = '[providers.openai]\nkeys = ["file:main.key"]\n[routes.default]\nchain = ["openai", "ollama/x"]\n'
    loaded = desk.load(text)
    plan, pool = plan_for(loaded), open_pool(loaded)
    key.unlink()
    assert [ready.link.name for ready in made_ready(loaded, plan, pool, plan.chain, 0)] == ["ollama/x"]
