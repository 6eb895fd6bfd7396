"""The smallest edit after which messages obey every rule: deterministic, idempotent, and reported as facts.

What is valid comes back as the same objects. The order of the passes matters: each relies on what came before it.
"""

from collections.abc import Sequence
from functools import partial

from headway.dialect import Dialect
from headway.history.edits import Entry, Log, Pass, Repair, messages_of
from headway.history.invariants import Violation, violations
from headway.history.passes.calls import mend_calls
from headway.history.passes.content import drop_blanks, drop_empty_messages, replace_characters, split_by_role
from headway.history.passes.ends import fix_ends
from headway.history.passes.foreign import drop_foreign_parts, drop_unpaired_work
from headway.history.passes.media import leave_out_media, make_results_plain
from headway.history.passes.placement import join_turns, place_results, separate_results_from_words
from headway.history.passes.system import place_system
from headway.history.passes.thinking import add_reasoning_to_calls, drop_idle_thinking, drop_unsendable_thinking
from headway.history.survey import Survey
from headway.messages import Message, ModelRequest, Text

ONLY_FOR: dict[Pass, frozenset[str]] = {
    drop_empty_messages: frozenset({"no_message_is_empty"}),
    drop_foreign_parts: frozenset({"nothing_foreign_is_sent", "every_opaque_part_is_whole"}),
    leave_out_media: frozenset({"media_are_accepted", "every_part_stands_in_its_role"}),
    split_by_role: frozenset({"every_part_stands_in_its_role"}),
    drop_unsendable_thinking: frozenset({"thinking_goes_only_to_its_issuer", "thinking_is_signed"}),
    make_results_plain: frozenset({"results_are_as_plain_as_they_must_be"}),
    replace_characters: frozenset({"no_character_is_refused"}),
}
"""Passes that no other pass makes work for, and the rules they answer: they run only when one of these is broken."""


def repair(messages: Sequence[Message], dialect: Dialect) -> tuple[tuple[Message, ...], tuple[Repair, ...]]:
    """Return bare messages as an endpoint accepts them, and what was done to them."""
    broken = violations(messages, dialect)
    if not broken:
        return tuple(messages), ()
    log = Log()
    return repaired(messages, dialect, broken, log), tuple(log.repairs)


def repaired(
    messages: Sequence[Message],
    dialect: Dialect,
    broken: Sequence[Violation],
    log: Log,
    *,
    request: ModelRequest | None = None,
    above: list[Text] | None = None,
) -> tuple[Message, ...]:
    """Run the passes against what is broken. `request` is what the messages go with; `above` takes system texts."""
    rules = {violation.rule for violation in broken}
    elsewhere = Survey(messages, request).begins_elsewhere(dialect.wire)
    passes: tuple[Pass, ...] = (
        drop_empty_messages,
        drop_foreign_parts,
        leave_out_media,
        split_by_role,
        partial(place_system, above=above),
        drop_unsendable_thinking,
        partial(mend_calls, begins_elsewhere=elsewhere),
        make_results_plain,
        replace_characters,
        drop_blanks,
        place_results,
        partial(drop_unpaired_work, begins_elsewhere=elsewhere),
        drop_idle_thinking,
        join_turns,
        add_reasoning_to_calls,
        separate_results_from_words,
        partial(fix_ends, begins_elsewhere=elsewhere),
    )
    entries = [Entry(index, message) for index, message in enumerate(messages)]
    for run in passes:
        if run not in ONLY_FOR or ONLY_FOR[run] & rules:
            entries = run(entries, dialect, log)
    return tuple(messages_of(entries))
