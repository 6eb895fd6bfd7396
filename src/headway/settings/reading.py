"""Tables to typed settings. Every error names the place, the key and what would be right; none shows a value of a key.

Values are converted one by one, since a converter of the whole would not say in which entry it stopped.
"""

import difflib
import re
from collections.abc import Iterable
from enum import Enum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from headway.failure import InvalidInput
from headway.settings.layers import KeyPath, dotted

T = TypeVar("T", bound=Struct)
_WORDS = {
    "str": "a text",
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "array": "a list",
    "object": "a table",
    "null": "nothing",
    "datetime": "a date",
    "date": "a date",
    "time": "a time",
}
_TYPE_ERROR = re.compile(r"Expected `(?P<wanted>[^`]+)`, got `(?P<given>[^`]+)`")
_BOUND_ERROR = re.compile(r"Expected `(?:float|int)` (?P<bound>[<>]=?) (?P<number>\S+)")
_INDEX = re.compile(r" - at `\$\[(?P<at>\d+)\]")
_BOUNDS = {">": "more than", ">=": "at least", "<": "less than", "<=": "at most"}


def read(kind: type[T], table: Any, origin: str, path: KeyPath = ()) -> T:
    """Return the settings that a table says."""
    if not isinstance(table, dict):
        raise InvalidInput(_place(origin, path), f"expected a table, got {_given(table)}", f"Write [{dotted(path)}].")
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for key in table:
        if key not in fields:
            raise unknown(origin, (*path, key), fields, _belongs_elsewhere(kind, key, path))
    values = {key: _read_value(fields[key].type, value, origin, (*path, key)) for key, value in table.items()}
    return kind(**values)


def _read_value(kind: Any, value: Any, origin: str, path: KeyPath) -> Any:
    inner = _table_type(kind)
    if inner is None:
        return _convert(kind, value, origin, path)
    if get_origin(bare_type(kind)) is not dict:
        return read(inner, value, origin, path)
    if not isinstance(value, dict):
        raise InvalidInput(_place(origin, path), f"expected a table, got {_given(value)}", f"Write [{dotted(path)}.…].")
    return {name: read(inner, entry, origin, (*path, name)) for name, entry in value.items()}


def _convert(kind: Any, value: Any, origin: str, path: KeyPath) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as exc:
        raise _wrong(str(exc), kind, value, origin, path) from None


def _wrong(said: str, kind: Any, value: Any, origin: str, path: KeyPath) -> InvalidInput:
    index = _INDEX.search(said)
    at, item = (f"[{index['at']}]", value[int(index["at"])]) if index else ("", value)
    place = f"{_place(origin, path)}{at}"
    words = choices(kind)
    if words and isinstance(item, str):
        near = closest(item, words)
        hint = f"Did you mean {near!r}?" if near else ""
        return InvalidInput(place, f"{item[:80]!r} is none of {', '.join(words)}", hint)
    if found := _TYPE_ERROR.search(said):
        wanted = " or ".join(_WORDS.get(word, word) for word in found["wanted"].split(" | ") if word != "null")
        given = _WORDS.get(found["given"], found["given"])
        hint = f"Write {path[-1]} = [{_example(item)}]." if wanted == "a list" and isinstance(item, str) else ""
        return InvalidInput(place, f"expected {wanted}, got {given}", hint)
    if found := _BOUND_ERROR.search(said):
        return InvalidInput(place, f"expected {_BOUNDS[found['bound']]} {float(found['number']):g}, got {item}")
    return InvalidInput(place, said.partition(" - at ")[0])


def _example(item: str) -> str:
    """Quote a reference or a link; anything else may be a key."""
    return f'"{item}"' if item.startswith(("env:", "file:", "keyring:")) or "/" in item[:40] else '"…"'


def unknown(origin: str, path: KeyPath, known: Iterable[str], elsewhere: str = "") -> InvalidInput:
    """Return the error for a key that means nothing, with the one that was probably meant."""
    names = sorted(known)
    near = closest(path[-1], names)
    meant = f"Did you mean {dotted((*path[:-1], near))}?" if near else f"Known here: {', '.join(names)}"
    return InvalidInput(_place(origin, path), "there is no such setting", elsewhere or meant)


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the one that was probably meant."""
    found = difflib.get_close_matches(word.lower()[:100], list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def _belongs_elsewhere(kind: type[Struct], key: str, path: KeyPath) -> str:
    """Say in which table below this one a key would be right."""
    for field in msgspec.structs.fields(kind):
        inner = _table_type(field.type)
        if inner is not None and key in inner.__struct_fields__ and get_origin(bare_type(field.type)) is not dict:
            return f"It belongs one table further in: {dotted((*path, field.name, key))}"
    return ""


def is_text(kind: Any) -> bool:
    """Say whether a setting is a free text."""
    return bare_type(kind) is str


def is_list(kind: Any) -> bool:
    """Say whether a setting is a list."""
    return get_origin(bare_type(kind)) is tuple


def _place(origin: str, path: KeyPath) -> str:
    return f"{origin}: {dotted(path)}" if path else origin


def type_words(kind: Any) -> str:
    """Say what a setting is, in words."""
    bare = bare_type(kind)
    if isinstance(bare, type) and issubclass(bare, Struct):
        return "a table"
    if get_origin(bare) in {tuple, dict}:
        return "a list of texts" if get_origin(bare) is tuple else "a table"
    if get_args(bare):
        return next(words for inner in get_args(bare) if (words := type_words(inner)))
    return _WORDS.get(bare.__name__, "")


def _given(value: Any) -> str:
    return _WORDS.get({"dict": "object", "list": "array"}.get(type(value).__name__, type(value).__name__), "a value")


def bare_type(kind: Any) -> Any:
    """Return a type without what is written beside it."""
    return bare_type(get_args(kind)[0]) if get_origin(kind) is Annotated else kind


def _table_type(kind: Any) -> type[Struct] | None:
    """Return the type of the table, or of each table of a dictionary; None for plain values."""
    bare = bare_type(kind)
    if get_origin(bare) is dict:
        bare = bare_type(get_args(bare)[1])
    return bare if isinstance(bare, type) and issubclass(bare, Struct) else None


def choices(kind: Any) -> list[str]:
    """Return the words of a closed set, in a list or alone; none for an open one."""
    bare = bare_type(kind)
    if isinstance(bare, type) and issubclass(bare, Enum):
        return [member.value for member in bare]
    if get_origin(bare) is Literal:
        return list(get_args(bare))
    if get_origin(bare) in {tuple, Union} or hasattr(bare, "__args__"):
        return next((found for inner in get_args(bare) if (found := choices(inner))), [])
    return []
