"""The next request: what was saved is shown once, what to do is said plainly, and nothing piles up."""

import pytest
from msgspec.structs import replace

from headway.dialect import ANTHROPIC, CHAT, DIALECTS
from headway.failure import FailureKind as K
from headway.failure import Plan as P
from headway.history.project import project
from headway.messages import ModelRequest, Text, ToolSpec, user
from headway.received import Received
from headway.recovery import prompts
from headway.recovery.continuation import next_request
from headway.recovery.drafts import CONTINUE_DRAFT, open_text
from headway.recovery.ledger import Ask, Break, Policy, Upstream, open_ledger
from headway.recovery.machine import decide
from headway.wire.table import WIRES
from support.outcomes import EOF, SHAPES, broken, failure
from support.validators import validate_anthropic, validate_chat, validate_responses

REQUEST = ModelRequest(
    "m",
    (user("Write the page."),),
    tools=(ToolSpec("write_file", parameters={"type": "object"}),),
    max_output_tokens=1000,
)
VALIDATORS = {"chat": validate_chat, "responses": validate_responses, "anthropic": validate_anthropic}
CALL_CUT = failure(K.CALL_CUT, P.ASK_SMALLER_CHUNKS, P.FAILOVER_NOW)


def after(*outcomes):
    ledger = open_ledger(Policy(), (Upstream("a"), Upstream("b")))
    for outcome in outcomes:
        ledger, _ = decide(ledger, outcome)
    return ledger


def text_of(request):
    return "\n".join(message.text for message in request.messages)


def test_a_first_attempt_is_the_request_itself():
    assert next_request(REQUEST, after(), CHAT) is REQUEST


def test_text_is_carried_exactly_and_its_tail_is_the_anchor():
    ledger = after(broken(failure(), Received((Text("Once upon a time there "),), EOF)))
    request = next_request(REQUEST, ledger, CHAT)
    question, said, prompt = request.messages
    assert (question, said.role, said.text) == (REQUEST.messages[0], "assistant", "Once upon a time there")
    assert prompt.role == "user"
    assert "time there" in prompt.text


def test_where_prefill_is_allowed_the_model_goes_on_from_its_own_words():
    dialect = replace(ANTHROPIC, prefill=True)
    ledger = after(broken(failure(), Received((Text("Once upon a "),), EOF)))
    assert next_request(REQUEST, ledger, dialect).messages[-1].text == "Once upon a"


def test_a_draft_is_shown_once_and_its_tool_is_offered():
    ledger = after(broken(CALL_CUT, SHAPES["long call"]))
    draft = ledger.salvage.draft
    request = next_request(REQUEST, ledger, CHAT)
    assert request.tools[-1] is CONTINUE_DRAFT
    assert text_of(request).count(open_text(draft)) == 1
    assert draft.id in text_of(request)
    assert str(draft.offset) in text_of(request)


def test_a_draft_that_grew_replaces_the_one_before():
    ledger = after(broken(CALL_CUT, SHAPES["long call"]), broken(CALL_CUT, SHAPES["longer call"]))
    request = next_request(REQUEST, ledger, CHAT)
    assert text_of(request).count("continue_draft") == 1


@pytest.mark.parametrize("kind", [K.CALL_CUT, K.OUTPUT_LIMIT])
def test_smaller_pieces_name_the_tool_and_the_size_that_survives(kind):
    ledger = replace(after(broken(failure(kind, P.ASK_SMALLER_CHUNKS), SHAPES["longer call"])), ask=Ask.SMALLER_PIECES)
    words = next_request(REQUEST, ledger, CHAT).messages[-1].text
    assert "`write_file`" in words
    assert "smaller pieces" in words
    assert f"{ledger.salvage.piece_size:,} characters" in words
    assert ("output limit" in words) == (kind is K.OUTPUT_LIMIT)


def test_a_tiny_cut_says_nothing_about_sizes():
    ledger = after(broken(CALL_CUT, SHAPES["short call"]))
    assert "characters each" not in next_request(REQUEST, ledger, CHAT).messages[-1].text


def test_after_an_output_limit_more_output_is_allowed_within_the_models_limit():
    ledger = after(broken(failure(K.OUTPUT_LIMIT, P.RESUME), Received((Text("a"),), EOF)))
    assert next_request(REQUEST, ledger, CHAT, output_limit=1500).max_output_tokens == 1500
    assert next_request(REQUEST, ledger, CHAT, output_limit=8000).max_output_tokens == 2000
    assert next_request(REQUEST, ledger, CHAT, output_limit=500).max_output_tokens == 1000
    assert next_request(REQUEST, ledger, CHAT).max_output_tokens == 1000
    uncapped = replace(REQUEST, max_output_tokens=None)
    assert next_request(uncapped, ledger, CHAT, output_limit=8000).max_output_tokens == 8000
    assert next_request(uncapped, ledger, CHAT).max_output_tokens is None


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("ask", Ask)
@pytest.mark.parametrize("shape", SHAPES)
def test_whatever_is_asked_is_valid_on_every_wire(wire, ask, shape):
    ledger = replace(after(broken(CALL_CUT, SHAPES[shape])), ask=ask)
    ledger = replace(
        ledger, salvage=replace(ledger.salvage, parts=tuple(p for p in ledger.salvage.parts if isinstance(p, Text)))
    )
    sent = project(next_request(REQUEST, ledger, DIALECTS[wire]), DIALECTS[wire]).request
    assert VALIDATORS[wire](WIRES[wire].render_request(sent)) == []


def test_the_prompts_are_a_users_plain_words():
    draft = after(broken(CALL_CUT, SHAPES["long call"])).salvage.draft
    for broke in Break:
        for words in (
            prompts.continue_text("tail", broke),
            prompts.smaller_pieces(("write_file",), broke, 3000),
            prompts.continue_draft(draft, broke),
            prompts.NUDGE,
            prompts.NUDGE_AT_LIMIT,
        ):
            lowered = words.lower()
            assert not any(word in lowered for word in ("operator", "system notice", "[system", "<system", "automated"))
            assert "Please" in words
