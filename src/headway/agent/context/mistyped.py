"""An `@name` at which there is nothing: was a path meant, and which one? Blocks.

Most signs that name nothing are no paths: decorators, packages, people. One is taken for a mistyped path if
- a name like it is there: `@raedme.md`, `@readme`, `@srcc/main.py`;
- or the folder that it begins in is there: `@src/nothing.py`;
- or it is written as only a path is: `@./x`, `@../x`, `@~/x`, or a single name that ends as files do, `@nothing.txt`.
What stands in code, or begins a line as a decorator does, is not, nor what has signs that names of files rarely have.
"""

import os
import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

from msgspec import Struct

from headway.agent.context.naming import decorators_in, named_in, without_code
from headway.agent.tools.refusals import ToolError
from headway.agent.workspace import Workspace

MOST_LOOKED_AT = 20
"""Names of one message: a text that was pasted may be full of signs."""
MOST_NAMES = 2_000
DEEPEST = 20
LIKE, VERY_LIKE = 0.8, 0.9
"""How like another a name must be, and a plain word: `@Test` is an annotation, and no typing error for `tests`."""
SHORTEST = 4
"""Shorter words are like too many others."""
_NO_PATH = re.compile(r"[()={}<>\"'`$*|;\\@]|://")
_WRITTEN_AS_PATH = ("./", "../", "~/")
_ENDINGS = frozenset(
    ending
    for line in (
        "txt md mdx rst adoc tex org log csv tsv json jsonl yaml yml toml ini cfg conf env properties lock html htm",
        "css scss sass less js mjs cjs jsx ts mts cts tsx vue svelte py pyi ipynb rb php pl lua r jl go rs c h cc cpp",
        "cxx hh hpp m mm swift java kt kts scala groovy gradle clj ex exs erl hs ml fs cs vb dart zig nim sh bash zsh",
        "fish ps1 bat cmd sql graphql proto tf hcl nix patch diff svg png jpg jpeg gif webp bmp ico pdf doc docx xls",
        "xlsx ppt pptx odt zip gz tar whl jar wasm bin pem key crt xml",
    )
    for ending in line.split()
)


class Mistyped(Struct, frozen=True):
    """A path at which there is nothing, and the one that was probably meant."""

    path: str
    near: str = ""

    def __str__(self) -> str:
        near = f'@"{self.near}"' if " " in self.near else f"@{self.near}"
        return f"@{self.path} was not found" + (f" (did you mean {near}?)" if self.near else "")


def mistyped(words: str, missing: Iterable[tuple[str, ...]], workspace: Workspace) -> list[Mistyped]:
    """Return those of the missing names, each in its readings, that were meant as paths in these words."""
    decorators, plain = decorators_in(words), set(named_in(without_code(words)))
    meant = [readings[-1] for readings in missing if readings in plain and readings[-1] not in decorators]
    looking = _Looking(workspace)
    found = (looking.judged(path) for path in dict.fromkeys(meant[:MOST_LOOKED_AT]))
    return [one for one in found if one is not None]


class _Looking:
    """Looks for names in a workspace, each folder once."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._names: dict[str, list[str] | None] = {}

    def judged(self, path: str) -> Mistyped | None:
        """Return the path with the one that was probably meant; None if it is evidently no path."""
        parts = path.rstrip("/").split("/")
        if _NO_PATH.search(path) or not path.isprintable() or len(parts) > DEEPEST:
            return None
        depth, names = self._as_far_as_it_goes(parts)
        near = self._near(parts, depth, names)
        is_single, ends_as_file = len(parts) == 1, Path(path).suffix[1:].lower() in _ENDINGS
        if path.startswith("/"):
            is_meant = len(parts) > 1 and parts[1] != "" and (Path("/") / parts[1]).is_dir()
        elif path.startswith(_WRITTEN_AS_PATH) or depth:
            is_meant = True
        else:
            is_whole = near != "" and near.count("/") == len(parts) - 1
            is_meant = is_whole or (ends_as_file and (is_single or near != ""))
        return Mistyped(path, near) if is_meant else None

    def _as_far_as_it_goes(self, parts: list[str]) -> tuple[int, list[str]]:
        """Return how many parts lead to a folder that is there, and what is in it."""
        for depth in range(len(parts) - 1, -1, -1):
            names = self._names_in("/".join(parts[:depth]) or ("." if parts[0] else "/"))
            if names is not None:
                return depth, names
        return 0, []

    def _near(self, parts: list[str], depth: int, names: list[str]) -> str:
        """Return the path with its first part that is not there replaced by one like it; empty if there is none."""
        found = _like(parts[depth], names, VERY_LIKE if len(parts) == 1 and "." not in parts[0] else LIKE)
        if not found:
            return ""
        near = "/".join((*parts[:depth], found))
        whole = "/".join((near, *parts[depth + 1 :]))
        return whole if os.path.lexists(self._workspace.root / whole) else near

    def _names_in(self, folder: str) -> list[str] | None:
        if folder not in self._names:
            self._names[folder] = self._read(folder)
        return self._names[folder]

    def _read(self, folder: str) -> list[str] | None:
        try:
            with self._workspace.folder(folder) as held, os.scandir(held.handle) as entries:
                return [entry.name for entry in islice(entries, MOST_NAMES)]
        except ToolError:
            return None


def _like(name: str, names: list[str], least: float) -> str:
    """Return the name that is most like one, whatever the case, or the same without its ending; empty if none is.

    What begins with a dot is not meant by a name that does not: `@github/x` is not `.github`.
    """
    folded = {one.casefold(): one for one in names if one.isprintable() and one.startswith(".") == name.startswith(".")}
    wanted = name.casefold()
    if wanted in folded:
        return folded[wanted]
    if len(wanted) < SHORTEST:
        return ""
    same = (one for key, one in folded.items() if key.rpartition(".")[0] == wanted)
    return next(same, "") or next((folded[key] for key in get_close_matches(wanted, folded, 1, least)), "")
