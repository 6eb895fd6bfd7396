"""The page about what `headway run --json` prints, written from the very types that are printed."""

import ast
import inspect
import re
from enum import Enum
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from msgspec import Struct, structs

from headway.agent.happenings import Happening
from headway.cli.lines import FORMAT, LAST, MEANINGS, Last, RunBegan, Said
from headway.providers.changes import Change
from headway.turn.notices import Notice

NOTICE = "<!-- Written by `make docs` from the program's own types; edit those instead. -->"
INTRODUCTION = f"""\
`headway run --json` prints one JSON object a line to standard output, in UTF-8, as things happen. `type` says what a
line is. The format has a version, which the first line names: this is **{FORMAT}**. It rises when a reader would have
to change. New types and new fields do not raise it: pass over what you do not know.

- The **first line** is [`headway`](#headway). If it does not come, nothing was begun, and standard error says why.
- The words of the reply are the [`text`](#text) lines, joined. After [`withdrawn`](#withdrawn) they begin anew.
- A call counts when [`tool_began`](#tool_began) says so; before that, what is received of it is not run.
- The **last line** is one of those at the end of this page. If none comes, the process was killed: the session has
  what came, and `headway run --resume` goes on with it."""
MEANING = {
    "upstream": "Who was asked, as `provider/model`.",
    "failure": "What went wrong.",
    "text": "The characters.",
    "call": "The call.",
    "id": "The id.",
    "name": "The name of the tool.",
    "arguments": "The arguments as the model wrote them: the text of one JSON object, or free text.",
    "freeform": "Does the tool take free text instead of a JSON object?",
    "raw": "What the wire said beyond this, if anything.",
    "wire": "The wire that it was read on.",
    "value": "The object.",
    "because": "Why, in words for people.",
    "seconds": "For how long.",
    "provider": "The name of the provider.",
    "key": "The name of the key, never the key.",
    "reason": "Why, in words for people.",
    "words": "What happened, in words for people.",
    "why": "Why.",
    "model": "The model.",
    "kind": "What kind it is.",
    "code": "The provider's own code for it.",
    "status": "The HTTP status.",
    "where": "Where it showed itself.",
    "scope": "What it belongs to; this decides what can cure it.",
    "plan": "What cures it.",
    "is_error": "Did it fail?",
    "parts": "What it consists of.",
    "call_id": "The id of the call.",
    "tool": "The name of the tool.",
    "index": "Which message of the history, counted from 0.",
    "url": "Where it is.",
    "data": "Its bytes, in base64.",
    "media_type": "What kind of data it is.",
    "file_id": "The provider's name for it.",
    "result": "What came of it.",
    "wait_seconds": "How long that waits before it.",
    "strategy": "What is done about the failure; see [the ladders](recovery.md).",
    "repairs": "What was mended; see [the rules](history.md).",
    "draft": "What is kept of the call.",
    "to": "Who goes on.",
    "instead": "Who is asked in its place.",
    "instead_of": "Who answered before, or was expected to.",
    "number": "Which request of the turn it is.",
    "received": "Characters that are kept, of this turn so far.",
    "signature": "The issuer's proof.",
    "sealed": "What only the issuer can read.",
    "excerpt": "What it was, or its beginning.",
    "messages": "How many messages are summed up.",
    "characters": "How long they are.",
    "after": "Characters that it has now.",
    "summary": "The summary.",
    "input_tokens": "All of the input, cached or not.",
    "output_tokens": "All of the output.",
    "cache_read_tokens": "Input that came from a cache.",
    "cache_write_tokens": "Input that was put into a cache.",
    "reasoning_tokens": "Output that was thinking.",
}
"""What fields mean that have the same name everywhere; one that needs more words has them beside it in its type."""
MEANING_THERE = {
    "StreamOpened.id": "The provider's id of the reply, if it has one.",
    "StreamOpened.model": "The model, as the provider calls it.",
    "CallOpened.call": "Which call of the reply it is, counted from 0.",
    "CallArguments.call": "Which call of the reply it is.",
    "CallClosed.call": "Which call of the reply it is.",
    "CallOpened.id": "The id of the call.",
    "CallOpened.name": "The name of the tool.",
    "DraftGrows.call": "Which call of the reply brings it.",
    "DraftGrows.id": "The id of that call.",
    "Draft.id": "The id of the draft, as the model is told it.",
    "Document.name": "The name of the file.",
    "Done.text": "The words of the last reply.",
    "LoopNoticed.words": "What the model was told.",
    "Stopped.words": "Why.",
    "TryingAgain.wait_seconds": "How long is waited first.",
    "FailedOver.upstream": "Who failed.",
    "Opaque.raw": "The block as the wire had it.",
    "OpaqueBlock.raw": "The block as the wire had it.",
    "Unread.why": "Why it could not be read.",
    **{f"{one.__name__}.upstream": "Which one, as `provider/model`." for one in get_args(Change)},
}
PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", dict: "object", Any: "anything"}


def events_page() -> str:
    """Return the page."""
    lines = ["# Events of `headway run --json`", "", NOTICE, "", INTRODUCTION, "", "## Exit status", ""]
    lines += ["| status | meaning |", "| --- | --- |"]
    lines += [f"| {status.value} | {meaning} |" for status, meaning in MEANINGS.items()]
    changes = get_args(Change)
    groups: tuple[tuple[str, tuple[Any, ...]], ...] = (
        ("The first line", (RunBegan,)),
        ("What is said", get_args(Said)),
        ("What happens to requests", tuple(one for one in get_args(Notice) if one not in changes)),
        ("What happens to upstreams and keys", changes),
        ("What the agent does", get_args(Happening)),
        ("The last line", get_args(Last)),
    )
    values: dict[type, None] = {}
    for title, kinds in groups:
        lines += ["", f"## {title}"]
        for kind in kinds:
            lines += _described(kind, f"`{kind.__struct_config__.tag}`", values)
            if kind in LAST:
                statuses = " or ".join(str(status.value) for status in LAST[kind])
                lines += ["", f"Exit status {statuses}."]
    lines += ["", "## Values", "", "What stands inside of the lines above."]
    done: set[type] = set()
    while waiting := [kind for kind in values if kind not in done]:
        done.add(waiting[0])
        lines += _described(waiting[0], f"Value: {waiting[0].__name__}", values)
    return "\n".join(lines) + "\n"


def _described(kind: type[Struct], title: str, values: dict[type, None]) -> list[str]:
    """Return a section about a type; the types that its fields have are put into `values`."""
    lines = ["", f"### {title}", "", " ".join((kind.__doc__ or "").split())]
    fields = structs.fields(kind)
    tag = kind.__struct_config__.tag
    if not fields:
        return lines
    meanings, hints = _meanings(kind), get_type_hints(kind)
    lines += ["", "| field | value | meaning |", "| --- | --- | --- |"]
    if tag is not None and not title.startswith("`"):
        lines.append(f"| `type` | `{tag}` | Which of the types it is. |")
    for field in fields:
        there = f"{kind.__name__}.{field.name}"
        meaning = meanings.get(field.name) or MEANING_THERE.get(there) or MEANING.get(field.name) or ""
        assert meaning, f"nobody says what {there} means"
        words = re.sub(r"\bNone\b", "null", meaning)
        lines.append(f"| `{field.encode_name}` | {_value(hints[field.name], values)} | {words} |")
    return lines


def _meanings(kind: type[Struct]) -> dict[str, str]:
    """Return the words that stand below the fields of a type in its source."""
    (tree,) = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(tree, ast.ClassDef)
    found: dict[str, str] = {}
    name = ""
    for statement in tree.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            name = statement.target.id
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and name:
            found[name], name = " ".join(str(statement.value.value).split()), ""
    return found


def _value(kind: Any, values: dict[type, None]) -> str:
    """Return a type in words."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        named = [_value(one, values) for one in inside if one is not NoneType]
        return " or ".join((*dict.fromkeys(named), *(["null"] if NoneType in inside else [])))
    if origin is tuple and len(inside) == 2 and inside[1] is Ellipsis:
        return f"list of {_value(inside[0], values)}"
    if origin is not None:
        return PLAIN.get(origin, "list")
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f"`{one.value}`" for one in kind)
    if isinstance(kind, type) and issubclass(kind, Struct):
        values.setdefault(kind)
        return f"[{kind.__name__}](#value-{kind.__name__.lower()})"
    return PLAIN[kind]
