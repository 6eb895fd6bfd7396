"""Scripts from TOML files, and the ones that come with Headway. What is wrong in a file is said with its place."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec

from headway.failure import InvalidInput
from headway.sim.answers import unknown
from headway.sim.catalog import build, make_fault
from headway.sim.fault import Fault, check_pattern
from headway.sim.filler import text_of
from headway.sim.script import Call, Final, Habits, Loop, Pace, Say, Script, Step, Think, WriteFile

_PLAIN = ("about", "keys", "models", "strict", "prefill")
_KEYS = (*_PLAIN, "task", "steps", "faults", "pace", "habits")
_TASK = ("prompt", "afterwards")
_SPOKEN: dict[str, type[Think | Say | Final]] = {"think": Think, "say": Say, "final": Final}
_STEPS = ("think", "say", "call", "write_file", "loop", "final")


def scenarios() -> dict[str, str]:
    """Return the scenarios that come with Headway, with what each shows."""
    found = sorted(path.name for path in files("headway.sim").joinpath("scenarios").iterdir())
    return {
        name.removesuffix(".toml"): load_script(name.removesuffix(".toml")).about
        for name in found
        if name.endswith(".toml")
    }


def load_script(name: str | Path) -> Script:
    """Load a scenario: one that comes with Headway by its name, or a file."""
    path = Path(name)
    if path.suffix == ".toml" or path.parent != Path():
        try:
            return read_script(path.read_text(encoding="utf-8"), str(path), path.parent)
        except (OSError, UnicodeDecodeError) as bad:
            raise InvalidInput(str(path), f"it cannot be read: {bad}") from None
    packaged = files("headway.sim").joinpath("scenarios", f"{name}.toml")
    if not packaged.is_file():
        known = [one.name.removesuffix(".toml") for one in files("headway.sim").joinpath("scenarios").iterdir()]
        raise unknown("scenario", str(name), known)
    return read_script(packaged.read_text(encoding="utf-8"), str(name))


def read_script(text: str, where: str, folder: Path | None = None) -> Script:
    """Read a scenario. Files that it names are looked for in `folder`; without one it may name none."""
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as bad:
        raise InvalidInput(where, f"it is no TOML: {bad}") from None
    _only(given, _KEYS, where)
    task = _table(given.get("task", {}), f"{where}: task")
    _only(task, _TASK, f"{where}: task")
    plain = {key: value for key, value in given.items() if key in _PLAIN}
    steps = [_step(one, f"{where}: steps[{i}]", folder) for i, one in enumerate(_tables(given, "steps", where), 1)]
    script = build(Script, {**plain, **task, "name": Path(where).stem}, where)
    return msgspec.structs.replace(
        script,
        steps=tuple(steps) or script.steps,
        faults=tuple(_fault(one, f"{where}: faults[{i}]") for i, one in enumerate(_tables(given, "faults", where), 1)),
        pace=build(Pace, _table(given.get("pace", {}), f"{where}: pace"), f"{where}: pace"),
        habits=build(Habits, _table(given.get("habits", {}), f"{where}: habits"), f"{where}: habits"),
    )


def _fault(given: dict[str, Any], where: str) -> Fault:
    name = given.get("fault")
    if not isinstance(name, str):
        raise InvalidInput(where, "it does not say which fault it is", 'Write: fault = "stall".')
    try:
        return make_fault(name, {key: value for key, value in given.items() if key != "fault"})
    except InvalidInput as bad:
        raise InvalidInput(f"{where}: {bad.what}", bad.why, bad.hint) from None


def _step(given: dict[str, Any], where: str, folder: Path | None) -> Step:
    named = [key for key in _STEPS if key in given]
    if len(named) != 1:
        raise InvalidInput(where, "a step is one thing", f"Write exactly one of: {', '.join(_STEPS)}.")
    kind = named[0]
    what = given[kind]
    rest = {key: value for key, value in given.items() if key != kind}
    match kind:
        case "call":
            return build(Call, {"tool": what, **rest}, where)
        case "write_file":
            path = str(what)
            return build(WriteFile, {"path": what, "content": _content(rest, path, where, folder), **rest}, where)
        case "loop":
            calls = tuple(
                _step(one, f"{where}: loop[{i}]", folder) for i, one in enumerate(_tables(given, "loop", where), 1)
            )
            check_pattern(f"{where}: until", str(rest.get("until", "")))
            only = tuple(one for one in calls if isinstance(one, Call))
            if not calls or len(only) != len(calls):
                raise InvalidInput(where, "a loop is made of calls", 'Write: loop = [{ call = "read_file" }].')
            return msgspec.structs.replace(build(Loop, {"calls": [], **rest}, where), calls=only)
        case _:
            words = _content(dict(what), "", where, folder) if isinstance(what, dict) else what
            return build(_SPOKEN[kind], {"text": words, **rest}, where)


def _content(given: dict[str, Any], path: str, where: str, folder: Path | None) -> str:
    """Take the words out of what was given: written down, made to a size, or from a file."""
    ways = [key for key in ("content", "size", "file") if key in given]
    if len(ways) != 1:
        raise InvalidInput(where, "it needs words", "Write exactly one of: content, size (characters), file.")
    value = given.pop(ways[0])
    if ways[0] == "content":
        return str(value)
    if ways[0] == "size":
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise InvalidInput(where, f"size = {value!r} is no number of characters")
        return text_of(value, path)
    if folder is None:
        raise InvalidInput(where, "a scenario that comes with Headway names no files")
    try:
        return (folder / str(value)).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as bad:
        raise InvalidInput(where, f"file = {value!r} cannot be read: {bad}") from None


def _tables(given: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    value = given.get(key, [])
    if not isinstance(value, list):
        raise InvalidInput(f"{where}: {key}", "it is no list", f"Write [[{key}]] above each.")
    return [_table(one, f"{where}: {key}[{i}]") for i, one in enumerate(value, 1)]


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(where, f"it is {type(value).__name__}, not a table")
    return value


def _only(given: dict[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in given:
        if key not in known:
            raise unknown(f"{where}: key", key, known)
