"""Standing instructions from files: AGENTS.md, or CLAUDE.md where there is none, the nearest last. Blocking, bounded.

They come from the user's own folder, the root of the repository and each folder between it and the workspace. A line
may include other files by `@path`, from its own folder, in the repository or among the Markdown of the user's folder;
nothing else is read, whatever links say. What cannot be used is said, and never ends a turn.
"""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct

from headway.agent.context.ground import Ground, for_people
from headway.agent.context.naming import named_in, without_code
from headway.agent.tools.files import look, read
from headway.agent.tools.refusals import NotThere, ToolError
from headway.agent.tools.texts import line_count, text_of
from headway.agent.workspace import Workspace

NAMES = ("AGENTS.md", "CLAUDE.md")
MOST_BYTES = 1_000_000
MOST_CHARACTERS = 60_000
"""Of all instructions together; the nearest come first to it."""
MOST_FILES = 30
MOST_NAMED = 200
"""Words of one file that are looked up as includes."""
DEEPEST_INCLUDE = 5
HEADING = (
    "The user's standing instructions follow, from files, each marked with its path. Where they differ, the later ones "
    "count; the user's own words in the conversation count for more than any of them."
)


class Instructions(Struct, frozen=True):
    """What was found."""

    words: str = ""
    paths: tuple[str, ...] = ()
    """The files, the nearest last."""
    notices: tuple[str, ...] = ()


def read_instructions(ground: Ground, config: Path | None = None, home: Path | None = None) -> Instructions:
    """Read all that counts; `config` is the user's own folder, and `home` is what `~` stands for."""
    own = Workspace(config) if config is not None and config.is_dir() else None
    reader = _Reader(own, home)
    for folder in reversed(ground.folders):
        reader.read_folder(ground.repository, folder)
    if own is not None:
        reader.read_folder(own, ".")
    texts = tuple(reversed(reader.texts))
    blocks = (f'<instructions path="{path}">\n{text}\n</instructions>' for path, text in texts)
    words = "\n\n".join((HEADING, *blocks)) if texts else ""
    return Instructions(words, tuple(path for path, _ in texts), tuple(reader.notices))


class _Reader:
    """Collects texts, the nearest first, within one bound for all."""

    def __init__(self, own: Workspace | None, home: Path | None) -> None:
        self.texts: list[tuple[str, str]] = []
        self.notices: list[str] = []
        self._own, self._home = own, home
        self._room = MOST_CHARACTERS
        self._seen: set[tuple[Path, tuple[str, ...]]] = set()
        self._is_full = False

    def read_folder(self, workspace: Workspace, folder: str) -> None:
        """Read the instructions of one folder: what they include stands before them."""
        for name in NAMES:
            try:
                texts = list(self._with_includes(workspace, f"{folder}/{name}", 0))
            except NotThere:
                continue
            except ToolError as refused:
                self.notices.append(f"instructions were not used: {for_people(refused)}")
                return
            self.texts += texts
            return

    def _with_includes(self, workspace: Workspace, path: str, depth: int) -> Iterator[tuple[str, str]]:
        """Give a file and then what it includes; the order is turned round in the end."""
        with workspace.spot(path) as spot:
            if (spot.root, spot.parts) in self._seen:
                return
            if look(spot) is None:
                raise NotThere(f"`{path}` does not exist.")
            if len(self._seen) == MOST_FILES or not self._room:
                self._leave_out(spot.shown)
                return
            text = text_of(read(spot, MOST_BYTES)[0], path).removeprefix("\ufeff").strip()
            self._seen.add((spot.root, spot.parts))
            shown, folder = str(spot.root.joinpath(*spot.parts)), "/".join(spot.parts[:-1]) or "."
        if not text:
            return
        text = self._cut(text, shown)
        yield shown, text
        if depth < DEEPEST_INCLUDE:
            for names in islice(named_in(without_code(text)), MOST_NAMED):
                yield from self._included(workspace, folder, names, depth + 1)

    def _included(self, workspace: Workspace, folder: str, names: tuple[str, ...], depth: int) -> list[tuple[str, str]]:
        for name in names:
            place, path = self._place_of(workspace, folder, name)
            try:
                return list(self._with_includes(place, path, depth))
            except NotThere:
                continue
            except ToolError as refused:
                if _is_meant(name, place.root / path):
                    self.notices.append(f"an include was not used: {for_people(refused)}")
        return []

    def _place_of(self, workspace: Workspace, folder: str, name: str) -> tuple[Workspace, str]:
        """Return where an include is to be looked for: its own folder, or the user's."""
        whole = self._home / name[2:] if name.startswith("~/") and self._home is not None else Path(name)
        if self._own is not None and whole.suffix == ".md" and whole.is_relative_to(self._own.root):
            return self._own, str(whole)
        return workspace, str(whole) if whole.is_absolute() else f"{folder}/{name}"

    def _leave_out(self, path: str) -> None:
        if not self._is_full:
            self.notices.append(
                f"instructions were not used: {path} and what follows it is more than there is room for"
            )
        self._is_full = True

    def _cut(self, text: str, path: str) -> str:
        if len(text) > self._room:
            lines = line_count(text)
            self.notices.append(
                f"instructions were cut: {path} has {len(text):,} characters, the first {self._room:,} count"
            )
            text = f"{text[: self._room]}\n[cut here; the file has {lines:,} lines]"
            self._room = 0
        else:
            self._room -= len(text)
        return text


def _is_meant(name: str, path: Path) -> bool:
    """Say whether a name was meant as a file: a bare word hardly is, nor a folder, nor a path that is not there."""
    looks_so = "/" in name or "." in name
    return looks_so and os.path.lexists(path) and not os.path.isdir(path)  # noqa: PTH112  # which raises nothing
