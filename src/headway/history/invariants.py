"""The rules that a sendable history obeys, in one tuple. The checker, the docs and the tests read the same one.

A rule is a function whose name is its sentence. It says where a history breaks it for one dialect; repair makes the
smallest edits after which none says anything.
"""

from collections.abc import Sequence

from msgspec import Struct

from headway.dialect import Dialect
from headway.history.finding import Rule
from headway.history.rules import calls, content, order, thinking
from headway.history.survey import Survey
from headway.messages import Message, ModelRequest

INVARIANTS: tuple[Rule, ...] = (
    content.something_is_said,
    content.every_part_stands_in_its_role,
    calls.no_call_is_malformed,
    calls.names_are_acceptable,
    calls.ids_fit_the_dialect,
    calls.call_ids_are_unique,
    calls.every_call_is_answered,
    calls.no_result_without_its_call,
    calls.one_result_per_call,
    calls.results_are_of_the_kind_of_their_call,
    calls.results_follow_their_call_directly,
    calls.a_turn_calls_in_one_message,
    content.no_text_is_blank,
    content.no_message_is_empty,
    content.no_character_is_refused,
    content.media_are_accepted,
    content.results_are_as_plain_as_they_must_be,
    content.nothing_foreign_is_sent,
    content.every_opaque_part_is_whole,
    content.server_work_is_whole,
    thinking.thinking_goes_only_to_its_issuer,
    thinking.thinking_is_signed,
    thinking.thinking_leads_to_something,
    thinking.calls_carry_reasoning,
    thinking.an_open_tool_turn_begins_with_thinking,
    order.system_messages_stand_where_they_may,
    order.the_first_message_is_the_users,
    order.a_user_speaks,
    order.the_last_message_is_not_the_assistants,
    order.an_assistant_stands_between_results_and_words,
    order.tools_are_offered,
)

_OF_WORDS: tuple[Rule, ...] = (
    content.something_is_said,
    content.no_text_is_blank,
    content.no_message_is_empty,
    content.no_character_is_refused,
    order.system_messages_stand_where_they_may,
    order.the_first_message_is_the_users,
    order.a_user_speaks,
    order.the_last_message_is_not_the_assistants,
)
"""Those that a history of nothing but texts can break."""


class Violation(Struct, frozen=True):
    """A broken rule: its name, the message that breaks it (none: the request does), and a sentence for a person."""

    rule: str
    index: int | None
    words: str


def violations(history: ModelRequest | Sequence[Message], dialect: Dialect) -> list[Violation]:
    """Return what is wrong with a request, or with bare messages; nothing means that it can be sent."""
    request = history if isinstance(history, ModelRequest) else None
    messages = history.messages if isinstance(history, ModelRequest) else history
    survey = Survey(messages, request)
    rules = _OF_WORDS if survey.holds_only_texts else INVARIANTS
    return [Violation(rule.__name__, index, words) for rule in rules for index, words in rule(survey, dialect)]
