"""How an attempt ended, read as facts; an answer has none."""

import pytest

from headway.events import Cut, Stop, StreamCut, StreamEnded
from headway.failure import FailureKind, Plan
from headway.messages import CallFragment, Opaque, Part, Raw, Refusal, Text, Thinking, ToolCall
from headway.received import Received
from headway.recovery.failures.classify import failure_of_end
from headway.recovery.failures.facts import facts_of_end

TEXT = Text("words")
CALL = ToolCall("call_1", "write", "{}")
FRAGMENT = CallFragment("call_1", "write", '{"path": "a')
THOUGHT = Thinking("hm", "chat")


@pytest.mark.parametrize(
    ("parts", "stop"),
    [
        ((TEXT,), Stop.END),
        ((TEXT, CALL), Stop.CALLS),
        ((CALL,), Stop.END),
        ((TEXT,), Stop.SEQUENCE),
        ((Opaque(Raw("anthropic", {"type": "web_search_tool_result"})),), Stop.END),
    ],
)
def test_an_answer_is_no_failure(parts, stop):
    assert facts_of_end(StreamEnded(stop), Received(parts)) is None
    assert failure_of_end(StreamEnded(stop), Received(parts)) is None


@pytest.mark.parametrize(
    ("stop", "said", "parts", "kind", "plan"),
    [
        (Stop.LENGTH, "length", (TEXT,), FailureKind.OUTPUT_LIMIT, Plan.RESUME),
        (Stop.LENGTH, "", (), FailureKind.OUTPUT_LIMIT, Plan.RETRY_SAME),
        (Stop.LENGTH, "max_tokens", (TEXT, FRAGMENT), FailureKind.CALL_CUT, Plan.ASK_SMALLER_CHUNKS),
        (Stop.CALLS, "tool_calls", (FRAGMENT,), FailureKind.CALL_CUT, Plan.ASK_SMALLER_CHUNKS),
        (Stop.FILTERED, "", (TEXT,), FailureKind.CONTENT_FILTERED, Plan.FAILOVER_NOW),
        (Stop.FILTERED, "RECITATION", (), FailureKind.CONTENT_FILTERED, Plan.FAILOVER_NOW),
        (Stop.REFUSED, "refusal", (), FailureKind.REFUSED, Plan.FAILOVER_NOW),
        (Stop.END, "stop", (Refusal("I cannot"),), FailureKind.REFUSED, Plan.FAILOVER_NOW),
        (Stop.WINDOW, "", (TEXT,), FailureKind.CONTEXT_FULL, Plan.COMPRESS_CONTEXT),
        (Stop.PAUSE, "pause_turn", (TEXT,), FailureKind.PAUSED, Plan.RESUME),
        (Stop.END, "stop", (), FailureKind.EMPTY_REPLY, Plan.RETRY_SAME),
        (Stop.END, "end_turn", (Text("  \n"),), FailureKind.EMPTY_REPLY, Plan.RETRY_SAME),
        (Stop.END, "end_turn", (THOUGHT,), FailureKind.EMPTY_REPLY, Plan.RETRY_SAME),
        (Stop.FAILED, "error", (TEXT,), FailureKind.SERVER_FAULT, Plan.RESUME),
        (Stop.FAILED, "insufficient_system_resource", (), FailureKind.OVERLOADED, Plan.RETRY_SAME),
        (Stop.UNKNOWN, "MALFORMED_FUNCTION_CALL", (), FailureKind.MALFORMED_OUTPUT, Plan.RETRY_SAME),
        (Stop.UNKNOWN, "something_new", (TEXT,), FailureKind.UNKNOWN, Plan.RESUME),
    ],
)
def test_a_stream_that_ended_is_judged_by_its_end_and_by_what_it_brought(
    stop: Stop, said: str, parts: tuple[Part, ...], kind: FailureKind, plan: Plan
):
    failure = failure_of_end(StreamEnded(stop, said), Received(parts))
    assert failure is not None
    assert (failure.kind, failure.plan) == (kind, plan)


@pytest.mark.parametrize(
    ("end", "parts", "kind", "plan"),
    [
        (StreamCut(Cut.EOF), (TEXT,), FailureKind.STREAM_CUT, Plan.RESUME),
        (StreamCut(Cut.EOF), (), FailureKind.STREAM_CUT, Plan.RETRY_SAME),
        (StreamCut(Cut.EOF), (TEXT, FRAGMENT), FailureKind.CALL_CUT, Plan.ASK_SMALLER_CHUNKS),
        (StreamCut(Cut.ERROR, '{"error":{"message":"Overloaded"}}'), (), FailureKind.OVERLOADED, Plan.RETRY_SAME),
        (
            StreamCut(Cut.ERROR, '{"error":{"message":"output new_sensitive (1027)"}}'),
            (TEXT, FRAGMENT),
            FailureKind.CONTENT_FILTERED,
            Plan.FAILOVER_NOW,
        ),
        (
            StreamCut(Cut.ERROR, '{"type":"error","error":{"type":"api_error"}}'),
            (TEXT,),
            FailureKind.SERVER_FAULT,
            Plan.RESUME,
        ),
        (
            StreamCut(Cut.NOT_EVENTS, "<html><title>Sign in</title></html>"),
            (),
            FailureKind.NOT_A_STREAM,
            Plan.RETRY_SAME,
        ),
        (
            StreamCut(Cut.NOT_EVENTS, '{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}'),
            (),
            FailureKind.BILLING,
            Plan.ROTATE_CREDENTIAL,
        ),
        (StreamCut(Cut.TOO_LARGE, "data: x"), (TEXT,), FailureKind.NOT_A_STREAM, Plan.RESUME),
        (StreamCut(Cut.UNREADABLE, "data: {"), (), FailureKind.NOT_A_STREAM, Plan.RETRY_SAME),
    ],
)
def test_a_stream_that_was_cut_is_judged_by_its_evidence_and_by_what_it_brought(end, parts, kind, plan):
    failure = failure_of_end(end, Received(parts), "chat", "minimax")
    assert failure is not None
    assert (failure.kind, failure.plan) == (kind, plan)


def test_the_same_call_cut_again_goes_elsewhere():
    failure = failure_of_end(StreamCut(Cut.EOF), Received((FRAGMENT,)), repeat=2)
    assert failure is not None
    assert failure.plan is Plan.FAILOVER_NOW
