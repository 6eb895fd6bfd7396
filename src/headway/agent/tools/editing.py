"""`edit_file`: one text in a file becomes another, where it stands word for word.

The file's own line ends are kept: an LF in what is looked for also finds CRLF, and what is put there ends its lines
like its surroundings. Everything else stays as it was, byte for byte.
"""

from bisect import bisect_left
from typing import Annotated

from msgspec import Meta, Struct

from headway.agent.approval import Kind
from headway.agent.tools.define import tool
from headway.agent.tools.files import content_hash, read, refuse_to_edit
from headway.agent.tools.keeping import replace_kept
from headway.agent.tools.near_names import with_near_names
from headway.agent.tools.nearest import why_not_found
from headway.agent.tools.refusals import ToolError
from headway.agent.tools.texts import text_of
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import ToolContext

_SHOWN_PLACES = 10
_LEAST_HASH = 8


class Edited(Struct, frozen=True):
    """A text after an edit, and the lines at which it was made."""

    text: str
    lines: tuple[int, ...]


@tool(kind=Kind.EDITS, drafts=True)
async def edit_file(
    context: ToolContext,
    *,
    path: Annotated[str, "The file, relative to the workspace."],
    old: Annotated[
        str,
        Meta(
            min_length=1,
            description="The text to replace, exactly as it stands in the file, with its white space and enough lines "
            "around it to be found only once.",
        ),
    ],
    new: Annotated[str, "The text to put in its place; empty to remove it."],
    expected_hash: Annotated[
        str | None, "The hash of the file as you read it; the edit is refused if the file has changed since."
    ] = None,
    all_: Annotated[bool, "Replace every place where `old` stands, instead of the only one."] = False,
) -> str:
    """Change a part of a text file: replace `old`, which must stand there exactly once, by `new`."""
    return await in_thread(_edit, context, path, old, new, expected_hash=expected_hash, every=all_)


def _edit(context: ToolContext, path: str, old: str, new: str, *, expected_hash: str | None, every: bool) -> str:
    workspace = context.workspace
    with with_near_names(workspace, path), workspace.spot(path) as spot:
        before, mark = read(spot)
        refuse_to_edit(spot, mark)
        _check_hash(before, expected_hash, path)
        edit = edited(text_of(before, path), old, new, every=every, path=path)
        after = edit.text.encode()
        note = replace_kept(context.checkpoints, context.call_id, spot, after, mark, before)
    where = _listed(edit.lines) if len(edit.lines) == 1 else f"{len(edit.lines):,} places ({_listed(edit.lines)})"
    return f"Edited `{path}` at {where}; hash {content_hash(after)}.{note}"


def edited(text: str, old: str, new: str, *, every: bool, path: str = "the file") -> Edited:
    """Return the text with its edit; raises `ToolError` with words on why not."""
    if old == new:
        raise ToolError("`old` and `new` are the same, so nothing would change.")
    lines = _Lines(text)
    found = lines.places_of(old)
    if not found:
        raise ToolError(f"`old` does not stand in `{path}`. {why_not_found(text, old)}")
    if len(found) > 1 and not every:
        raise ToolError(
            f"`old` stands in `{path}` {len(found):,} times ({_listed(lines.numbers(found))}). Add lines around it "
            "until it is found once, or set `all` to replace every one."
        )
    pieces: list[str] = []
    at = 0
    for start, end in found:
        pieces += (text[at:start], lines.ended_alike(new, text[start:end]))
        at = end
    return Edited("".join((*pieces, text[at:])), lines.numbers(found))


class _Lines:
    """A text whose lines may end in LF, in CRLF, or some in this and some in that."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._plain = text.replace("\r\n", "\n")
        self._removed: list[int] = []
        """Where a CR is missing in the plain text."""
        at = -1
        while (at := text.find("\r\n", at + 1)) >= 0:
            self._removed.append(at - len(self._removed))

    def places_of(self, old: str) -> list[tuple[int, int]]:
        """Return where a text begins and ends, each time; an LF in it also finds CRLF."""
        old = old.replace("\r\n", "\n") if self._removed else old
        places: list[tuple[int, int]] = []
        at = -len(old)
        while (at := self._plain.find(old, at + len(old))) >= 0:
            places.append((self._original(at), self._original(at + len(old))))
        return places

    def ended_alike(self, new: str, replaced: str) -> str:
        """Return `new` with line ends like the text that it replaces, or like most of the file when that has none."""
        if not self._removed:
            return new
        plain = new.replace("\r\n", "\n")
        mostly = len(self._removed) * 2 > self._plain.count("\n")
        ends_in_crlf = "\r\n" in replaced if "\n" in replaced else mostly
        return plain.replace("\n", "\r\n") if ends_in_crlf else plain

    def numbers(self, places: list[tuple[int, int]]) -> tuple[int, ...]:
        """Return the numbers of the lines in which places begin."""
        numbers: list[int] = []
        line, at = 1, 0
        for start, _ in places:
            line += self._text.count("\n", at, start)
            at = start
            numbers.append(line)
        return tuple(numbers)

    def _original(self, index: int) -> int:
        return index + bisect_left(self._removed, index)


def _check_hash(data: bytes, expected: str | None, path: str) -> None:
    now = content_hash(data)
    given = (expected or "").strip().lower()
    if given and (len(given) < _LEAST_HASH or not (now.startswith(given) or given.startswith(now))):
        raise ToolError(f"`{path}` is not as you read it: its hash is {now}, not {given[:64]}. Read it again first.")


def _listed(lines: tuple[int, ...]) -> str:
    shown = ", ".join(f"{line:,}" for line in lines[:_SHOWN_PLACES])
    return f"line{'s' * (len(lines) > 1)} {shown}{', …' if len(lines) > _SHOWN_PLACES else ''}"
