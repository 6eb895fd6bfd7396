"""The folders that count for a workspace: itself, and those above it up to the root of its repository. Blocking."""

import os
from pathlib import Path

from msgspec import Struct

from headway.agent.tools.path_names import DEEPEST
from headway.agent.tools.refusals import OutsideWorkspace
from headway.agent.workspace import Workspace
from headway.failure import HeadwayError


class Ground(Struct, frozen=True):
    """A repository, or a lone folder, and the way through it to the workspace."""

    repository: Workspace
    """Nothing is read outside of it, whatever links say."""
    folders: tuple[str, ...]
    """From its root to the workspace, as paths in it; the first is `.`."""


def ground_of(workspace: Workspace) -> Ground:
    """Return the ground of a workspace; outside of a repository, that is the workspace alone."""
    root = workspace.root
    top = next((one for one in (root, *root.parents)[:DEEPEST] if _is_repository(one)), root)
    below = root.relative_to(top).parts
    folders = ("/".join(below[:depth]) or "." for depth in range(len(below) + 1))
    return Ground(Workspace(top, hidden=workspace.hidden), tuple(folders))


def for_people(refused: HeadwayError) -> str:
    """Return why something was not read; what a model would be advised to do about it is left out."""
    if isinstance(refused, OutsideWorkspace):
        return f"`{refused.path.removeprefix('./')}` leads outside of the repository"
    return str(refused)


def _is_repository(folder: Path) -> bool:
    """Say whether a repository of this user begins here; in a folder that all may write to, it could be anybody's."""
    try:
        found = (folder / ".git").stat()
    except OSError:
        return False
    return not hasattr(os, "getuid") or found.st_uid == os.getuid()
