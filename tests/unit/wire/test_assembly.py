"""Events to what was received: whole and cut never mix."""

import tracemalloc

import pytest
from hypothesis import given

from headway.events import (
    CallArguments,
    CallClosed,
    CallOpened,
    Cut,
    KeepAlive,
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


def test_a_stream_that_is_taken_up_again_after_a_cut_ends_as_it_ends_then():
    assembler = Assembler()
    assembler.add_all([TextDelta("one "), StreamCut(Cut.EOF)])
    assert assembler.received().is_cut
    assembler.reopen()
    assembler.add_all([TextDelta("two"), ENDED])
    assert (assembler.received().text, assembler.received().is_complete) == ("one two", True)


@given(event_streams())
def test_text_is_received_exactly_once(events):
    received = assemble(events)
    assert received.text == "".join(e.text for e in events if isinstance(e, TextDelta))
    assert len(received.calls) == sum(isinstance(e, CallClosed) for e in events)


def test_what_is_asked_for_before_the_end_does_not_hide_what_comes_after():
    assembler = Assembler()
    assembler.add_all([CallOpened(0, "c0", "f"), CallArguments(0, '{"a":')])
    assert assembler.received().fragments == (CallFragment("c0", "f", '{"a":'),)
    assembler.add_all([CallArguments(0, "1}"), CallClosed(0), ENDED])
    received = assembler.received()
    assert received.calls == (ToolCall("c0", "f", '{"a":1}'),)
    assert received.end == ENDED
    assert assembler.received() is received, "a large call is put together and judged once"


def test_a_reply_that_is_taken_up_again_goes_on_from_its_cut():
    assembler = Assembler()
    assembler.add_all([TextDelta("a"), StreamCut(Cut.EOF)])
    assert assembler.received().is_cut
    assembler.reopen()
    assembler.add_all([TextDelta("b"), StreamEnded(Stop.END)])
    assert (assembler.received().text, assembler.received().is_complete) == ("ab", True)


@pytest.mark.parametrize("between", [KeepAlive(), Usage(1, 2), Unread("why", "x")])
def test_words_that_something_wordless_interrupts_are_one_part(between):
    assert assemble([TextDelta("a"), between, TextDelta("b")]).parts == (Text("ab"),)


def test_a_large_call_in_small_tokens_takes_little_more_than_its_size():
    text = '{"content":"%s"}' % ("all work and no play " * 50_000)
    assembler = Assembler()
    assembler.add(CallOpened(0, "c0", "f"))
    tracemalloc.start()
    try:
        for at in range(0, len(text), 4):
            assembler.add(CallArguments(0, text[at : at + 4]))
        assembler.add_all([CallClosed(0), ENDED])
        assert assembler.received().calls[0].arguments == text
        assert tracemalloc.get_traced_memory()[1] < 3 * len(text)
    finally:
        tracemalloc.stop()


def test_a_call_that_its_own_end_contradicts_leaves_nothing_to_go_on_from():
    events = [
        CallOpened(0, "c0", "read_file"),
        CallArguments(0, '{"path":"a"}'),
        CallClosed(0),
        CallOpened(1, "c1", "write_file"),
        CallArguments(1, '{"path":"b","content":"one one two"}'),
        StreamCut(Cut.CONTRADICTORY, "…"),
    ]
    received = assemble(events)
    assert received.calls == (ToolCall("c0", "read_file", '{"path":"a"}'),)
    assert [(one.name, one.arguments) for one in received.fragments] == [("write_file", "")]
