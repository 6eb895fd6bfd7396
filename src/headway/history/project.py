"""The sendable request for one endpoint: what it cannot take is left out, and then the history is repaired.

Valid by construction: `violations(project(request, dialect).request, dialect)` is empty for every request. A request
that is valid already comes back as the very same object.
"""

from msgspec import Struct
from msgspec.structs import replace

from headway.dialect import Dialect
from headway.history.blanks import is_blank
from headway.history.characters import clean, is_clean
from headway.history.edits import Log, Repair, RepairKind
from headway.history.invariants import violations
from headway.history.repair import repaired
from headway.history.rules.thinking import an_open_tool_turn_begins_with_thinking
from headway.history.survey import Survey
from headway.messages import ModelRequest, Reasoning, Text, ToolSpec


class Projection(Struct, frozen=True):
    """A request that its endpoint accepts, and what had to be done to make it so."""

    request: ModelRequest
    repairs: tuple[Repair, ...] = ()


def project(request: ModelRequest, dialect: Dialect) -> Projection:
    """Return the request as this endpoint can take it."""
    broken = violations(request, dialect)
    if not broken:
        return Projection(request)
    log = Log()
    leading: list[Text] = []
    messages = repaired(request.messages, dialect, broken, log, request=request, above=leading)
    system = _sendable_system((*request.system, *leading), dialect, log)
    sendable = replace(request, messages=messages, system=system)
    return Projection(_with_companions(sendable, dialect, log), tuple(log.repairs))


def _sendable_system(texts: tuple[Text, ...], dialect: Dialect, log: Log) -> tuple[Text, ...]:
    sendable: list[Text] = []
    for text in texts:
        if not dialect.blank_text and is_blank(text.text):
            log.note(RepairKind.BLANK_DROPPED, None, "dropped a blank system text")
        elif is_clean(text.text, dialect.refused_characters):
            sendable.append(text)
        else:
            log.note(RepairKind.CHARACTERS_REPLACED, None, "replaced characters that are refused in a system text")
            sendable.append(replace(text, text=clean(text.text, dialect.refused_characters)))
    return tuple(sendable)


def _with_companions(request: ModelRequest, dialect: Dialect, log: Log) -> ModelRequest:
    """Make what goes along with the history agree with it: the tools on offer, the thinking that is asked for."""
    survey = Survey(request.messages, request)
    if any(an_open_tool_turn_begins_with_thinking(survey, dialect)):
        words = "asked for no thinking, because the open tool turn has none to show"
        log.note(RepairKind.THINKING_SWITCHED_OFF, None, words)
        effort = request.reasoning.effort if request.reasoning else None
        request = replace(request, reasoning=Reasoning(effort) if effort else None)
    names = dict.fromkeys(call.name for message in request.messages for call in message.calls)
    if dialect.tools_with_history and names and not request.tools:
        log.note(RepairKind.TOOLS_ADDED, None, f"offered the tools that the history calls: {', '.join(names)}")
        request = replace(request, tools=tuple(ToolSpec(name, None, {"type": "object"}) for name in names))
    return request
