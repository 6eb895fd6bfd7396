"""The failure table, in the order it is read: most specific first, nothing left out. Data only.

Rows that know a provider stand here, and nowhere else; what any provider may say is in the `about_…` modules.
After them come what a bare status means and what the place of the failure means, so that everything is classified.
"""

from headway.failure import FailureKind, Plan, Scope, Where
from headway.recovery.failures.about_accounts import LAST_RIGHTS, MONEY, RATES, RIGHTS
from headway.recovery.failures.about_ends import ENDS, LAST_ENDS
from headway.recovery.failures.about_history import HISTORY
from headway.recovery.failures.about_requests import PARAMETERS, SIZE
from headway.recovery.failures.about_services import FAULTS, NETWORK, OUTPUT
from headway.recovery.failures.about_walls import FILTERS, WALLS
from headway.recovery.failures.rows import Row, row

K, P, S, W = FailureKind, Plan, Scope, Where

ALIASES = {
    "any": "",
    "network": "",
    "google": "gemini",
    "googleai": "gemini",
    "google_ai_studio": "gemini",
    "vertexai": "vertex",
    "vertex_ai": "vertex",
    "aws": "bedrock",
    "amazon": "bedrock",
    "qwen": "dashscope",
    "alibaba": "dashscope",
    "bailian": "dashscope",
    "glm": "zhipu",
    "zai": "zhipu",
    "z.ai": "zhipu",
    "z-ai": "zhipu",
    "bigmodel": "zhipu",
    "kimi": "moonshot",
    "qianfan": "baidu",
    "ernie": "baidu",
    "claude": "anthropic",
    "azure_openai": "azure",
    "together_ai": "together",
    "fireworks_ai": "fireworks",
    "grok": "xai",
    "x.ai": "xai",
    "llama.cpp": "llamacpp",
    "llama_cpp": "llamacpp",
    "lm_studio": "lmstudio",
    "github_copilot": "copilot",
    "codex": "openai",
    "chatgpt": "openai",
    "amazon_bedrock": "bedrock",
    "google_vertex": "vertex",
    "moonshot_ai": "moonshot",
    "moonshotai": "moonshot",
    "alibaba_cloud": "dashscope",
    "zhipuai": "zhipu",
    "zhipu_ai": "zhipu",
}
"""Other names that people use for a vendor; the empty one is nobody in particular."""

NAMES = {
    "anthropic": "Anthropic",
    "azure": "Azure OpenAI",
    "baidu": "Baidu Qianfan",
    "bedrock": "Amazon Bedrock",
    "cerebras": "Cerebras",
    "cloudflare": "Cloudflare",
    "cohere": "Cohere",
    "copilot": "GitHub Copilot",
    "dashscope": "DashScope",
    "deepseek": "DeepSeek",
    "fireworks": "Fireworks",
    "gemini": "Gemini",
    "groq": "Groq",
    "litellm": "LiteLLM",
    "llamacpp": "The llama.cpp server",
    "lmstudio": "LM Studio",
    "minimax": "MiniMax",
    "mistral": "Mistral",
    "moonshot": "Moonshot",
    "ollama": "Ollama",
    "openai": "OpenAI",
    "openrouter": "OpenRouter",
    "together": "Together",
    "vertex": "Vertex AI",
    "vllm": "The vLLM server",
    "xai": "xAI",
    "zhipu": "Zhipu",
}
"""How vendors write themselves."""

PROXIES = frozenset({"litellm", "openrouter", "cloudflare"})
"""Vendors that pass on what others say; the codes inside are those of the others."""

SHAPES: tuple[tuple[str, str], ...] = (
    (r"(?:^| )base_resp(?: |$)|^status_code=\d{4} status_msg$", "minimax"),
    (r"^\((?:1\d{3}|20\d\d)\)$", "minimax"),
    (r"(?:^| )error_code=\d+ error_msg(?: |$)", "baidu"),
    (r"^code=1\d{3} message$", "zhipu"),
)
"""Objects that only one vendor writes (see `Clues.shapes`), and the number in brackets behind the words of one."""

NUMBERED: tuple[Row, ...] = (
    row(K.SERVER_FAULT, "transient fault", vendor="minimax", code=r"1000|1013|1024|1033"),
    row(K.TIMED_OUT, "the request timed out", vendor="minimax", code=r"1001"),
    row(K.RATE_LIMITED, "requests, tokens, connections or growth", vendor="minimax", code=r"1002|1039|1041|2045"),
    row(K.BAD_KEY, "not authorised", vendor="minimax", code=r"1004|2049"),
    row(K.BILLING, "no balance, even under a 500", vendor="minimax", code=r"1008"),
    row(K.CONTENT_FILTERED, "input or output is called sensitive", vendor="minimax", code=r"1026|1027"),
    row(
        K.HISTORY_REFUSED,
        "too many invisible characters in the input",
        vendor="minimax",
        code=r"1042",
        repair="strip_invisible",
    ),
    row(K.QUOTA_SPENT, "the window of the plan is used up", vendor="minimax", code=r"1028|2056"),
    row(K.MODEL_UNAVAILABLE, "the plan does not include this model", vendor="minimax", code=r"2061"),
    row(K.BAD_KEY, "the token is missing, wrong or expired", vendor="zhipu", code=r"100[0-4]"),
    row(K.FORBIDDEN, "the account is inactive, unknown or locked", vendor="zhipu", code=r"111[0-2]|1121"),
    row(K.BILLING, "arrears, although the status is 429", vendor="zhipu", code=r"1113"),
    row(
        K.SERVER_FAULT,
        "the account could not be read, or the call failed",
        vendor="zhipu",
        code=r"1100|1120|1200|123[04]",
    ),
    row(K.MODEL_UNAVAILABLE, "no such model, or not in this plan", vendor="zhipu", code=r"121[12]|122[12]|1311"),
    row(K.FORBIDDEN, "no right to this API", vendor="zhipu", code=r"1220", then=P.FAILOVER_NOW),
    row(K.CONTEXT_FULL, "the prompt is too long", vendor="zhipu", code=r"1261"),
    row(K.CONTENT_FILTERED, "blocked by policy", vendor="zhipu", code=r"130[01]"),
    row(K.RATE_LIMITED, "concurrency, frequency or traffic", vendor="zhipu", code=r"1231|130[235]"),
    row(K.QUOTA_SPENT, "a day, week, month, window or plan is used up", vendor="zhipu", code=r"1304|1308|1309|131[03]"),
    row(
        K.OVERLOADED,
        "overloaded; the provider itself advises another model",
        vendor="zhipu",
        code=r"1312",
        plan=P.FAILOVER_NOW,
        scope=S.MODEL,
    ),
    row(K.SERVER_FAULT, "transient fault", vendor="baidu", code=r"[12]|15|336000"),
    row(K.OVERLOADED, "the cluster is full", vendor="baidu", code=r"4|336100"),
    row(K.MODEL_UNAVAILABLE, "no such API", vendor="baidu", code=r"3"),
    row(K.FORBIDDEN, "no permission for the service", vendor="baidu", code=r"6", then=P.FAILOVER_NOW),
    row(K.QUOTA_SPENT, "the daily or total quota is used up, or the bill is unpaid", vendor="baidu", code=r"17|19"),
    row(K.RATE_LIMITED, "too many requests or tokens", vendor="baidu", code=r"18|33650[1-3]"),
    row(K.BAD_KEY, "the access token is missing, wrong or expired", vendor="baidu", code=r"1[34]|100|11[01]"),
    row(K.CONTEXT_FULL, "the prompt is too long", vendor="baidu", code=r"336007|336103"),
    row(
        K.QUOTA_SPENT,
        "a free or hourly allowance is used up",
        vendor="dashscope",
        code=r"\w*free_tier_only",
        says=[(r"(?:free|hour|week|month)\w* allocated quota|free tier",)],
    ),
    row(
        K.RATE_LIMITED,
        "here a spent quota means tokens a minute, not money",
        vendor="dashscope",
        code=r"insufficient_quota|throttling\w*",
        says=[(r"allocated quota exceeded|exceeded your current quota",)],
    ),
    row(
        K.HISTORY_REFUSED,
        "the last message is not the user's, although this comes as a 500",
        vendor="dashscope",
        says=[(r"list index out of range",)],
        repair="end_with_user",
    ),
    row(K.CONTEXT_FULL, "the prompt is too long", vendor="mistral", code=r"3051"),
    row(K.OVERLOADED, "shared capacity is used up: needs a longer pause", vendor="mistral", code=r"3505"),
    row(K.OVERLOADED, "no flex capacity, under a status of its own", vendor="groq", status=(498,)),
    row(K.CONTENT_FILTERED, "a deny-listed token", vendor="cohere", status=(498,), then=P.GIVE_UP),
    row(
        K.CONTEXT_FULL,
        "an input that is too long is refused without a word",
        vendor="cerebras",
        status=(400, 413),
        silent=True,
    ),
    row(
        K.FORBIDDEN,
        "the account is suspended, or an adapter failed to load",
        vendor="fireworks",
        status=(412,),
        then=P.FAILOVER_NOW,
    ),
)
"""Numbers and quirks that mean something at one provider only."""

VAGUE: tuple[Row, ...] = (
    row(
        K.HISTORY_REFUSED,
        "parameters refused: most often the messages",
        vendor="minimax",
        code=r"2013",
        repair="rebuild_messages",
    ),
    row(
        K.HISTORY_REFUSED,
        "a field is missing, wrong or contradicts another: most often the messages",
        vendor="zhipu",
        code=r"121[0345]",
        repair="rebuild_messages",
    ),
    row(K.HISTORY_REFUSED, "the messages are invalid", vendor="baidu", code=r"33600[1-6]", repair="rebuild_messages"),
    row(K.HISTORY_REFUSED, "the order of messages", vendor="mistral", code=r"3230|3240", repair="rebuild_messages"),
    row(
        K.HISTORY_REFUSED,
        "the request failed validation, and nothing says where",
        code=r"validation_exception",
        repair="rebuild_messages",
    ),
)
"""Codes that say little: read after every word."""

CODED: tuple[Row, ...] = (
    row(K.MODEL_UNAVAILABLE, "there is no such thing here", code=r"not_found(?:_error)?"),
    row(K.REQUEST_REFUSED, "a precondition of the account or the region does not hold", code=r"failed_precondition"),
    row(
        K.REQUEST_REFUSED,
        "refused, and nothing says why: send it once more in its strictest form",
        code=r"invalid_request\w*|bad_request\w*|invalid_argument|invalid_parameter\w*|unprocessable\w*",
        says=[(r"\b(?:invalid|bad|malformed) request\b",)],
        status=(None, 200),
        plan=P.SANITISE_HISTORY,
        then=P.FAILOVER_NOW,
    ),
    row(K.QUOTA_SPENT, "the provider says that asking again is useless", code=r"x_should_retry_false", status=(429,)),
    row(
        K.SERVER_FAULT,
        "the provider says that asking again is useless",
        code=r"x_should_retry_false",
        status=(408, 409, *range(500, 600)),
        plan=P.FAILOVER_NOW,
    ),
    row(K.SERVER_FAULT, "the provider says that asking again may help", code=r"x_should_retry_true"),
    row(K.NOT_A_STREAM, "something else than an answer came", code=r"not_an_event_stream"),
    row(
        K.SERVER_FAULT,
        "a provider behind this one failed, and nothing says how",
        says=[(r"provider returned error",)],
        status=(None, 200, *range(500, 600)),
        then=P.FAILOVER_NOW,
    ),
)

BY_STATUS: tuple[Row, ...] = (
    row(K.BAD_KEY, "not authenticated", status=(401, 407)),
    row(K.BILLING, "payment required", status=(402,)),
    row(K.FORBIDDEN, "forbidden", status=(403,)),
    row(K.FORBIDDEN, "not available for legal reasons", status=(451,), plan=P.FAILOVER_NOW, scope=S.PROVIDER),
    row(K.MODEL_UNAVAILABLE, "not found, gone or not built", status=(404, 410, 501)),
    row(K.MISCONFIGURED, "the base URL or the path is wrong", status=(300, 301, 302, 303, 307, 308, 405, 406, 421)),
    row(K.TIMED_OUT, "timed out", status=(408,)),
    row(K.SERVER_FAULT, "a conflict or a failed dependency, which may pass", status=(409, 423, 424, 425)),
    row(K.CONTEXT_FULL, "too large", status=(413, 414)),
    row(K.RATE_LIMITED, "too many requests", status=(420, 429)),
    row(K.CANCELLED, "the client went away", status=(499, 460)),
    row(K.TIMED_OUT, "the origin did not answer in time", status=(504, 524, 598), then=P.ASK_SMALLER_CHUNKS),
    row(K.TIMED_OUT, "the origin could not be reached in time", status=(522,)),
    row(K.UNREACHABLE, "the origin is down", status=(521, 523, 525)),
    row(K.UNREACHABLE, "the origin is not there", status=(526, 530), plan=P.FAILOVER_NOW),
    row(K.OVERLOADED, "not available or overloaded", status=(503, 529)),
    row(K.SERVER_FAULT, "bad gateway", status=(502,), then=P.FAILOVER_NOW),
    row(K.SERVER_FAULT, "server error", status=tuple(range(500, 600))),
    row(K.REQUEST_REFUSED, "an edge refused it, which never read the messages", code=r"html_page", status=(400,)),
    row(
        K.REQUEST_REFUSED,
        "refused, and nothing says why: send it once more in its strictest form",
        status=(400,),
        plan=P.SANITISE_HISTORY,
        then=P.FAILOVER_NOW,
    ),
    row(K.REQUEST_REFUSED, "refused", status=tuple(range(400, 500))),
)
"""What a status means when nothing but the status is known."""

BY_PLACE: tuple[Row, ...] = (
    row(K.UNREACHABLE, "no connection", where=(W.CONNECT, W.DNS)),
    row(K.UNREACHABLE, "no TLS connection", where=(W.TLS,)),
    row(K.TIMED_OUT, "no answer in time", where=(W.TIMEOUT,)),
    row(K.NOT_A_STREAM, "a body that is no answer", where=(W.BODY_200,)),
    row(
        K.SERVER_FAULT,
        "an error in the stream that says nothing more",
        where=(W.STREAM_ERROR_EVENT, W.STREAM_ERROR_CHUNK),
        then=P.FAILOVER_NOW,
    ),
    row(K.UNKNOWN, "nothing is known about it"),
)
"""What the place means when not even a status is known; the last row takes everything."""

ROWS: tuple[Row, ...] = (
    *NUMBERED,
    *ENDS,
    *WALLS,
    *OUTPUT,
    *FILTERS,
    *HISTORY,
    *SIZE,
    *MONEY,
    *NETWORK,
    *RIGHTS,
    *RATES,
    *LAST_RIGHTS,
    *PARAMETERS,
    *VAGUE,
    *FAULTS,
    *CODED,
    *LAST_ENDS,
    *BY_STATUS,
    *BY_PLACE,
)
