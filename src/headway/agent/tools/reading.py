"""`read_file`: the lines of a text file, within bounds, with the hash that an edit can insist on; or a picture."""

from typing import Annotated

from msgspec import Meta

from headway.agent.approval import Kind
from headway.agent.context.images import image_of
from headway.agent.tools.bounds import shorten
from headway.agent.tools.define import tool
from headway.agent.tools.files import content_hash, read
from headway.agent.tools.near_names import with_near_names
from headway.agent.tools.texts import line_count, text_of
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import Content, ToolContext
from headway.agent.workspace import Workspace
from headway.messages import Text

MOST_LINES = 2_000


@tool(kind=Kind.READS)
async def read_file(
    context: ToolContext,
    *,
    path: Annotated[str, "The file, relative to the workspace."],
    offset: Annotated[int, Meta(ge=1, description="The first line to show, counted from 1.")] = 1,
    limit: Annotated[int, Meta(ge=1, le=MOST_LINES, description="How many lines to show.")] = MOST_LINES,
    line_numbers: Annotated[bool, "Put the number of each line before it."] = False,
) -> Content:
    """Read a text file. The first line of the answer, in brackets, is not part of the file.

    It says which lines follow and gives the hash of the whole file, for `edit_file`. Long files come in parts: go on
    with `offset`. Pictures (PNG, JPEG, GIF, WebP) are shown.
    """
    return await in_thread(_read, context, path, offset, limit, line_numbers=line_numbers)


def _read(context: ToolContext, path: str, offset: int, limit: int, *, line_numbers: bool) -> Content:
    data = _bytes_of(context.workspace, path)
    image = image_of(data, path)
    if image is not None:
        return Text(f"[{path}: {image.media_type}, {len(data):,} bytes; hash {content_hash(data)}]"), image
    text = text_of(data, path)
    total = line_count(text)
    if offset > max(total, 1):
        return f"[{path} has only {total:,} lines; hash {content_hash(data)}]"
    lines = text.split("\n")[offset - 1 : min(offset - 1 + limit, total)]
    shown = _within(lines, offset, context.limits.read_characters, line_numbers=line_numbers)
    last = offset - 1 + len(shown)
    facts = [f"lines {offset:,}-{last:,} of {total:,}" if total else "empty", f"hash {content_hash(data)}"]
    if "\r\n" in text:
        facts.append("lines end in CRLF")
    if text and not text.endswith("\n"):
        facts.append("no newline at its end")
    if last < total:
        facts.append(f"go on with offset={last + 1}")
    return "\n".join([f"[{path}: {'; '.join(facts)}]", *shown])


def _bytes_of(workspace: Workspace, path: str) -> bytes:
    with with_near_names(workspace, path), workspace.spot(path) as spot:
        return read(spot)[0]


def _within(lines: list[str], first: int, room: int, *, line_numbers: bool) -> list[str]:
    """Return as many lines as there is room for, and at least one."""
    shown: list[str] = []
    for number, line in enumerate(lines, first):
        text = shorten(line.removesuffix("\r"))
        text = f"{number:>6}\t{text}" if line_numbers else text
        room -= len(text) + 1
        if shown and room < 0:
            break
        shown.append(text)
    return shown
