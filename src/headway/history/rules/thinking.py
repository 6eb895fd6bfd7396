"""Rules about thinking: only to its issuer, signed where that is asked for, and never without what it led to."""

from collections.abc import Iterator, Sequence

from headway.dialect import Dialect
from headway.history.finding import Finding
from headway.history.survey import Survey
from headway.messages import Message, Thinking


def may_be_sent(thinking: Thinking, dialect: Dialect) -> bool:
    """Say whether an endpoint takes this thinking back."""
    signed = thinking.signature or thinking.sealed
    return dialect.thinking and thinking.issuer == dialect.issuer and bool(signed or not dialect.signed_thinking)


def thinking_goes_only_to_its_issuer(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Nobody gets the thinking of another, and nobody who takes none gets any."""
    for index, thinking in survey.of(Thinking):
        if not dialect.thinking or thinking.issuer != dialect.issuer:
            yield index, f"thinking issued by {thinking.issuer!r} cannot be sent to {dialect.issuer!r}"


def thinking_is_signed(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Where signatures are checked, every piece of thinking has one."""
    if not dialect.signed_thinking:
        return
    for index, thinking in survey.of(Thinking):
        if not (thinking.signature or thinking.sealed):
            yield index, "thinking has no signature"


def thinking_leads_to_something(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """In its turn, something other than thinking follows every piece of thinking."""
    if not survey.of(Thinking):
        return
    for turn in survey.turns:
        if turn.role == "assistant":
            for index in idle_thinkers(survey.messages[turn.start : turn.stop]):
                yield turn.start + index, "thinking has nothing after it that it led to"


def idle_thinkers(turn: Sequence[Message]) -> Iterator[int]:
    """Return the indexes of a turn's messages that hold thinking with nothing after it, the last one first."""
    for index in reversed(range(len(turn))):
        last = turn[index].parts[-1:]
        if last and not isinstance(last[0], Thinking):
            return
        if last:
            yield index


def calls_carry_reasoning(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Where reasoning must be replayed, every message with calls has some, be it empty."""
    if not dialect.reasoning_on_calls:
        return
    for index, message in enumerate(survey.messages):
        if lacks_reasoning(message):
            yield index, "a message with calls carries no reasoning"


def lacks_reasoning(message: Message) -> bool:
    """Say whether a message calls without a piece of thinking."""
    return bool(message.calls) and not any(isinstance(part, Thinking) for part in message.parts)


def an_open_tool_turn_begins_with_thinking(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """With a thinking budget, where thinking is signed, the turn whose results are being sent opens with thinking."""
    reasoning = survey.request.reasoning if survey.request else None
    if not (dialect.signed_thinking and reasoning and reasoning.budget_tokens) or len(survey.turns) < 2:
        return
    asked, answered = survey.turns[-2:]
    is_open = answered.role == "user" and any(m.results for m in survey.messages[answered.start : answered.stop])
    if asked.role == "assistant" and is_open:
        first = survey.messages[asked.start].parts[:1]
        if not (first and isinstance(first[0], Thinking)):
            yield asked.start, "thinking is asked for, but the open tool turn does not begin with any"
