"""What models of a kind have in common, for names that no list knows yet. Newer ones tend to have more, never less."""

import re

from msgspec import Struct


class Kind(Struct, frozen=True):
    """Models whose plain names match, and what can be expected of them."""

    names: re.Pattern[str]
    context: int
    output_limit: int
    reasoning: bool = False


def _kind(names: str, context: int, output_limit: int, *, thinks: bool = False) -> Kind:
    return Kind(re.compile(names), context, output_limit, thinks)


KINDS: tuple[Kind, ...] = (
    _kind(r"claude", 200_000, 32_000, thinks=True),
    _kind(r"gpt-oss", 131_072, 32_768, thinks=True),
    _kind(r"gpt-[5-9]|codex|\bo[1-9]\b", 272_000, 64_000, thinks=True),
    _kind(r"gpt-4|chatgpt", 128_000, 16_384),
    _kind(r"gemini", 1_000_000, 64_000, thinks=True),
    _kind(r"deepseek-(?:r|v[4-9])|deepseek.*reason", 128_000, 32_768, thinks=True),
    _kind(r"kimi", 256_000, 32_768, thinks=True),
    _kind(r"minimax", 200_000, 64_000, thinks=True),
    _kind(r"glm", 128_000, 32_768, thinks=True),
    _kind(r"qwq|qvq|qwen.*think", 128_000, 16_384, thinks=True),
    _kind(r"grok", 256_000, 32_768, thinks=True),
    _kind(r"magistral", 128_000, 32_768, thinks=True),
    _kind(r"think|reason|-r1\b", 128_000, 16_384, thinks=True),
)
"""Read from the top; the first that matches counts, and an ordinary model has 128,000 and 8,192."""
