"""Drafts: what a cut call leaves, when it is worth going on from, and what is told about it."""

import json

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.messages import CallFragment
from headway.recovery.drafts import (
    CONTINUE_DRAFT,
    TAIL,
    WORTH_CONTINUING,
    Draft,
    describe,
    draft_of,
    extend,
    open_text,
    piece_advice,
    place,
    worth_continuing,
)
from headway.recovery.schema import check


def cut(arguments: str, *, tool: str = "write_file", call_id: str = "call_1", freeform: bool = False) -> CallFragment:
    return CallFragment(call_id, tool, arguments, freeform)


def continuation(arguments: str) -> CallFragment:
    return cut(arguments, tool=CONTINUE_DRAFT.name)


def test_a_draft_keeps_what_arrived_up_to_the_last_safe_place():
    draft = draft_of(cut('{"path": "a.txt", "content": "one\\ntwo \\ud83d'))
    assert draft is not None
    assert draft.arguments == '{"path": "a.txt", "content": "one\\ntwo '
    assert (draft.tool, draft.call_id) == ("write_file", "call_1")
    assert (draft.whole, draft.path, draft.offset, draft.tail) == (("path",), ("content",), 8, "one\ntwo ")
    assert draft.open_name == "content"
    assert open_text(draft) == "one\ntwo "


def test_a_draft_names_a_text_that_is_open_deep_inside():
    draft = draft_of(cut('{"edits": [{"old": "a"}, {"old": "b", "new_text": "to '))
    assert draft is not None
    assert draft.open_name == "edits[1].new_text"


@pytest.mark.parametrize(
    ("arguments", "kept", "whole"),
    [
        pytest.param('{"path": "a.txt", "con', '{"path": "a.txt"', ("path",), id="inside a key"),
        pytest.param('{"path": "a.txt", "n": 12', '{"path": "a.txt"', ("path",), id="inside a number"),
        pytest.param('{"path": "a.txt", "n": 12,', '{"path": "a.txt", "n": 12', ("path", "n"), id="after a number"),
        pytest.param('{"path": "a.txt"', '{"path": "a.txt"', ("path",), id="after a text"),
        pytest.param('{"path": "a.txt"} ', '{"path": "a.txt"', ("path",), id="whole, but nobody vouched for it"),
        pytest.param('{"todo": ["a", "b", ', '{"todo": ["a", "b"', (), id="inside a list"),
    ],
)
def test_a_draft_without_an_open_text_is_cut_back_to_the_last_whole_value(arguments, kept, whole):
    draft = draft_of(cut(arguments))
    assert draft is not None
    assert (draft.arguments, draft.whole, draft.path, draft.offset, draft.open_name) == (kept, whole, None, 0, "")


@pytest.mark.parametrize(
    "arguments", ["", "{", ' {"pa', '{"n": 1', "[1, 2", '{"a": "line\nbreak', '{"a": 1, "a": "x', "hm"]
)
def test_nothing_is_kept_of_a_call_that_said_nothing_or_was_never_json(arguments):
    assert draft_of(cut(arguments)) is None


def test_nothing_is_kept_of_a_call_without_a_name():
    assert draft_of(cut('{"path": "a"', tool="")) is None


def test_free_text_is_open_all_the_time():
    draft = draft_of(cut("*** Begin Patch\n" + "x" * 500 + "\ud83d", tool="apply_patch", freeform=True))
    assert draft is not None
    assert (draft.path, draft.offset, len(draft.tail), draft.open_name) == ((), 516, TAIL, "")
    assert draft.arguments.endswith("x")
    assert worth_continuing(draft, tool_refuses=False)
    assert draft_of(cut("", freeform=True)) is None


def test_the_id_is_short_and_depends_only_on_the_call():
    one, again = draft_of(cut('{"a": "x')), draft_of(cut('{"a": "x'))
    other, elsewhere = draft_of(cut('{"a": "y')), draft_of(cut('{"a": "x', call_id="call_2"))
    assert one == again
    assert len({one.id, other.id, elsewhere.id}) == 3
    assert len(one.id) == 9


def test_a_draft_survives_being_stored():
    draft = draft_of(cut('{"edits": [{"old": "é😀'))
    assert msgspec.json.decode(msgspec.json.encode(draft), type=Draft) == draft


SHORT, LONG = '{"path": "a.txt", "content": "' + "x" * 50, '{"path": "a.txt", "content": "' + "y" * 90
OTHER_FILE = '{"path": "b.txt", "content": "'


@pytest.mark.parametrize(
    ("before", "now", "kept"),
    [
        pytest.param(SHORT, LONG, LONG, id="the same call came further"),
        pytest.param(LONG, SHORT, LONG, id="the same call came less far"),
        pytest.param(LONG, '{"pa', LONG, id="nothing came"),
        pytest.param(SHORT, SHORT + '", "mo', SHORT + '"', id="the text became whole"),
        pytest.param(LONG, OTHER_FILE + "x", LONG, id="too little of another call"),
        pytest.param(LONG, OTHER_FILE + "x" * 99, OTHER_FILE + "x" * 99, id="more of another call"),
        pytest.param("x" * 20, "", "x" * 20, id="free text"),
    ],
)
def test_a_call_sent_again_replaces_its_draft_only_if_that_gains_ground(before, now, kept):
    freeform = not before.startswith("{")
    previous = draft_of(cut(before, freeform=freeform))
    draft = draft_of(cut(now, call_id="call_2", freeform=freeform), previous)
    assert draft.arguments == kept
    assert (draft.id == previous.id) == (kept == before)


def test_another_call_replaces_a_longer_draft_when_it_is_worth_it_itself():
    previous = draft_of(cut(OTHER_FILE + "x" * 5_000))
    other = draft_of(cut(LONG + "y" * WORTH_CONTINUING), previous)
    assert other.tail.endswith("y")
    assert draft_of(cut('{"command": "ls', tool="shell"), previous) is previous


def test_a_continuation_is_never_a_draft_of_its_own():
    draft = draft_of(cut(SHORT))
    assert draft_of(continuation('{"draft": "x", "rest": "abc'), draft) is draft
    assert draft_of(continuation('{"draft": "x", "rest": "abc')) is None
    assert extend(draft, cut(LONG)) is None


@pytest.mark.parametrize(
    ("arguments", "gained"),
    [
        pytest.param('{"draft": "%s", "offset": 50, "rest": "abc\\ud8', "abc", id="cut in the text"),
        pytest.param('{"draft": "%s", "offset": 50, "rest": "abc", "mo', "abc", id="cut after the text"),
        pytest.param('{"draft": "%s", "offset": 47, "rest": "xxxabc', "abc", id="a claimed repeat"),
        pytest.param('{"draft": "%s", "offset": 40, "rest": "xxx', "", id="still repeating"),
        pytest.param('{"rest": "abc', "abc", id="the text first"),
        pytest.param('{"rest": "xxx', "", id="the text first, and it may be a repeat"),
        pytest.param('{"draft": "%s", "offset": 60, "rest": "abc', "", id="a gap"),
        pytest.param('{"draft": "%s", "offset": 20, "rest": "abc', "", id="a contradiction"),
        pytest.param('{"draft": "d0", "offset": 50, "rest": "abc', "", id="another draft"),
        pytest.param('{"draft": "%s", "offset": 50, "rest": 5', "", id="no text"),
        pytest.param('{"draft": "%s", "offset": 50, "rest": "a\nb', "", id="no JSON"),
        pytest.param('{"draft": "%s", "off', "", id="nothing yet"),
        pytest.param("", "", id="nothing at all"),
    ],
)
def test_a_cut_continuation_extends_the_draft_by_what_is_surely_new(arguments, gained):
    draft = draft_of(cut(SHORT))
    extended = extend(draft, continuation(arguments.replace("%s", draft.id)))
    assert open_text(extended) == "x" * 50 + gained
    assert extended.offset == 50 + len(gained)
    assert extended.tail.endswith("x" + gained)
    assert extended.id == draft.id


def test_a_draft_whose_text_is_whole_is_not_extended():
    draft = draft_of(cut(SHORT + '", '))
    assert extend(draft, continuation('{"offset": 50, "rest": "abc')) == draft


@pytest.mark.parametrize(
    ("kept", "rest", "offset", "skip"),
    [
        pytest.param("x = 1\n" * 50, "x = 1\n" * 3, 300, 0, id="exact, even if it looks like a repeat"),
        pytest.param("x = 1\n" * 50, "x = 1\n" * 3, 294, 6, id="a claimed repeat of exactly that length"),
        pytest.param("x = 1\n" * 50, "x = 1\n" * 3, 295, None, id="a wrong count that nothing can put right"),
        pytest.param("the end of it\n", "end of  it\nand on", 4, 11, id="a claimed repeat with other space"),
        pytest.param("the end of it all", "the end of it all, truly", 9, 17, id="a wrong count, a clear repeat"),
        pytest.param("the end of it all", "the end of it all, truly", 99, 17, id="past the end, a clear repeat"),
        pytest.param("the end of it all", ", truly", 99, None, id="past the end"),
        pytest.param("the end of it all", ", truly", -5, None, id="before the beginning"),
        pytest.param("the end", "the", 0, None, id="less than there is"),
    ],
)
def test_an_exact_offset_decides_and_any_other_must_be_proved(kept, rest, offset, skip):
    assert place(kept, rest, offset, ended=True) == skip


def test_going_on_is_worth_it_when_writing_again_would_cost_more():
    text = draft_of(cut('{"path": "a", "content": "' + "x" * WORTH_CONTINUING))
    before_mode = draft_of(cut('{"path": "a", "content": "' + "x" * WORTH_CONTINUING + '", "mo'))
    little = draft_of(cut('{"path": "a", "content": "xxx'))
    assert worth_continuing(text, tool_refuses=False)
    assert worth_continuing(before_mode, tool_refuses=False)
    assert not worth_continuing(little, tool_refuses=False)
    assert worth_continuing(little, tool_refuses=False, minimum=10)
    assert not worth_continuing(text, tool_refuses=True)


def test_what_is_told_about_a_draft_is_short():
    draft = draft_of(cut(json.dumps({"path": "a.txt", "old": "z" * 500, "new": "y" * 900})[:-50]))
    facts = describe(draft)
    assert [name for name, _ in facts.fields] == ["path", "old"]
    assert facts.fields[0][1] == '"a.txt"'
    assert len(facts.fields[1][1]) < 100
    assert (facts.tool, facts.open_name, facts.offset) == ("write_file", "new", draft.offset)
    assert (facts.received, facts.tail) == (len(draft.arguments), "y" * TAIL)
    assert describe(draft_of(cut("free", freeform=True))).fields == ()


def test_the_tool_that_continues_a_draft_describes_itself():
    call = {"draft": "d1234", "offset": 3, "rest": "x", "more": {"mode": "w"}, "last": False}
    assert check(CONTINUE_DRAFT.parameters, call) == []
    assert check(CONTINUE_DRAFT.parameters, {"rest": "x"}) == ["`draft` is missing", "`offset` is missing"]


@pytest.mark.parametrize(
    ("survived", "cut_at", "advice"),
    [
        pytest.param([], [], None, id="nothing is known"),
        pytest.param([3_000, 5_000], [], 5_000, id="the largest that survived"),
        pytest.param([], [8_000], 6_000, id="below the cut"),
        pytest.param([5_000], [8_000], 6_000, id="more came through than survived"),
        pytest.param([7_000], [8_000], 7_000, id="more survived than the margin allows"),
        pytest.param([50_000], [100], 50_000, id="one early accident"),
        pytest.param([50_000], [8_000, 9_000, 10_000], 6_750, id="cuts that outweigh one lucky survivor"),
        pytest.param([], [20_000, 8_000], 6_000, id="the smallest of the cuts"),
        pytest.param([], [1], None, id="a cut at once"),
        pytest.param([0], [0], None, id="empty calls"),
    ],
)
def test_the_size_of_a_piece_is_measured(survived, cut_at, advice):
    assert piece_advice(survived, cut_at) == advice


sizes = st.lists(st.integers(0, 10_000), max_size=6)


@given(sizes, sizes, st.integers(0, 10_000), st.integers(0, 10_000))
@example([], [5], 6, 7)
def test_more_survivors_never_lower_the_advice_and_earlier_cuts_never_raise_it(survived, cut_at, size, smaller):
    advice = piece_advice(survived, cut_at) or 0
    assert (piece_advice([*survived, size], cut_at) or 0) >= advice
    assert advice <= max([*survived, *cut_at], default=0)
    late, early = [*cut_at, max(size, smaller)], [*cut_at, min(size, smaller)]
    assert (piece_advice(survived, early) or 0) <= (piece_advice(survived, late) or 0)
    if cut_at and not survived:
        assert advice < max(1, min(cut_at))
