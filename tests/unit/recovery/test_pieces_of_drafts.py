"""Where calls are cut at one size again and again, a draft goes on in pieces that get through."""

import json

import pytest

from headway.dialect import CHAT
from headway.events import Stop, StreamEnded
from headway.failure import FailureKind as K
from headway.failure import Plan as P
from headway.messages import CallFragment, ModelRequest, ToolCall, ToolSpec, user
from headway.received import Received
from headway.recovery.continuation import next_request
from headway.recovery.decisions import Again
from headway.recovery.ledger import Ask, Policy, Strategy, Upstream, open_ledger
from headway.recovery.machine import Answered, Broken, decide
from headway.recovery.settle import settle
from support.outcomes import EOF, broken, failure

TEXT = "".join(f"<p>line {number} of a long page</p>\n" for number in range(2_000))
TOOL = ToolSpec("write_file", parameters={"type": "object", "required": ["path", "content"]})
REQUEST = ModelRequest("m", (user("Write the page."),), tools=(TOOL,))
CALL = json.dumps({"path": "a.html", "content": TEXT})
CUT = failure(K.CALL_CUT, P.ASK_SMALLER_CHUNKS, P.FAILOVER_NOW)
ENDED = StreamEnded(Stop.CALLS)


def fragment(arguments, name="write_file"):
    return broken(CUT, Received((CallFragment("c1", name, arguments),), EOF))


def continuation(draft, begin, end, **more):
    return json.dumps({"draft": draft.id, "offset": begin, "rest": TEXT[begin:end], **more})


def after_cuts(*sizes):
    """Return the ledger after the call was cut at a size, and its continuations at others."""
    ledger = open_ledger(Policy(), (Upstream("a"),))
    ledger, _ = decide(ledger, fragment(CALL[: sizes[0]]))
    for size in sizes[1:]:
        draft = ledger.salvage.draft
        ledger, _ = decide(ledger, fragment(continuation(draft, draft.offset, len(TEXT))[:size], "continue_draft"))
    return ledger


def settled(ledger, arguments):
    """Return the outcome of an attempt that brought a whole continuation."""
    received = Received((ToolCall("c2", "continue_draft", arguments),), ENDED)
    result = settle(received, ledger.salvage.draft, REQUEST.tools)
    if result.failure is None:
        return Answered(result.received)
    return Broken(result.failure, result.received, draft=result.draft, problem=result.problem)


def prompt_of(ledger):
    return next_request(REQUEST, ledger, CHAT).messages[-1].text


@pytest.mark.parametrize("sizes", [(2_500,), (2_500, 9_000), (9_000, 2_500), (2_500, 2_500, 9_000)])
def test_cuts_that_are_no_limit_ask_for_all_of_the_rest(sizes):
    ledger = after_cuts(*sizes)
    assert ledger.ask is Ask.CONTINUE_DRAFT
    assert "in pieces" not in prompt_of(ledger)


@pytest.mark.parametrize("sizes", [(2_500, 2_500), (2_500, 2_100), (9_000, 2_500, 2_500)])
def test_two_cuts_at_about_the_same_size_ask_for_pieces_that_get_through(sizes):
    ledger = after_cuts(*sizes)
    assert "in pieces of at most about 1," in prompt_of(ledger)
    assert "`last` false" in prompt_of(ledger)


def test_a_limit_too_small_to_tell_names_no_size():
    assert "in pieces" not in prompt_of(after_cuts(600, 600))


def test_a_piece_is_gone_on_from_and_is_no_failure_of_anybody():
    ledger = after_cuts(2_500, 2_500)
    at = ledger.salvage.draft.offset
    outcome = settled(ledger, continuation(ledger.salvage.draft, at, at + 1_600, last=False))
    assert outcome.failure.kind is K.PAUSED
    grown, decision = decide(ledger, outcome)
    assert decision == Again(Strategy.CONTINUE_DRAFT)
    assert grown.salvage.draft.offset == at + 1_600
    assert grown.attempts_left == ledger.attempts_left
    assert "did not complete" not in prompt_of(grown)


def test_pieces_that_get_through_keep_their_size():
    """A piece that came whole speaks for its size; counted as cut, it would make each next one smaller."""
    ledger = after_cuts(2_500, 2_500)
    sizes = []
    for _ in range(8):
        draft = ledger.salvage.draft
        ledger, _ = decide(ledger, settled(ledger, continuation(draft, draft.offset, draft.offset + 1_600, last=False)))
        sizes.append(ledger.salvage.draft_piece_size)
    assert set(sizes) == {1_875}


def test_the_last_piece_completes_the_call():
    ledger = after_cuts(2_500, 2_500)
    draft = ledger.salvage.draft
    ledger, _ = decide(ledger, settled(ledger, continuation(draft, draft.offset, len(TEXT) - 9, last=False)))
    ledger, _ = decide(ledger, settled(ledger, continuation(draft, len(TEXT) - 9, len(TEXT))))
    assert json.loads(ledger.salvage.calls[0].arguments) == json.loads(CALL)


def test_a_call_that_was_completed_speaks_only_for_what_came_at_once():
    ledger = after_cuts(9_000)
    draft = ledger.salvage.draft
    done, _ = decide(ledger, settled(ledger, continuation(draft, draft.offset, len(TEXT))))
    assert done.salvage.calls
    assert done.salvage.survived[-1] < len(CALL) - 8_000


def test_a_model_that_sends_empty_pieces_is_asked_in_another_way():
    ledger, strategies = after_cuts(2_500, 2_500), []
    for _ in range(2):
        draft = ledger.salvage.draft
        ledger, decision = decide(ledger, settled(ledger, continuation(draft, draft.offset, draft.offset, last=False)))
        strategies.append(decision.strategy)
    assert strategies == [Strategy.CONTINUE_DRAFT, Strategy.SMALLER_PIECES]
