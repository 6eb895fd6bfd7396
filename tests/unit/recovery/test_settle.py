"""A reply to an offered draft becomes the call that was meant."""

import json

from headway.events import Stop, StreamEnded
from headway.failure import FailureKind
from headway.messages import CallFragment, Text, ToolCall, ToolSpec
from headway.received import Received
from headway.recovery.decisions import Again, RunTools
from headway.recovery.drafts import draft_of
from headway.recovery.ledger import Ask, Policy, Strategy, Upstream, open_ledger
from headway.recovery.machine import Answered, Broken, decide
from headway.recovery.settle import settle
from support.outcomes import broken, failure

CONTENT = "".join(f'line {number}: é 😀 "quoted"\n' for number in range(60))
WHOLE = json.dumps({"path": "a.txt", "content": CONTENT, "mode": "w"})
CUT = 900
FRAGMENT = CallFragment("c1", "write_file", WHOLE[:CUT])
TOOLS = (
    ToolSpec(
        "write_file",
        parameters={
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"enum": ["w", "a"]}},
            "required": ["path", "content", "mode"],
        },
    ),
)


def reply(*parts):
    return Received(parts, StreamEnded(Stop.CALLS))


def continuation(draft, name="c2", **given):
    rest = CONTENT[draft.offset :]
    return ToolCall(
        name, "continue_draft", json.dumps({"draft": draft.id, "offset": draft.offset, "rest": rest, **given})
    )


def test_a_fitting_continuation_is_the_call_that_was_meant():
    draft = draft_of(FRAGMENT)
    settled = settle(reply(Text("On it."), continuation(draft, more={"mode": "w"})), draft, TOOLS)
    assert settled.draft is None
    _, call = settled.received.parts
    assert (call.id, call.name) == ("c2", "write_file")
    assert json.loads(call.arguments) == json.loads(WHOLE)


def test_the_caller_never_sees_the_continuation():
    draft = draft_of(FRAGMENT)
    pieces = [continuation(draft, "c2", rest=CONTENT[draft.offset : draft.offset + 50], last=False)]
    pieces.append(
        continuation(draft, "c3", offset=draft.offset + 50, rest=CONTENT[draft.offset + 50 :], more={"mode": "w"})
    )
    settled = settle(reply(*pieces), draft, TOOLS)
    (call,) = settled.received.parts
    assert json.loads(call.arguments) == json.loads(WHOLE)


def test_a_missing_field_keeps_the_text_and_asks_for_the_field_alone():
    draft = draft_of(FRAGMENT)
    settled = settle(reply(continuation(draft)), draft, TOOLS)
    assert not settled.received.calls
    assert "`mode`" in settled.problem
    assert settled.failure.kind is FailureKind.MALFORMED_OUTPUT
    ledger, _ = decide(
        open_ledger(Policy(), (Upstream("a"),)), broken(failure(FailureKind.CALL_CUT), Received((FRAGMENT,)))
    )
    ledger, decision = decide(
        ledger, Broken(settled.failure, settled.received, draft=settled.draft, problem=settled.problem)
    )
    assert decision == Again(Strategy.CONTINUE_DRAFT)
    assert (ledger.ask, ledger.problem) == (Ask.CONTINUE_DRAFT, settled.problem)
    last = ToolCall(
        "c3", "continue_draft", json.dumps({"draft": settled.draft.id, "offset": 0, "rest": "", "more": {"mode": "w"}})
    )
    done = settle(reply(last), ledger.salvage.draft, TOOLS)
    ledger, decision = decide(ledger, Answered(done.received))
    assert isinstance(decision, RunTools)
    assert json.loads(decision.calls[0].arguments) == json.loads(WHOLE)


def test_a_gap_is_refused_and_nothing_is_lost():
    draft = draft_of(FRAGMENT)
    settled = settle(reply(continuation(draft, offset=draft.offset + 10, more={"mode": "w"})), draft, TOOLS)
    assert not settled.received.calls
    assert settled.draft == draft
    assert "gap" in settled.problem


def test_without_a_draft_a_reply_stays_as_it_is():
    received = reply(ToolCall("c", "continue_draft", "{}"))
    assert settle(received, None, TOOLS).received is received
    other = reply(ToolCall("c", "read_file", "{}"))
    assert settle(other, draft_of(FRAGMENT), TOOLS).received is other
