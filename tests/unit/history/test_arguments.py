"""Arguments in a history are judged exactly as strictly as the wires read them, or a repaired history is refused."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.history import arguments
from headway.history.arguments import is_whole_object
from headway.wire import json_text

keys = st.sampled_from(["a", "b", 'a":', "a : b", "é", ""])
values = st.recursive(
    st.none() | st.integers() | st.sampled_from(["x", '":', '{"a":1,"a":2}', " :", "a\n:b", "y" * 5_000]),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(keys, inner), max_size=4).map(tuple),
    max_leaves=8,
)


def written(value, colon: str) -> str:
    """Write a value as JSON; a tuple of pairs is an object that may name a key twice."""
    if isinstance(value, tuple):
        return "{" + ",".join(json.dumps(key) + colon + written(one, colon) for key, one in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(one, colon) for one in value) + "]"
    return json.dumps(value)


@given(values, st.sampled_from([":", ": ", " :", "\n: ", "\t:"]), st.integers(0, 3))
def test_a_history_is_as_strict_as_a_wire(value, colon, cut):
    text = written(value, colon)
    for one in (text, text[: len(text) - cut], text + " " * cut):
        assert is_whole_object(one) == json_text.is_whole_object(one)


@pytest.mark.parametrize("padding", [0, arguments._SHORT])
@pytest.mark.parametrize(
    "text", ['{"a":1,"a":2}', '{"a" :1,"a":2}', '{"x":{"a":1,"a":1}}', '{"x":[{"a":1,"b":2,"a":3}]}']
)
def test_a_key_that_appears_twice_makes_arguments_no_object(text, padding):
    assert not is_whole_object(text + " " * padding)
    assert is_whole_object(text.replace('"a"', '"c"', 1) + " " * padding)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "1", '{"a":NaN}', '{"a":"\\ud800"}', '{"a":1}{}', "[" * 5_000, "\ud800"]
)
def test_what_is_no_whole_object_is_none(text):
    assert not is_whole_object(text)
