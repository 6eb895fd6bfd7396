"""Whether arguments are what a tool takes: the part of JSON Schema that tools use, checked strictly and in words.

`check` never raises and ends soon whatever it is given: schemas come from strangers, so nesting, recursion and work
are bounded, and what lies beyond the bounds is not checked. Keywords that it does not know are ignored. `pattern` is
one of them on purpose: a stranger's regular expression may run for ever.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeAlias, TypeGuard

from headway.wire.arguments import Path
from headway.wire.json_text import BadJson, encode_text

MOST_PROBLEMS = 20
MOST_STEPS = 20_000
MAX_DEPTH = 32
_SHOWN = 60


def _is_number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_TYPES: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "object": ("an object", lambda value: isinstance(value, dict)),
    "array": ("a list", lambda value: isinstance(value, list)),
    "string": ("a string", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "null": ("null", lambda value: value is None),
    "integer": ("a whole number", lambda value: _is_number(value) and value == value // 1),
    "number": ("a number", _is_number),
}
_BOUNDS: tuple[tuple[str, Callable[[Any, Any], bool], str], ...] = (
    ("minimum", lambda value, bound: value >= bound, "must be at least"),
    ("maximum", lambda value, bound: value <= bound, "must be at most"),
    ("exclusiveMinimum", lambda value, bound: value > bound, "must be more than"),
    ("exclusiveMaximum", lambda value, bound: value < bound, "must be less than"),
)
_SIZES = (("minLength", "maxLength", str, "characters"), ("minItems", "maxItems", list, "items"))
Schema: TypeAlias = Mapping[str, Any] | None


def check(schema: Schema, value: Any) -> list[str]:
    """Return what is wrong with a value, in words, most important first; nothing when it fits."""
    if not isinstance(schema, Mapping):
        return []
    return list(islice(_Check(schema).problems(schema, value, (), 0), MOST_PROBLEMS))


def missing_fields(schema: Schema, value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the required fields of the whole arguments that are not there."""
    if not isinstance(schema, Mapping):
        return ()
    root = _Check(schema).resolve(schema)
    return tuple(_missing(root, value)) if isinstance(root, Mapping) else ()


def show_path(path: Path) -> str:
    """Return a path as people write it: `edits[2].new_text`; empty for the arguments as a whole."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


class _Check:
    """One check: its root, for references, and the steps that are left."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._steps_left = MOST_STEPS

    def problems(self, schema: Any, value: Any, path: Path, depth: int) -> Iterator[str]:
        self._steps_left -= 1
        if self._steps_left < 0 or depth > MAX_DEPTH:
            return
        schema = self.resolve(schema)
        if schema is False:
            yield f"{_named(path)} is not taken"
        if not isinstance(schema, Mapping):
            return
        yield from _wrong_type(schema, value, path)
        yield from _wrong_choice(schema, value, path)
        yield from _wrong_size(schema, value, path)
        if isinstance(value, dict):
            yield from self._in_object(schema, value, path, depth)
        if isinstance(value, list):
            yield from self._in_list(schema, value, path, depth)
        yield from self._in_forms(schema, value, path, depth)

    def resolve(self, schema: Any) -> Any:
        """Follow references inside the document; one that leads nowhere, or in a circle, allows everything."""
        for _ in range(MAX_DEPTH):
            reference = schema.get("$ref") if isinstance(schema, Mapping) else None
            if not isinstance(reference, str) or not reference.startswith("#"):
                return schema
            schema = self._root
            for step in reference.removeprefix("#").split("/")[1:]:
                name = step.replace("~1", "/").replace("~0", "~")
                schema = schema.get(name) if isinstance(schema, Mapping) else None
        return None

    def _in_object(self, schema: Mapping[str, Any], value: dict[str, Any], path: Path, depth: int) -> Iterator[str]:
        for name in _missing(schema, value):
            yield f"{_named((*path, name))} is missing"
        properties = schema.get("properties")
        known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
        others = schema.get("additionalProperties", True) if "patternProperties" not in schema else True
        for name, member in value.items():
            if self._steps_left < 0:
                return
            if name in known:
                yield from self.problems(known[name], member, (*path, name), depth + 1)
            elif others is False:
                yield f"{_named((*path, name))} is not a field of {_named(path)}"
            else:
                yield from self.problems(others, member, (*path, name), depth + 1)

    def _in_list(self, schema: Mapping[str, Any], value: list[Any], path: Path, depth: int) -> Iterator[str]:
        first = schema.get("prefixItems")
        heads = first if isinstance(first, list) else []
        for index, member in enumerate(value):
            if self._steps_left < 0:
                return
            form = heads[index] if index < len(heads) else schema.get("items", True)
            yield from self.problems(form, member, (*path, index), depth + 1)

    def _in_forms(self, schema: Mapping[str, Any], value: Any, path: Path, depth: int) -> Iterator[str]:
        """Check combined schemas. `oneOf` is read as `anyOf`: when two forms fit, the tool decides between them."""
        for form in _list(schema.get("allOf")):
            yield from self.problems(form, value, path, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            forms = _list(schema.get(keyword))
            found = [list(self.problems(form, value, path, depth + 1)) for form in forms]
            if found and all(found):
                yield from min(found, key=len)


def _wrong_type(schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[str]:
    named = schema.get("type")
    names = named if isinstance(named, list) else [named]
    types = [_TYPES[name] for name in names if isinstance(name, str) and name in _TYPES]
    if types and not any(fits(value) for _, fits in types):
        yield f"{_named(path)} must be {' or '.join(words for words, _ in types)}, not {_shown(value)}"


def _wrong_choice(schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[str]:
    choices = schema.get("enum")
    if isinstance(choices, list) and not any(_is_same(choice, value) for choice in choices):
        shown = ", ".join(_shown(choice) for choice in choices[:MOST_PROBLEMS])
        yield f"{_named(path)} must be one of {shown}, not {_shown(value)}"
    if "const" in schema and not _is_same(schema["const"], value):
        yield f"{_named(path)} must be {_shown(schema['const'])}, not {_shown(value)}"


def _wrong_size(schema: Mapping[str, Any], value: Any, path: Path) -> Iterator[str]:
    if _is_number(value):
        for keyword, fits, words in _BOUNDS:
            bound = schema.get(keyword)
            if _is_number(bound) and not fits(value, bound):
                yield f"{_named(path)} {words} {bound}, not {_shown(value)}"
    for least, most, kind, unit in _SIZES:
        if isinstance(value, kind):
            low, high = schema.get(least), schema.get(most)
            if _is_number(low) and len(value) < low:
                yield f"{_named(path)} must have at least {low} {unit}, not {len(value)}"
            if _is_number(high) and len(value) > high:
                yield f"{_named(path)} must have at most {high} {unit}, not {len(value)}"


def _missing(schema: Mapping[str, Any], value: Mapping[str, Any]) -> Iterator[str]:
    return (name for name in _list(schema.get("required")) if isinstance(name, str) and name not in value)


def _is_same(one: Any, other: Any) -> bool:
    """Compare as JSON does: true is not 1, and 1 is 1.0."""
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _named(path: Path) -> str:
    return f"`{show_path(path)}`" if path else "the arguments"


def _shown(value: Any) -> str:
    """Return a value in few words; a long one is never written out first."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    cut = isinstance(value, str) and len(value) > _SHOWN
    try:
        return encode_text(f"{value[:_SHOWN]}…" if cut else value)
    except BadJson:
        return f"a {type(value).__name__}"
