"""Calls that are shown while they grow: never further than a draft keeps, and never one that cannot be finished."""

from hypothesis import given
from hypothesis import strategies as st

from headway.events import CallArguments, CallClosed, CallOpened
from headway.gateway.live_calls import LiveCalls
from headway.messages import CallFragment, ToolCall
from headway.recovery.drafts import draft_of
from support.streams import arguments

OPENED = CallOpened(0, "call_1", "write")


def shown(calls: LiveCalls, *events) -> str:
    """Let events come; return the arguments that a client gets of them."""
    told = []
    for event in events:
        calls.take(event)
        told += calls.safe_part(event)
    return "".join(event.text for event in told if isinstance(event, CallArguments))


def grown(text: str, *pieces: str) -> tuple[LiveCalls, str]:
    calls = LiveCalls()
    return calls, shown(calls, OPENED, *(CallArguments(0, piece) for piece in (text, *pieces)))


def texts(events) -> str:
    return "".join(event.text for event in events if isinstance(event, CallArguments))


def test_a_text_is_shown_as_it_comes():
    assert grown('{"path": "a', ".txt")[1] == '{"path": "a.txt'


def test_half_an_escape_waits_for_its_other_half():
    calls, text = grown('{"a": "x\\u00')
    assert text == '{"a": "x'
    assert shown(calls, CallArguments(0, 'e9y"')) == '\\u00e9y"'


def test_the_end_of_an_object_waits_until_the_wire_vouches_for_the_call():
    calls, text = grown('{"a": "x"}')
    assert text == '{"a": "x"', "a draft of it could still go on"
    assert shown(calls, CallClosed(0)) == "}"
    assert calls.is_safe


def test_free_text_is_shown_as_it_comes():
    calls = LiveCalls()
    opened = CallOpened(0, "call_1", "patch", freeform=True)
    assert shown(calls, opened, CallArguments(0, "*** Begin\\"), CallClosed(0)) == "*** Begin\\"
    assert not calls.spoiled


def test_after_a_call_that_is_closed_and_not_whole_nothing_more_is_shown():
    calls, _ = grown('{"a": "x')
    assert shown(calls, CallClosed(0)) == ""
    assert calls.spoiled
    assert shown(calls, CallOpened(1, "call_2", "other"), CallArguments(1, '{"b": "y')) == ""


def test_arguments_that_cannot_be_read_are_shown_only_as_far_as_they_can():
    calls, text = grown('{"a": "x"', " nonsense")
    assert calls.spoiled
    assert text == '{"a": "x"'


def test_what_belongs_to_nobody_is_not_shown():
    calls = LiveCalls()
    assert shown(calls, CallArguments(3, '{"a": "x')) == ""
    assert calls.spoiled


def test_a_call_is_unsafe_until_all_that_came_of_every_call_is():
    calls = LiveCalls()
    for event in (
        OPENED,
        CallArguments(0, '{"a": "\\'),
        CallOpened(1, "call_2", "other"),
        CallArguments(1, '{"b": "y'),
    ):
        calls.take(event)
    assert not calls.is_safe, "the first one stops inside of an escape"
    calls.take(CallArguments(0, "n"))
    assert calls.is_safe


def test_what_is_missing_is_told_once_the_call_is_whole():
    calls, _ = grown('{"a": "x')
    rest = calls.rest_of([ToolCall("other_id", "write", '{"a": "xyz"}')])
    assert rest == [CallArguments(0, 'yz"}'), CallClosed(0)]


def test_a_reply_that_does_not_begin_with_what_was_shown_cannot_be_told():
    calls, _ = grown('{"a": "x')
    assert calls.rest_of([ToolCall("i", "write", '{"a": "other"}')]) is None
    assert calls.rest_of([ToolCall("i", "another_tool", '{"a": "xyz"}')]) is None
    assert calls.rest_of([]) is None


def test_a_call_that_was_shown_whole_is_not_told_again_and_stays_what_it_was():
    calls, _ = grown('{"a": "x"}')
    shown(calls, CallClosed(0))
    assert calls.rest_of([ToolCall("i", "write", '{"a": "x"}')]) == []
    assert calls.rest_of([ToolCall("i", "write", '{"a": "x", "b": 1}')]) is None


def test_calls_that_nobody_saw_are_forgotten_with_their_attempt():
    calls = LiveCalls()
    calls.take(OPENED)
    assert (calls.shown, calls.open_call) == (0, None)
    calls.forget_unseen()
    assert calls.rest_of([]) == []


@given(whole=arguments, data=st.data())
def test_whatever_a_call_is_and_however_it_comes_what_is_shown_is_what_a_draft_keeps(whole, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=6)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    calls = LiveCalls()
    text = shown(calls, OPENED)
    for at in range(len(pieces)):
        text += shown(calls, CallArguments(0, pieces[at]))
        draft = draft_of(CallFragment("call_1", "write", "".join(pieces[: at + 1])))
        assert draft is None or draft.arguments.startswith(text)
        rest = calls.rest_of([ToolCall("i", "write", whole)])
        assert text + texts(rest) == whole
    text += shown(calls, CallClosed(0))
    assert text == whole
