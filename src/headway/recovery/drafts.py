"""Drafts: what a cut tool call left, kept byte for byte, so that the model sends only the rest.

A draft is never run: `joining` makes whole arguments of it, or says why not. Here is what a draft is (`draft_of`), how
a continuation that was cut as well extends it (`extend`), where a continuation begins (`place`), whether going on is
worth it, and what to tell people and models about it. Offsets count characters of the decoded open text.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from headway.messages import CallFragment, ToolCall, ToolSpec
from headway.recovery.schema import show_path
from headway.recovery.seams import Join, end_of_repeat, overlap, unmistakable_repeat
from headway.wire.arguments import ArgumentReader, Path, State, string_content
from headway.wire.json_text import encode_text, excerpt, strict_object

TAIL = 200
"""How many of the last characters are shown as the place to go on from: a few lines are enough to find it."""
WORTH_CONTINUING = 400
"""Characters that must have arrived: about a hundred tokens, less than asking for a continuation costs."""
SHOWN_VALUE = 80

CONTINUE_DRAFT = ToolSpec(
    "continue_draft",
    "Go on with a tool call that was cut off before all of it arrived. What arrived is kept as a draft; send only what "
    "comes after it. The tool runs once, when its arguments are complete.",
    {
        "type": "object",
        "properties": {
            "draft": {"type": "string", "description": "The id of the draft, as you were told it."},
            "offset": {
                "type": "integer",
                "minimum": 0,
                "description": "How many characters of the open text have arrived, as you were told. `rest` begins at "
                "this place of the text.",
            },
            "rest": {
                "type": "string",
                "description": "The text from that place on, to its end, as it should stand in the open field. Begin "
                "with the very next character and repeat nothing. Empty if the text is already complete.",
            },
            "more": {
                "type": "object",
                "description": "The fields that are still missing after the open text, shaped like the arguments of "
                'the call, such as {"mode": "w"}. In a list that was cut, name elements by their index, such as '
                '{"edits": {"2": {"all": true}, "3": {"old": "a", "new": "b"}}}. Leave out what has arrived.',
            },
            "last": {
                "type": "boolean",
                "description": "false if `rest` is only the next piece and another call brings what follows; "
                "true, or left out, if the text ends here.",
            },
        },
        "required": ["draft", "offset", "rest"],
        "additionalProperties": False,
    },
)


class Draft(Struct, frozen=True):
    """The arguments of one cut call, up to the last safe place. Without freeform, they are an object that is open."""

    id: str
    tool: str
    call_id: str
    arguments: str
    whole: tuple[str, ...] = ()
    """The top-level fields that are whole."""
    path: Path | None = None
    """The way to the open text; None when no text is open. Free text is open all the time, at ()."""
    offset: int = 0
    """How many characters of the open text have arrived."""
    tail: str = ""
    """The last of them."""
    freeform: bool = False

    @property
    def open_name(self) -> str:
        """Return the name of the field that is open, such as `edits[2].new_text`; empty when none is."""
        return show_path(self.path or ())


class DraftFacts(Struct, frozen=True):
    """What to tell about a draft. `fields` are whole: their names, and the beginning of each value as JSON."""

    id: str
    tool: str
    fields: tuple[tuple[str, str], ...]
    open_name: str
    offset: int
    received: int
    tail: str


def draft_of(fragment: CallFragment, previous: Draft | None = None) -> Draft | None:
    """Return what to go on from after a call was cut: a draft of it, or the previous one; None if there is neither.

    The same call, sent again, replaces its draft if it came further. Another call replaces it if it is worth it.
    """
    new = None if fragment.name == CONTINUE_DRAFT.name else _new_draft(fragment)
    if new is None or previous is None:
        return new or previous
    further = len(new.arguments) > len(previous.arguments)
    if _is_same_call(new, previous):
        return new if further else previous
    return new if further or len(new.arguments) >= WORTH_CONTINUING else previous


def extend(draft: Draft, fragment: CallFragment) -> Draft | None:
    """Return the draft with what a cut continuation of it brought; None if the fragment is of another call.

    The draft is unchanged if nothing new came, or if the continuation does not fit. Without an offset (it may come
    after the text that was cut) the text is taken to go on at the end, with its seam looked at.
    """
    if fragment.name != CONTINUE_DRAFT.name:
        return None
    reader = ArgumentReader(fragment.arguments)
    given = reader.whole_values()
    rest = reader.open_text() if reader.open_path == ("rest",) else given.get("rest")
    fits = reader.state is not State.BROKEN and given.get("draft", draft.id) == draft.id and draft.path is not None
    if not fits or not isinstance(rest, str):
        return draft
    offset = given.get("offset")
    skip = place(open_text(draft), rest, offset if type(offset) is int else None, ended=False)
    return draft if skip is None else with_text(draft, rest[skip:])


def place(kept: str, rest: str, offset: int | None, *, ended: bool) -> int | None:
    """Return how much of `rest` is there already; None if it cannot follow `kept`.

    An exact offset decides, unless `rest` begins with a line or more that stands at the end of `kept`: the model was
    told that offset and may only copy it. A smaller one claims that `rest` begins with the text from there on, which
    must be so, but for its space. Otherwise the count was wrong, and only an unmistakable repeat can show where `rest`
    belongs. Without an offset, `rest` goes on at the end, unless it is such a repeat.
    """
    if offset == len(kept):
        return unmistakable_repeat(kept, rest, ended=ended)
    if offset is not None and 0 <= offset < len(kept):
        claimed = kept[offset:]
        if not ended and claimed.startswith(rest):
            return len(rest)
        end = end_of_repeat(claimed, rest)
        if end is not None:
            return end
    seam = overlap(kept, rest, ended=ended)
    if seam.join in {Join.REPEAT, Join.UNFINISHED_REPEAT}:
        return seam.skip
    return 0 if offset is None else None


def open_text(draft: Draft) -> str:
    """Return all that has arrived of the open text."""
    return draft.arguments if draft.freeform else ArgumentReader(draft.arguments).open_text()


def with_text(draft: Draft, text: str) -> Draft:
    """Return the draft with more of its open text, or raise `BadJson` for half a character."""
    return replace(
        draft,
        arguments=draft.arguments + (text if draft.freeform else string_content(text)),
        offset=draft.offset + len(text),
        tail=(draft.tail + text)[-TAIL:],
    )


def with_arguments(draft: Draft, arguments: str) -> Draft:
    """Return the draft with other arguments: an object that is open, cut at a safe place."""
    reader = reader_of(arguments)
    text = reader.open_text()
    return replace(
        draft,
        arguments=arguments,
        whole=tuple(reader.whole_fields),
        path=reader.open_path if reader.text_is_open else None,
        offset=len(text),
        tail=text[-TAIL:],
    )


def reader_of(arguments: str) -> ArgumentReader:
    """Read arguments that were cut at a safe place: a number at their end does not go on."""
    reader = ArgumentReader(arguments)
    if not reader.text_is_open:
        reader.feed(" ")
    return reader


def is_whole_in(call: ToolCall, draft: Draft) -> bool:
    """Say whether a whole call is the one that a draft is the beginning of: then nothing of the draft is open."""
    if call.name != draft.tool or call.freeform != draft.freeform:
        return False
    if draft.freeform:
        return call.arguments.startswith(draft.arguments)
    reader, given = reader_of(draft.arguments), strict_object(call.arguments)
    if any(name not in given or given[name] != value for name, value in reader.whole_values().items()):
        return False
    value: Any = given
    for step in draft.path or ():
        inside = isinstance(value, dict) and step in value
        inside = inside or (isinstance(value, list) and isinstance(step, int) and step < len(value))
        if not inside:
            return False
        value = value[step]
    return draft.path is None or (isinstance(value, str) and value.startswith(reader.open_text()))


def worth_continuing(draft: Draft, *, tool_refuses: bool, minimum: int = WORTH_CONTINUING) -> bool:
    """Say whether to ask for the rest instead of for all of it again.

    What counts is how much would have to be written again: an open text, or one that is whole while a field after it
    is missing. A tool that refuses (a shell: half a command is nothing to go on from) is asked again in any case.
    """
    return not tool_refuses and len(draft.arguments) >= minimum


def describe(draft: Draft) -> DraftFacts:
    """Return what to tell about a draft."""
    values = {} if draft.freeform else reader_of(draft.arguments).whole_values()
    fields = tuple((name, excerpt(encode_text(value), SHOWN_VALUE)) for name, value in values.items())
    return DraftFacts(draft.id, draft.tool, fields, draft.open_name, draft.offset, len(draft.arguments), draft.tail)


def piece_advice(survived_sizes: Sequence[int], cut_sizes: Sequence[int]) -> int | None:
    """Return how large a piece is known to survive here, in characters; None when nothing is known.

    A call that survived speaks for its size and all below. One that was cut speaks against all above three quarters of
    what came through. The advice is the largest of these sizes with at least as many voices for it as against it. So
    one early accident does not undo what larger calls have shown, more survivors never lower the advice, and an
    earlier cut never raises it.
    """
    safe_sizes = [size * 3 // 4 for size in cut_sizes]
    believed = (
        size
        for size in {*survived_sizes, *safe_sizes}
        if size > 0 and sum(whole >= size for whole in survived_sizes) >= sum(safe < size for safe in safe_sizes)
    )
    return max(believed, default=None)


def _new_draft(fragment: CallFragment) -> Draft | None:
    if not fragment.name:
        return None
    key = f"{fragment.name}\0{fragment.id}\0{fragment.arguments}"
    name = f"d{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
    blank = Draft(name, fragment.name, fragment.id, "", freeform=fragment.freeform)
    if fragment.freeform:
        text = fragment.arguments
        text = text[:-1] if "\ud800" <= text[-1:] <= "\udbff" else text
        return replace(blank, arguments=text, path=(), offset=len(text), tail=text[-TAIL:]) if text else None
    reader = ArgumentReader(fragment.arguments)
    if reader.state is State.BROKEN:
        return None
    arguments = fragment.arguments[: reader.safe_cut]
    draft = with_arguments(blank, arguments.removesuffix("}") if reader.state is State.WHOLE else arguments)
    return draft if draft.whole or draft.offset or reader.open_path else None


def _is_same_call(new: Draft, previous: Draft) -> bool:
    """Say whether two drafts are of one intention: the same tool, and no field that is whole in both differs."""
    if new.tool != previous.tool or new.freeform or previous.freeform:
        return new.tool == previous.tool
    ours, theirs = (reader_of(draft.arguments).whole_values() for draft in (new, previous))
    return all(ours[name] == theirs[name] for name in ours.keys() & theirs.keys())
