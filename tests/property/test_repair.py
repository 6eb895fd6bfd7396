"""Whatever a history has been through, what is sent is valid, and nothing real is lost."""

import json

import pytest
from hypothesis import assume, given

from headway.dialect import DIALECTS
from headway.failure import InvalidInput
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import Message, ModelRequest, Text, ToolResult
from headway.wire.table import WIRES
from support.bodies import anthropic_bodies, chat_bodies, responses_bodies
from support.histories import broken_requests
from support.validators import VALIDATORS

EVERY_DIALECT = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS.keys())
BODIES = {"chat": chat_bodies, "responses": responses_bodies, "anthropic": anthropic_bodies}


@EVERY_DIALECT
@given(request=broken_requests)
def test_a_projection_breaks_no_rule_and_projecting_it_again_changes_nothing(dialect, request):
    once = project(request, dialect)
    assert violations(once.request, dialect) == []
    again = project(once.request, dialect)
    assert again.repairs == ()
    assert again.request is once.request, "what is valid comes back as the very same object"


@EVERY_DIALECT
@given(request=broken_requests)
def test_a_projection_is_the_same_every_time(dialect, request):
    assert project(request, dialect) == project(request, dialect)


@EVERY_DIALECT
@given(request=broken_requests)
def test_a_rendered_projection_is_accepted_by_a_judge_that_knows_only_the_provider(dialect, request):
    body = WIRES[dialect.wire].render_request(project(request, dialect).request)
    assert VALIDATORS[dialect.wire](body) == []
    json.dumps(body).encode()  # and it can be sent


def words_of(messages: tuple[Message, ...]) -> str:
    parts = (part for message in messages for part in message.parts if isinstance(part, Text | ToolResult))
    return "\n".join(part.text for part in parts)


@EVERY_DIALECT
@given(request=broken_requests)
def test_every_word_of_the_user_and_every_real_result_survives(dialect, request):
    """Only the results of calls that were dropped as malformed may go with them."""
    dropped = {
        part.id
        for message in request.messages
        for part in message.parts
        if type(part).__name__ == "CallFragment"
        or (type(part).__name__ == "ToolCall" and part not in whole_calls(request))
    }
    sent = project(request, dialect).request
    everything = words_of(sent.messages) + "\n".join(text.text for text in sent.system)
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, Text) and message.role == "user":
                assert clean(part.text) in everything
            if isinstance(part, ToolResult) and message.role == "user" and part.call_id not in dropped:
                for piece in part.parts:
                    if isinstance(piece, Text) and not part.is_error:
                        assert clean(piece.text) in everything


def whole_calls(request: ModelRequest) -> list:
    from headway.wire.json_text import is_whole_object

    return [
        call
        for message in request.messages
        for call in message.calls
        if call.name.strip() and (call.freeform or is_whole_object(call.arguments))
    ]


def clean(text: str) -> str:
    return "" if not text.strip() else text.replace("\x00", "\ufffd").replace("\ud800", "\ufffd").strip()


@pytest.mark.parametrize("wire", BODIES)
@pytest.mark.parametrize("to", BODIES)
def test_any_broken_body_heals_on_its_own_wire_and_converts_to_every_other(wire, to):
    @given(body=BODIES[wire])
    def heals(body):
        try:
            request = WIRES[wire].parse_request(body)
        except InvalidInput:
            assume(False)  # hypothesis' own way to say "not this one"
        sent = WIRES[to].render_request(project(request, DIALECTS[to]).request)
        assert VALIDATORS[to](sent) == []

    heals()
