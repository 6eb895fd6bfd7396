"""Rules about order: where system messages stand, who begins, who ends, and who speaks between."""

from collections.abc import Iterator, Sequence

from headway.dialect import Dialect
from headway.history.finding import Finding
from headway.history.survey import Survey
from headway.messages import Message, Opaque, Refusal, Text, Thinking, ToolCall, ToolResult


def system_messages_stand_where_they_may(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """System messages stand anywhere, only before the others, or not among the messages at all."""
    if dialect.system_messages and dialect.system_inside:
        return
    inside = not dialect.system_messages
    for index, message in enumerate(survey.messages):
        if message.role != "system":
            inside = True
        elif inside:
            yield index, "a system message cannot stand here"


def the_first_message_is_the_users(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Before anything else, a user speaks."""
    if not dialect.starts_with_user or survey.begins_elsewhere(dialect.wire):
        return
    first = next((i for i, message in enumerate(survey.messages) if message.role != "system"), None)
    if first is None or survey.messages[first].role != "user":
        yield first, "the history does not begin with a user's message"


def a_user_speaks(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Where it is asked for, there are words of a user, not only results."""
    if not dialect.needs_user or survey.begins_elsewhere(dialect.wire):
        return
    if not any(message.role == "user" and has_words(message) for message in survey.messages):
        yield None, "no user says anything"


def has_words(message: Message) -> bool:
    """Say whether a message holds anything but results."""
    return any(not isinstance(part, ToolResult) for part in message.parts)


def the_last_message_is_not_the_assistants(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """No history ends with the assistant, unless the model may go on from there."""
    if dialect.ends_with_assistant or not survey.messages:
        return
    last = survey.messages[-1]
    if last.role != "assistant" or server_goes_on(last):
        return
    if not dialect.prefill:
        yield len(survey.messages) - 1, "the history ends with the assistant"
    elif not is_prefill(last) or _thinks(survey.messages[survey.turns[-1].start :]):
        yield len(survey.messages) - 1, "the model cannot go on from the last message: it must be text, not end blank"


def _thinks(turn: Sequence[Message]) -> bool:
    return any(isinstance(part, Thinking) for message in turn for part in message.parts)


def server_goes_on(message: Message) -> bool:
    """Say whether a message ends with a provider's own unfinished business, which it takes up by itself."""
    return bool(message.parts) and isinstance(message.parts[-1], Opaque)


def is_prefill(message: Message) -> bool:
    """Say whether a model can go on from a message: words at its end, and no whitespace after them."""
    last = message.parts[-1] if message.parts else None
    if message.calls or not isinstance(last, Text | Refusal):
        return False
    return last.text == last.text.rstrip()


def an_assistant_stands_between_results_and_words(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Where it is asked for, an assistant message stands after results before anybody else speaks."""
    if not dialect.assistant_after_results:
        return
    after_results = False
    for index, message in enumerate(survey.messages):
        for part in message.parts:
            words = not isinstance(part, ToolResult)
            if after_results and words and message.role != "assistant":
                yield index, "words follow a tool's result with no assistant message between them"
            after_results = not words


def tools_are_offered(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Where it is asked for, tools are offered whenever the history holds calls."""
    calls = survey.of(ToolCall)
    if dialect.tools_with_history and survey.request is not None and not survey.request.tools and calls:
        yield None, "the history holds calls, but no tools are offered"
