"""Events to what was received: whole and cut never mix."""

import pytest
from hypothesis import given

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    OpaqueBlock,
    RefusalDelta,
    Stop,
    StreamCut,
    StreamEnded,
    StreamOpened,
    TextDelta,
    ThinkingDelta,
    ThinkingSealed,
    ThinkingSigned,
    Unread,
    Usage,
)
from headway.messages import CallFragment, Opaque, Raw, Refusal, Text, Thinking, ToolCall
from headway.wire.assembly import Assembler, assemble
from support.streams import event_streams

ENDED = StreamEnded(Stop.CALLS)


def test_parts_stand_in_the_order_they_were_said():
    raw = Raw("anthropic", {"type": "x"})
    received = assemble(
        [
            StreamOpened("id", "m"),
            ThinkingDelta("a"),
            ThinkingDelta("b"),
            ThinkingSigned("sig"),
            ThinkingDelta("c"),
            TextDelta("d"),
            TextDelta("e"),
            ThinkingSealed("s"),
            OpaqueBlock(raw),
            RefusalDelta("no"),
            CallOpened(0, "c0", "f"),
            CallArguments(0, '{"a":'),
            CallArguments(0, "1}"),
            CallClosed(0),
            Unread("why", "x"),
            Usage(1, 2),
            Usage(3, 4),
            ENDED,
        ],
        issuer="me",
    )
    assert received.parts == (
        Thinking("ab", "me", "sig"),
        Thinking("c", "me"),
        Text("de"),
        Thinking("", "me", sealed="s"),
        Opaque(raw),
        Refusal("no"),
        ToolCall("c0", "f", '{"a":1}'),
    )
    assert (received.id, received.model, received.usage, received.unread) == ("id", "m", Usage(3, 4), 1)
    assert received.text == "de"
    assert received.refusal == "no"
    assert received.is_complete
    assert len(received.thinking) == 3


@pytest.mark.parametrize(
    "text", ['{"a":1', '{"a":"x"', "", '{"a":1}'], ids=["cut", "closed string", "name only", "whole"]
)
def test_a_call_that_the_wire_did_not_close_is_a_fragment(text):
    received = assemble([CallOpened(0, "c", "f"), CallArguments(0, text), StreamCut(Cut.EOF)])
    assert received.parts == (CallFragment("c", "f", text),)
    assert received.is_cut
    assert not received.calls


@pytest.mark.parametrize("text", ['{"a":1', "[1]", '{"a":1,"a":2}', "null"])
def test_a_closed_call_that_does_not_parse_is_a_fragment(text):
    received = assemble([CallOpened(0, "c", "f"), CallArguments(0, text), CallClosed(0), ENDED])
    assert received.fragments == (CallFragment("c", "f", text),)


def test_a_closed_call_without_arguments_has_none():
    received = assemble([CallOpened(0, "c", "f"), CallClosed(0), ENDED])
    assert received.calls == (ToolCall("c", "f", "{}"),)


def test_a_call_without_a_name_is_never_whole():
    assert not assemble([CallOpened(0, "c", ""), CallClosed(0), ENDED]).calls


def test_a_freeform_call_is_whole_when_closed():
    events = [CallOpened(0, "c", "patch", freeform=True), CallArguments(0, "*** Begin"), CallClosed(0), ENDED]
    assert assemble(events).calls == (ToolCall("c", "patch", "*** Begin", freeform=True),)


def test_nothing_changes_after_the_end_or_after_a_call_is_closed():
    assembler = Assembler()
    assembler.add_all([CallOpened(0, "c", "f"), CallArguments(0, "{}"), CallClosed(0), CallArguments(0, "x"), ENDED])
    before = assembler.received()
    assembler.add_all([TextDelta("late"), StreamCut(Cut.EOF)])
    assert assembler.received() == before
    assert before.calls == (ToolCall("c", "f", "{}"),)


@given(event_streams())
def test_text_is_received_exactly_once(events):
    received = assemble(events)
    assert received.text == "".join(e.text for e in events if isinstance(e, TextDelta))
    assert len(received.calls) == sum(isinstance(e, CallClosed) for e in events)
