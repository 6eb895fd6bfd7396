"""`list_files`: what is there, nearest first, without what the repository ignores."""

from typing import Annotated

from headway.agent.approval import Kind
from headway.agent.tools.define import tool
from headway.agent.tools.globs import Glob
from headway.agent.tools.near_names import with_near_names
from headway.agent.tools.threads import in_thread
from headway.agent.tools.tool import ToolContext
from headway.agent.tools.walking import Cut, Entry, walk


@tool(kind=Kind.READS)
async def list_files(
    context: ToolContext,
    *,
    path: Annotated[str, "The directory, relative to the workspace."] = ".",
    pattern: Annotated[
        str, "Only paths like this: `*.py` for names in any directory, `src/**/*.{ts,tsx}` for whole paths."
    ] = "",
    ignored: Annotated[bool, "Also show what .gitignore leaves out."] = False,
) -> str:
    """List the files of a directory and of all directories below it, nearest first. Directories end in `/`."""
    return await in_thread(_list, context, path, pattern, ignored=ignored)


def _list(context: ToolContext, path: str, pattern: str, *, ignored: bool) -> str:
    most = context.limits.listed
    glob = Glob(pattern) if pattern else None
    lines: list[str] = []
    note = ""
    with with_near_names(context.workspace, path):
        for entry in walk(context.workspace, path, with_ignored=ignored):
            if isinstance(entry, Cut):
                note = "[there is more than can be looked through: name a directory further down]"
            elif glob is not None and (entry.is_directory or not entry.fits(glob)):
                continue
            elif len(lines) == most:
                note = f"[more than {most:,}: name a directory further down, or a narrower pattern]"
                break
            else:
                lines.append(_shown(entry))
    if not lines:
        return note or ("[no file fits]" if pattern else "[empty]")
    return "\n".join([*lines, note] if note else lines)


def _shown(entry: Entry) -> str:
    return entry.path + ("/" if entry.is_directory else "@" if entry.is_link else "")
