"""Rows about who asks and how often: keys, rights, money, quotas, rates. No provider's name stands here."""

from headway.failure import FailureKind, Plan, Scope
from headway.recovery.failures.rows import Row, row

K, P, S = FailureKind, Plan, Scope

_ACCOUNT = r"\b(?:account|organi[sz]ation|team|workspace|user|project|customer|tenant|subscription)\b|账户|账号|帐号"
_DAY = r"""per[ -]?(?:day|week|month)|daily|weekly|monthly|/ ?(?:day|month)|today|\b[rt]pd\b|hour usage|今日|每日
    |每天|每周|每月"""

_MODEL = r"""\bmodels?\b(?: id| name| identifier| code)?
    [ :=]*[`'\"<\[(]*(?!produced|returned|generated)[\w./:@+-]*[`'\">\])]*,?"""
_NOT_THERE = r"""(?:not|can ?not be) (?:found|exist|available|support(?:ed)?\b(?! [a-z`'\"])|a valid|valid|deployed
    |loaded|recogni[sz]ed|accessible|permitted|allowed|open)"""
_GONE = r"""doesn't exist|unknown|invalid|no longer|decommission|deprecat|retired|unavailable|unsupported|removed
    |discontinued|shut down|inaccessible|(?:taken )?offline|unloaded"""
_MISSING = r"""\binvalid|unknown|no such|unsupported|unrecogni[sz]ed|non-?existent|not a valid|not found the|cannot find
    |could not (?:find|resolve|load)|failed to load|unable to (?:find|load)|no|not support"""

MONEY: tuple[Row, ...] = (
    row(
        K.RATE_LIMITED,
        "too many requests are under way for the balance there is: it clears by waiting",
        says=[(r"in[ -]flight",)],
        unless=r"thread",
    ),
    row(
        K.BILLING,
        "the account has no money left, or has set itself a limit that is reached",
        code=r"""insufficient_(?:balance|credits?|funds)\w*|billing\w*|payment\w*|arrear\w*|\w*overdue\w*
            |credit_balance\w*|\w*spend_limit\w*|exceeded_current_quota\w*|budget\w*|exceeded_budget
            |\w*unpurchased|\w*not_purchased|delinquent|balance_\w+|account_overdue\w*|credits?_exhausted
            |insufficient_user_quota""",
        says=[
            (
                r"\bbalance\b|\bcredits?\b|\bfunds\b|余额|额度",
                r"""insufficient|too low|not enough|exhaust|deplet|run out|ran out|out of|no more|used all|negative
                    |不足|用完|expired|is 0\b|已用尽|low balance|have no|requires? (?:more|at least)""",
            ),
            (r"payment (?:required|issue|failed|overdue|past due|is required|information)|unpaid|past due|invoice",),
            (
                r"\bbill(?:ing)?\b",
                r"overdue|hard limit|issue|not active|disabled|must be enabled|enable|required|problem|inactive",
            ),
            (r"欠费|充值|arrears|arrearage|overdue|good standing|out of (?:extra )?usage",),
            (r"spend(?:ing)?[ -](?:limit|cap)|budget", r"exceed|reach|hit|over|used"),
            (r"(?:billing|credit) limit", r"exceed|reach|hit|over"),
            (r"specified (?:\w+ )?api usage limit|usage limits? .{0,40}regain access|regain access",),
        ],
        unless=r"rate limit reached|increase your rate limit|free-models-per|thinking|budget_tokens|tokens per",
    ),
    row(
        K.QUOTA_SPENT,
        "a quota of hours, days or a plan is used up: waiting seconds is useless",
        code=r"""usage_limit\w*|usage_not_included|\w*daily\w*|\w*per_(?:day|month|week)\w*|\w*free_tier_only\w*
            |plan_\w*|\w*_plan_\w+|(?<!_)quota_exceeded|enforced_spend\w*|monthly\w*|weekly\w*
            |key_limit_exceeded|\w*hour_quota\w*|service_quota_exceeded\w*""",
        says=[
            (r"limit|quota|usage|exceed|reached|too many|限额|上限|次数|trial|cap\b", _DAY),
            (r"\d+[ -]?hours?\b", r"limit|quota|usage|window|上限|限额"),
            (
                r"hour allocated quota|free allocated quota|free (?:tier|quota|trial)",
                r"exceed|exhaust|used|expired|ended|only",
            ),
            (r"usage limit|usage cap|使用上限|公平使用|fair[- ]use", r"reach|exceed|hit|limit|已达|达到|策略|restrict"),
            (
                r"\bplan\b|套餐|subscription",
                r"expired|到期|exhaust|used up|limit (?:reached|exceeded)|does not (?:include|cover)|not included",
            ),
            (r"key limit|quota (?:of|for) .{0,40}(?:project|account|key)", r"exceed|reach|exhaust"),
            (r"limit: ?0\b",),
        ],
        unless=r"暂未开放|not support(?:ed)? model",
    ),
    row(
        K.QUOTA_SPENT,
        "the limit is lifted only after an hour or more: a window of a plan, whatever it is called",
        says=[(r"quota|limit|usage|allowance|too many requests",)],
        unless=r"overload|capacity",
        waits_from=3600.0,
    ),
    row(
        K.QUOTA_SPENT,
        "the limit is lifted only after an hour or more: a window of a plan, whatever it is called",
        status=(420, 429),
        waits_from=3600.0,
    ),
)
"""Money and long quotas. Read before rates: both are called 'quota' and 'limit', often under 429."""

RIGHTS: tuple[Row, ...] = (
    row(
        K.MODEL_UNAVAILABLE,
        "the model is unknown, retired, not deployed, or not open to this account",
        code=r"""\w*model_not_(?:found|exist|supported|available|support)\w*|unknown_model
            |(?:no_such|invalid|unsupported)_model\w*
            |model_(?:decommissioned|deprecated|terms_required|permission\w*|not_found)|deployment_not_found
            |resource_not_found\w*|operation_not_supported|model_not_allowed|unsupported_api_for_model""",
        says=[
            (rf"{_MODEL} (?:is |was |has been |are |does |do |or \w+ )?(?:currently )?(?:{_NOT_THERE}|{_GONE})",),
            (rf"(?:{_MISSING}) (?:the |a |any |such |foundation )*models?\b",),
            (r"^model: [\w./:-]+$",),
            (r"\bmodels?\b", r"only (?:be )?(?:supported|available|accessible|served|used) (?:in|on|at|via|through)\b"),
            (r"\bmodels?\b", r"\bend[ -]of[ -](?:its )?(?:life|support)\b"),
            (
                r"(?:not|n't) (?:work|compatible)|incompatible|cannot be used",
                r"with the (?:specified|requested|selected|given|chosen) model",
            ),
            (r"模型", r"不存在|未找到|不可用|下线|暂未开放|不支持|无权|未开通"),
            (r"\bdeployment\b|\bpublisher model\b|\bengine\b", r"does not exist|not found|was not found|not ready"),
            (r"\bno (?:\w+ ){0,6}(?:endpoints|providers|deployments|model provider)\b",),
            (
                r"""not found for api version|on-demand throughput|not a chat model|not allowed to use .{0,30}model
                    |requires? more (?:system )?memory|no models? loaded""",
            ),
            (r"订阅套餐暂未开放|plan (?:does )?not support(?:ed)? model",),
        ],
        unless=r"(?:for|with|by|in) this model|access denied|try again|loading|healthy",
    ),
    row(
        K.MODEL_UNAVAILABLE,
        "the model cannot call tools",
        says=[
            (
                r"""(?:not|n't) support (?:the )?(?:tools?|function)\b
                    |(?:tool|function)[ _-]?(?:calls?|calling|use)[`'\" ]*(?:is|are) not supp
                    |(?:not|n't) support (?:tool|function)[ _-]?(?:us|call)""",
            ),
        ],
    ),
    row(
        K.BAD_KEY,
        "the key or token is missing, wrong, expired or revoked",
        code=r"""\w*api_?key\w*|\w*authentication\w*|unauthenticated|unauthori[sz]ed\w*
            |invalid_(?:token|signature|client)\w*|token_(?:expired|invalid|revoked)|expired_token\w*
            |\w*signature_does_not_match|unrecognized_client\w*|access_token\w*|invalid_iam_token
            |incomplete_signature\w*|missing_auth\w*|invalid_credentials?|credentials?_\w+|access_token_expired
            |invalid_access_token|oauth\w*|token_not_found\w*""",
        says=[
            (
                r"""api[ _-]?key|x-api-key|(?:access|secret|subscription|virtual|provided) key
                    |\bauth(?:entication|orization)?\b|credential
                    |(?:access|auth|bearer|jwt|oauth2?|security|session|ide|service|id|refresh|api|proxy server) token
                    |密钥|令牌|身份验证|鉴权|authentication|login|certification|request signature""",
                r"""invalid|incorrect|fail|expire|missing|\bno\b
                    |not (?:found|provided|valid|match|authori[sz]ed|exist|set|included|pass)|n't (?:provide|exist)
                    |requires?\b|required|revoked|deactivated|wrong|leaked|denied|malformed|disabled|过期|失败|错误|非法|无效|未收到|unable
                    |\bbad\b|could not|deleted|unsupported|supply|suppl|blocked|does not match|unauthori""",
            ),
            (r"\bkey\b", r"has been|was", r"disabled|revoked|deactivated|deleted|blocked|suspended"),
            (r"^signature\b", r"expired|not yet current"),
            (r"re-?authenticate|(?:sign|log) ?in again|missing scopes?",),
            (r"\btoken\b", r"expired|revoked|过期|(?:invalid|incorrect) (?:or|and) expired|not match group"),
            (r"^\W*(?:unauthori[sz]ed|unauthenticated|not authori[sz]ed)\b|login fail|invalid authentication",),
        ],
        unless=r"""max_tokens|tool_call|signature in|thought|rate limit|per minute|model .{0,40}does not exist
            |quota exceeded""",
    ),
    row(
        K.FORBIDDEN,
        "the account may not do this, or is locked",
        code=r"""\w*permission\w*|(?<!extra_)forbidden|\w*access_denied\w*|account_(?!overdue)\w+
            |organi[sz]ation_\w+|\w*suspended|blocked_api_access|access_terminated\w*|not_allowed
            |user_\w*blocked|deactivated_\w+|request_forbidden""",
        says=[
            (
                r"""permission|access (?:is )?(?:denied|forbidden)|forbidden|don't have access|not have access
                    |no access|无权|权限""",
            ),
            (
                _ACCOUNT,
                r"""suspend|disabled|deactivat|locked|banned|restrict|on hold|terminat|not active|inactive|blocked
                    |锁定|异常|封禁|不存在|非活动|not exist|not verified|must be verified|violat""",
            ),
            (
                r"\b(?:account|organi[sz]ation|team|workspace|project|subscription|caller|principal|user|you|arn)\b",
                r"(?:is|are|been) not (?:authori[sz]ed|entitled|eligible)|not authori[sz]ed to",
            ),
            (r"^(?:this )?operation (?:is )?not (?:allowed|permitted)\W*$",),
            (r"(?:must be|not) a member",),
            (r"not open\b|allowlist|whitelist|not entitled|request access",),
        ],
        unless=r"rate limit|too many requests",
    ),
)
"""Who may ask for what."""

RATES: tuple[Row, ...] = (
    row(
        K.OVERLOADED,
        "there is no capacity, whatever the account's own limit is",
        code=r"""\w*overload\w*|\w*capacity\w*|queue_exceeded|server_busy|engine_overloaded\w*|model_not_ready\w*
            |server_high_load""",
        says=[
            (
                r"""overload|at capacity|over capacity|out of capacity|capacity (?:limit|exceed)|too busy
                    |(?:is|server) busy|访问量过大|繁忙""",
            ),
            (r"high (?:traffic|load|demand|volume)|流量高峰|负载过高|pending requests|flex tier|no capacity",),
            (r"\bmodel\b", r"loading|not ready|warming|starting up|cold"),
        ],
    ),
    row(
        K.RATE_LIMITED,
        "too many requests or tokens in a short time: wait as told",
        code=r"resource_exhausted|some_resource_has_been_exhausted",
        status=(None, 200, 429, 503),
    ),
    row(
        K.BILLING,
        "the paid quota is used up, although it is reported like a rate limit",
        code=r"insufficient_quota",
        says=[(r"exceeded your current (?:token )?quota",)],
    ),
    row(
        K.RATE_LIMITED,
        "too many requests or tokens in a short time: wait as told",
        code=r"""\w*rate_?limit\w*|\w*throttl\w*|too_many_(?:requests|tokens)\w*|slow_down|ramp_limit\w*
            |limit_(?:burst|requests)\w*|qps\w*|[rt]pm\w*|\w*concurren\w*|\w*quota_exceeded\w*|(?<!tools_)limit_exceeded
            |resource_exhausted|request_limit\w*|\w*connection_limit\w*""",
        says=[
            (
                r"""rate[ _-]?limit|too many (?:concurrent )?requests|throttl|requests? per|tokens? per|\b[rt]pm\b
                    |\bqps\b|rate growth""",
            ),
            (
                r"quota|concurren|throughput|traffic|frequency|parallel request",
                r"exceed|limit|reach|too (?:high|many)|exhaust",
            ),
            (r"increased too quickly|growing too quickly|slow down|too frequent|conn(?:ection)? limit",),
            (r"频率|并发|限流|流量限制|流控|速率|请求过(?:多|快)",),
            (r"too many tokens", r"wait|try again"),
            (
                r"""resource (?:has been )?exhausted|request limit (?:by .{0,30})?reached
                    |exceeded your (?:request|current requests)""",
            ),
        ],
    ),
)
"""Too often, or too many at once."""

LAST_RIGHTS: tuple[Row, ...] = (
    row(
        K.MODEL_UNAVAILABLE,
        "the provider blames the name of the model, or advises another one",
        says=[
            (r"\b(?:choose|select|pick|use|try|specify)\b", r"\b(?:different|another|other) model\b"),
            (r"provider not (?:provided|specified|found|given)",),
        ],
        status=(None, 200, 400, 404, 422),
    ),
)
"""Rights by their advice alone. Read behind rates: a crowded model is also told to be left for another."""
