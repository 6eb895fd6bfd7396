"""`headway import litellm`: what such files say is asked here in the same way, and what has no place is said."""

import tomllib
from pathlib import Path

import pytest

from headway.cli.import_litellm import settings_from
from headway.cli.main import main
from headway.cli.yaml_reading import read_yaml
from headway.failure import InvalidInput
from headway.settings import load, plan_for
from headway.settings.places import Surroundings

FOLDER = Path(__file__).parent / "litellm"
CONFIGS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
SECRETS = ("sk-1234", "sk-inline-secret-of-openai", "sk-ant-inline-secret", "sk-lf-inline-secret", "user:pass")
KEYS = dict.fromkeys(
    (
        *("AZURE_API_KEY_EU", "AZURE_API_KEY_CA", "LITELLM_MASTER_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
        *("ANTHROPIC_API_KEY_2", "OPENROUTER_API_KEY", "MINIMAX_API_KEY", "GPT_4O_MINI_API_KEY", "CLAUDE_OPUS_API_KEY"),
        *("DEEPSEEK_API_KEY", "GROQ_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY", "TOGETHER_KEY", "CEREBRAS_API_KEY"),
    ),
    "a-key",
)


@pytest.fixture
def imported(tmp_path, monkeypatch, capsys):
    """Import a file as a person would; return what our own loader makes of it, the text, and what was said."""

    def run(name):
        monkeypatch.setenv("HOUSE_BASE", "http://10.0.0.5:8000/v1")
        output = tmp_path / f"{name}.toml"
        assert main(["import", "litellm", str(FOLDER / f"{name}.yaml"), "--output", str(output)]) == 0
        loaded = load(output, around=Surroundings(KEYS, tmp_path, tmp_path))
        return loaded, output.read_text(encoding="utf-8"), capsys.readouterr().err

    return run


def chain(loaded, name):
    return list(loaded.settings.routes[name].chain)


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_made_is_loaded_and_every_route_of_it_can_be_asked(imported, name):
    loaded, _, _ = imported(name)
    for route in loaded.settings.routes:
        plan = plan_for(loaded, route)
        assert plan.chain
        assert all(link.url.startswith("http") for link in plan.chain)


@pytest.mark.parametrize("name", CONFIGS)
def test_no_key_of_the_file_is_copied(imported, name):
    _, text, said = imported(name)
    assert [secret for secret in SECRETS if secret in text or secret in said] == []


def test_deployments_of_one_name_are_a_chain_in_their_order(imported):
    loaded, _, said = imported("load_balancing")
    assert chain(loaded, "gpt-4o") == ["azure/gpt-4o-eu", "azure-2/gpt-4o-ca"]
    assert "not balanced" in said
    urls = [link.url for link in plan_for(loaded, "gpt-4o").chain]
    assert urls == [
        "https://my-endpoint-europe-992.openai.azure.com/openai/v1/chat/completions",
        "https://my-endpoint-canada-992.openai.azure.com/openai/v1/chat/completions",
    ]


def test_a_server_of_ones_own_wants_no_key(imported):
    loaded, _, _ = imported("load_balancing")
    (link,) = plan_for(loaded, "vllm-models").chain
    assert (link.name, link.url) == ("openai-compatible/facebook/opt-125m", "http://127.0.0.1:4000/v1/chat/completions")
    assert loaded.settings.providers["openai-compatible"].keys == ()


def test_a_master_key_that_is_written_out_becomes_a_variable_to_set(imported):
    loaded, _, said = imported("load_balancing")
    assert loaded.settings.gateway.keys == ("env:LITELLM_MASTER_KEY",)
    assert "set LITELLM_MASTER_KEY before you start" in said


def test_fallbacks_stand_behind_those_they_are_for(imported):
    loaded, _, said = imported("fallbacks")
    first, second, mini, haiku = chain(loaded, "zephyr-beta")
    assert (first, second) == ("openai-compatible/zephyr-beta", "openai-compatible-2/zephyr-beta")
    assert (mini, haiku) == ("openai/gpt-4o-mini", "anthropic/claude-haiku-4-5")
    assert chain(loaded, "claude-opus") == ["anthropic-2/claude-opus-4-8", haiku, mini]
    assert chain(loaded, "gpt-4o-mini") == [mini, haiku], "for content policies, and by default"
    assert "content_policy_fallbacks: a chain is for every failure" in said


def test_retries_and_timeouts_become_limits(imported):
    limits = imported("fallbacks")[0].settings.limits
    assert limits.attempts_per_upstream == 4
    assert limits.first_byte_seconds == 10
    assert (limits.unwell_after, limits.unwell_seconds) == (4, 30)


def test_a_key_that_is_written_out_becomes_a_variable_named_after_its_model(imported):
    loaded, _, said = imported("fallbacks")
    assert loaded.settings.providers["openai"].keys == ("env:GPT_4O_MINI_API_KEY",)
    assert "set GPT_4O_MINI_API_KEY before you start" in said


def test_what_no_wire_of_ours_reaches_is_left_out_and_said(imported):
    loaded, _, said = imported("many_providers")
    assert {"bedrock-claude", "vertex", "text-embedding-3-small"}.isdisjoint(loaded.settings.routes)
    assert "bedrock-claude: bedrock speaks a wire that Headway does not" in said
    assert "its mode is embedding" in said


def test_known_providers_become_presets_and_the_others_addresses(imported):
    loaded, _, _ = imported("many_providers")
    urls = {
        name: plan_for(loaded, name).chain[0].url for name in ("groq-llama", "or-deepseek", "gemini-flash", "local")
    }
    assert urls == {
        "groq-llama": "https://api.groq.com/openai/v1/chat/completions",
        "or-deepseek": "https://openrouter.ai/api/v1/chat/completions",
        "gemini-flash": "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        "local": "http://127.0.0.1:11434/v1/chat/completions",
    }
    assert plan_for(loaded, "or-deepseek").chain[0].model == "deepseek/deepseek-v4-pro"
    assert plan_for(loaded, "o3").chain[0].provider.wire == "responses"


def test_wildcards_are_the_default_route_and_the_providers_own_names(imported):
    loaded, _, said = imported("wildcards")
    assert [link.model for link in plan_for(loaded, "gpt-5.5").chain] == ["gpt-5.5"]
    assert [link.name for link in plan_for(loaded, "anthropic/claude-opus-4-8").chain] == ["anthropic/claude-opus-4-8"]
    assert "clients ask for it as anthropic/MODEL" in said


def test_aliases_facts_headers_and_anchors_are_carried_over(imported):
    loaded, _, said = imported("router")
    assert chain(loaded, "gpt-4") == chain(loaded, "smart")
    assert chain(loaded, "hidden-one") == ["openai/gpt-5.4-mini"]
    facts = loaded.settings.providers["openai"].models["gpt-5.5"]
    assert (facts.context, facts.output_limit, facts.input_price, facts.output_price) == (400_000, 128_000, 1.25, 10.0)
    assert loaded.settings.providers["openai"].limits.first_byte_seconds == 60
    assert loaded.settings.providers["hosted-vllm"].headers == {"x-team": "search"}
    assert "api_base was taken from the variable HOUSE_BASE" in said
    assert "import each of them" in said


def test_deployments_that_differ_in_their_keys_are_one_provider_with_several(imported):
    loaded, _, _ = imported("claude_code")
    assert loaded.settings.providers["anthropic"].keys == ("env:ANTHROPIC_API_KEY", "env:ANTHROPIC_API_KEY_2")
    assert chain(loaded, "claude-opus-4-8") == ["anthropic/claude-opus-4-8", "openrouter/anthropic/claude-opus-4.8"]


def test_an_address_in_a_variable_that_is_not_set_leaves_its_model_out(tmp_path, capsys):
    file = tmp_path / "c.yaml"
    file.write_text(
        "model_list:\n"
        "- {model_name: a, litellm_params: {model: openai/x, api_base: os.environ/NOWHERE_AT_ALL}}\n"
        "- {model_name: b, litellm_params: {model: groq/y}}\n",
        encoding="utf-8",
    )
    assert main(["import", "litellm", str(file)]) == 0
    out, err = capsys.readouterr()
    assert list(tomllib.loads(out)["routes"]) == ["b", "default"]
    assert "NOWHERE_AT_ALL, which is not set here" in err


def test_a_file_that_is_there_is_not_written_over_unless_told_so(tmp_path, capsys):
    output = tmp_path / "headway.toml"
    output.write_text("mine", encoding="utf-8")
    arguments = ["import", "litellm", str(FOLDER / "wildcards.yaml"), "--output", str(output)]
    assert main(arguments) == 2
    assert output.read_text(encoding="utf-8") == "mine"
    assert "add --force" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0
    assert "[routes.default]" in output.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [1, 2", "c.yaml:1: a quote or a bracket is not closed"),
        ("model_list: !!python/object x", "c.yaml:1: tags are not read here"),
        ("a:\n\tb: 1", "c.yaml:2: it is indented by a tab"),
        ("a: *nobody", "c.yaml:1: there is no anchor 'nobody'"),
        ("- just\n- a list", "no configuration of a LiteLLM proxy"),
        ("model_list: []", "none of its models can be asked here"),
        ("model_list: [{model_name: x, litellm_params: {model: bedrock/y}}]", "bedrock speaks a wire"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(tmp_path, capsys, text, words):
    file = tmp_path / "c.yaml"
    file.write_text(text, encoding="utf-8")
    assert main(["import", "litellm", str(file)]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("entry", [None, 3, "x", {}, {"model_name": "a"}, {"model_name": 1, "litellm_params": {}}])
def test_entries_that_are_none_are_left_out(entry):
    good = {"model_name": "b", "litellm_params": {"model": "groq/y"}}
    made = settings_from({"model_list": [entry, good]}, {}, "c.yaml")
    assert list(made.tables["routes"]) == ["b", "default"]
    assert "model_list[1]: it has no model_name" in made.notes[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: 1\nb: [1, 'it''s', {c: d}]\n", {"a": 1, "b": [1, "it's", {"c": "d"}]}),
        ("a:\n- b\n- c: d\n  e: f\n-\n  g: h\n", {"a": ["b", {"c": "d", "e": "f"}, {"g": "h"}]}),
        (
            "a: yes\nb: ~\nc: 1.5\nd: 0x1F\ne: 1e-5\nf: '1'\ng: 08\n",
            {"a": True, "b": None, "c": 1.5, "d": 31, "e": 1e-05, "f": "1", "g": "08"},
        ),
        ("x: &d {k: 1, l: 2}\ny:\n  <<: *d\n  k: 3\n", {"x": {"k": 1, "l": 2}, "y": {"k": 3, "l": 2}}),
        ('a: "\\u00e9\\n"  # c\nb: http://h:1/v#x\n', {"a": "é\n", "b": "http://h:1/v#x"}),
        ("a: |\n  one\n   two\nb: >-\n  three\n  four\n", {"a": "one\n two\n", "b": "three four"}),
        ("a: [\n  1, # one\n  {b: [2]}\n]\nc: plain goes\n  on\n", {"a": [1, {"b": [2]}], "c": "plain goes on"}),
        ('{"json": ["is", {"yaml": null}]}', {"json": ["is", {"yaml": None}]}),
        ("", None),
    ],
)
def test_the_yaml_of_such_files_is_read_as_everybody_reads_it(text, value):
    assert read_yaml(text, "x") == value


@pytest.mark.parametrize(
    "text", ["a: b: c", "a: - b", "a: @b", "a: 'x' y", "a: b\n c: d", "- a\nb: c", "---\na: 1\n---\nb: 2", "a: {b"]
)
def test_what_everybody_refuses_is_refused(text):
    with pytest.raises(InvalidInput, match=r"x:\d"):
        read_yaml(text, "x")
