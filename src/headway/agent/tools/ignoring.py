"""What a repository does not count as its own: `.git`, our temporary files, and what `.gitignore` files say.

The common part of git's rules: comments, `!`, a `/` at the beginning, inside or at the end, `*`, `**`. The last rule
that fits decides; files in deeper directories speak last.
"""

from collections.abc import Sequence

from msgspec import Struct

from headway.agent.tools.files import TEMPORARY
from headway.agent.tools.globs import Glob

MOST_RULES = 2_000


class _Rule(Struct, frozen=True):
    base: tuple[str, ...]
    glob: Glob
    keeps: bool
    only_directories: bool


class Ignoring(Struct, frozen=True):
    """The rules that hold in a directory: its own after those of the directories above it."""

    rules: tuple[_Rule, ...] = ()

    def with_file(self, base: tuple[str, ...], text: str) -> "Ignoring":
        """Return the rules with those of a `.gitignore` in the directory `base`."""
        read = (_rule(base, line) for line in text.splitlines())
        return Ignoring((*self.rules, *(rule for rule in read if rule is not None))[:MOST_RULES])

    def ignores(self, path: Sequence[str], *, is_directory: bool) -> bool:
        """Say whether a path, given in its parts from the root, is ignored; its directories are known not to be."""
        if path[-1] == ".git" or path[-1].startswith(TEMPORARY):
            return True
        for rule in reversed(self.rules):
            if (is_directory or not rule.only_directories) and rule.glob.fits(path[len(rule.base) :]):
                return not rule.keeps
        return False


def _rule(base: tuple[str, ...], line: str) -> _Rule | None:
    line = line.rstrip()
    if not line or line.startswith("#"):
        return None
    keeps = line.startswith("!")
    line = line.removeprefix("!").removeprefix("\\")
    only_directories = line.endswith("/")
    pattern = line.rstrip("/")
    return _Rule(base, Glob(pattern), keeps, only_directories) if pattern else None
