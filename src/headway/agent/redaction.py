"""Secrets are taken out of what tools bring back, before it is written down or shown to a model.

What is known is found by its value, wherever it stands; what is not known, by the shape that its issuer gave it. A mark
says what was there. A mark that comes back in a file to be written is refused: it would overwrite the secret itself.
Linear in the text.
"""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from headway.messages import ResultPart, Text, ToolResult

LEAST = 8
"""Values shorter than this are words, not secrets."""
_LONG, _END = 24, 20
"""Of a value this long, its first or its last characters alone are enough: output may be cut inside it."""
_PATH = re.compile(r"[./~]*/|[^/]+/.*\.\w{1,6}$")
_MARK = re.compile(r"\[hidden: [^\[\]\n]{1,100}\]")
_SHAPES = re.compile(
    r"""
    (?P<private>-----BEGIN\ [A-Z0-9\ ]{0,40}?PRIVATE\ KEY-----.*?(?:-----END\ [A-Z0-9\ ]{0,40}?PRIVATE\ KEY-----|\Z))
  | (?<![A-Za-z0-9_-])(?P<key>
        sk-(?:[a-z0-9]{1,12}-){0,4}(?=[A-Za-z_-]{0,40}+[0-9])[A-Za-z0-9_]{16}[A-Za-z0-9_-]*+
      | (?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}+
      | gh[pousr]_[A-Za-z0-9]{30,}+ | github_pat_[A-Za-z0-9_]{30,}+ | gl(?:pat|ptt|dt|rt|soat)-[A-Za-z0-9_-]{20,}+
      | (?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])
      | AIza[A-Za-z0-9_-]{35} | ya29\.[A-Za-z0-9_-]{20,}+
      | xox[abprse]-[A-Za-z0-9-]{10,}+ | xapp-\d-[A-Za-z0-9-]{10,}+
      | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{50,}+ | hf_[A-Za-z]{30,}+
      | gsk_[A-Za-z0-9]{40,}+ | xai-[A-Za-z0-9]{40,}+
      | SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+ | dop_v1_[a-f0-9]{64} | AGE-SECRET-KEY-1[A-Z0-9]{50,}+
      | eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+
    )
  | (?i:aws_secret_access_key|secretaccesskey)\W{1,5}(?P<aws>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])
  | (?i:authorization)["']?\s*+:\s*+["']?(?i:bearer|basic|token)\s++(?P<header>[A-Za-z0-9._~+/=-]{12,}+)
  | [a-z][a-z0-9+.-]{1,20}://[^\s/:@"']{0,100}:(?P<password>[^\s/:@"']{4,200})@
    """,
    re.VERBOSE | re.DOTALL,
)
_NAMES = {"private": "a private key", "key": "a key", "aws": "a key", "header": "a token", "password": "a password"}


class Redactor:
    """Knows secrets by their values, and takes them out of texts."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        """Know values by the names of what holds them."""
        found: dict[str, str] = {}
        for name, value in (values or {}).items():
            if is_telling(value):
                found[value] = name
                if len(value) >= _LONG:
                    found.setdefault(value[:_END], name)
                    found.setdefault(value[-_END:], name)
        self._names = found
        longest_first = sorted(found, key=len, reverse=True)
        self._known = re.compile("|".join(map(re.escape, longest_first))) if found else None

    def clean(self, text: str) -> str:
        """Return a text without secrets, and marks where they were."""
        if self._known is not None:
            text = self._known.sub(lambda found: f"[hidden: the value of {self._names[found[0]]}]", text)
        return _SHAPES.sub(_marked, text)

    def cleaned(self, result: ToolResult) -> ToolResult:
        """Return a result whose texts are without secrets."""
        return replace(result, parts=tuple(map(self._cleaned, result.parts)))

    def _cleaned(self, part: ResultPart) -> ResultPart:
        return replace(part, text=self.clean(part.text)) if isinstance(part, Text) else part

    def __repr__(self) -> str:
        return f"Redactor({len(self._names)} values)"


def is_telling(value: str) -> bool:
    """Say whether a value would give anything away: a path, a word or a short number would not."""
    if len(value) < LEAST or not value.isprintable() or _PATH.match(value):
        return False
    return len(value) >= 16 or any(one.isdigit() for one in value) or value.lower() != value != value.upper()


def has_shape(text: str) -> bool:
    """Say whether a text holds what looks like a secret."""
    return _SHAPES.search(text) is not None


def new_mark(content: str, before: str = "") -> str:
    """Return a mark that a content has and the text before had not: a secret would be lost under it."""
    known = set(_MARK.findall(before))
    return next((mark for mark in _MARK.findall(content) if mark not in known), "")


def _marked(found: re.Match[str]) -> str:
    kind = found.lastgroup or "key"
    begin, end = found.span(kind)
    return f"{found[0][: begin - found.start()]}[hidden: {_NAMES[kind]}]{found[0][end - found.start() :]}"
