"""A call cut anywhere and gone on from is the call that was meant: every cut, repeat, wrong count and second cut."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.messages import CallFragment
from headway.recovery.drafts import Draft, draft_of, extend, open_text, reader_of
from headway.recovery.joining import Joined, Refused, StillOpen, join
from headway.sim.filler import text_of

CHAPTER = (
    "It was late when Zoë came home — the café was shut.\n\n\t“Qui est là?” she asked.  Nobody answered 😀; only\n"
    'the wind said "no" to \\ and / and é (e\u0301). Then, at 23:59, the seventh lamp went out!\r\n  All dark\u2028.'
)
CALLS = {
    "the long text last": {"path": "notes/a.txt", "content": CHAPTER},
    "the long text first": {"content": CHAPTER, "path": "notes/a.txt", "mode": "w", "size": 12345678901234567890},
    "several long texts": {"old": CHAPTER[:90], "flag": True, "new": CHAPTER, "note": "", "n": [1, -2.5e10, 0]},
    "deep inside": {
        "edits": [{"old": "a\nb", "new": "x"}, {}, {"old": "é", "new": CHAPTER[:120], "all": False}, {"old": "y"}],
        "meta": {"tags": [["one", "two"], [], ["three"]], "by": {"name": "Zoë 😀", "id": 7}},
        "last": None,
    },
    "a list of texts": {"lines": ["first line", "second 😀 line", "", "third"], "mode": "a"},
    "patterns": {"content": "x = 1\n" * 12 + "ab" * 10 + " " * 12 + "-" * 20},
    "strange names": {"": {"a b": "text"}, "ключ": "значение", 'qu"ote': [{"\\": "back\\slash"}]},
}


def escaped(value: object) -> str:
    """Write JSON with every escape there is: codes for all that is not ASCII, pairs for emoji, and a solidus."""
    return json.dumps(value).replace("/", "\\/")


WRITINGS = {
    "compact": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "escaped": escaped,
    "indented": lambda value: json.dumps(value, ensure_ascii=False, indent=2),
}
TEXTS = [
    pytest.param(call, write(call), id=f"{name}, {form}")
    for name, call in CALLS.items()
    for form, write in WRITINGS.items()
]


def cut_at(text: str, cut: int) -> Draft | None:
    return draft_of(CallFragment("call_1", "write_file", text[:cut]))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def remaining(received, whole, path):
    """Return what a model would put in `more`: all that has not arrived, shaped like the arguments."""
    inner = {}
    if path and isinstance(at(received, path[:1]), dict | list):
        inner = remaining(received[path[0]], whole[path[0]], path[1:])
    if isinstance(whole, dict):
        more = {name: member for name, member in whole.items() if name not in received}
        return {**({path[0]: inner} if inner else {}), **more}
    further = whole[len(received) :]
    if not inner and further and received[:1] != further[:1]:
        return further
    more = {str(index): whole[index] for index in range(len(received), len(whole))}
    return {**({str(path[0]): inner} if inner else {}), **more}


def what_follows(draft: Draft, call: dict):
    """Return the true rest of the open text, and the true fields after it."""
    reader = reader_of(draft.arguments)
    received = json.loads(draft.arguments + reader.closers)
    rest = at(call, draft.path)[draft.offset :] if draft.path is not None else ""
    return rest, remaining(received, call, reader.open_path)


def is_call(result, call: dict) -> bool:
    return isinstance(result, Joined) and json.loads(result.arguments) == call


@pytest.mark.parametrize(("call", "text"), TEXTS)
def test_every_cut_gone_on_from_is_the_call_that_was_meant(call, text):
    drafts = 0
    for cut in range(len(text) + 1):
        draft = cut_at(text, cut)
        if draft is None:
            assert cut < 40
            continue
        drafts += 1
        assert text.startswith(draft.arguments)
        rest, more = what_follows(draft, call)
        result = join(draft, rest, offset=draft.offset, more=more)
        assert is_call(result, call), (cut, result)
        assert result.arguments.startswith(draft.arguments)
        for again in (1, 7, 60, 200):
            repeated = open_text(draft)[-again:] + rest if draft.path is not None else rest
            result = join(draft, repeated, offset=max(0, draft.offset - again), more=more)
            assert is_call(result, call), (cut, again, result)
    assert drafts > len(text) // 2


@pytest.mark.parametrize("call", [CALLS["the long text last"], CALLS["several long texts"]])
def test_a_wrong_count_with_a_repeat_that_cannot_be_mistaken_is_put_right(call):
    text = json.dumps(call)
    joined = tried = 0
    for cut in range(0, len(text), 2):
        draft = cut_at(text, cut)
        if draft is None or draft.offset < 60:
            continue
        rest, more = what_follows(draft, call)
        for error in (-9, -3, -1, 1, 2, 5, 50):
            result = join(draft, open_text(draft)[-40:] + rest, offset=draft.offset - 40 + error, more=more)
            assert is_call(result, call) or isinstance(result, Refused), (cut, error, result)
            joined, tried = joined + is_call(result, call), tried + 1
    assert joined == tried > 500


@pytest.mark.parametrize("again", [60, 200])
def test_lines_said_again_are_removed_although_the_model_copies_the_offset_it_was_told(again):
    call = {"path": "notes/a.txt", "content": text_of(2_000)}
    text = json.dumps(call)
    for cut in range(again + 100, len(text), 7):
        draft = cut_at(text, cut)
        rest, more = what_follows(draft, call)
        repeated = open_text(draft)[-again:] + rest
        assert is_call(join(draft, repeated, offset=draft.offset, more=more), call), cut
        arguments = json.dumps({"draft": draft.id, "offset": draft.offset, "rest": repeated})
        for end in range(40, len(arguments), 11):
            extended = extend(draft, CallFragment("c", "continue_draft", arguments[:end]))
            assert call["content"].startswith(open_text(extended)), (cut, end)


def test_a_line_that_really_stands_there_again_and_again_stays_where_the_offset_says_so():
    line = "<tr><td>nothing</td><td>nothing</td><td>nothing</td><td>nothing at all</td></tr>\n"
    call = {"content": line * 12}
    text = json.dumps(call)
    for cut in range(3 * len(line), len(text)):
        draft = cut_at(text, cut)
        rest, more = what_follows(draft, call)
        assert is_call(join(draft, rest, offset=draft.offset, more=more), call), cut


def test_a_wrong_count_in_a_text_that_repeats_itself_is_never_guessed():
    call = {"content": "x = 1\n" * 60}
    text = json.dumps(call)
    for cut in range(100, len(text), 3):
        draft = cut_at(text, cut)
        rest, _ = what_follows(draft, call)
        for offset in (draft.offset + 1, draft.offset + 100, draft.offset - 3, draft.offset - 7):
            assert isinstance(join(draft, "y = " + rest, offset=offset), Refused)


@pytest.mark.parametrize(
    "order", [("draft", "offset", "rest"), ("rest", "offset", "draft"), ("offset", "rest", "draft")]
)
@pytest.mark.parametrize("again", [0, 40])
def test_a_continuation_cut_anywhere_gains_ground_and_loses_none(order, again):
    call = CALLS["the long text first"]
    draft = cut_at(json.dumps(call), 120)
    rest, _ = what_follows(draft, call)
    given = {"draft": draft.id, "offset": draft.offset - again, "rest": open_text(draft)[-again:] * (again > 0) + rest}
    arguments = json.dumps({name: given[name] for name in order})
    longest = draft.offset
    for cut in range(len(arguments) + 1):
        extended = extend(draft, CallFragment("c", "continue_draft", arguments[:cut]))
        assert at(call, draft.path).startswith(open_text(extended))
        assert extended.arguments.startswith(draft.arguments)
        assert (extended.id, extended.path, extended.whole) == (draft.id, draft.path, draft.whole)
        assert extended.offset == len(open_text(extended))
        longest = max(longest, extended.offset)
        tail, more = what_follows(extended, call)
        assert is_call(join(extended, tail, offset=extended.offset, more=more), call)
    assert longest == len(at(call, draft.path))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
calls = st.dictionaries(st.text(max_size=5), json_values, min_size=1, max_size=4)


@given(calls, st.sampled_from(list(WRITINGS.values())), st.data())
def test_any_call_cut_anywhere_with_any_repeat_is_the_call_that_was_meant(call, write, data):
    text = write(call)
    draft = cut_at(text, data.draw(st.integers(0, len(text))))
    if draft is None:
        return
    rest, more = what_follows(draft, call)
    again = data.draw(st.integers(0, draft.offset))
    repeated = open_text(draft)[draft.offset - again :] + rest
    assert is_call(join(draft, repeated, offset=draft.offset - again, more=more), call)


@given(st.text(min_size=1, max_size=300), st.lists(st.integers(0, 400), max_size=6))
def test_a_text_that_is_cut_again_and_again_comes_out_to_the_letter(content, cuts):
    call = {"path": "a", "content": content}
    text = json.dumps(call)
    draft = cut_at(text, text.index(': "', 12) + 3 + min(cuts[0] if cuts else 0, len(text) - 29))
    for cut in cuts[1:]:
        rest = json.dumps({"draft": draft.id, "offset": draft.offset, "rest": content[draft.offset :]})
        before = draft
        draft = extend(draft, CallFragment("c", "continue_draft", rest[:cut]))
        assert draft.offset >= before.offset
    assert is_call(join(draft, content[draft.offset :], offset=draft.offset), call)


@given(st.text(max_size=120), st.lists(st.integers(1, 30), max_size=8))
def test_a_text_sent_in_pieces_comes_out_to_the_letter(content, sizes):
    draft = draft_of(CallFragment("c", "write_file", '{"path": "a", "content": "'))
    for size in sizes:
        result = join(draft, content[draft.offset : draft.offset + size], offset=draft.offset, last=False)
        assert isinstance(result, StillOpen)
        draft = result.draft
    result = join(draft, content[draft.offset :], offset=draft.offset)
    assert is_call(result, {"path": "a", "content": content})
