"""`write_file`: a whole file at once, or one more piece at its end; both happen entirely or not at all."""

from typing import Annotated

from headway.agent.approval import Kind
from headway.agent.tools.define import tool
from headway.agent.tools.files import content_hash, look, refuse_to_edit
from headway.agent.tools.keeping import replace_kept, what_was_there
from headway.agent.tools.texts import line_count
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import ToolContext


@tool(kind=Kind.EDITS, drafts=True)
async def write_file(
    context: ToolContext,
    *,
    path: Annotated[str, "The file, relative to the workspace. Missing directories are made."],
    content: Annotated[str, "The whole content; with `append`, what is added."],
    append: Annotated[bool, "Add to the end of the file instead of replacing it."] = False,
) -> str:
    """Write a text file: make a new one, replace one, or add to one.

    To change a part of a file, use `edit_file`. A very long file can be written in pieces: the first without `append`,
    the others with it.
    """
    return await in_thread(_write, context, path, content, append=append)


def _write(context: ToolContext, path: str, content: str, *, append: bool) -> str:
    with context.workspace.spot(path, create_parents=True) as spot:
        old = look(spot)
        refuse_to_edit(spot, old)
        before, old = what_was_there(spot, old)
        data = (before or b"" if append else b"") + content.encode()
        note = replace_kept(context.checkpoints, context.call_id, spot, data, old, before)
    done = "Made" if old is None else "Added to" if append else "Replaced"
    lines = line_count(data.decode("utf-8", "replace"))
    return f"{done} `{path}`: {len(data):,} bytes, {lines:,} lines; hash {content_hash(data)}.{note}"
