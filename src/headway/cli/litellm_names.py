"""What LiteLLM calls its providers, and what they are here. Data only."""

from msgspec import Struct

from headway.messages import WireName


class Known(Struct, frozen=True):
    """A provider of LiteLLM: a preset of ours, or a wire and an address."""

    preset: str = ""
    wire: WireName = "chat"
    base_url: str = ""
    """Empty where the preset has one, or the file must say it."""
    variable: str = ""
    """Where its key usually is, when no preset knows."""
    below: str = ""
    """What an address in such a file lacks."""


NAMES: dict[str, Known] = {
    "openai": Known("openai-chat"),
    "custom_openai": Known("openai-chat"),
    "openai_like": Known(),
    "litellm_proxy": Known(variable="LITELLM_PROXY_API_KEY"),
    "anthropic": Known("anthropic", "anthropic"),
    "azure": Known("azure-chat"),
    "azure_ai": Known("azure-chat"),
    "openrouter": Known("openrouter"),
    "deepseek": Known("deepseek"),
    "moonshot": Known("moonshot"),
    "minimax": Known("minimax"),
    "dashscope": Known("dashscope"),
    "zai": Known("zai"),
    "mistral": Known("mistral"),
    "xai": Known("xai"),
    "groq": Known("groq"),
    "together_ai": Known("together"),
    "fireworks_ai": Known("fireworks"),
    "ollama": Known("ollama", below="/v1"),
    "ollama_chat": Known("ollama", below="/v1"),
    "hosted_vllm": Known("vllm"),
    "vllm": Known("vllm"),
    "lm_studio": Known("lmstudio"),
    "llamafile": Known("llamacpp"),
    "gemini": Known(base_url="https://generativelanguage.googleapis.com/v1beta/openai", variable="GEMINI_API_KEY"),
    "cerebras": Known(base_url="https://api.cerebras.ai/v1", variable="CEREBRAS_API_KEY"),
    "deepinfra": Known(base_url="https://api.deepinfra.com/v1/openai", variable="DEEPINFRA_API_KEY"),
    "nvidia_nim": Known(base_url="https://integrate.api.nvidia.com/v1", variable="NVIDIA_NIM_API_KEY"),
    "perplexity": Known(base_url="https://api.perplexity.ai", variable="PERPLEXITYAI_API_KEY"),
    "sambanova": Known(base_url="https://api.sambanova.ai/v1", variable="SAMBANOVA_API_KEY"),
}
BY_MODEL = (
    ("gpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("chatgpt", "openai"),
    ("claude", "anthropic"),
    ("gemini", "gemini"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
    ("mistral", "mistral"),
)
"""Whose a model is that stands there without its provider."""

NOT_NEEDED = {
    "drop_params": "parameters that a provider does not take are left out anyway",
    "modify_params": "histories are healed on their way out anyway",
    "set_verbose": "`headway trace` tells what became of each request",
    "json_logs": 'write gateway.log = "json"',
    "enable_pre_call_checks": "limits of models are known here, or set by providers.*.models",
    "telemetry": "Headway has none",
}
REASONS = {
    "routing_strategy": "a chain is asked in its order; it is not balanced",
    "routing_strategy_args": "a chain is asked in its order; it is not balanced",
    "success_callback": "there are no callbacks; /metrics and `headway trace` tell what happens",
    "failure_callback": "there are no callbacks; /metrics and `headway trace` tell what happens",
    "callbacks": "there are no callbacks; /metrics and `headway trace` tell what happens",
    "cache": "replies are not cached",
    "cache_params": "replies are not cached",
    "redis_host": "the gateway is one process and keeps nothing in Redis",
    "redis_port": "the gateway is one process and keeps nothing in Redis",
    "redis_password": "the gateway is one process and keeps nothing in Redis",
    "redis_url": "the gateway is one process and keeps nothing in Redis",
    "database_url": "keys of clients are in gateway.keys; there is no database of users and budgets",
    "store_model_in_db": "models are in the file",
    "max_budget": "there are no budgets",
    "rpm": "there is no limit of requests for one upstream; gateway.requests_per_minute is for clients",
    "tpm": "there is no limit of tokens for one upstream",
    "weight": "a chain is asked in its order; it is not balanced",
}
