"""The clients that Headway knows. Data only; `tests/clients` runs those that can be installed."""

from headway.clients.client import Client, Door, File

_PI_EXTENSION = """\
// Written by `headway exec`: the providers stay what they are, and are asked through Headway.
export default function (pi) {
  for (const [name, baseUrl] of Object.entries(JSON.parse(process.env.HEADWAY_DOORS))) {
    pi.registerProvider(name, { baseUrl });
  }
}
"""


def _openai(**more: str) -> Door:
    """Return the door of OpenAI for a program that reads the variables of its SDK."""
    known = {"OPENAI_BASE_URL": "$base/v1", "OPENAI_API_KEY": "$key", **more}
    return Door(provider="openai", wires=("chat", "responses"), environment=known)


def _openrouter(**variables: str) -> Door:
    known = {"OPENROUTER_API_KEY": "$key", **variables}
    return Door(provider="openrouter", wires=("chat",), environment=known)


def _anthropic(**more: str) -> Door:
    """Return the door of Anthropic for a program that reads the variables of its SDK, which takes only one key."""
    known = {"ANTHROPIC_BASE_URL": "$base", "ANTHROPIC_API_KEY": "$key", **more}
    return Door(provider="anthropic", wires=("anthropic",), environment=known, clears=("ANTHROPIC_AUTH_TOKEN",))


def _keyed(provider: str, settings: dict[str, object], key: str) -> Door:
    wires = {"anthropic": ("anthropic",), "openai": ("responses", "chat")}.get(provider, ("chat",))
    return Door(provider=provider, wires=wires, settings=settings, environment={key: "$key"})  # type: ignore[arg-type]


def _opencode(provider: str, key: str) -> Door:
    return _keyed(provider, {"provider": {provider: {"options": {"baseURL": "$base/v1", "apiKey": "$key"}}}}, key)


def _codex(key: str) -> tuple[str, ...]:
    provider = f'{{name="Headway", base_url="$base/v1", wire_api="responses", {key}}}'
    return ("-c", f"model_providers.headway={provider}", "-c", 'model_provider="headway"')


_SDKS = (_anthropic(), _openai(OPENAI_API_BASE="$base/v1"), _openrouter(OPENROUTER_BASE_URL="$base/v1"))
_LITELLM = (
    _anthropic(ANTHROPIC_API_BASE="$base"),
    _openai(OPENAI_API_BASE="$base/v1"),
    _openrouter(OPENROUTER_API_BASE="$base/v1"),
    Door(
        provider="deepseek",
        wires=("chat",),
        environment={"DEEPSEEK_API_BASE": "$base/v1", "DEEPSEEK_API_KEY": "$key"},
    ),
)

ANY = Client(
    name="sdks",
    title="any program that uses the official SDKs",
    binaries=("python", "python3", "node", "bun", "deno", "uv", "ruby", "go", "bash", "sh", "zsh", "make"),
    doors=_SDKS,
    notes=("A program that sets its base URL itself goes past the gateway; pass that address by --env instead.",),
)
"""What a program gets that nobody knows: the variables that the official SDKs read."""

_ALL = (
    Client(
        name="claude",
        title="Claude Code",
        packages=("@anthropic-ai/claude-code",),
        doors=(
            Door(
                provider="anthropic",
                wires=("anthropic",),
                # Not the variable of the SDK: Claude Code asks about each key in it that it has not seen before.
                environment={"ANTHROPIC_BASE_URL": "$base", "ANTHROPIC_AUTH_TOKEN": "$key"},
                clears=("ANTHROPIC_API_KEY",),
            ),
        ),
        logs_in=True,
        elsewhere=("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"),
        notes=("A login is passed on as it is: without a key in the environment, Claude Code shows its own.",),
    ),
    Client(
        name="codex",
        title="Codex CLI",
        packages=("@openai/codex",),
        doors=(
            Door(
                provider="openai",
                wires=("responses",),
                environment={"HEADWAY_EXEC_KEY": "$key"},
                arguments=_codex('env_key="HEADWAY_EXEC_KEY"'),
                own_key_arguments=_codex("requires_openai_auth=true"),
                login_url="https://chatgpt.com/backend-api/codex",
                login_header="chatgpt-account-id",
            ),
        ),
        logs_in=True,
        by_hand="""\
# ~/.codex/config.toml
model_provider = "headway"

[model_providers.headway]
name = "Headway"
base_url = "$base/v1"
wire_api = "responses"
env_key = "HEADWAY_KEY" # export HEADWAY_KEY=$key
""",
    ),
    Client(
        name="opencode",
        title="opencode",
        packages=("opencode-ai",),
        doors=(
            _opencode("anthropic", "ANTHROPIC_API_KEY"),
            _opencode("openai", "OPENAI_API_KEY"),
            _opencode("openrouter", "OPENROUTER_API_KEY"),
            _opencode("deepseek", "DEEPSEEK_API_KEY"),
        ),
        settings_variable="OPENCODE_CONFIG_CONTENT",
        logs_in=True,
        by_hand="""\
# opencode.json, for each provider that you use
{
  "provider": {
    "anthropic": { "options": { "baseURL": "$base/v1", "apiKey": "$key" } },
    "openai": { "options": { "baseURL": "$base/v1", "apiKey": "$key" } }
  }
}
""",
    ),
    Client(
        name="pi",
        title="pi",
        packages=("@earendil-works/pi-coding-agent", "@mariozechner/pi-coding-agent"),
        doors=(
            Door(
                provider="anthropic",
                wires=("anthropic",),
                settings={"anthropic": "$base"},
                environment={"ANTHROPIC_API_KEY": "$key"},
                clears=("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN"),
            ),
            Door(
                provider="openai",
                wires=("responses", "chat"),
                settings={"openai": "$base/v1"},
                environment={"OPENAI_API_KEY": "$key"},
            ),
            Door(
                provider="openrouter",
                wires=("chat",),
                settings={"openrouter": "$base/v1"},
                environment={"OPENROUTER_API_KEY": "$key"},
            ),
        ),
        arguments=("--extension", "$file"),
        settings_variable="HEADWAY_DOORS",
        file=File("headway.mjs", _PI_EXTENSION),
        logs_in=True,
        keeps_key=True,
        by_hand="""\
# ~/.pi/agent/models.json
{
  "providers": {
    "anthropic": { "baseUrl": "$base", "apiKey": "$key" },
    "openai": { "baseUrl": "$base/v1", "apiKey": "$key" }
  }
}
""",
    ),
    Client(name="aider", title="aider", packages=("aider-chat",), doors=_LITELLM),
    Client(
        name="hermes",
        title="Hermes Agent",
        packages=("hermes-agent",),
        doors=(_anthropic(), _openai(), _openrouter(OPENROUTER_BASE_URL="$base/v1")),
        notes=("An address in ~/.hermes/config.yaml counts for more than these variables.",),
    ),
    Client(name="mini", title="mini-swe-agent", packages=("mini-swe-agent",), doors=_LITELLM),
    Client(
        name="goose",
        title="goose",
        doors=(
            _anthropic(ANTHROPIC_HOST="$base"),
            _openai(OPENAI_HOST="$base", OPENAI_BASE_PATH="v1/chat/completions"),
            _openrouter(OPENROUTER_HOST="$base"),
        ),
        notes=("A key that `goose configure` put into the keyring counts for less than these variables.",),
    ),
    Client(
        name="crush",
        title="Crush",
        packages=("@charmland/crush",),
        doors=(
            _anthropic(ANTHROPIC_API_ENDPOINT="$base"),
            _openai(OPENAI_API_ENDPOINT="$base/v1"),
            _openrouter(),
        ),
        by_hand="""\
# crush.json
{
  "providers": {
    "anthropic": { "base_url": "$base", "api_key": "$key" },
    "openai": { "base_url": "$base/v1", "api_key": "$key" }
  }
}
""",
    ),
    Client(
        name="qwen",
        title="Qwen Code",
        packages=("@qwen-code/qwen-code",),
        doors=(_openai(), _anthropic()),
        notes=("Choose the OpenAI way of logging in (--auth-type openai); Qwen's own login asks its own server.",),
    ),
    Client(name="llm", title="llm", doors=_SDKS),
    Client(
        name="cline",
        title="Cline CLI",
        by_hand="""\
# Cline keeps its address in settings of its own; tell it once:
cline auth --provider openai --baseurl $base/v1 --apikey $key --modelid MODEL
""",
    ),
    Client(
        name="cn",
        title="Continue CLI",
        packages=("@continuedev/cli",),
        by_hand="""\
# ~/.continue/config.yaml
models:
  - name: Through Headway
    provider: openai
    model: MODEL
    apiBase: $base/v1
    apiKey: $key
""",
    ),
    Client(
        name="gemini",
        title="Gemini CLI",
        packages=("@google/gemini-cli",),
        refused="it speaks Google's own wire, which the gateway does not serve",
    ),
    ANY,
)
CLIENTS: dict[str, Client] = {client.name: client for client in _ALL}
