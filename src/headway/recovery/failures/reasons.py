"""The sentence for a person: what happened, to what, in the provider's own words, bounded and with no secret in it."""

import re

from headway.failure import Plan
from headway.recovery.failures.evidence import Evidence
from headway.recovery.failures.policy import POLICIES
from headway.recovery.failures.rows import Row
from headway.recovery.failures.table import NAMES

QUOTE_LIMIT = 180
_NAMELESS = frozenset({"error", "html_page", "failed_generation"})
_SECRETS = re.compile(
    r"(?i:bearer|basic)\s+[\w.~+/=*-]{6,}"
    r"|(?i:\b(?:api[-_ ]?key|token|secret|password|authorization))[\"']?\s*[:=]\s*[\"']?[^\s\"',;)}]{6,}"
    r"|\b(?:sk|pk|rk|ak)[-_][\w*.-]{4,}|\b[a-z]{2,6}[-_](?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{16,}"
    r"|\b(?:AIza|AKIA|ASIA|ya29\.|eyJ)[\w.-]{8,}"
    r"|[\w+/=-]{0,64}\*{3,}[\w*+/=-]{0,64}"
    r"|\b(?=[A-Za-z_=+-]{0,64}\d)[A-Za-z0-9_=+-]{32,}"
)
_LONG_QUOTE = re.compile(r"(?<![A-Za-z])'[^']{60,}(?:'|$)|\"[^\"]{60,}(?:\"|$)|`[^`]{60,}(?:`|$)|“[^”]{60,}(?:”|$)")
_SPACES = re.compile(r"\s+")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def reason_for(row: Row, evidence: Evidence, plan: Plan) -> str:
    """Say what happened, and what a person can do when nothing automatic helps."""
    policy = POLICIES[row.kind]
    facts = evidence.facts
    who = NAMES.get(facts.vendor) or redact(facts.vendor)[:40] or "The provider"
    marks = [f"HTTP {evidence.status}"] if evidence.status and evidence.status >= 300 else []
    marks += [redact(name)[:60] for name in (named_code(evidence), facts.finish_reason) if name]
    sentence = f"{who} {policy.happened}" + (f" ({', '.join(dict.fromkeys(marks))})" if marks else "")
    words = quote(evidence.words)
    sentence += f": “{words}”" if words else ""
    sentence += "" if words.endswith((".", "!", "?", "…")) else "."
    if plan in {Plan.GIVE_UP, Plan.ROTATE_CREDENTIAL} and policy.advice:
        sentence += f" {policy.advice}"
    return sentence[0].upper() + sentence[1:]


def named_code(evidence: Evidence) -> str:
    """Return the name that the provider gave the failure: its code, else its type, else what else it wrote there."""
    facts = evidence.facts
    others = (name for name in evidence.clues.codes if name not in _NAMELESS)
    return facts.code or facts.type or facts.exception or next(others, "")


def quote(words: str) -> str:
    """Return the beginning of what the provider said, on one line, safe to show."""
    text = redact(_SPACES.sub(" ", words[: QUOTE_LIMIT * 8]).strip())
    return text if len(text) <= QUOTE_LIMIT else f"{text[:QUOTE_LIMIT].rstrip()}…"


def redact(text: str) -> str:
    """Take out whatever looks like a key or like a piece of somebody's prompt."""
    plain = _UNPRINTABLE.sub(" ", text)
    return _LONG_QUOTE.sub("[…]", _SECRETS.sub("[hidden]", plain))
