"""Whatever a history has been through, what is sent is valid, and nothing real is lost."""

import json
import re
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from headway.dialect import DIALECTS, Dialect
from headway.history.invariants import INVARIANTS, Violation, violations
from headway.history.project import project
from headway.history.repair import repair
from headway.history.survey import Survey
from headway.messages import CallFragment, Message, ModelRequest, Text, ToolCall, ToolResult
from headway.wire.table import WIRES
from support.bodies import BODIES
from support.histories import EVERY_DIALECT, broken_requests, sound_histories, wedges
from support.validators import VALIDATORS

for_every_dialect = pytest.mark.parametrize("dialect", EVERY_DIALECT.values(), ids=EVERY_DIALECT.keys())
for_every_wire = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())
MARK = re.compile(r"#\d+#")


def judged(body: dict, dialect: Dialect) -> list[str]:
    settings = {"prefill_allowed": dialect.prefill} if dialect.wire == "anthropic" else {}
    return VALIDATORS[dialect.wire](body, **settings)


@for_every_dialect
@given(request=broken_requests)
def test_a_projection_breaks_no_rule_and_projecting_it_again_changes_nothing(dialect, request):
    once = project(request, dialect)
    assert violations(once.request, dialect) == []
    again = project(once.request, dialect)
    assert again.repairs == ()
    assert again.request is once.request, "what is valid comes back as the very same object"


@for_every_dialect
@given(request=broken_requests)
def test_bare_messages_are_repaired_to_break_no_rule(dialect, request):
    messages, repairs = repair(request.messages, dialect)
    assert violations(messages, dialect) == []
    assert bool(repairs) == bool(violations(request.messages, dialect)), (
        "an edit is made exactly where a rule is broken"
    )


@for_every_dialect
@given(request=broken_requests)
def test_a_projection_is_the_same_every_time(dialect, request):
    assert project(request, dialect) == project(request, dialect)


@for_every_dialect
@given(request=broken_requests)
def test_a_rendered_projection_is_accepted_by_a_judge_that_knows_only_the_provider(dialect, request):
    if dialect.blank_text:
        return  # the judge accepts no blanks, which is the point of that dialect
    body = WIRES[dialect.wire].render_request(project(request, dialect).request)
    assert judged(body, dialect) == []
    json.dumps(body).encode()  # and it can be sent


# What survives. Every text gets a number of its own, so that none can hide in another.


@for_every_dialect
@given(request=broken_requests)
def test_a_history_of_nothing_but_texts_breaks_no_rule_that_it_is_not_asked_about(dialect, request):
    """For such a history only some rules are asked; here are all of them."""
    texts = tuple(
        replace(message, parts=tuple(part for part in message.parts if isinstance(part, Text)))
        for message in request.messages
    )
    survey = Survey(texts, request)
    found = [Violation(rule.__name__, *one) for rule in INVARIANTS for one in rule(survey, dialect)]
    assert violations(replace(request, messages=texts), dialect) == found


def numbered(request: ModelRequest) -> ModelRequest:
    numbers = count()

    def mark(part):
        if isinstance(part, ToolResult):
            return replace(part, parts=tuple(mark(inner) for inner in part.parts))
        return replace(part, text=f"{part.text}#{next(numbers)}#") if isinstance(part, Text) else part

    messages = (replace(message, parts=tuple(map(mark, message.parts))) for message in request.messages)
    return replace(request, messages=tuple(messages))


def marks_in(messages: tuple[Message, ...]) -> list[str]:
    texts = (part.text for message in messages for part in message.parts if isinstance(part, Text | ToolResult))
    return [mark for text in texts for mark in MARK.findall(text)]


def is_whole(call: ToolCall | CallFragment) -> bool:
    if isinstance(call, CallFragment) or not call.name.strip():
        return False
    try:
        return call.freeform or isinstance(json.loads(call.arguments), dict)
    except ValueError:
        return False


@for_every_dialect
@given(request=broken_requests.map(numbered))
def test_every_real_result_survives_unless_its_call_was_malformed(dialect, request):
    parts = [part for message in request.messages for part in message.parts]
    malformed = {part.id for part in parts if isinstance(part, ToolCall | CallFragment) and not is_whole(part)}
    real = [part for part in parts if isinstance(part, ToolResult) and not part.is_error]
    kept = marks_in(project(request, dialect).request.messages)
    for result in real:
        if result.call_id not in malformed:
            assert set(MARK.findall(result.text)) <= set(kept)


@for_every_dialect
@given(request=broken_requests.map(numbered))
def test_every_word_of_the_user_survives_in_its_order(dialect, request):
    said = [
        mark
        for message in request.messages
        if message.role == "user"
        for part in message.parts
        if isinstance(part, Text)
        for mark in MARK.findall(part.text)
    ]
    kept = marks_in(project(request, dialect).request.messages)
    assert [mark for mark in kept if mark in said] == said


@for_every_dialect
@given(request=broken_requests)
def test_no_malformed_call_is_ever_sent_nor_one_that_nobody_made(dialect, request):
    made = {(call.name, call.arguments) for message in request.messages for call in message.calls if is_whole(call)}
    arguments = {arguments for _, arguments in made}
    for message in project(request, dialect).request.messages:
        assert not any(isinstance(part, CallFragment) for part in message.parts)
        for call in message.calls:
            assert is_whole(call)
            assert call.freeform or call.arguments in arguments, "arguments are never made up"


# What is sound is left alone.


@for_every_wire
@given(messages=sound_histories)
def test_a_sound_history_comes_back_as_the_very_same_objects(dialect, messages):
    request = ModelRequest("model-1", messages)
    assert violations(request, dialect) == []
    assert project(request, dialect).request is request


@for_every_wire
@given(messages=sound_histories, wedge=wedges, at=st.integers(0, 3))
def test_around_a_break_every_sound_message_is_the_very_same_object(dialect, messages, wedge, at):
    starts = [index for index, message in enumerate(messages) if message.role == "user" and not message.results]
    place = starts[at % len(starts)]
    mended, repairs = repair((*messages[:place], wedge, *messages[place:]), dialect)
    assert repairs
    kept = {id(message) for message in mended}
    assert all(id(message) in kept for message in messages)


# Bodies as clients send them.


@pytest.mark.parametrize("wire", BODIES)
@pytest.mark.parametrize("to", BODIES)
@given(data=st.data())
def test_any_broken_body_heals_on_its_own_wire_and_converts_to_every_other(wire, to, data):
    request = WIRES[wire].parse_request(data.draw(BODIES[wire]))
    sent = WIRES[to].render_request(project(request, DIALECTS[to]).request)
    assert VALIDATORS[to](sent) == []
    again = project(WIRES[to].parse_request(sent), DIALECTS[to])
    assert again.repairs == (), "what was healed and stored is healthy when it is read again"
    assert WIRES[to].render_request(again.request) == sent
