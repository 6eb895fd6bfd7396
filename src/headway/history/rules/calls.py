"""Rules about calls and results: whole, named, identified, and paired one to one, side by side."""

from collections import Counter
from collections.abc import Iterator, Sequence

from headway.dialect import Dialect
from headway.history.arguments import is_whole_object
from headway.history.finding import Finding, quoted
from headway.history.ids import fits, name_fits
from headway.history.survey import Survey, only_thinks
from headway.messages import CallFragment, Message, ToolCall, ToolResult


def is_malformed(call: ToolCall | CallFragment) -> bool:
    """Say whether a call can neither be run nor be sent: cut, nameless, or with arguments that are no object."""
    if isinstance(call, CallFragment) or not call.name.strip():
        return True
    return not call.freeform and not is_whole_object(call.arguments)


def no_call_is_malformed(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """Every call has a name and arguments that are one whole JSON object."""
    for index, fragment in survey.of(CallFragment):
        yield index, f"the call to {quoted(fragment.name)} is incomplete or its arguments do not parse"
    for index, call in survey.of(ToolCall):
        if is_malformed(call):
            yield index, f"the call {quoted(call.id)} to {quoted(call.name)} has no name or no whole arguments"


def names_are_acceptable(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Every tool's name is letters, digits, `_` and `-`, and not too long."""
    for index, call in survey.of(ToolCall):
        if call.name.strip() and not name_fits(call.name, dialect):
            yield index, f"the tool's name {quoted(call.name)} is not accepted"


def ids_fit_the_dialect(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Call ids have the characters and the length that the endpoint accepts."""
    for index, call in survey.of(ToolCall):
        if not fits(call.id, dialect):
            yield index, f"the call id {quoted(call.id)} is not accepted"
    for index, result in survey.of(ToolResult):
        if not fits(result.call_id, dialect):
            yield index, f"the id {quoted(result.call_id)} of a result is not accepted"


def call_ids_are_unique(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """No two calls of the history have one id."""
    seen: set[str] = set()
    for index, call in survey.of(ToolCall):
        if call.id in seen:
            yield index, f"the call id {quoted(call.id)} was used before"
        seen.add(call.id)


def every_call_is_answered(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """Every call has a result."""
    answered = {result.call_id for _, result in survey.of(ToolResult)}
    for index, call in survey.of(ToolCall):
        if call.id not in answered:
            yield index, f"the call {quoted(call.id)} to {quoted(call.name)} has no result"


def no_result_without_its_call(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Every result answers a call of the history, unless the provider holds its beginning."""
    if survey.begins_elsewhere(dialect.wire):
        return
    for index, result in survey.of(ToolResult):
        if result.call_id not in survey.call_ids:
            yield index, f"a result answers the call {quoted(result.call_id)}, which is not there"


def one_result_per_call(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """No call has two results."""
    left = Counter(call.id for _, call in survey.calls_and_fragments)
    for index, result in survey.of(ToolResult):
        left[result.call_id] -= 1
        if left[result.call_id] < 0 and result.call_id in survey.call_ids:
            yield index, f"the call {quoted(result.call_id)} has more than one result"


def results_are_of_the_kind_of_their_call(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Where freeform calls have results of their own kind, every result is of the kind of its call."""
    if not dialect.freeform_results:
        return
    freeform = {call.id: call.freeform for _, call in survey.of(ToolCall)}
    for index, result in survey.of(ToolResult):
        if freeform.get(result.call_id, result.freeform) != result.freeform:
            yield index, f"the result of the call {quoted(result.call_id)} is not of its kind"


def results_follow_their_call_directly(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """Every result opens the user's turn right after the turn of its call."""
    asked: frozenset[str] = frozenset()
    for turn in survey.turns:
        messages = survey.messages[turn.start : turn.stop]
        if turn.role == "assistant":
            asked = frozenset(call.id for message in messages for call in message.calls)
            continue
        leading = turn.role == "user"
        for index, message in enumerate(messages, turn.start):
            for part in message.parts:
                if not isinstance(part, ToolResult):
                    leading = False
                elif not (leading and part.call_id in asked) and part.call_id in survey.call_ids:
                    yield index, f"the result of the call {quoted(part.call_id)} does not directly follow it"
        asked = frozenset()


def a_turn_calls_in_one_message(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Where a message is a whole turn, its calls stand in one message, and its thinking with what it led to."""
    if not dialect.whole_turns:
        return
    for turn in survey.turns:
        if turn.role == "assistant" and is_scattered(survey.messages[turn.start : turn.stop]):
            yield turn.start, "the calls or the thinking of one turn are spread over several messages"


def is_scattered(turn: Sequence[Message]) -> bool:
    """Say whether, of several messages, one calls before the last or only thinks."""
    return len(turn) > 1 and (any(message.calls for message in turn[:-1]) or any(map(only_thinks, turn)))
