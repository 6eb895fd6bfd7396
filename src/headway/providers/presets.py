"""The providers people use, with the quirks of each. Data only; the order is that of a default route."""

from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from headway.messages import WireName
from headway.providers.catalog import Auth, KeyVariable, Provider, custom


def _preset(
    wire: WireName, name: str, base_url: str, *variables: str, rules: dict[str, Any] | None = None, **quirks: Any
) -> Provider:
    """Return an endpoint of that wire with what it does otherwise; `rules` are for its histories."""
    plain = custom(name, wire, base_url)
    known = {
        "vendor": name,
        "dialect": replace(plain.dialect, **(rules or {})),
        "key_variables": tuple(map(KeyVariable, variables)),
    }
    return replace(plain, **{**known, **quirks})


def _chat(name: str, base_url: str, *variables: str, rules: dict[str, Any] | None = None, **quirks: Any) -> Provider:
    """Return an endpoint for chat completions. Thinking in the open is nobody's business but its maker's."""
    return _preset("chat", name, base_url, *variables, rules={"issuer": name, **(rules or {})}, **quirks)


_NO_THINKING_BACK = {"thinking": False}
_AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")

_ALL = (
    _preset(
        "anthropic",
        "anthropic",
        "https://api.anthropic.com/v1",
        key_variables=(KeyVariable("ANTHROPIC_API_KEY"), KeyVariable("ANTHROPIC_AUTH_TOKEN", Auth.BEARER)),
        url_variables=("ANTHROPIC_BASE_URL",),
        oauth_prefix="sk-ant-oat",
        oauth_beta="oauth-2025-04-20",
        model="claude-sonnet-4-6",
    ),
    _preset(
        "responses",
        "openai",
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
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
    _preset(
        "anthropic",
        "minimax-anthropic",
        "https://api.minimax.io/anthropic/v1",
        "MINIMAX_API_KEY",
        rules={"issuer": "minimax", "images": False, "documents": False},
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
    _preset(
        "responses",
        "azure",
        "",
        "AZURE_OPENAI_API_KEY",
        "AZURE_API_KEY",
        root="/openai/v1",
        hosts=_AZURE_HOSTS,
        auth=Auth.API_KEY,
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


def provider_at(base_url: str, wire: WireName, name: str, *, local: bool = False) -> Provider:
    """Return the provider at an address: the quirks of a known host are known, whatever somebody calls it."""
    host = urlsplit(base_url).hostname or ""
    there = [provider for provider in _ALL if not provider.local and _lives_at(provider, host)]
    spoken = next((provider for provider in there if provider.wire == wire), None)
    if spoken is not None:
        return replace(spoken, name=name, base_url=base_url)
    return replace(custom(name, wire, base_url, local=local), vendor=there[0].vendor if there else "")


def _lives_at(provider: Provider, host: str) -> bool:
    known = (urlsplit(provider.base_url).hostname or "", *provider.hosts)
    return any(host.endswith(name) if name.startswith(".") else host == name for name in known if name)
