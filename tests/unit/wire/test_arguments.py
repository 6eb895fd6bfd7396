"""The argument reader: what it knows at every character, and that it is exactly as strict as the strict parser."""

import json
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from headway.wire.arguments import MAX_DEPTH, ArgumentReader, State, string_content
from headway.wire.json_text import BadJson, decode, is_whole_object

CALLS = [
    "{}",
    ' {\n\t"a" : 1 ,\r\n "b":[ ] }',
    '{"path": "a.txt", "content": "one\\ntwo\\t\\"three\\" \\\\ \\/ \\b\\f\\r", "mode": "w"}',
    '{"text": "\\u00e9\\u00E9 é \\ud83d\\ude00\\uD83D\\uDE00 😀 e\u0301 \\u0000 \\ud7ff\\ue000\\uffff"}',
    '{"edits": [{"old": "a", "new": "b\\n"}, {"old": "", "new": ["x", ["y\\u00e9"]]}, 3], "all": true}',
    '{"n": [0, -0, 12, -1.5, 1e5, 1E+05, 2.5e-3, 123456789012345678901234567890], "t": [true, false, null]}',
    '{"ключ \\ud83d\\ude00": {"": {"a": {}}}, "deep": [[[["x"]]]], "empty": ""}',
    json.dumps({"a": "\\" * 7, "b": '"' * 5, "c": "\\u12", "d": "\\n"}),
]
WRONG = {
    "no object": ["[]", '"x"', "1", "\ufeff{}", "\xa0{}", "x"],
    "structure": ['{"a"}', '{"a":}', '{"a":1,}', "{,}", '{"a" 1}', '{"a":1 "b":2}', '{"a":[1,]}', '{"a":[,]}', "{]"],
    "trailing": ["{}x", "{}{}", "{},", "{}\x0c", '{"a":1}\x00'],
    "keys": ['{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"x":{"a":1,"a":2}}', "{a:1}", "{1:1}", "{'a':1}"],
    "numbers": ['{"a":01}', '{"a":1.}', '{"a":.5}', '{"a":-}', '{"a":1e}', '{"a":+1}', '{"a":1e999}', '{"a":1-2}'],
    "literals": ['{"a":NaN}', '{"a":Infinity}', '{"a":-Infinity}', '{"a":tru}', '{"a":truex}', '{"a":None}'],
    "strings": ['{"a":"\n"}', '{"a":"\x00"}', '{"\t":1}', '{"a":"\\x"}', '{"a":"\\u1g"}', '{"a":"\\u1"}'],
    "surrogates": [
        '{"a":"\\ud83d"}', '{"a":"\\ude00"}', '{"a":"\\ud83d\\u0041"}', '{"a":"\\ud83dx"}', '{"a":"\\ud83d\\n"}',
        '{"a":"\\ud83d\\ud83d\\ude00"}', '{"a":"\ud83d\ude00"}', '{"a":"\ud83d"}', '{"\ude00":1}',
    ],
}  # fmt: skip
json_ish = st.text(st.sampled_from('{}[]":, \n\\u00e9d83dtruefalsenull-+.eE019aNx\x01é😀\ud83d'), max_size=30)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
objects = st.builds(
    lambda value, ascii_only, indent: json.dumps(value, ensure_ascii=ascii_only, indent=indent),
    st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=5), values, max_size=4),
    st.booleans(),
    st.sampled_from([None, 2]),
).filter(is_whole_object)


def read(text: str, *cuts: int) -> ArgumentReader:
    reader = ArgumentReader()
    edges = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in pairwise(edges):
        reader.feed(text[start:end])
    return reader


@pytest.mark.parametrize("text", CALLS)
def test_a_whole_object_is_whole_in_any_split_and_never_before_its_last_brace(text):
    body = text.rstrip()
    slowly = ArgumentReader()
    for at, character in enumerate(body):
        assert slowly.state is (State.OPEN if body[:at].strip() else State.EMPTY)
        slowly.feed(character)
    assert slowly.state is State.WHOLE
    for cut in range(len(text) + 1):
        reader = read(text, cut)
        assert reader.state is State.WHOLE
        assert reader.text == text
        assert reader.whole_values() == json.loads(text)
        assert {name: decode(text[slice(*span)]) for name, span in reader.whole_fields.items()} == json.loads(text)


@pytest.mark.parametrize("text", [text for group in WRONG.values() for text in group])
def test_what_the_strict_parser_refuses_is_broken_with_a_place_and_a_reason(text):
    assert not is_whole_object(text)
    reader = read(text)
    if reader.state is not State.BROKEN:  # an unfinished one breaks as soon as it is closed
        assert reader.state is State.OPEN
        reader.feed('"}')
    assert reader.broken is not None
    assert 0 <= reader.broken.at <= len(text)
    assert reader.broken.why
    reader.feed('{"a": "more"}')
    assert reader.state is State.BROKEN
    assert not reader.text_is_open
    assert reader.safe_cut <= reader.broken.at


@given(json_ish | objects, st.lists(st.integers(0, 60), max_size=4))
@example('{"a":"\\ud83d\\ude00"}', [8, 10, 12, 14])
@example('{"a":true}', [6, 7, 8])
@example('{"a":' + "9" * 4300 + "}", [])
@example('{"a":' + "9" * 4301 + "}", [])
def test_the_reader_and_the_strict_parser_agree_on_every_text_in_every_split(text, cuts):
    reader = read(text, *cuts)
    assert (reader.state is State.WHOLE) == is_whole_object(text)
    assert reader.text == text


@given(objects, st.lists(st.integers(0, 200), max_size=3))
def test_no_prefix_of_an_object_is_whole_or_broken_and_its_safe_cut_closes_into_an_object(text, cuts):
    for end in range(len(text)):
        reader = read(text[:end], *cuts)
        assert reader.state is (State.OPEN if text[:end].strip() else State.EMPTY)
        if reader.state is State.OPEN:
            assert is_whole_object(text[: reader.safe_cut] + reader.closers)


@pytest.mark.parametrize("text", CALLS)
def test_the_open_string_its_path_and_its_length_are_right_at_every_cut(text):
    original = json.loads(text)
    for end in range(len(text)):
        reader = read(text[:end], end // 2)
        kept = text[: reader.safe_cut]
        again = ArgumentReader(kept)
        if not again.text_is_open:
            again.feed(" ")  # a number at the end of what was kept does not go on
        assert again.safe_cut == reader.safe_cut  # cutting twice cuts nothing more
        assert (again.open_path, again.open_text(), again.closers) == (
            reader.open_path, reader.open_text(), reader.closers,
        )  # fmt: skip
        if reader.text_is_open:
            value = original
            for step in reader.open_path:
                value = value[step]
            assert value.startswith(reader.open_text())
            assert reader.open_length == len(reader.open_text())
        else:
            assert reader.open_length == 0


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        pytest.param("", "", id="nothing"),
        pytest.param('{"pa', "{", id="inside a key"),
        pytest.param('{"path": ', "{", id="before a value"),
        pytest.param('{"n": 12', "{", id="inside a number that could go on"),
        pytest.param('{"n": 12 ', '{"n": 12', id="after a number that cannot go on"),
        pytest.param('{"n": tru', "{", id="inside a literal"),
        pytest.param('{"n": true', '{"n": true', id="after a literal"),
        pytest.param('{"a": "x", ', '{"a": "x"', id="after a comma"),
        pytest.param('{"a": "x\\', '{"a": "x', id="inside an escape"),
        pytest.param('{"a": "x\\\\', '{"a": "x\\\\', id="after an escaped backslash"),
        pytest.param('{"a": "x\\u00e', '{"a": "x', id="inside a code"),
        pytest.param('{"a": "x\\ud83d', '{"a": "x', id="between surrogates"),
        pytest.param('{"a": "x\\ud83d\\ude0', '{"a": "x', id="inside the second surrogate"),
        pytest.param('{"a": "x\\ud83d\\ude00', '{"a": "x\\ud83d\\ude00', id="after a pair"),
        pytest.param('{"a": "\ud83d', '{"a": "', id="half a pair as a character"),
        pytest.param('{"a": [1, {"b": [', '{"a": [1, {"b": [', id="after a bracket"),
        pytest.param('{"a": [1, {"b"', '{"a": [1, {', id="after a key"),
    ],
)
def test_the_safe_cut_is_never_inside_what_could_go_on(text, safe):
    assert text[: ArgumentReader(text).safe_cut] == safe


def test_the_path_leads_through_objects_and_lists_to_the_open_string():
    reader = ArgumentReader('{"edits": [{"old": "a"}, {}, {"old": "b", "new_text": "to b')
    assert reader.open_path == ("edits", 2, "new_text")
    assert reader.closers == '"}]}'
    reader.feed('e", "x": ')
    assert reader.open_path == ("edits", 2)
    assert list(reader.whole_fields) == []
    reader.feed('1}], "mode": "')
    assert reader.open_path == ("mode",)
    assert list(reader.whole_fields) == ["edits"]


def test_open_text_can_be_followed_by_what_is_new_since_an_earlier_safe_cut():
    text = '{"a": "' + json.dumps('tab\t quote" back\\slash é😀 ' * 300)[1:-1]
    reader, seen, followed = ArgumentReader(), 0, ""
    for at in range(0, len(text), 3):
        reader.feed(text[at : at + 3])
        followed += reader.open_text(seen)
        seen = reader.safe_cut
    assert followed == reader.open_text() == 'tab\t quote" back\\slash é😀 ' * 300


def test_nesting_is_bounded():
    assert read('{"a":' + "[" * (MAX_DEPTH - 1)).state is State.OPEN
    too_deep = read('{"a":' + "[" * MAX_DEPTH)
    assert too_deep.state is State.BROKEN
    assert too_deep.broken.why == "nested too deeply"


@pytest.mark.parametrize(
    ("opening", "filler"),
    [
        pytest.param('{"a": "', "plain words and so on", id="text"),
        pytest.param('{"a": "', "\\n\\ud83d\\ude00", id="escapes"),
        pytest.param('{"', "a long key", id="a key"),
        pytest.param('{"a": 0.', "1234567890", id="a number"),
        pytest.param('{"a": ', "          ", id="space"),
        pytest.param('{"a": [1', ",12,13,14", id="numbers"),
        pytest.param("x", "anything", id="what is broken already"),
    ],
)
def test_a_quarter_of_a_million_pieces_are_read_whatever_is_open(opening, filler):
    """Were this not linear, it would not come to its end within the test's time limit."""
    reader = ArgumentReader(opening)
    for _ in range(250_000):
        reader.feed(filler)
    assert len(reader.text) == len(opening) + 250_000 * len(filler)


def test_half_a_character_cannot_be_written():
    assert string_content('a"\n😀') == 'a\\"\\n😀'
    with pytest.raises(BadJson):
        string_content("\ud83d")
