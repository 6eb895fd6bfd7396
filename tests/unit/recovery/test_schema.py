"""The schema check: what tools' schemas say, in words, and an end to it whatever the schema is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headway.recovery.schema import MOST_PROBLEMS, check, missing_fields, show_path

WRITE = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "minLength": 1},
        "content": {"type": "string"},
        "mode": {"enum": ["w", "a"]},
        "line": {"type": ["integer", "null"], "minimum": 1},
        "edits": {"type": "array", "maxItems": 3, "items": {"$ref": "#/$defs/edit"}},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
    "$defs": {"edit": {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]}},
}
WHOLE = {"path": "a.txt", "content": "", "mode": "w", "line": None, "edits": [{"old": "x", "new": 1}]}


def test_arguments_that_fit_have_no_problems():
    assert check(WRITE, WHOLE) == []
    assert check(None, {"anything": 1}) == check({}, []) == check({"$schema": "…", "unheard-of": 7}, 1) == []


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"path": ...}, "`path` is missing"),
        ({"path": ""}, "`path` must have at least 1 characters, not 0"),
        ({"path": 5}, "`path` must be a string, not 5"),
        ({"content": {"a": 1}}, "`content` must be a string, not an object"),
        ({"mode": "x"}, '`mode` must be one of "w", "a", not "x"'),
        ({"line": 0}, "`line` must be at least 1, not 0"),
        ({"line": 1.5}, "`line` must be a whole number or null, not 1.5"),
        ({"line": True}, "`line` must be a whole number or null, not true"),
        ({"edits": [{"old": "x"}, {}]}, "`edits[1].old` is missing"),
        ({"edits": [{"old": None}]}, "`edits[0].old` must be a string, not null"),
        ({"edits": [{"old": ""}] * 4}, "`edits` must have at most 3 items, not 4"),
        ({"extra": 1}, "`extra` is not a field of the arguments"),
    ],
)
def test_each_thing_that_does_not_fit_is_said_in_words(change, problem):
    value = {name: given for name, given in {**WHOLE, **change}.items() if given is not ...}
    assert check(WRITE, value) == [problem]


@pytest.mark.parametrize(
    ("schema", "fits", "does_not"),
    [
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, [None, "x"], [1, []]),
        ({"oneOf": [{"type": "string"}, {"minLength": 2}]}, ["x", "xx"], []),
        ({"allOf": [{"minimum": 1}, {"maximum": 3}]}, [1, 2.5, 3], [0, 4]),
        ({"exclusiveMinimum": 1, "exclusiveMaximum": 3}, [2], [1, 3]),
        ({"const": 1}, [1, 1.0], [True, "1", 2]),
        ({"enum": [True, None]}, [True, None], [1, 0, False]),
        ({"type": "integer"}, [1, 1.0, -(10**40)], [1.5, True, "1"]),
        ({"type": "number"}, [1, 0.5], [False]),
        ({"additionalProperties": {"type": "string"}}, [{"a": "x"}, {}, 5], [{"a": 1}]),
        ({"additionalProperties": False, "patternProperties": {"^x": {}}}, [{"x1": 1}], []),
        ({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}, [["a", 1, 2], []], [[1], ["a", "b"]]),
        ({"properties": {"a": False}}, [{}, {"b": 1}], [{"a": 1}]),
        ({"minItems": 1}, [[1], "no list"], [[]]),
        ({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "string"}}}, ["x"], [1]),
        ({"$ref": "#/nowhere"}, [1, "x"], []),
        ({"$ref": "https://elsewhere.example/schema"}, [1, "x"], []),
    ],
)
def test_the_keywords_that_tools_use(schema, fits, does_not):
    assert [value for value in fits if check(schema, value)] == []
    assert [value for value in does_not if not check(schema, value)] == []


def test_the_missing_fields_of_the_whole_are_named_apart():
    assert missing_fields(WRITE, {"content": ""}) == ("path",)
    assert missing_fields({"$ref": "#/$defs/t", "$defs": {"t": {"required": ["a", 5, "b"]}}}, {"a": 1}) == ("b",)
    assert missing_fields(None, {}) == missing_fields({"$ref": "#"}, {}) == missing_fields({"required": 3}, {}) == ()


def test_paths_are_shown_as_people_write_them():
    assert show_path(("edits", 2, "new_text")) == "edits[2].new_text"
    assert show_path(()) == ""


RECURSIVE = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}}
EXPLODING = {"$defs": {"x": {"allOf": [{"$ref": "#/$defs/x"}] * 50}}, "$ref": "#/$defs/x"}
deep: dict = {}
for _ in range(500):
    deep = {"properties": {"a": deep}, "items": deep, "anyOf": [deep]}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (RECURSIVE, 1),
        (EXPLODING, {"a": 1}),
        (deep, {"a": {"a": [1]}}),
        ({"items": {"type": "string"}}, [1] * 1_000_000),
        ({"items": {"enum": ["x" * 100]}}, ["y" * 1_000_000] * 100),
        ({"items": {"type": "integer"}}, [1] * 1_000_000),
        ({"additionalProperties": {"type": "integer"}}, {str(number): 1 for number in range(100_000)}),
        ({"type": "integer"}, "\ud83d"),
        ({"pattern": "(a+)+$", "type": "string"}, "a" * 50 + "b"),
    ],
)
def test_a_schema_from_a_stranger_ends_soon(schema, value):
    problems = check(schema, value)
    assert len(problems) <= MOST_PROBLEMS
    assert all(len(problem) < 2_000 for problem in problems)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
keywords = st.sampled_from(
    ["type", "properties", "additionalProperties", "enum", "const", "items", "prefixItems", "anyOf", "oneOf",
     "required", "allOf", "minimum", "maximum", "minLength", "maxItems", "$ref", "$defs"]
)  # fmt: skip
schemas = st.recursive(
    json_values | st.sampled_from(["string", "object", "#", "#/$defs/x"]),
    lambda inner: st.dictionaries(keywords, inner, max_size=4) | st.lists(inner, max_size=3),
    max_leaves=10,
)


@given(schemas, json_values)
def test_no_schema_and_no_value_can_make_it_raise(schema, value):
    assert all(isinstance(problem, str) and problem for problem in check(schema, value))
    missing_fields(schema, value if isinstance(value, dict) else {})
