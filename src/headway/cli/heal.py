"""`headway heal`: a wedged history in, a valid one out, in the same shape; what was changed goes to standard error."""

import json
from typing import Any

import click

from headway.cli.delivery import deliver
from headway.cli.forms import Note, merged, misformed, settled
from headway.cli.reading import read_json
from headway.dialect import DIALECTS
from headway.failure import InvalidInput
from headway.history.invariants import violations
from headway.history.project import project
from headway.messages import ModelRequest
from headway.wire.base import Wire
from headway.wire.detection import detect
from headway.wire.json_text import BadJson, encode
from headway.wire.table import WIRES, wire_named

NO_MODEL = "headway-heal"
"""Stands in for a model that a body does not name, on the way through codecs that want one."""
SYSTEM_IN_A_LIST = (
    "a bare list has no place for system texts here: they lead it as system messages; send them as `system`"
)
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
        value, mended = read_json(file)
        source = wire_named(_ALIASES.get(names["wire"] or "", names["wire"] or "") or _found(value, machine=machine))
        target = wire_named(_ALIASES.get(names["target"] or "", names["target"] or "") or source.name)
        given = _Given(value, source)
        notes = [Note(None, words) for words in mended]
        if check:
            return _judge(given, target, notes, machine=machine)
        projection = project(given.request, DIALECTS[target.name])
        healed, rewritten = given.healed(projection.request, target)
        text = _written(healed, compact=compact)
    except (InvalidInput, BadJson) as exc:
        click.echo(f"headway heal: {exc}", err=True)
        return 2
    told = {repair.index for repair in projection.repairs}
    notes += [note for note in rewritten if note.index is None or note.index not in told]
    for note in notes:
        _report({"kind": "mended", **_facts(note)}, machine=machine)
    for repair in projection.repairs:
        _report({"kind": repair.kind.value, "index": repair.index, "words": repair.words}, machine=machine)
    _summarise(len(notes) + len(projection.repairs), source, target, machine=machine)
    return deliver(text, output)


class _Given:
    """The input, read; it knows how to write its healed form in the same shape."""

    def __init__(self, value: dict[str, Any] | list[Any], wire: Wire) -> None:
        self.value, self.wire = value, wire
        self.body = None if isinstance(value, list) else {"model": NO_MODEL, **value}
        if self.body is not None and not isinstance(self.body["model"], str):
            self.body["model"] = NO_MODEL
        self.request = wire.parse_messages(value) if isinstance(value, list) else wire.parse_request(self.body or {})

    @property
    def messages(self) -> list[Any]:
        """Return the messages or items as they were given."""
        held = self.value if isinstance(self.value, list) else self.value.get("messages", self.value.get("input"))
        return held if isinstance(held, list) else []

    def healed(self, request: ModelRequest, target: Wire) -> tuple[Any, list[Note]]:
        """Return what to write, and which forms writing it put right."""
        notes = [] if target is not self.wire else self._rewritten()
        if self.body is None:
            if request.system and not DIALECTS[target.name].system_messages:
                notes.append(Note(None, SYSTEM_IN_A_LIST))
            return target.render_messages(request), notes
        body = target.render_request(request)
        if target is self.wire:
            body, around = settled(self.body, target.render_request(self.request), body)
            notes += around
        if body.get("model") == NO_MODEL:
            del body["model"]
        return body, notes

    def misformed(self) -> list[Note]:
        """Return the messages that are not written as their wire takes them."""
        return misformed(self.wire, self.messages, self.request) if self.messages else []

    def _rewritten(self) -> list[Note]:
        notes = self.misformed()
        if self.messages and merged(self.wire, self.messages, self.request):
            notes.append(Note(None, "neighbouring messages of one role were written as one"))
        return notes


def _found(value: dict[str, Any] | list[Any], *, machine: bool) -> str:
    found = detect(value)
    if not machine:
        click.echo(f"reading it as {found.wire}: {found.because} (--wire says otherwise)", err=True)
    return found.wire


def _judge(given: _Given, wire: Wire, notes: list[Note], *, machine: bool) -> int:
    broken = violations(given.request, DIALECTS[wire.name])
    told = {violation.index for violation in broken}
    notes = [*notes, *(note for note in given.misformed() if wire is given.wire and note.index not in told)]
    for note in notes:
        _report({"rule": "it_is_written_as_its_wire_takes_it", **_facts(note)}, machine=machine)
    for one in broken:
        _report({"rule": one.rule, "index": one.index, "words": one.words}, machine=machine)
    if not machine:
        count = len(broken) + len(notes)
        words = "valid" if not count else f"not valid: {count} {'fault' if count == 1 else 'faults'}"
        click.echo(f"{words} ({wire.name})", err=True)
    return 1 if broken or notes else 0


def _facts(note: Note) -> dict[str, Any]:
    return {"index": note.index, "words": note.words}


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
