"""What a tool could not do, in words for the model: what happened, to what, and what to do next.

Tools raise these; the executor turns them into error results. Nothing here ends a turn.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from headway.failure import HeadwayError


class ToolError(HeadwayError):
    """A tool could not do what it was asked; its text goes to the model."""


class NotThere(ToolError):
    """A path at which there is nothing."""


class PathRefused(ToolError):
    """A path that no tool goes to, whatever stands there."""


class OutsideWorkspace(PathRefused):
    """A path that leads out of the workspace; a person may allow its folder."""

    def __init__(self, path: str, root: str, leads_to: str = "") -> None:
        """Keep the path, so that a caller can ask whether to allow it."""
        self.path = path
        through = f" (it leads to `{leads_to}`)" if leads_to else ""
        super().__init__(
            f"`{path}` is outside the workspace{through}. Use a path inside `{root}`, or ask the user to allow that "
            "folder as well."
        )


class Hidden(PathRefused):
    """A path where secrets are kept, and about which nobody was asked."""

    def __init__(self, path: str) -> None:
        """Keep the path."""
        self.path = path
        super().__init__(f"`{path}` is a place where secrets are kept, so it is left alone. Do without it.")


_WORDS = {
    errno.ENOENT: "`{path}` does not exist.",
    errno.EISDIR: "`{path}` is a directory, not a file.",
    errno.ENOTDIR: "`{path}` cannot be reached: a part of the path is not a directory.",
    errno.EEXIST: "`{path}` is already there.",
    errno.EACCES: "The system does not permit this for `{path}`.",
    errno.EPERM: "The system does not permit this for `{path}`.",
    errno.EROFS: "`{path}` is on a read-only file system.",
    errno.ENOSPC: "The disk is full; `{path}` is unchanged.",
    errno.EDQUOT: "The disk quota is used up; `{path}` is unchanged.",
    errno.ENAMETOOLONG: "`{path}` is too long a name.",
    errno.ELOOP: "`{path}` changed into a symbolic link while it was opened; nothing was done.",
}


def words_for(error: OSError, path: str) -> str:
    """Return what the system said, as a sentence about a path."""
    words = _WORDS.get(error.errno or 0)
    if words is not None:
        return words.format(path=path)
    said = os.strerror(error.errno) if error.errno else str(error) or type(error).__name__
    return f"`{path}` cannot be used: {said}."


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Turn what the system refuses into a `ToolError` about a path."""
    try:
        yield
    except FileNotFoundError as error:
        raise NotThere(words_for(error, path)) from error
    except OSError as error:
        raise ToolError(words_for(error, path)) from error
