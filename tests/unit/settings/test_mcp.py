"""[mcp] in the settings: what is written, what is refused, which servers may start, and what they get to see."""

from pathlib import Path

import pytest

from headway.agent.mcp.spec import Trust
from headway.settings.mcp_servers import Standing, servers_named, trust
from headway.settings.safety import safety_for

GITHUB = """
    [mcp.github]
    command = ["npx", "-y", "server-github"]
    env = { TOKEN = "env:GITHUB_TOKEN", LOG_LEVEL = "debug" }
    tools = ["search_*"]
    seconds = 5
"""


def own(desk, text):
    """Load settings of the user's own file."""
    desk.write_own(text)
    return desk.load()


def only(desk, text):
    (named,) = servers_named(own(desk, text), Path("/work"))
    return named


def test_a_server_gets_its_own_secrets_and_harmless_variables_and_nothing_else(desk):
    desk.environ |= {
        "GITHUB_TOKEN": "ghp_secret",
        "OPENAI_API_KEY": "sk-other",
        "PATH": "/usr/bin",
        "HOME": "/home/x",
        "LC_ALL": "C",
        "FAVOURITE": "tea",
        "HTTPS_PROXY": "http://me:password@proxy",
    }
    spec = only(desk, GITHUB).spec
    assert spec.environment == {
        "PATH": "/usr/bin",
        "HOME": "/home/x",
        "LC_ALL": "C",
        "TOKEN": "ghp_secret",
        "LOG_LEVEL": "debug",
    }
    assert (spec.folder, spec.tools, spec.call_seconds, spec.trust) == (Path("/work"), ("search_*",), 5, Trust.RUNS)
    assert [secret.reveal() for secret in spec.secrets.values()] == ["ghp_secret"]
    assert "ghp_secret" not in repr(spec)


def test_a_header_may_have_a_word_before_its_key(desk):
    desk.environ["DOCS_TOKEN"] = "abc"
    text = '[mcp.docs]\nurl = "https://docs.example.com/mcp"\nheaders = { Authorization = "Bearer env:DOCS_TOKEN" }'
    assert only(desk, text).spec.headers == (("Authorization", "Bearer abc"),)


def test_paths_start_from_the_folder_of_the_file(desk):
    folder = desk.around.config_folder
    (folder / "keys").mkdir(parents=True)
    (folder / "keys" / "t").write_text("from a file")
    spec = only(desk, '[mcp.a]\ncommand = ["x"]\ncwd = "there"\nenv = { T = "file:keys/t" }').spec
    assert spec.folder == folder / "there"
    assert spec.environment["T"] == "from a file"


def test_a_key_that_is_not_there_keeps_one_server_out_and_no_other(desk):
    loaded = own(desk, f'{GITHUB}\n    [mcp.b]\n    command = ["b"]')
    missing, fine = servers_named(loaded, Path())
    assert missing.standing is Standing.NOT_COMPLETE
    assert "GITHUB_TOKEN is not set" in missing.why
    assert fine.standing is Standing.READY


def test_a_server_that_is_off_stays_off(desk):
    assert only(desk, '[mcp.a]\ncommand = ["x"]\nenabled = false').standing is Standing.OFF


def test_a_server_of_a_project_starts_only_when_trusted_and_as_it_was_then(desk):
    loaded = desk.load('[mcp.a]\ncommand = ["x"]')
    (named,) = servers_named(loaded, Path())
    assert named.standing is Standing.NOT_TRUSTED
    assert named.spec is None
    assert "headway mcp trust a" in named.why
    trust(loaded, ["a"])
    assert servers_named(loaded, Path())[0].standing is Standing.READY
    changed = desk.load('[mcp.a]\ncommand = ["rm", "-rf", "/"]')
    assert servers_named(changed, Path())[0].standing is Standing.NOT_TRUSTED


def test_a_project_cannot_mix_its_command_with_keys_of_the_user(desk):
    desk.write_own(GITHUB)
    loaded = desk.load('[mcp.github]\ncommand = ["evil"]')
    assert loaded.settings.mcp["github"].env == {}
    assert servers_named(loaded, Path())[0].standing is Standing.NOT_TRUSTED


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[mcp.a]", "mcp.a: it has neither a command nor a url"),
        ('[mcp.a]\ncommand = ["x"]\nurl = "http://x"', "mcp.a: it has both a command and a url"),
        ('[mcp.a__b]\ncommand = ["x"]', "mcp.a__b: no server can be called that"),
        ('[mcp.a_]\ncommand = ["x"]', "mcp.a_: no server can be called that"),
        ('[mcp."a b"]\ncommand = ["x"]', "mcp.a b: no server can be called that"),
        ('[mcp.a]\ncommand = [""]', "mcp.a.command: it names no program"),
        ('[mcp.a]\nurl = "ftp://x"', "mcp.a.url: unsupported protocol"),
        ('[mcp.a]\ncommand = ["x"]\nheaders = { A = "b" }', "mcp.a.headers: this kind of server has none"),
        ('[mcp.a]\ncommand = ["x"]\nenv = { "A B" = "c" }', "mcp.a.env.A B: it cannot be set"),
        ('[mcp.a]\ncommand = ["x"]\nenv = { API_KEY = "12345" }', "mcp.a.env.API_KEY: a key must not be written out"),
        ('[mcp.a]\ncommand = ["x"]\nenv = { T = "Bearer env:X" }', "mcp.a.env.T: only a header has a word before"),
        ('[mcp.a]\nurl = "http://x"\nheaders = { Authorization = "abc" }', "a key must not be written out here"),
        ('[mcp.a]\nurl = "http://x"\nheaders = { Host = "abc" }', "mcp.a.headers.Host: it cannot be set"),
        ('[mcp.a]\ncomand = ["x"]', "mcp.a.comand: there is no such setting. Did you mean mcp.a.command?"),
        (f'[mcp.a]\ncommand = ["x", "ghp_{"a1" * 18}"]', "mcp.a.command[1]: a key must not be written out here"),
    ],
)
def test_a_mistake_is_named_with_its_place(desk, text, said):
    refused = str(desk.refuses(text))
    assert said in refused
    assert "12345" not in refused


def test_its_secrets_are_hidden_from_commands_and_from_results(desk):
    desk.environ |= {"FAVOURITE_TEA": "darjeeling-2041-first-flush", "PATH": "/usr/bin"}
    loaded = own(desk, '[mcp.a]\nurl = "https://x/mcp"\nheaders = { X-Tea = "env:FAVOURITE_TEA" }')
    safety = safety_for(loaded, desk.project)
    assert "FAVOURITE_TEA" not in safety.environment
    assert safety.redactor.clean("It is darjeeling-2041-first-flush.") == "It is [hidden: the value of FAVOURITE_TEA]."
