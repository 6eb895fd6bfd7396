"""Strict JSON, mended JSON, and bad input without a traceback."""

import json

import pytest
from hypothesis import given

from headway.wire.json_text import BadJson, decode, decode_repaired, encode, excerpt, is_whole_object, strict_object
from support.streams import arguments

DEEP = "[" * 2000 + "]" * 2000


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a"',
        '{"a":1',
        '{"a":NaN}',
        '{"a":"\\ud800"}',
        '{"a":1,"a":2}',
        "[1]",
        '"x"',
        "1",
        '{"a":1}{}',
        "nul",
        DEEP,
        '{"a":[{"b":1,"b":1}]}',
        '{"a":[["\\ud800"]]}',
        '{"a":1e999}',
        '{"a":[-1E+999]}',
        '{"a":%s}' % ("9" * 5000),
        '{"a":"\\q"}',
        '{"a":"\t"}',
    ],
)
def test_what_is_not_one_whole_object_is_refused(text):
    assert not is_whole_object(text)
    with pytest.raises(BadJson):
        strict_object(text)


@pytest.mark.parametrize("text", ["{}", ' {"a":[1e9,{"a":-0.5}]} ', '{"a":"\\ud83d\\ude00 é"}', '{"":null,"a":true}'])
def test_what_is_one_whole_object_is_read(text):
    assert is_whole_object(text)
    assert strict_object(text) == json.loads(text)


def test_big_numbers_stay_exact():
    assert strict_object('{"n":123456789012345678901234567890}') == {"n": 123456789012345678901234567890}


def test_a_nested_duplicate_key_is_refused_by_name():
    with pytest.raises(BadJson, match="'b' appears twice"):
        strict_object('{"a":[{"b":1,"b":1}]}')


@given(arguments)
def test_no_proper_prefix_of_an_object_is_whole(text):
    assert is_whole_object(text)
    assert not any(is_whole_object(text[:cut]) for cut in range(len(text)))


@pytest.mark.parametrize("data", [b"\xff", b'{"a":"\xff"}', DEEP.encode(), b'{"a":"\\ud800"}', b"NaN"])
def test_frames_with_bad_input_are_a_typed_failure(data):
    with pytest.raises(BadJson):
        decode(data)


def test_encoding_a_lone_surrogate_or_a_deep_value_is_a_typed_failure():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    for value in ("\ud800", deep):
        with pytest.raises(BadJson):
            encode(value)


def test_mending_says_what_it_mended():
    value, mended = decode_repaired(b'{"a":"\\ud83d","b":NaN,"c":"\xff"}')
    assert value == {"a": "\ufffd", "b": None, "c": "\ufffd"}
    assert len(mended) == 3


def test_mending_leaves_good_input_alone():
    body = {"text": "😀 é", "n": 1.5}
    assert decode_repaired(json.dumps(body).encode()) == (body, ())


@pytest.mark.parametrize("data", [b"", b"{", b"\x00\x01", DEEP.encode(), b"<html>"])
def test_what_cannot_be_mended_is_a_typed_failure(data):
    with pytest.raises(BadJson):
        decode_repaired(data)


def test_evidence_is_bounded():
    assert len(excerpt(b"x" * 10**6)) == 401
    assert excerpt("short") == "short"
