"""Rows about what was asked, apart from the conversation: its size, its parameters. No provider's name stands here."""

from headway.failure import FailureKind, Plan
from headway.recovery.failures.rows import Row, row

K, P = FailureKind, Plan

RATE = r"""per[ -]?(?:min|sec|hour|day)|\b[rt]p[mds]\b|rate[ -]?limit|throttl|quota|\bwait\b
    |try again (?:in|after|later)|retry after|/ ?min|once more|too many requests"""

_REFUSED = r"""unsupported|not support|n't support|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed
    |invalid|must be|should be|only support|only (?:be|the default)|cannot (?:be )?|deprecated|removed
    |required|missing|out of range|incompatible|mutually|mandatory|非法|有误|不支持|不能|缺少|conflict
    |at (?:least|most)|not greater|is allowed"""
_ASKED_WRONGLY = (None, 200, 400, 404, 405, 500)

_CAP = r"max[_ ]?(?:completion|output|new)?[_ ]?tokens"
_TOO_MUCH = r""">|is too|integer above max|too large|must be (?:less|<|at most|between|no)
    |should be (?:less|at most|between|\[)
    |cannot (?:be (?:greater|larger|more)|exceed)|exceeds?|超过|不能超过|must not exceed"""

SIZE: tuple[Row, ...] = (
    row(
        K.OUTPUT_CAP_TOO_HIGH,
        "the balance does not cover so much output: ask for less",
        says=[(r"fewer max_tokens|can only afford",)],
        then=P.ROTATE_CREDENTIAL,
    ),
    row(
        K.CONTEXT_FULL,
        "input and requested output together exceed the window; a smaller output limit may be enough",
        says=[
            (r"(?:inputs?|prompt|messages?)\b[^.]{0,24}(?:\+|\band\b|plus)[^.]{0,12}max_\w*tokens",),
            (
                r"\d+ (?:tokens )?(?:in|of|for|from) (?:the |your )?(?:messages|prompt|text input|input)",
                r"completion|output",
            ),
        ],
        then=P.LOWER_MAX_TOKENS,
    ),
    row(
        K.OUTPUT_CAP_TOO_HIGH,
        "more output was asked for than the model can give",
        code=r"max_tokens_exceeded",
        says=[
            (rf"{_CAP}\w*[`'\"]?(?: value)?(?: \(\d+\))?[ :]*(?:\d+ )?(?:{_TOO_MUCH})",),
            (
                _CAP
                + r"""|maxoutputtokens|output tokens?|completion tokens
                    |num_predict|maximum tokens you requested""",
                r"""at most|exceed|less than or equal|<=|range|maximum allowed|supports? (?:up to|only)|between
                    |limit of|不能超过|范围|超过|超出|最大值|larger than|upper bound|model limit
                    |\b(?:in|be|is|within) ?[\[(]\d""",
            ),
        ],
        unless=r"\binputs?\b(?! validation| should)|\bprompt|in the messages|not supported|instead|unsupported"
        rf"|tokens in request|{RATE}",
    ),
    row(
        K.CONTEXT_FULL,
        "one request is larger than the whole budget of a minute: waiting never helps",
        says=[(r"request (?:is )?too large|tokens must be reduced",)],
    ),
    row(
        K.CONTEXT_FULL,
        "the input is longer than the model's window, or larger than the endpoint takes",
        code=r"""context_(?:length|window|size|limit)\w*|\w*prompt_tokens_exceeded
            |(?:tokens?|characters?|prompt|input)_too_long
            |(?:request|payload|body|entity)_(?:\w+_)?too_large\w*|token_limit_exceeded|string_too_long
            |exceed_context\w*|input_too_(?:long|large)|prompt_too_(?:long|large)""",
        says=[
            (
                r"""context[ _-]?(?:length|window|size|limit|budget)|max_model_len|\bn_ctx\b|maximum context
                    |model token limit""",
                r"""exceed|too (?:long|large|big)|\bover|larger|greater|longer|beyond|full|maximum|\bmax|reduc|limit
                    |fit|reach|requested|ran out|not enough""",
            ),
            (r"\b(?:prompts?|inputs?|requests?|conversation|query|context)\b", r"\btoo (?:long|large|big)\b|超长|过长"),
            (
                r"\b(?:prompt|input|request|messages?|context)\b",
                r"\btokens?\b|\blength\b|characters|\bsize\b",
                r"""exceed|more than|greater than|longer than|larger than|maximum|at most|limit|range|should be
                    |surpass""",
            ),
            (r"too many (?:\w+ )?tokens|\bmax(?:imum)? (?:input|prompt) (?:tokens?|characters?|length)",),
            (
                r"""reduce (?:the |your )?(?:length|size|prompt|input|context|message)|shorten|middle-out
                    |context shift|context .{0,8}overflow""",
            ),
            (r"(?:entity|payload|body) (?:is )?too large|(?:exceed|over).{0,24}maximum (?:request )?size",),
            (r"slot context: \d",),
            (r"(?:输入|上下文|提示词|prompt|token|内容|请求)\w{0,12}(?:超过|超出|超长|过长|太长|上限)",),
            (r"(?:超过|超出|压缩|减少)\w{0,8}(?:上下文|输入|prompt|token)",),
            (r"long context", r"extra usage|tier|beta|not (?:yet )?available|requires?"),
            (r"string too long", r"content|text|input"),
            (r"array too long", r"messages|input"),
        ],
        unless=r"""max_(?:completion_)?tokens\b(?!.{0,60}context)|\bheader|cookie|\burl\b|\.id'|tool_call
            |budget_tokens|rate[ -]?limit|per[ -]?(?:min|day|sec|hour)|throttl|\bwait\b|quota|at least
            |must include|image|took too|peak|capacity""",
    ),
)
"""Too much in, or too much asked for."""

PARAMETERS: tuple[Row, ...] = (
    row(
        K.PARAMETER_REFUSED,
        "the request has a field that is unknown here",
        code=r"extra_forbidden|unknown_parameter|unknown_field",
        says=[(r"\bunknown name\b|extra inputs? (?:are|is) not permitted|unrecogni[sz]ed request argument",)],
        unless=r"temperature|top_p|top_k",
        repair="param:strictest form",
    ),
    row(
        K.HISTORY_REFUSED,
        "the body is called no JSON at all: most often for something in a message",
        code=r"malformed_json|invalid_json",
        says=[(r"(?:malformed|invalid|not (?:a )?valid) json\b",)],
        unless=r"messages?[\[.]|unknown name|tool_call|deserialize|response|output|generated",
        repair="rebuild_messages",
    ),
    row(
        K.REQUEST_REFUSED,
        "the body is not what this endpoint reads",
        code=r"unsupported_charset|request_body_encoding\w*",
        says=[(r"deserialize|json body|json payload|malformed json|invalid json|not valid json|parse the json",)],
        unless=r"messages?[\[.]|unknown name|tool_call",
    ),
    row(
        K.HISTORY_REFUSED,
        "the endpoint names a place in the conversation that it does not take",
        says=[(r"\bmessages?[\[.]\d|\bmessages?\.\d|body\.messages|\binput\[\d|\bcontents?\[\d|contents\.",)],
        status=(None, 400, 404, 422, 500),
        repair="rebuild_messages",
    ),
    row(
        K.PARAMETER_REFUSED,
        "this model only streams",
        says=[
            (
                r"""does not support http call|only supports? stream|stream(?:ing)? (?:is )?(?:required|only)
                    |non-streaming""",
            )
        ],
        unless=r"must be verified",
        repair="param:stream=true",
    ),
    row(
        K.PARAMETER_REFUSED,
        "this way to ask for thinking was replaced by another",
        says=[(r"thinking\.type|type\.enabled", r"not support|removed|deprecated")],
        repair="param:thinking=adaptive",
    ),
    row(
        K.PARAMETER_REFUSED,
        "the switch for thinking is not known here",
        says=[
            (r"enable_thinking|thinking_budget|thinking (?:budget|level|mode)|reasoning_effort|\beffort\b", _REFUSED),
            (r"requires? (?:reasoning|thinking)|(?:reasoning|thinking) is (?:mandatory|required)",),
        ],
        status=_ASKED_WRONGLY,
        repair="param:drop enable_thinking",
    ),
    row(
        K.PARAMETER_REFUSED,
        "sampling parameters are not taken, or not with these values",
        says=[(r"temperature|top_p|top_k|penalty|logprobs|\bseed\b", _REFUSED)],
        status=_ASKED_WRONGLY,
        repair="param:drop sampling",
    ),
    row(
        K.PARAMETER_REFUSED,
        "a parameter is unknown here, not supported by this model, or out of its range",
        code=r"""unsupported_(?:parameter|value|params)\w*|invalid_value|unrecognized\w*|\w*not_support\w*
            |invalid_function_parameters|tool_name_conflict|available_tools_limit_exceeded|integer_(?!above_max)\w+
            |decimal_\w+|array_above_max_length""",
        says=[
            (
                r"""param(?:eter)?s?\b|\barguments?\b|\bfields?\b|\boptions?\b|propert(?:y|ies)|extra inputs|参数
                    |keyword|temperature|top_p|top_k|\btools?\b|tool_choice|response_format|json mode|json_object
                    |json_schema|effort|enable_thinking|thinking|reasoning|\bstream\b|stop_sequences?|logprobs
                    |penalty|\bseed\b|\bn\b|parallel|max_tokens|max_completion_tokens|service_tier|\bstore\b
                    |verbosity|budget|schema|function calling""",
                _REFUSED,
            ),
            (r"response_format|json mode|json_object|json_schema", r"unavailable"),
        ],
        status=_ASKED_WRONGLY,
        repair="param:strictest form",
    ),
    row(
        K.OUTPUT_CAP_TOO_HIGH,
        "a whole number is too high, and none but the output limit is likely to be",
        code=r"integer_above_max\w*",
    ),
)
"""The request itself, apart from its conversation. Read late: the words are common ones."""
