"""Which texts are blank, and where that matters: results and messages with calls may be allowed to say nothing."""

from headway.dialect import Dialect
from headway.history.edits import result_holding
from headway.messages import Message, Part, Refusal, Text, ToolResult


def is_blank(text: str) -> bool:
    """Say whether a text is empty or only whitespace."""
    return not text or text.isspace()


def without_blanks(message: Message, dialect: Dialect) -> list[Part]:
    """Return the parts of a message without blank texts; parts that hold none are the same objects.

    Beside calls, one blank string can be a wire's way to say nothing; as a part of a list it is refused like any other.
    """
    words = sum(
        isinstance(part, Text) or (isinstance(part, Refusal) and part.raw is not None) for part in message.parts
    )
    silent = dialect.blank_beside_calls and bool(message.calls) and words == 1
    kept: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            kept.append(_plain_result(part, dialect))
        elif dialect.blank_text or not _is_blank(part) or (silent and isinstance(part, Text) and part.raw is None):
            kept.append(part)
    return kept


def _plain_result(result: ToolResult, dialect: Dialect) -> ToolResult:
    if dialect.blank_text or not any(map(_is_blank, result.parts)):
        return result
    match result.parts:
        case (Text(raw=None),) if dialect.blank_results:
            return result
    return result_holding(result, (part for part in result.parts if not _is_blank(part)))


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text | Refusal) and is_blank(part.text)
