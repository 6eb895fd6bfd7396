"""Rows about what stands in front of the model: edges, regions, settings, content filters. No provider's name here."""

from headway.failure import FailureKind, Plan, Scope
from headway.recovery.failures.rows import Row, row

K, P, S = FailureKind, Plan, Scope
_ACCOUNT = r"\b(?:account|organi[sz]ation|team|workspace|user|project|customer|tenant|subscription)\b|账户|账号|帐号"
_SAID = r"prompt|response|output|input|content|completion|request|candidate|generation"
_NO_FILTER = r"api[ _-]?key|rate limit|ip address"

WALLS: tuple[Row, ...] = (
    row(
        K.FORBIDDEN,
        "a wall in front of the provider (bot check, firewall) turned the request away",
        code=r"cf_mitigated\w*",
        says=[
            (
                r"""just a moment|attention required|checking your browser|enable javascript and cookies
                    |verify you are human""",
            ),
            (r"you have been blocked|error 10(?:06|07|08|09|10|12|20)\b|error code: 10(?:06|07|08|09|10|12|20)\b",),
        ],
        plan=P.FAILOVER_NOW,
        scope=S.PROVIDER,
    ),
    row(
        K.FORBIDDEN,
        "a web page came where the API should have answered: something in between refuses us",
        code=r"html_page",
        status=(403, 451),
        plan=P.FAILOVER_NOW,
        scope=S.PROVIDER,
    ),
    row(
        K.FORBIDDEN,
        "the provider does not serve this country or region; another key does not help",
        code=r"""unsupported_country\w*|\w*region_not_supported|unsupported_region\w*|location_not_supported
            |data_residency\w*""",
        says=[
            (
                r"\bcountry\b|\bregion\b|territory|location|\bgeo",
                r"not supported|unsupported|not available|unavailable|restrict",
            ),
        ],
        unless=r"\bmodel\b|endpoint",
        plan=P.FAILOVER_NOW,
        scope=S.PROVIDER,
    ),
    row(
        K.REQUEST_REFUSED,
        "a guardrail of the account itself refuses the prompt, with any model",
        says=[(r"prompt injection",)],
        plan=P.GIVE_UP,
        scope=S.KEY,
    ),
    row(
        K.MISCONFIGURED,
        "the account's own privacy or routing settings exclude every endpoint",
        says=[(r"no (?:\w+ )?endpoints|no (?:\w+ )?providers", r"guardrail|data policy|privacy|settings")],
        scope=S.KEY,
    ),
    row(
        K.MISCONFIGURED,
        "the API is not switched on for this project",
        code=r"service_disabled|access_not_configured",
        says=[(r"\bapi\b", r"has not been used|not (?:been )?enabled|is disabled")],
        unless=r"api[ _-]?key",
        plan=P.GIVE_UP,
        scope=S.KEY,
    ),
    row(
        K.MISCONFIGURED,
        "the server was started without an option that this request needs",
        says=[(r"requires? .{0,40}--\w|--enable-|--jinja|--tool-call-parser|requires? .{0,30}\bflag\b",)],
    ),
    row(
        K.MISCONFIGURED,
        "the organisation must first be verified with the provider",
        says=[(r"must be verified|verify (?:your )?organi[sz]ation",)],
        scope=S.KEY,
    ),
    row(
        K.MISCONFIGURED,
        "this network, client or API version is not allowed to talk to the endpoint",
        code=r"\w*version_too_old|cmek_key_(?:disabled|network_blocked)|upgrade_required",
        says=[
            (r"virtual network|firewall|private endpoint|ip (?:address )?(?:is )?not (?:allowed|in)",),
            (r"api[- ]?version", r"not supported|unsupported|invalid|missing|required|deprecated"),
            (r"version", r"too old|no longer supported|please (?:upgrade|update)"),
        ],
        unless=r"not found for api version|\bmodel\b",
    ),
)
"""What stands in front of everything else. Read before rights and keys: it looks like them."""

FILTERS: tuple[Row, ...] = (
    row(
        K.CONTENT_FILTERED,
        "a content filter blocked the prompt or the answer",
        code=r"""content_(?:filter|policy|moderation|blocked|risk)\w*|data_inspection\w*|\w*policy_violation
            |(?:cyber|bio)_policy|\w*_safety|safety|\w*sensitive|responsible_ai\w*|prohibited\w*|moderation\w*
            |flagged|invalid_prompt|faq_rule\w*|ip_infringement\w*|unsafe\w*|block_reason\w*|jailbreak
            |content_?filtered|need_?clear_?history|refusal|filtered|custom_role_blocked
            |image_content_policy\w*|input_moderation|output_moderation""",
        says=[
            (r"new_sensitive|content exists risk|output_sensitive|input_sensitive",),
            (
                r"""content[ _-]?(?:filter|polic|moderation|management|safety|security)|safety
                    |usage (?:policy|policies|guideline)|acceptable use|moderation|guardrail|(?<!case[ -])sensitive
                    |inappropriate|unsafe|harmful|high[ -]risk|inspection|prohibited|cybersecurity|copyright
                    |recitation|jailbreak|responsible ai|policy violation|违规|敏感|不安全|违法|不合规|涉政|色情
                    |安全策略|内容安全|安全审核|风险""",
                r"""block|flag|filter|reject|violat|contain|detect|trigger|refus|denied|\bmay\b|not allowed|stopped
                    |consider|fail|against|被|命中|包含|检测|涉及|拦截|未通过|没有通过|存在|due to""",
            ),
            (rf"\b(?:{_SAID})\b[^.]{{0,40}}\b(?:blocked|flagged|filtered|censored|moderated)\b",),
            (r"violat\w+", r"polic|guideline|terms"),
        ],
        unless=rf"(?:{_ACCOUNT})[^.]{{0,60}}\b(?:suspend|disab|deactivat|bann|locked|terminat)|{_NO_FILTER}",
    ),
)
"""Content filters, in whatever form: never asked again at the same place."""
