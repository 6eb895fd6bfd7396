"""What is said to people who mistyped something: the file, the key, what was probably meant. Never a key's value."""

import pytest

SECRET = "sk-ant-api03-very-secret"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[limits]\nsilence_secnds = 3",
            "limits.silence_secnds: there is no such setting. Did you mean limits.silence_",
        ),
        ("[limit]\nattempts = 3", "limit: there is no such setting. Did you mean limits?"),
        (
            "[nonsense]",
            "nonsense: there is no such setting. Known here: agent, gateway, limits, mcp, providers, routes, store",
        ),
        (
            "[providers.a]\nbase_ulr = 'x'",
            "providers.a.base_ulr: there is no such setting. Did you mean providers.a.base_",
        ),
        (
            "[providers.a]\nsilence_seconds = 3",
            "providers.a.silence_seconds: there is no such setting. It belongs one table further in: providers.a.limi",
        ),
        ("[providers.a.limits]\nattempts = 3", "providers.a.limits.attempts: there is no such setting"),
        ('[providers."my gpt"]\nx = 1', 'providers."my gpt".x: there is no such setting'),
    ],
)
def test_an_unknown_key_is_named_with_the_one_that_was_meant(desk, text, said):
    assert str(desk.refuses(text)).startswith(f"{desk.project / 'headway.toml'}: {said}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[limits]\nsilence_seconds = 'three'", "limits.silence_seconds: expected a number, got a text"),
        ("[limits]\nattempts = 2.5", "limits.attempts: expected a whole number, got a number"),
        ("[limits]\nattempts = true", "limits.attempts: expected a whole number, got true or false"),
        ("[limits]\nattempts = 0", "limits.attempts: expected at least 1, got 0"),
        ("[limits]\nturn_seconds = 0", "limits.turn_seconds: expected more than 0, got 0"),
        ("[limits]\nturn_seconds = inf", "limits.turn_seconds: expected at most 86400, got inf"),
        ("[limits]\nturn_seconds = nan", "limits.turn_seconds: expected more than 0, got nan"),
        ("limits = 3", "limits: expected a table, got a whole number. Write [limits]."),
        ("providers = 3", "providers: expected a table, got a whole number. Write [providers.…]."),
        ("[providers]\nmain = 'x'", "providers.main: expected a table, got a text. Write [providers.main]."),
        ("[agent]\napprove = 'edit'", "agent.approve: 'edit' is none of ask, edits, plan, auto. Did you mean 'edits'?"),
        ("[providers.a]\nwire = 'chats'", "providers.a.wire: 'chats' is none of chat, responses, anthropic. Did you"),
        (
            "[providers.a]\nauth = 'token'",
            "providers.a.auth: 'token' is none of none, bearer, x-api-key, api-key, oauth",
        ),
        ("[routes.a]\nchain = 'a/b'", 'routes.a.chain: expected a list, got a text. Write chain = ["a/b"].'),
        ("[routes.a]\nchain = ['a/b', 3]", "routes.a.chain[1]: expected a text, got a whole number"),
        ("[routes.a]\nstay_home = ['refusal']", "routes.a.stay_home[0]: 'refusal' is none of"),
        ("[providers.a.headers]\nx = 3", "providers.a.headers"),
        ("[agent]\napprove = 1979-05-27", "agent.approve"),
    ],
)
def test_a_wrong_value_is_named_by_its_key(desk, text, said):
    assert str(desk.refuses(text)).startswith(f"{desk.project / 'headway.toml'}: {said}")


def test_a_mistake_in_the_users_file_is_named_even_if_the_project_says_otherwise(desk):
    own = desk.write_own("[limits]\nattempts = 'x'\n")
    assert str(desk.refuses("[limits]\nattempts = 3\n")).startswith(f"{own}: limits.attempts")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "HEADWAY_LIMITS_SILENCE_SECNDS",
            "3",
            "the variable HEADWAY_LIMITS_SILENCE_SECNDS: there is no such setting. Did",
        ),
        ("HEADWAY_LIMITS_ATTEMPTS", "many", "HEADWAY_LIMITS_ATTEMPTS: limits.attempts: expected a whole number, got a"),
        ("HEADWAY_LIMITS_ATTEMPTS", "-1", "HEADWAY_LIMITS_ATTEMPTS: limits.attempts: expected at least 1, got -1"),
        ("HEADWAY_AGENT_APPROVE", "never", "HEADWAY_AGENT_APPROVE: agent.approve: 'never' is none of ask, edits"),
    ],
)
def test_a_mistake_in_the_environment_is_named_by_its_variable(desk, name, value, said):
    desk.environ[name] = value
    assert str(desk.refuses()).startswith(said)


def test_variables_of_ours_that_are_no_settings_are_left_alone(desk):
    desk.environ = {"HEADWAY_LOG": "debug", "HEADWAY_EXAMPLES": "9", "HEADWAY_LIMITS_ATTEMPTS": " ", "HEADWAY_KEY": "x"}
    assert desk.load().settings.limits.attempts is None


def test_lists_in_variables_have_commas(desk):
    desk.environ["HEADWAY_GATEWAY_KEYS"] = "env:ONE, env:TWO"
    assert desk.load().settings.gateway.keys == ("env:ONE", "env:TWO")


@pytest.mark.parametrize("key", [SECRET, "sk-proj:with-colon", "", "env:", "file: "])
def test_a_key_that_is_written_out_is_refused_and_not_repeated(desk, key):
    refused = desk.refuses(f'[providers.anthropic]\nkeys = ["env:FINE", "{key}"]\n')
    assert str(refused).startswith(f"{desk.project / 'headway.toml'}: providers.anthropic.keys[1]: ")
    assert '"env:ANTHROPIC_KEY"' in refused.hint
    assert key.strip() in {"", "env:", "file:"} or key not in str(refused)


@pytest.mark.parametrize(
    "text",
    [
        f'[providers.anthropic]\nkeys = "{SECRET}"\n',
        f'[providers.anthropic]\nkey = "{SECRET}"\n',
        f'[providers.anthropic]\nkeys = [["{SECRET}"]]\n',
        f'[gateway]\nkeys = ["{SECRET}"]\n',
        f'[providers.a]\nwire = "chat"\nbase_url = "https://me:{SECRET}@a.example"\n',
        f'[providers.a]\nwire = "chat"\nbase_url = "{SECRET}"\n',
        f'[providers.openai.headers]\nAuthorization = "Bearer {SECRET}"\n',
    ],
)
def test_no_mistake_makes_a_key_show(desk, text):
    assert SECRET not in str(desk.refuses(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[providers.a]\npreset = "anthropc"',
            "providers.a.preset: there is no preset 'anthropc'. Did you mean 'anthropic'?",
        ),
        ('[providers.a]\npreset = "zzz"', "providers.a.preset: there is no preset 'zzz'. Known: anthropic, openai"),
        ("[providers.anthropc]", "providers.anthropc: it has no preset, or a wire and a base_url. wire = "),
        ('[providers.a]\nwire = "chat"', "providers.a: it has no base_url."),
        ('[providers.a]\nbase_url = "https://a.example"', "providers.a: it has no wire."),
        (
            '[providers.azure]\nkeys = ["env:K"]',
            'providers.azure: it has no address of its own. Add base_url = "https://…".',
        ),
        (
            '[providers.mistral]\nwire = "anthropic"',
            "providers.mistral.wire: mistral is known to speak chat. Add base_url",
        ),
        (
            '[providers.a]\nwire = "chat"\nbase_url = "a.example/v1"',
            "providers.a.base_url: it is no address of a server",
        ),
        ('[providers.a]\nwire = "chat"\nbase_url = "http://a:x"', "providers.a.base_url: it is no address of a server"),
        ("[providers.mistral]\nreattach = true", "providers.mistral.reattach: the wire 'chat' has no way to do that."),
        (
            '[routes.default]\nchain = ["antropic/x"]',
            "routes.default.chain[0]: there is no provider 'antropic'. Did you mean",
        ),
        (
            '[routes.default]\nchain = ["zzz/x"]',
            "routes.default.chain[0]: there is no provider 'zzz'. Add a table [providers.zzz].",
        ),
        (
            '[routes.default]\nchain = ["ollama"]',
            'routes.default.chain[0]: it names no model of ollama. Write "ollama/MODEL".',
        ),
        (
            '[routes.default]\nchain = ["openai/"]',
            'routes.default.chain[0]: it names no model of openai. Write "openai/MODEL".',
        ),
        ("[routes.default]", 'routes.default.chain: it names nobody to ask. Write chain = ["provider/model"].'),
        ('[gateway]\nlisten = "8320"', "gateway.listen: '8320' is no address and port. Write \"127.0.0.1:8320\"."),
        ('[gateway]\nlisten = "::1:8320"', "gateway.listen: '::1:8320' is no address and port."),
        ('[gateway]\nlisten = "127.0.0.1:99999"', "gateway.listen: '127.0.0.1:99999' is no address and port."),
        ('[gateway]\nlisten = "0.0.0.0:8320"', "gateway.listen: anybody who reaches 0.0.0.0:8320 could use your keys."),
        ('[gateway]\nlisten = ":8320"', "gateway.listen: anybody who reaches :8320 could use your keys."),
    ],
)
def test_what_does_not_fit_together_is_named(desk, text, said):
    assert str(desk.refuses(text)).startswith(f"{desk.project / 'headway.toml'}: {said}")


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "[::1]:8320", "localhost:8320"])
def test_on_loopback_no_keys_are_needed(desk, listen):
    assert desk.load(f'[gateway]\nlisten = "{listen}"\n').settings.gateway.keys == ()


def test_an_open_gateway_with_keys_is_fine(desk):
    assert desk.load('[gateway]\nlisten = "0.0.0.0:8320"\nkeys = ["env:K"]\n').settings.gateway.keys == ("env:K",)
