"""Faults as people write them: by name with parameters, in a file or on one line; and all of them as a table."""

import shlex
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from headway.failure import InvalidInput
from headway.sim.answers import unknown
from headway.sim.fault import Fault
from headway.sim.faults import FAULTS

T = TypeVar("T", bound=Struct)
SCOPE = {
    "first": "only so many times",
    "after": "only after so many requests that could have been struck",
    "every": "only each so-many-eth of those",
    "chance": "with this probability; the seed decides",
    "over": "only replies with a call of more than so many characters of arguments",
    "matching": "only if this regular expression is found in what comes in or goes out",
    "tool": "only replies that call this tool",
    "key": "only requests with this key (`*` is anything)",
    "model": "only requests to this model (`*` is anything)",
    "wire": "only requests on this wire",
}
"""Whom a fault strikes: the parameters that all faults have."""


class FaultRow(Struct, frozen=True):
    """One fault, described."""

    name: str
    about: str
    parameters: tuple[tuple[str, str], ...]
    """Its own parameters with their defaults; those of the scope are common to all."""
    wires: tuple[str, ...]


def make_fault(name: str, parameters: dict[str, Any], *, strict: bool = True) -> Fault:
    """Return the fault of that name; without `strict`, numbers may be given as text."""
    if name not in FAULTS:
        raise unknown("fault", name, FAULTS)
    return build(FAULTS[name], parameters, name, strict=strict)


def read_fault(line: str) -> Fault:
    """Read a fault from one line, such as `stall at=2000 first=1`."""
    try:
        name, *pairs = shlex.split(line) or [""]
    except ValueError as bad:
        raise InvalidInput(f"fault {line!r}", f"it cannot be read: {bad}", "Close every quote.") from None
    parameters: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise InvalidInput(f"fault {line!r}", f"{pair!r} is no parameter", "Write name=value.")
        parameters[key] = value
    return make_fault(name, parameters, strict=False)


def build(kind: type[T], given: dict[str, Any], where: str, *, strict: bool = True) -> T:
    """Make a struct of what a person wrote, or say what is wrong with it, and what would be right."""
    known = [field.name for field in msgspec.structs.fields(kind)]
    for key in given:
        if key not in known:
            raise unknown(f"{where}:", key, known)
    try:
        return msgspec.convert(given, kind, strict=strict)
    except msgspec.ValidationError as bad:
        raise InvalidInput(where, str(bad).replace(" - at `$.", " for `"), f"It takes: {', '.join(known)}.") from None
    except InvalidInput as bad:
        raise InvalidInput(f"{where}: {bad.what}", bad.why, bad.hint) from None


def fault_table() -> list[FaultRow]:
    """Return all faults, by name."""
    return [_row(name, kind) for name, kind in sorted(FAULTS.items())]


def _row(name: str, kind: type[Fault]) -> FaultRow:
    own = [
        (field.name, _default(field.default))
        for field in msgspec.structs.fields(kind)
        if field.name not in SCOPE and (field.name != "at" or field.default != "start")
    ]
    about = " ".join((kind.__doc__ or "").split())
    return FaultRow(name, about, tuple(own), tuple(sorted(kind.wires)))


def _default(value: Any) -> str:
    if isinstance(value, str):
        return value if value and value.isprintable() and " " not in value else repr(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
