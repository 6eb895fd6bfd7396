"""A draft and its continuation become the whole arguments of one call, or a typed answer that says what is wrong.

Bytes that arrived are never written anew: what follows is put behind them, and the text is then parsed strictly and
checked against the tool's schema. Every answer but `Joined` carries the draft to go on from, so no attempt loses
ground. Nothing is guessed: where a continuation can be read in two ways, it is refused with the way to say it.
"""

from enum import Enum
from typing import Any, TypeAlias

from msgspec import Struct

from headway.messages import ToolCall
from headway.recovery.drafts import Draft, open_text, place, reader_of, with_arguments, with_text
from headway.recovery.schema import Schema, check, missing_fields, show_path
from headway.wire.arguments import Path
from headway.wire.json_text import BadJson, encode_text, strict_object


class Joined(Struct, frozen=True):
    """The call is whole: its arguments parse strictly and are what the tool takes."""

    tool: str
    call_id: str
    arguments: str
    freeform: bool = False


class StillOpen(Struct, frozen=True):
    """A piece of the text came, and the model said that more will."""

    draft: Draft

    @property
    def problem(self) -> str:
        """Return that nothing is wrong."""
        return ""


class Incomplete(Struct, frozen=True):
    """The text is complete, and required fields after it are missing: the next continuation gives them in `more`."""

    draft: Draft
    missing: tuple[str, ...]

    @property
    def problem(self) -> str:
        """Return what is missing, as a sentence."""
        return f"The text is complete, but {_listed(self.missing)} must still be given, in `more`."


class Unfit(Struct, frozen=True):
    """The joined arguments are not what the tool takes; the draft has the text, without the fields of `more`."""

    draft: Draft
    problems: tuple[str, ...]

    @property
    def problem(self) -> str:
        """Return what is wrong, as a sentence."""
        return f"The joined call is not what `{self.draft.tool}` takes: {'; '.join(self.problems)}."


class Misfit(Enum):
    """Why a continuation does not fit its draft."""

    OTHER_DRAFT = "other_draft"
    UNREADABLE = "unreadable"
    GAP = "gap"
    CONTRADICTION = "contradiction"
    NO_OPEN_TEXT = "no_open_text"
    FIELD_CONFLICT = "field_conflict"


class Refused(Struct, frozen=True):
    """The continuation does not fit; the offset and the tail of the draft say where to go on."""

    draft: Draft
    misfit: Misfit
    problem: str


JoinResult: TypeAlias = Joined | StillOpen | Incomplete | Unfit | Refused


def join(
    draft: Draft,
    rest: str,
    *,
    offset: int | None = None,
    more: dict[str, Any] | None = None,
    last: bool = True,
    parameters: Schema = None,
) -> JoinResult:
    """Put `rest` behind the open text of the draft and, if it is the last piece, close the call with `more` fields.

    `place` decides where `rest` begins. `more` is shaped like the arguments and holds only what is missing: fields
    are added to the objects that are open; a list that is open takes a list of further elements, or an object that
    names elements by their index, with which the open element can be completed.
    """
    if draft.path is None and rest.strip():
        return Refused(draft, Misfit.NO_OPEN_TEXT, "No text is open any more; give what is missing in `more`.")
    if draft.path is not None:
        skip = place(open_text(draft), rest, offset, ended=True)
        if skip is None:
            return _misplaced(draft, offset or 0)
        try:
            draft = with_text(draft, rest[skip:])
        except BadJson:
            return Refused(draft, Misfit.UNREADABLE, "The rest holds half of a character (a lone surrogate).")
    if not last:
        return StillOpen(draft)
    if draft.freeform:
        return Joined(draft.tool, draft.call_id, draft.arguments, freeform=True)
    return _closed(draft, more or {}, parameters)


def join_call(draft: Draft, call: ToolCall, parameters: Schema = None) -> JoinResult:
    """Join what a whole call to `continue_draft` brings; small slips in its form have one reading and are allowed."""
    try:
        given = strict_object(call.arguments)
        more = given.get("more") or {}
        more = strict_object(more) if isinstance(more, str) else more
    except BadJson as bad:
        return Refused(draft, Misfit.UNREADABLE, f"The continuation cannot be read: {bad}.")
    name, rest, offset = given.get("draft", draft.id), given.get("rest", ""), given.get("offset")
    offset = int(offset) if isinstance(offset, str) and offset.isdecimal() and len(offset) < 12 else offset
    if name != draft.id:
        return Refused(draft, Misfit.OTHER_DRAFT, f'There is no such draft; the open one is "{draft.id}".')
    if not isinstance(rest, str) or not isinstance(more, dict) or not (offset is None or type(offset) is int):
        problem = "The continuation cannot be read: `rest` is text, `offset` a whole number and `more` an object."
        return Refused(draft, Misfit.UNREADABLE, problem)
    last = given.get("last", True) is not False
    return join(draft, rest, offset=offset, more=more, last=last, parameters=parameters)


def _misplaced(draft: Draft, offset: int) -> Refused:
    if offset > draft.offset:
        problem = f"Only {draft.offset:,} characters have arrived, so a rest from {offset:,} on would leave a gap."
        return Refused(draft, Misfit.GAP, problem)
    problem = (
        f"What came before {draft.offset:,} has arrived, and the rest does not begin like the text from {offset:,}."
    )
    return Refused(draft, Misfit.CONTRADICTION, problem)


def _closed(draft: Draft, more: dict[str, Any], parameters: Schema) -> JoinResult:
    reader = reader_of(draft.arguments)
    try:
        value = strict_object(draft.arguments + reader.closers)
        path = reader.open_path
        containers = _open_containers(value, path[:-1] if reader.text_is_open else path)
        added = _added(more, containers, path)
        if isinstance(added, _Conflict):
            return Refused(draft, Misfit.FIELD_CONFLICT, added.problem)
        text = draft.arguments + ('"' if reader.text_is_open else "")
        text += "".join(_ending(*level) for level in zip(reversed(containers), reversed(added), strict=True))
        value = strict_object(text)
    except BadJson as bad:
        return Refused(draft, Misfit.UNREADABLE, f"The joined arguments cannot be read: {bad}.")
    if missing := missing_fields(parameters, value):
        return Incomplete(with_arguments(draft, text.removesuffix("}")), missing)
    if problems := check(parameters, value):
        return Unfit(draft, tuple(problems))
    return Joined(draft.tool, draft.call_id, text)


class _Conflict(Struct, frozen=True):
    """A place where `more` does not fit what has arrived, or fits in two ways."""

    path: Path

    @property
    def problem(self) -> str:
        where = f"`{show_path(self.path)}`" if self.path else "something"
        return (
            f"`more` gives {where} in a way that does not fit what has arrived. Give only what is missing, and name "
            'elements of a list that was cut by their index, such as {"2": …, "3": …}.'
        )


def _open_containers(value: Any, path: Path) -> list[Any]:
    """Return the containers that are open, outermost first."""
    containers = [value]
    for step in path:
        containers.append(containers[-1][step])
    return containers


def _added(more: Any, containers: list[Any], path: Path) -> "list[list[str]] | _Conflict":
    """Return the text of the members that `more` adds to each open container, outermost first."""
    added: list[list[str]] = []
    for depth, container in enumerate(containers):
        inner: Any = {}
        texts: list[str] = []
        here = path[:depth]
        entries = _entries(more, container)
        if entries is None:
            return _Conflict(here)
        for key, member in entries:
            if depth + 1 < len(containers) and key == path[depth]:
                inner = member
            elif _has(container, key):
                if container[key] != member:
                    return _Conflict((*here, key))
            elif isinstance(key, int) and key != len(container) + len(texts):
                return _Conflict((*here, key))
            else:
                texts.append(
                    f"{encode_text(key)}:{encode_text(member)}" if isinstance(key, str) else encode_text(member)
                )
        added.append(texts)
        more = inner
    return added


def _entries(more: Any, container: Any) -> list[tuple[str | int, Any]] | None:
    """Return what `more` says about the members of a container; None if it is not said so that it can be read.

    A list that begins like the one that arrived may be all of it again, or more of the same: that is not guessed.
    """
    if isinstance(container, dict):
        return list(more.items()) if isinstance(more, dict) else None
    if isinstance(more, list):
        begins_alike = bool(container and more) and container[0] == more[0] and isinstance(more[0], dict)
        if begins_alike and len(more) >= len(container):
            return None
        return [(len(container) + index, member) for index, member in enumerate(more)]
    if not isinstance(more, dict) or not all(key.isdecimal() and len(key) < 12 for key in more):
        return None
    return [(int(key), more[key]) for key in sorted(more, key=int)]


def _has(container: Any, key: str | int) -> bool:
    return key < len(container) if isinstance(key, int) else key in container


def _ending(container: Any, texts: list[str]) -> str:
    """Return the text that adds members to a container and closes it."""
    comma = "," if container and texts else ""
    return f"{comma}{','.join(texts)}{'}' if isinstance(container, dict) else ']'}"


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)
