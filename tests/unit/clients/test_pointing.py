"""How clients are found in command lines, and what they are started with. Pure."""

import json

import pytest

from headway.clients.by_hand import by_hand
from headway.clients.client import Client
from headway.clients.finding import find_client
from headway.clients.pointing import Doorway, pointed
from headway.clients.table import ANY, CLIENTS
from headway.failure import InvalidInput
from headway.providers.presets import PRESETS

BASE, KEY = "http://127.0.0.1:1/x", "the-key-of-the-run"


def doorways(client: Client, key: str | None = KEY):
    return [Doorway(door, BASE, key) for door in client.doors]


def started(name: str, key: str | None = KEY, **environ: str):
    return pointed(CLIENTS[name], doorways(CLIENTS[name], key), environ, "/tmp/file.mjs")


@pytest.mark.parametrize(
    ("command", "name", "at"),
    [
        (["claude", "-p", "hi"], "claude", 1),
        (["/usr/local/bin/claude"], "claude", 1),
        (["codex.cmd", "exec"], "codex", 1),
        (["npx", "-y", "@anthropic-ai/claude-code@latest", "-p", "x"], "claude", 3),
        (["npx", "opencode-ai@1.2.3"], "opencode", 2),
        (["uvx", "--from", "aider-chat", "aider", "--yes"], "aider", 4),
        (["uvx", "aider-chat"], "aider", 2),
        (["pnpm", "dlx", "@mariozechner/pi-coding-agent"], "pi", 3),
        (["pipx", "run", "llm", "hi"], "llm", 3),
        (["python3.12", "agent.py"], "sdks", 1),
        (["uv", "sync"], "sdks", 1),
    ],
)
def test_a_client_is_known_by_its_program_or_its_package(command, name, at):
    found = find_client(command)
    assert (found.client.name, found.known, found.arguments_at) == (name, True, at)


@pytest.mark.parametrize("command", [["my-agent"], ["npx", "something-else"], ["npx"], ["npx", "-y"]])
def test_what_nobody_knows_gets_the_variables_of_the_sdks(command):
    found = find_client(command)
    assert found.client is ANY
    assert not found.known


def test_somebody_may_say_which_client_it_is():
    assert find_client(["./my-claude", "x"], "claude").client.name == "claude"
    with pytest.raises(InvalidInput, match="Known: claude"):
        find_client(["x"], "cloude")


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_every_row_of_the_table_can_be_used(client):
    assert all(door.provider in PRESETS for door in client.doors)
    assert all(PRESETS[door.provider].key_variables for door in client.doors), "there is a key to move"
    for key in (KEY, None):
        start = pointed(client, doorways(client, key), {}, "/tmp/file.mjs")
        written = json.dumps([start.environment, start.arguments])
        assert "$" not in written, "every word of a template is filled in"
        assert (KEY in written) == (key is not None and bool(client.doors))
    assert not client.settings_variable or all(door.settings for door in client.doors)
    assert client.doors or client.by_hand or client.refused


def test_a_given_key_takes_the_place_of_every_other():
    start = started("claude", ANTHROPIC_API_KEY="mine", PATH="/bin")
    assert start.environment == {"ANTHROPIC_BASE_URL": BASE, "ANTHROPIC_AUTH_TOKEN": KEY, "PATH": "/bin"}
    start = started("sdks", ANTHROPIC_AUTH_TOKEN="mine", OPENAI_API_KEY="mine")
    assert "mine" not in start.environment.values()


def test_a_client_that_shows_its_own_key_keeps_it():
    start = started("claude", None, ANTHROPIC_API_KEY="mine")
    assert start.environment == {"ANTHROPIC_BASE_URL": BASE, "ANTHROPIC_API_KEY": "mine"}
    assert "requires_openai_auth=true" in started("codex", None).arguments[1]
    options = json.loads(started("opencode", None).environment["OPENCODE_CONFIG_CONTENT"])["provider"]["openai"]
    assert options == {"options": {"baseURL": f"{BASE}/v1"}}


def test_settings_that_a_client_was_given_stay_beside_ours():
    own = json.dumps({"theme": "dark", "provider": {"anthropic": {"options": {"timeout": 9}}}})
    made = json.loads(started("opencode", OPENCODE_CONFIG_CONTENT=own).environment["OPENCODE_CONFIG_CONTENT"])
    assert made["theme"] == "dark"
    assert made["provider"]["anthropic"]["options"] == {"timeout": 9, "baseURL": f"{BASE}/v1", "apiKey": KEY}


@pytest.mark.parametrize("own", ["", "not json", "[1]"])
def test_settings_that_are_none_are_replaced(own):
    made = json.loads(started("opencode", OPENCODE_CONFIG_CONTENT=own).environment["OPENCODE_CONFIG_CONTENT"])
    assert list(made) == ["provider"]


def test_a_client_behind_a_proxy_asks_the_gateway_directly():
    start = started("llm", HTTP_PROXY="http://proxy:3128", no_proxy="intranet")
    assert start.environment["NO_PROXY"] == start.environment["no_proxy"] == "intranet,127.0.0.1,localhost,::1"
    assert "NO_PROXY" not in started("llm", HTTPS_PROXY="http://proxy:3128").environment
    assert started("llm", HTTP_PROXY="http://proxy:3128", NO_PROXY="*").environment["NO_PROXY"] == "*"


def test_keys_are_not_shown_by_accident():
    start = started("claude", ANTHROPIC_API_KEY="mine")
    assert KEY not in repr(start)
    assert KEY not in repr(doorways(CLIENTS["claude"]))


@pytest.mark.parametrize("client", CLIENTS.values(), ids=lambda client: client.name)
def test_by_hand_every_client_is_told_the_address_or_why_not(client):
    text = by_hand(client, "http://127.0.0.1:8320", "$HEADWAY_KEY")
    assert client.refused or "http://127.0.0.1:8320" in text.partition("\n")[2]
    assert "$base" not in text
    assert "'$HEADWAY_KEY'" not in text, "a shell is to look it up"
