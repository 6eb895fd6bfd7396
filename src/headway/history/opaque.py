"""Parts that only one wire knows, and which of them cannot be what they say."""

from headway.messages import Opaque

_READ_KINDS = frozenset(
    {"text", "input_text", "output_text", "refusal", "thinking", "redacted_thinking", "tool_use", "tool_result"}
    | {"image", "image_url", "input_image", "document", "file", "input_file"}
)
"""Kinds that every codec reads whenever they are well formed: as an opaque part, such a one is broken."""
_KINDLESS = frozenset({"id", "audio", "function_call"})
"""What a part may say instead of its kind: a reference to another, or a field of a message."""


def is_unreadable(opaque: Opaque) -> bool:
    """Say whether a part can only be refused: a known kind that is malformed, or no kind at all."""
    kind = opaque.raw.value.get("type")
    if kind is None:
        return _KINDLESS.isdisjoint(opaque.raw.value)
    return not isinstance(kind, str) or kind in _READ_KINDS
