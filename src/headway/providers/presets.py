"""The providers people use, with the quirks of each. Data only; the order is that of a default route."""

from urllib.parse import urlsplit

from msgspec.structs import replace

from headway.dialect import ANTHROPIC, CHAT, RESPONSES, Dialect
from headway.messages import WireName
from headway.providers.catalog import Auth, KeyVariable, Provider


def _messages(name: str, base_url: str, *variables: str, dialect: Dialect = ANTHROPIC, **quirks: object) -> Provider:
    """Fill in what every endpoint for Anthropic Messages shares."""
    return Provider(
        **{  # type: ignore[arg-type]
            "name": name,
            "wire": "anthropic",
            "dialect": dialect,
            "base_url": base_url,
            "root": "",
            "version": "/v1",
            "vendor": name,
            "auth": Auth.X_API_KEY,
            "key_variables": tuple(map(KeyVariable, variables)),
            "headers": (("anthropic-version", "2023-06-01"),),
            "beta_header": "anthropic-beta",
            **quirks,
        }
    )


def _chat(name: str, base_url: str, *variables: str, rules: dict[str, object] | None = None, **quirks: object) -> Provider:
    """Fill in what every endpoint for Chat Completions shares; `rules` are what its dialect says otherwise."""
    return Provider(
        **{  # type: ignore[arg-type]
            "name": name,
            "wire": "chat",
            "dialect": replace(CHAT, **{"issuer": name, **(rules or {})}),
            "base_url": base_url,
            "vendor": name,
            "key_variables": tuple(map(KeyVariable, variables)),
            "output_cap": "max_tokens",
            **quirks,
        }
    )


_NO_THINKING_BACK = {"thinking": False}
_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")

_ALL = (
    _messages(
        "anthropic",
        "https://api.anthropic.com/v1",
        key_variables=(KeyVariable("ANTHROPIC_API_KEY"), KeyVariable("ANTHROPIC_AUTH_TOKEN", Auth.BEARER)),
        url_variables=("ANTHROPIC_BASE_URL",),
        oauth_prefix="sk-ant-oat",
        oauth_beta="oauth-2025-04-20",
        prefills=True,
        model="claude-sonnet-4-6",
    ),
    Provider(
        name="openai",
        wire="responses",
        dialect=RESPONSES,
        base_url="https://api.openai.com/v1",
        vendor="openai",
        key_variables=(KeyVariable("OPENAI_API_KEY"),),
        url_variables=("OPENAI_BASE_URL",),
        reattaches=True,
        model="gpt-5.5",
    ),
    _chat(
        "openai-chat",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        rules={"issuer": "openai", **_NO_THINKING_BACK},
        vendor="openai",
        url_variables=("OPENAI_BASE_URL",),
        output_cap="max_completion_tokens",
        model="gpt-5.5",
    ),
    _chat(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        root="/api/v1",
        model="anthropic/claude-sonnet-4.6",
    ),
    _chat(
        "deepseek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        rules={"reasoning_on_calls": True, "images": False, "documents": False},
        model="deepseek-v4-pro",
    ),
    _chat(
        "moonshot",
        "https://api.moonshot.ai/v1",
        "MOONSHOT_API_KEY",
        "KIMI_API_KEY",
        rules={"reasoning_on_calls": True, "documents": False},
        hosts=("api.moonshot.cn",),
        model="kimi-k2.6",
    ),
    _chat(
        "minimax",
        "https://api.minimax.io/v1",
        "MINIMAX_API_KEY",
        rules={"system_inside": False, "documents": False},
        hosts=("api.minimaxi.com",),
        # Without it, thinking comes as tags among the words.
        body=(("reasoning_split", True),),
        model="MiniMax-M2.7",
    ),
    _messages(
        "minimax-anthropic",
        "https://api.minimax.io/anthropic/v1",
        "MINIMAX_API_KEY",
        dialect=replace(ANTHROPIC, issuer="minimax", images=False, documents=False),
        root="/anthropic",
        hosts=("api.minimaxi.com",),
        vendor="minimax",
        model="MiniMax-M2.7",
    ),
    _chat(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "DASHSCOPE_API_KEY",
        rules={"needs_user": True, "ends_with_assistant": False, "text_results_only": True, "documents": False},
        root="/compatible-mode/v1",
        hosts=("dashscope.aliyuncs.com", "dashscope-us.aliyuncs.com"),
        streams_only=True,
        model="qwen3.6-plus",
    ),
    _chat(
        "zhipu",
        "https://open.bigmodel.cn/api/paas/v4",
        "ZHIPU_API_KEY",
        "ZHIPUAI_API_KEY",
        rules={"documents": False},
        root="/api/paas/v4",
        model="glm-5.1",
    ),
    _chat(
        "zai",
        "https://api.z.ai/api/paas/v4",
        "ZAI_API_KEY",
        rules={"issuer": "zhipu", "documents": False},
        root="/api/paas/v4",
        vendor="zhipu",
        model="glm-5.1",
    ),
    _chat(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        rules={
            "id_alphabet": "a-zA-Z0-9",
            "id_max": 9,
            "id_length": 9,
            "assistant_after_results": True,
            "ends_with_assistant": False,
            "documents": False,
            **_NO_THINKING_BACK,
        },
        stream_usage=False,
        model="mistral-large-latest",
    ),
    _chat(
        "xai", "https://api.x.ai/v1", "XAI_API_KEY", rules={"documents": False, **_NO_THINKING_BACK}, model="grok-4.3"
    ),
    _chat(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        rules={"documents": False, **_NO_THINKING_BACK},
        root="/openai/v1",
        model="openai/gpt-oss-120b",
    ),
    _chat(
        "together",
        "https://api.together.xyz/v1",
        "TOGETHER_API_KEY",
        rules={"documents": False, **_NO_THINKING_BACK},
        hosts=("api.together.ai",),
        model="moonshotai/Kimi-K2.6",
    ),
    _chat(
        "fireworks",
        "https://api.fireworks.ai/inference/v1",
        "FIREWORKS_API_KEY",
        rules={"documents": False, **_NO_THINKING_BACK},
        root="/inference/v1",
        model="accounts/fireworks/models/kimi-k2p6",
    ),
    Provider(
        name="azure",
        wire="responses",
        dialect=replace(RESPONSES, issuer="azure"),
        root="/openai/v1",
        hosts=_AZURE_HOSTS,
        vendor="azure",
        auth=Auth.API_KEY,
        key_variables=(KeyVariable("AZURE_OPENAI_API_KEY"), KeyVariable("AZURE_API_KEY")),
        url_variables=("AZURE_OPENAI_ENDPOINT",),
        reattaches=True,
    ),
    _chat(
        "azure-chat",
        "",
        "AZURE_OPENAI_API_KEY",
        "AZURE_API_KEY",
        rules={"issuer": "azure", **_NO_THINKING_BACK},
        root="/openai/v1",
        hosts=_AZURE_HOSTS,
        vendor="azure",
        auth=Auth.API_KEY,
        url_variables=("AZURE_OPENAI_ENDPOINT",),
        output_cap="max_completion_tokens",
    ),
    _chat("ollama", "http://127.0.0.1:11434/v1", rules={"documents": False}, local=True),
    _chat("vllm", "http://127.0.0.1:8000/v1", rules={"documents": False}, local=True),
    _chat("lmstudio", "http://127.0.0.1:1234/v1", rules={"documents": False}, local=True),
    _chat("llamacpp", "http://127.0.0.1:8080/v1", rules={"documents": False}, local=True),
)
PRESETS: dict[str, Provider] = {provider.name: provider for provider in _ALL}


def preset_named(name: str, wire: WireName | None = None) -> Provider | None:
    """Return a preset; with a wire, the one of the same vendor that speaks it."""
    found = PRESETS.get(name)
    if found is None or wire is None or found.wire == wire:
        return found
    return next((p for p in _ALL if p.vendor == found.vendor and p.wire == wire), None)


def preset_at(base_url: str, wire: WireName) -> Provider | None:
    """Return the preset that lives at an address: the quirks of a known host are known, whatever it is called."""
    host = urlsplit(base_url).hostname or ""
    spoken = (provider for provider in _ALL if provider.wire == wire and not provider.local)
    return next((provider for provider in spoken if _lives_at(provider, host)), None)


def _lives_at(provider: Provider, host: str) -> bool:
    own = urlsplit(provider.base_url).hostname
    return any(host.endswith(known) if known.startswith(".") else host == known for known in (own, *provider.hosts) if known)
