"""Joining: a draft and its continuation make one whole call, or an answer that says what to do and loses nothing."""

import json
from itertools import pairwise

import pytest

from headway.messages import CallFragment, ToolCall
from headway.recovery.drafts import Draft, draft_of, open_text
from headway.recovery.joining import Incomplete, Joined, Misfit, Refused, StillOpen, Unfit, join, join_call

WRITE = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "content": {"type": "string"}, "mode": {"enum": ["w", "a"]}},
    "required": ["path", "content", "mode"],
}


def draft(arguments: str, *, freeform: bool = False) -> Draft:
    found = draft_of(CallFragment("call_1", "write_file", arguments, freeform))
    assert found is not None
    return found


def continued(of: Draft, **given: object) -> ToolCall:
    return ToolCall("call_2", "continue_draft", json.dumps({"draft": of.id, **given}))


def test_the_bytes_that_arrived_stay_as_they_came():
    cut = draft('{ "path" : "a\\u002etxt",\n  "content": "caf\\u00e9 \\ud83d\\ude00')
    result = join(cut, '!\n"é"', offset=6, more={"mode": "w"}, parameters=WRITE)
    assert result == Joined("write_file", "call_1", cut.arguments + '!\\n\\"é\\""' + ',"mode":"w"}')
    assert json.loads(result.arguments) == {"path": "a.txt", "content": 'café 😀!\n"é"', "mode": "w"}


def test_a_call_that_was_whole_but_for_its_end_needs_nothing_more():
    cut = draft('{"path": "a", "content": "b", "mode": "w"}')
    assert join(cut, "", offset=0, parameters=WRITE) == Joined("write_file", "call_1", cut.arguments + "}")


def test_free_text_is_joined_as_it_is():
    cut = draft('*** Begin "Patch"\n', freeform=True)
    assert join(cut, "+x\n", offset=cut.offset) == Joined(
        "write_file", "call_1", '*** Begin "Patch"\n+x\n', freeform=True
    )


def test_a_piece_that_is_not_the_last_extends_the_draft():
    cut = draft('{"path": "a", "content": "one ')
    result = join(cut, "two ", offset=4, more={"mode": "w"}, last=False)
    assert isinstance(result, StillOpen)
    assert open_text(result.draft) == "one two "
    assert (result.draft.id, result.draft.offset) == (cut.id, 8)
    assert result.problem == "", "nothing is wrong with a piece"


def test_missing_fields_are_named_and_can_be_given_next():
    cut = draft('{"path": "a", "content": "one ')
    result = join(cut, "two", offset=4, parameters=WRITE)
    assert isinstance(result, Incomplete)
    assert result.missing == ("mode",)
    assert "`mode`" in result.problem
    assert (result.draft.whole, result.draft.path, result.draft.id) == (("path", "content"), None, cut.id)
    final = join(result.draft, "", offset=7, more={"mode": "a"}, parameters=WRITE)
    assert json.loads(final.arguments) == {"path": "a", "content": "one two", "mode": "a"}


def test_fields_that_were_given_are_kept_while_others_are_missing():
    first = join(draft('{"content": "on'), "e", offset=2, more={"mode": "w"}, parameters=WRITE)
    assert isinstance(first, Incomplete)
    assert first.draft.whole == ("content", "mode")
    assert first.missing == ("path",)


def test_fields_that_the_tool_does_not_take_are_said_and_the_text_is_kept():
    cut = draft('{"path": "a", "content": "one ')
    result = join(cut, "two", offset=4, more={"mode": "x"}, parameters=WRITE)
    assert isinstance(result, Unfit)
    assert result.problems == ('`mode` must be one of "w", "a", not "x"',)
    assert "`write_file`" in result.problem
    assert open_text(result.draft) == "one two"
    assert isinstance(join(result.draft, "", offset=7, more={"mode": "w"}, parameters=WRITE), Joined)


@pytest.mark.parametrize(
    ("rest", "offset", "misfit"),
    [
        pytest.param("more", 50, Misfit.GAP, id="a gap"),
        pytest.param("more", 3, Misfit.CONTRADICTION, id="a repeat that is none"),
        pytest.param("one", 0, Misfit.CONTRADICTION, id="a text that ends before what arrived"),
        pytest.param("", 0, Misfit.CONTRADICTION, id="no text where some has arrived"),
        pytest.param("\ud83d", 19, Misfit.UNREADABLE, id="half a character"),
    ],
)
def test_a_rest_that_does_not_fit_is_refused_with_where_to_go_on(rest, offset, misfit):
    cut = draft('{"path": "a", "content": "one two three four ')
    result = join(cut, rest, offset=offset)
    assert isinstance(result, Refused)
    assert result.misfit is misfit
    assert result.problem.endswith(".")
    assert (result.draft, result.draft.offset, result.draft.tail) == (cut, 19, "one two three four ")


def test_text_for_a_draft_without_open_text_is_refused():
    result = join(draft('{"path": "a", "con'), "words", offset=0)
    assert isinstance(result, Refused)
    assert result.misfit is Misfit.NO_OPEN_TEXT


EDITS = '{"edits": [{"old": "a", "new": "b"}, {"old": "c", "new": "d'


@pytest.mark.parametrize(
    ("more", "edits"),
    [
        pytest.param({}, [{"old": "a", "new": "b"}, {"old": "c", "new": "de"}], id="nothing"),
        pytest.param(
            {"edits": {"1": {"all": True}, "2": {"old": "x"}}},
            [{"old": "a", "new": "b"}, {"old": "c", "new": "de", "all": True}, {"old": "x"}],
            id="by index",
        ),
        pytest.param(
            {"edits": [{"old": "x"}]},
            [{"old": "a", "new": "b"}, {"old": "c", "new": "de"}, {"old": "x"}],
            id="further elements",
        ),
        pytest.param(
            {"edits": {"0": {"old": "a", "new": "b"}, "1": {"old": "c", "new": "de"}}},
            [{"old": "a", "new": "b"}, {"old": "c", "new": "de"}],
            id="what has arrived, again",
        ),
    ],
)
def test_what_is_missing_inside_lists_and_objects_is_put_where_it_belongs(more, edits):
    result = join(draft(EDITS), "e", offset=1, more=more)
    assert isinstance(result, Joined)
    assert json.loads(result.arguments) == {"edits": edits}


@pytest.mark.parametrize(
    "more",
    [
        pytest.param({"edits": {"0": {"old": "other"}}}, id="a whole element, changed"),
        pytest.param({"edits": {"1": {"old": "other"}}}, id="a whole field of the open element, changed"),
        pytest.param({"edits": {"1": {"new": "other"}}}, id="the open text, changed"),
        pytest.param({"edits": {"3": {"old": "x"}}}, id="an element left out"),
        pytest.param({"edits": {"2": 1, "02": 2}}, id="an element twice"),
        pytest.param({"edits": {"next": 1}}, id="no index"),
        pytest.param({"edits": "text"}, id="no list"),
        pytest.param({"edits": {"1": [1]}}, id="no object"),
        pytest.param({"edits": [{"old": "a", "new": "b"}, {"old": "c"}]}, id="all again, or more of the same"),
    ],
)
def test_fields_that_contradict_what_arrived_are_refused_and_the_text_is_kept(more):
    result = join(draft(EDITS), "e", offset=1, more=more)
    assert isinstance(result, Refused)
    assert result.misfit is Misfit.FIELD_CONFLICT
    assert "`edits" in result.problem
    assert open_text(result.draft) == "de"


def test_a_field_that_arrived_may_be_said_again_but_not_changed():
    cut = draft('{"path": "a", "content": "b')
    assert isinstance(join(cut, "c", offset=1, more={"path": "a", "content": "bc"}), Joined)
    assert isinstance(join(cut, "c", offset=1, more={"path": "b"}), Refused)


def test_fields_that_cannot_be_written_are_refused_and_the_text_is_kept():
    deep: list = []
    for _ in range(3_000):
        deep = [deep]
    result = join(draft('{"path": "a", "content": "b'), "c", offset=1, more={"mode": deep})
    assert isinstance(result, Refused)
    assert result.misfit is Misfit.UNREADABLE
    assert open_text(result.draft) == "bc"


def test_a_whole_continue_draft_call_is_joined():
    cut = draft('{"path": "a", "content": "one ')
    result = join_call(cut, continued(cut, offset=4, rest="two", more={"mode": "w"}), WRITE)
    assert json.loads(result.arguments) == {"path": "a", "content": "one two", "mode": "w"}
    assert isinstance(join_call(cut, continued(cut, offset=4, rest="two", last=False), WRITE), StillOpen)


def test_small_slips_in_a_continue_draft_call_have_one_reading():
    cut = draft('{"path": "a", "content": "one ')
    result = join_call(cut, continued(cut, offset="4", rest="two", more='{"mode": "w"}'), WRITE)
    assert isinstance(result, Joined)
    assert isinstance(join_call(cut, continued(cut, rest="two", more=None)), Joined)


@pytest.mark.parametrize(
    ("given", "misfit"),
    [
        pytest.param({"draft": "d0", "offset": 4, "rest": "x"}, Misfit.OTHER_DRAFT, id="another draft"),
        pytest.param({"offset": 4, "rest": 5}, Misfit.UNREADABLE, id="no text"),
        pytest.param({"offset": True, "rest": "x"}, Misfit.UNREADABLE, id="no number"),
        pytest.param({"offset": 4, "rest": "x", "more": [1]}, Misfit.UNREADABLE, id="no object"),
        pytest.param({"offset": 4, "rest": "x", "more": "{"}, Misfit.UNREADABLE, id="half an object"),
    ],
)
def test_a_continue_draft_call_that_cannot_be_read_is_refused(given, misfit):
    cut = draft('{"path": "a", "content": "one ')
    result = join_call(cut, continued(cut, **given))
    assert isinstance(result, Refused)
    assert (result.misfit, result.draft) == (misfit, cut)


def test_a_call_is_completed_over_many_cuts_in_one_line_of_ground():
    content = "".join(f'line {number}: häßlich 😀 \\ "quoted"\n' for number in range(200))
    text = json.dumps({"path": "a", "content": content, "mode": "w"})
    at = draft(text[:700])
    offsets = [at.offset]
    while at.offset < len(content):
        piece = content[at.offset : at.offset + 333]
        at = join(at, piece, offset=at.offset, last=False).draft
        offsets.append(at.offset)
    assert all(before < after for before, after in pairwise(offsets))
    result = join(at, "", offset=at.offset, more={"mode": "w"}, parameters=WRITE)
    assert json.loads(result.arguments) == json.loads(text)
