"""The schema for editors: what it takes is what Headway takes, and it names every key there is."""

import tomllib
from typing import Any

import msgspec
import pytest

from headway.settings import schema
from headway.settings.reference import example, settings_page
from headway.settings.showing import json_schema

WHOLE = json_schema()


KNOWN = {"$ref", "$defs", "$schema", "title", "description", "default", "examples"}
KNOWN |= {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf"}
KNOWN |= {"minimum", "maximum", "exclusiveMinimum"}
KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "integer": int,
    "null": type(None),
}


def complaints(value: Any, rule: dict[str, Any], place: str = "") -> list[str]:
    """Judge a value by the part of JSON Schema that our schema uses; anything else in a rule is an error."""
    assert set(rule) <= KNOWN, set(rule) - KNOWN
    found = []
    if "$ref" in rule:
        found += complaints(value, WHOLE["$defs"][rule["$ref"].removeprefix("#/$defs/")], place)
    if "anyOf" in rule and all(complaints(value, one, place) for one in rule["anyOf"]):
        found.append(f"{place}: fits none")
    if "enum" in rule and value not in rule["enum"]:
        found.append(f"{place}: {value!r} is not allowed")
    kind = rule.get("type")
    if kind is not None and not (isinstance(value, KINDS[kind]) and isinstance(value, bool) is (kind == "boolean")):
        return [*found, f"{place}: is no {kind}"]
    if kind in {"number", "integer"}:
        low, high, above = (rule.get(name) for name in ("minimum", "maximum", "exclusiveMinimum"))
        fits = (low is None or value >= low) and (high is None or value <= high) and (above is None or value > above)
        found += [] if fits else [f"{place}: is out of bounds"]
    return found + within(value, rule, place)


def within(value: Any, rule: dict[str, Any], place: str) -> list[str]:
    """Judge what a table or a list holds."""
    found = []
    for key, inner in value.items() if isinstance(value, dict) else ():
        others = rule.get("additionalProperties", True)
        if key in rule.get("properties", {}):
            found += complaints(inner, rule["properties"][key], f"{place}.{key}")
        elif others is False:
            found.append(f"{place}.{key}: is unknown")
        elif isinstance(others, dict):
            found += complaints(inner, others, f"{place}.{key}")
    for item in value if isinstance(value, list) and "items" in rule else ():
        found += complaints(item, rule["items"], f"{place}[]")
    return found


def test_the_example_is_valid():
    assert complaints(tomllib.loads(example()), WHOLE) == []


@pytest.mark.parametrize(
    "text",
    [
        "[limits]\nsilense_seconds = 3",
        "[limits]\nsilence_seconds = 0",
        '[limits]\nsilence_seconds = "3"',
        '[agent]\napprove = "never"',
        '[routes.default]\nchain = "a/b"',
        '[providers.x]\nwire = "smoke"',
        "[provider.x]",
    ],
)
def test_what_headway_refuses_the_schema_refuses(desk, text):
    assert complaints(tomllib.loads(text), WHOLE)
    desk.refuses(text)


def test_every_key_of_the_reference_is_in_it_with_its_meaning():
    page = settings_page()
    kinds = [kind for kind in vars(schema).values() if isinstance(kind, type) and issubclass(kind, schema._Table)]
    tables = [kind for kind in kinds if kind is not schema._Table]
    assert len(tables) >= 8
    for kind in tables:
        for field in msgspec.structs.fields(kind):
            if kind.__name__ not in WHOLE["$defs"]:
                continue  # a base of others
            known = WHOLE["$defs"][kind.__name__]["properties"][field.name]
            assert known.get("description"), f"{kind.__name__}.{field.name}"
            if kind is not schema.Settings:
                assert f"| `{field.name}` |" in page
