"""The next request, built from the first one and the ledger: what was saved, and one plain sentence of what to do.

Nothing piles up: each attempt is built anew from the request the caller made, so a failed attempt leaves no trace in
it, and what was received is shown to the model exactly once.
"""

from typing import assert_never

from msgspec.structs import replace

from headway.dialect import Dialect
from headway.messages import Message, ModelRequest, Part, Text, Thinking, user
from headway.recovery import prompts
from headway.recovery.drafts import CONTINUE_DRAFT
from headway.recovery.ledger import Ask, Break, Ledger


def next_request(
    request: ModelRequest, ledger: Ledger, dialect: Dialect, output_limit: int | None = None
) -> ModelRequest:
    """Return what to send to the upstream in use. `output_limit` is the most its model can write, if known."""
    asked = _asked(request, ledger, dialect)
    if ledger.broke is Break.LIMIT and output_limit is not None:
        return replace(asked, max_output_tokens=_raised(asked.max_output_tokens, output_limit))
    return asked


def _raised(cap: int | None, output_limit: int) -> int:
    """Return more room for the rest. Without a cap of ours, it was the wire's or the provider's own that was met."""
    return output_limit if cap is None else max(cap, min(output_limit, cap * 2))


def _asked(request: ModelRequest, ledger: Ledger, dialect: Dialect) -> ModelRequest:
    salvage, said = ledger.salvage, _said(ledger)
    match ledger.ask:
        case Ask.PLAIN:
            return request
        case Ask.CONTINUE_TEXT if not salvage.text.strip():
            return request
        case Ask.CONTINUE_TEXT if dialect.prefill:
            return _with(request, *_trimmed(said))
        case Ask.CONTINUE_TEXT:
            prompt = user(prompts.continue_text(salvage.text.rstrip(), ledger.broke))
            return _with(request, *_trimmed(said), prompt)
        case Ask.CONTINUE_DRAFT if salvage.draft is not None:
            piece_size = salvage.draft_piece_size
            prompt = user(prompts.continue_draft(salvage.draft, ledger.broke, ledger.problem, piece_size))
            offered = replace(request, tools=(*request.tools, CONTINUE_DRAFT))
            return _with(offered, *said, prompt)
        case Ask.CONTINUE_DRAFT | Ask.SMALLER_PIECES:
            tools = (salvage.draft.tool,) if salvage.draft is not None else ()
            return _with(request, *said, user(prompts.smaller_pieces(tools, ledger.broke, salvage.piece_size)))
        case Ask.SEND_BACK:
            return _with(request, Message("assistant", salvage.parts)) if salvage.parts else request
        case Ask.NUDGE:
            words = prompts.NUDGE_AT_LIMIT if ledger.broke is Break.LIMIT else prompts.NUDGE
            return _with(request, *said, user(words))
        case _:
            assert_never(ledger.ask)


def _said(ledger: Ledger) -> tuple[Message, ...]:
    """Return what the assistant has said so far as a message of its own, without the thinking behind it."""
    parts: tuple[Part, ...] = tuple(part for part in ledger.salvage.parts if not isinstance(part, Thinking))
    return (Message("assistant", parts),) if parts else ()


def _trimmed(said: tuple[Message, ...]) -> tuple[Message, ...]:
    """Return what was said without the space at its end.

    Nobody sees whether a text ends in a line break, and some endpoints refuse one that does. So it is never shown, the
    model says it again or not, and the seam (`trimmed`) takes either.
    """
    *before, last = said
    *parts, end = last.parts
    if not isinstance(end, Text):
        return said
    return (*before, Message("assistant", (*parts, Text(end.text.rstrip()))))


def _with(request: ModelRequest, *messages: Message) -> ModelRequest:
    return replace(request, messages=(*request.messages, *messages))
