"""Where the path among the arguments of a call leads, for rules and questions. No I/O: a workspace looks it up."""

from msgspec import Struct

from headway.agent.tools.globs import Glob
from headway.agent.tools.path_names import parts_of
from headway.agent.tools.refusals import PathRefused


class Place(Struct, frozen=True):
    """A place, with links followed if somebody has looked."""

    parts: tuple[str, ...] | None
    """Below the workspace; from the root of the system if it is elsewhere. None if nobody knows."""
    is_absolute: bool = False
    root: tuple[str, ...] = ()
    """The parts of the workspace, so that absolute patterns fit what is inside."""
    concern: str = ""
    """Why a person must be asked before anything is done there; empty if nothing is special about it."""


def place_named(path: str) -> Place:
    """Return the place that a path names by its text, if that alone tells."""
    try:
        parts = parts_of(path)
    except PathRefused:
        return Place(None)
    return Place(None if ".." in parts else parts, is_absolute=path.startswith("/"))


def fits_path(pattern: str, place: Place, *, exactly: bool = False) -> bool:
    """Say whether a pattern of a rule fits a place; one without patterns in it fits a folder with all that is below.

    A rule that denies does not mind upper and lower case, as some file systems do not; one that allows is exact.
    """
    if place.parts is None:
        return False
    parts, absolute = place.parts, pattern.startswith("/")
    if absolute and not place.is_absolute:
        parts = (*place.root, *parts) if place.root else ()
    elif place.is_absolute and not absolute:
        return False
    if not exactly:
        pattern, parts = pattern.casefold(), tuple(part.casefold() for part in parts)
    # In a rule, a name is a place and not any file of that name, as it is in a search.
    anchored = pattern if "/" in pattern.rstrip("/") else f"./{pattern}"
    return Glob(anchored).fits(parts) or Glob(f"{anchored.rstrip('/')}/**").fits(parts)
