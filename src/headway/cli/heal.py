"""`headway heal`: a wedged history in, a valid one out, in the same shape; what was changed goes to standard error."""

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from headway.dialect import DIALECTS
from headway.failure import InvalidInput
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import ModelRequest
from headway.wire.base import Wire
from headway.wire.detection import detect
from headway.wire.json_text import BadJson, decode_repaired, encode
from headway.wire.table import WIRES, wire_named

LIMIT = 256 * 1024 * 1024
NO_MODEL = "headway-heal"
"""Stands in for a model that a body does not name, on the way through codecs that want one."""
_ALIASES = {"openai-chat": "chat", "openai-responses": "responses"}
_NAMES = (*WIRES, *_ALIASES)
EPILOG = """
\b
Examples:
  headway heal session.json > healed.json
  headway heal --check request.json && echo fine
  headway heal --to anthropic chat.json

\b
FILE is a request body, a bare list of messages or items, or one message a line; - is standard input.

\b
Exit status: 0 done (with --check: valid); 1 with --check: not valid; 2 the input cannot be read, or wrong usage.
"""


@click.command(epilog=EPILOG)
@click.argument("file", metavar="FILE|-")
@click.option("--wire", type=click.Choice(_NAMES), help="The wire it is written in; found out when not given.")
@click.option("--to", "target", type=click.Choice(_NAMES), help="Convert it to another wire.")
@click.option("--check", is_flag=True, help="Only judge; the exit status says how.")
@click.option("--output", type=click.Path(dir_okay=False), help="Write to a file (whole or not at all).")
@click.option("--compact", is_flag=True, help="Write JSON on one line.")
@click.option("--json", "machine", is_flag=True, help="Report what was changed as JSON lines.")
def heal(file: str, *, check: bool, output: str | None, compact: bool, machine: bool, **names: str | None) -> int:
    """Make a wedged history valid again, or convert it to another wire."""
    try:
        value, mended = _read(file)
        source = wire_named(_ALIASES.get(names["wire"] or "", names["wire"] or "") or _found(value, machine=machine))
        target = wire_named(_ALIASES.get(names["target"] or "", names["target"] or "") or source.name)
        request, shape = _parse(source, value)
        if check:
            return _judge(request, target, mended, machine=machine)
        projection = project(request, DIALECTS[target.name])
        text = _written(_render(target, projection.request, shape), compact=compact)
    except (InvalidInput, BadJson) as exc:
        click.echo(f"headway heal: {exc}", err=True)
        return 2
    for words in mended:
        _report({"kind": "mended", "index": None, "words": words}, machine=machine)
    for repair in projection.repairs:
        _report({"kind": repair.kind.value, "index": repair.index, "words": repair.words}, machine=machine)
    _summarise(len(mended) + len(projection.repairs), source, target, machine=machine)
    return _deliver(text, output)


class _Shape:
    """What the input was besides its messages, so that the output is the same."""

    def __init__(self, *, bare: bool, has_model: bool = True) -> None:
        self.bare, self.has_model = bare, has_model


def _read(file: str) -> tuple[dict[str, Any] | list[Any], tuple[str, ...]]:
    what = "standard input" if file == "-" else file
    try:
        data = sys.stdin.buffer.read(LIMIT + 1) if file == "-" else _bounded(Path(file))
    except OSError as exc:
        raise InvalidInput(what, exc.strerror or str(exc), "Nothing was changed") from None
    if len(data) > LIMIT:
        raise InvalidInput(what, f"it is larger than {LIMIT // 2**20} MB", "Heal a part of it")
    if not data.strip():
        raise InvalidInput(what, "it is empty", "Give it a request body or a list of messages")
    try:
        value, mended = decode_repaired(data)
    except BadJson as exc:
        value, mended = _lines(data, what, exc)
    if not isinstance(value, dict | list):
        raise InvalidInput(what, f"it is a JSON {type(value).__name__}", "Give it a request body or a list of messages")
    return value, (*mended, *_repeated_keys(data))


def _bounded(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(LIMIT + 1)


def _lines(data: bytes, what: str, whole: BadJson) -> tuple[list[Any], tuple[str, ...]]:
    """Read one message a line, if that is what it is."""
    values: list[Any] = []
    mended: list[str] = []
    try:
        for line in data.splitlines():
            if line.strip():
                value, notes = decode_repaired(line)
                values.append(value)
                mended += notes
    except BadJson:
        raise InvalidInput(what, f"it is not JSON: {whole}", "Nothing was changed") from None
    return values, tuple(dict.fromkeys(mended))


def _repeated_keys(data: bytes) -> list[str]:
    """Say which keys an object has twice: the last one counts, and the reader should know."""
    twice: dict[str, None] = {}

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                twice[key] = None
            seen.add(key)

    try:
        json.loads(data.decode("utf-8", "replace"), object_pairs_hook=look)
    except (ValueError, RecursionError):
        return []
    return [f"the key {key!r} appears twice in one object; the last one counts" for key in list(twice)[:20]]


def _found(value: dict[str, Any] | list[Any], *, machine: bool) -> str:
    found = detect(value)
    if not machine:
        click.echo(f"reading it as {found.wire}: {found.because} (--wire says otherwise)", err=True)
    return found.wire


def _parse(wire: Wire, value: dict[str, Any] | list[Any]) -> tuple[ModelRequest, _Shape]:
    if isinstance(value, list):
        return wire.parse_messages(value), _Shape(bare=True)
    has_model = isinstance(value.get("model"), str)
    body = value if has_model else {**value, "model": NO_MODEL}
    return wire.parse_request(body), _Shape(bare=False, has_model=has_model)


def _render(wire: Wire, request: ModelRequest, shape: _Shape) -> Any:
    if shape.bare:
        return wire.render_messages(request)
    body = wire.render_request(request)
    if not shape.has_model:
        body.pop("model", None)
    return body


def _judge(request: ModelRequest, wire: Wire, mended: tuple[str, ...], *, machine: bool) -> int:
    broken = violations(request, DIALECTS[wire.name])
    for words in mended:
        _report({"rule": "the_text_is_clean", "index": None, "words": words}, machine=machine)
    for one in broken:
        _report({"rule": one.rule, "index": one.index, "words": one.words}, machine=machine)
    if not machine:
        count = len(broken) + len(mended)
        words = "valid" if not count else f"not valid: {count} {'fault' if count == 1 else 'faults'}"
        click.echo(f"{words} ({wire.name})", err=True)
    return 1 if broken or mended else 0


def _report(fact: dict[str, Any], *, machine: bool) -> None:
    if machine:
        click.echo(json.dumps(fact, ensure_ascii=False), err=True)
        return
    place = "request" if fact["index"] is None else f"message {fact['index']}"
    click.echo(f"{place}: {fact['words']}", err=True)


def _summarise(changes: int, source: Wire, target: Wire, *, machine: bool) -> None:
    if machine:
        return
    made = "nothing had to be changed" if not changes else f"{changes} {'change' if changes == 1 else 'changes'}"
    kind = source.name if source.name == target.name else f"{source.name} → {target.name}"
    click.echo(f"{made} ({kind})", err=True)


def _written(value: Any, *, compact: bool) -> str:
    encode(value)  # refuses what cannot be written, before anything is
    if compact:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return json.dumps(value, ensure_ascii=False, indent=2)


def _deliver(text: str, output: str | None) -> int:
    if output is None:
        sys.stdout.buffer.write(text.encode("utf-8") + b"\n")
        sys.stdout.flush()
        return 0
    path = Path(output)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8") + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(path)
    except OSError as exc:
        click.echo(f"headway heal: {output}: {exc.strerror or exc}. Nothing was written", err=True)
        return 2
    return 0
