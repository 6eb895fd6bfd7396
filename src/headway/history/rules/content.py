"""Rules about what is said: nothing blank, nothing empty, nothing that the endpoint cannot take."""

from collections.abc import Iterator

from headway.dialect import Dialect
from headway.history.blanks import is_blank, without_blanks
from headway.history.characters import is_clean
from headway.history.finding import Finding, kind_of, quoted
from headway.history.media import is_sendable
from headway.history.opaque import is_unreadable
from headway.history.roles import home_of
from headway.history.server_work import unpaired_work
from headway.history.survey import Survey
from headway.messages import (
    Document,
    Opaque,
    Part,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)


def something_is_said(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """There is a message."""
    if not survey.messages and not survey.begins_elsewhere(dialect.wire):
        yield None, "there are no messages"


def no_message_is_empty(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """Every message has a part."""
    for index, message in enumerate(survey.messages):
        if not message.parts:
            yield index, "the message is empty"


def no_text_is_blank(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """No text is empty or only whitespace."""
    if dialect.blank_text:
        return
    for index in sorted({index for index, words in survey.words if is_blank(words.text)}):
        parts = survey.messages[index].parts
        kept = without_blanks(survey.messages[index], dialect)
        if len(kept) < len(parts) or any(one is not other for one, other in zip(kept, parts, strict=True)):
            yield index, "a text is blank"
    if survey.request and any(is_blank(text.text) for text in survey.request.system):
        yield None, "a system text is blank"


def no_character_is_refused(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """No text holds a lone surrogate or a character that the endpoint refuses."""
    refused = dialect.refused_characters
    for index, words in survey.words:
        if not is_clean(words.text, refused):
            yield index, "a text holds a character that is refused"
    for index, thinking in survey.of(Thinking):
        if not is_clean(thinking.text, refused):
            yield index, "thinking holds a character that is refused"
    for index, media in survey.media:
        if isinstance(media, Document) and not is_clean(f"{media.name}{media.text}", refused):
            yield index, "a document holds a character that is refused"
    for index, call in survey.of(ToolCall):
        if call.freeform and not is_clean(call.arguments, refused):
            yield index, f"the input of the call {quoted(call.id)} holds a character that is refused"
    if survey.request and any(not is_clean(text.text, refused) for text in survey.request.system):
        yield None, "a system text holds a character that is refused"


def every_part_stands_in_its_role(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """Every part is said by who may say it: calls by the assistant, results and media by the user."""
    for index, part in survey.all_but(Text):
        role = survey.messages[index].role
        if home_of(part, role) != role:
            yield index, f"a {_name(type(part))} stands in a message of the role {role}"


def media_are_accepted(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Images and documents go only where they are taken, and hold something."""
    for index, media in survey.media:
        if not is_sendable(media, dialect):
            yield index, f"this {_name(type(media))} cannot be sent"


def results_are_as_plain_as_they_must_be(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """No result holds more than the endpoint takes in results: any parts, only texts, or one text."""
    if not dialect.media_in_results or dialect.text_results_only:
        for index, part in (*survey.media_inside, *survey.inside(Opaque)):
            yield index, f"a result holds a part of the kind {_name(type(part))}, which has no place in one"
    if dialect.text_results_only:
        for index, result in survey.of(ToolResult):
            if not is_one_text(result):
                yield index, f"the result of the call {quoted(result.call_id)} is more than one text"


def is_one_text(result: ToolResult) -> bool:
    """Say whether a result can be sent as a plain string."""
    return not result.parts or (len(result.parts) == 1 and isinstance(result.parts[0], Text))


def nothing_foreign_is_sent(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """Nothing that only one wire knows goes to another."""
    for index, opaque in survey.opaques:
        if opaque.raw.wire != dialect.wire:
            yield index, f"a part of the kind {kind_of(opaque)} belongs to another wire"


def every_opaque_part_is_whole(survey: Survey, _dialect: Dialect) -> Iterator[Finding]:
    """Nothing goes back to its wire as it came if it is a known kind of part that could not be read."""
    for index, opaque in survey.opaques:
        if is_unreadable(opaque):
            yield index, f"a part of the kind {kind_of(opaque)} is malformed"


def server_work_is_whole(survey: Survey, dialect: Dialect) -> Iterator[Finding]:
    """No work of a provider's own tool lacks its call or its result, unless the provider goes on with it."""
    if not survey.of(Opaque) or survey.begins_elsewhere(dialect.wire):
        return
    for found in unpaired_work(survey.messages):
        yield found.message, f"a part of the kind {kind_of(found.part)} lacks its other half"


def _name(kind: type[Part]) -> str:
    return str(kind.__struct_config__.tag).replace("_", " ")
