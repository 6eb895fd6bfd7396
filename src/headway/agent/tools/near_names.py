"""A path that does not exist, answered with the ones that were probably meant."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice

from headway.agent.tools.refusals import NotThere, ToolError
from headway.agent.workspace import Workspace

_LOOKED_AT = 2_000


@contextmanager
def with_near_names(workspace: Workspace, path: str) -> Iterator[None]:
    """Add to the news that a path does not exist which names are near it."""
    try:
        yield
    except NotThere as error:
        near = near_names(workspace, path)
        if not near:
            raise
        shown = " or ".join(f"`{one}`" for one in near)
        raise NotThere(f"{error} Did you mean {shown}?") from error


def near_names(workspace: Workspace, path: str) -> list[str]:
    """Return names in the same directory that are like the last part of the path."""
    folder, _, name = path.rstrip("/").rpartition("/")
    try:
        with workspace.folder(folder or ".") as held, os.scandir(held.handle) as entries:
            names = [entry.name for entry in islice(entries, _LOOKED_AT)]
    except ToolError:
        return []
    return [f"{folder}/{one}" if folder else one for one in get_close_matches(name, names, 3)]
