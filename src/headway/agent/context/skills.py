"""Agent Skills: folders with a SKILL.md whose front matter says what they are for. Blocking, bounded.

The model is told names and descriptions only. When a skill fits its task it reads the rest, by a tool that reads in the
folders of skills and nowhere else, and changes nothing. Of two skills of a name, the nearer counts: workspace,
repository, home. One that cannot be read is said, and the others work.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from headway.agent.approval import Kind
from headway.agent.context.front_matter import BadFrontMatter, front_matter
from headway.agent.context.ground import Ground, for_people
from headway.agent.context.images import image_of
from headway.agent.tools.bounds import clip, shorten
from headway.agent.tools.define import tool
from headway.agent.tools.files import read
from headway.agent.tools.refusals import NotThere, ToolError
from headway.agent.tools.texts import text_of
from headway.agent.tools.tool import Content, Tool, ToolContext
from headway.agent.workspace import Workspace
from headway.messages import Text

SHELVES = (".headway/skills", ".agents/skills", ".claude/skills")
FILE = "SKILL.md"
MOST_SKILLS = 100
MOST_WORDS = 20_000
"""Characters of descriptions that a model is told; when there are more, each is cut."""
MOST_BYTES = 1_000_000
LONGEST_DESCRIPTION = 1_024
_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}")
HEADING = (
    "Skills are instructions for special tasks, kept in folders. When the task fits a description, read that skill "
    "with `skill` before you begin, and follow it."
)


class Skill(Struct, frozen=True):
    """One skill: what it is for, and where it is."""

    name: str
    description: str
    place: Workspace
    """What it cannot be read outside of."""
    parts: tuple[str, ...]
    """Its folder, below the root of the place."""

    @property
    def folder(self) -> Path:
        """Return where it is."""
        return self.place.root.joinpath(*self.parts)

    def read(self, file: str) -> bytes:
        """Return the content of one of its files."""
        with self.place.spot("/".join((*self.parts, file))) as spot:
            if spot.root != self.place.root or spot.parts[: len(self.parts)] != self.parts:
                raise ToolError(f"`{file}` leads out of the skill {self.name}.")
            return read(spot, MOST_BYTES)[0]


class Skills(Struct, frozen=True):
    """What was found."""

    skills: tuple[Skill, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Return what the model is told."""
        told = sum(len(skill.description) for skill in self.skills)
        longest = LONGEST_DESCRIPTION if told <= MOST_WORDS else MOST_WORDS // MOST_SKILLS
        lines = (f"- {skill.name}: {skill.description[:longest]}" for skill in self.skills)
        return "\n".join((HEADING, *lines)) if self.skills else ""


def find_skills(ground: Ground, config: Path | None = None, home: Path | None = None) -> Skills:
    """Look through every shelf, the nearest first."""
    search = _Search()
    for folder in reversed(ground.folders):
        for shelf in SHELVES:
            search.shelf(ground.repository, f"{folder}/{shelf}")
    for own in ([config / "skills"] if config else []) + ([home / shelf for shelf in SHELVES] if home else []):
        for linked in _folders_in(own):
            search.look(Workspace(linked, hidden=ground.repository.hidden), ".")
    return Skills(tuple(search.found.values()), tuple(search.notices))


def skill_tool(skills: Sequence[Skill]) -> Tool:
    """Return the tool that reads these skills."""
    by_name = {skill.name: skill for skill in skills}

    @tool(kind=Kind.READS)
    def skill(
        context: ToolContext,
        *,
        name: Annotated[str, "The skill."],
        file: Annotated[str, "One of its files, where the skill names any."] = FILE,
    ) -> Content:
        """Read a skill: instructions for a special task. Its other files are read by their paths in its folder."""
        known = by_name.get(name)
        if known is None:
            raise ToolError(f"There is no skill `{name[:64]}`. There is {', '.join(by_name)}.")
        data = known.read(file)
        image = image_of(data, file)
        head = f"[{file} of the skill {name}, in {known.folder}]"
        if image is not None:
            return Text(head), image
        return f"{head}\n{clip(text_of(data, file), context.limits.read_characters)}"

    return skill


class _Search:
    """Collects skills, the nearest first."""

    def __init__(self) -> None:
        self.found: dict[str, Skill] = {}
        self.notices: list[str] = []

    def shelf(self, place: Workspace, path: str) -> None:
        """Look at each folder of a shelf that belongs to a repository: nothing leads out of that."""
        try:
            with place.folder(path) as folder, os.scandir(folder.handle) as entries:
                names = sorted(entry.name for entry in entries if entry.is_dir())
        except NotThere:
            return
        except ToolError as refused:
            self.notices.append(f"skills were not used: {for_people(refused)}")
            return
        for name in names:
            self.look(place, f"{path}/{name}")

    def look(self, place: Workspace, path: str) -> None:
        """Take up the skill in a folder, if there is one."""
        try:
            with place.folder(path) as folder:
                parts = folder.parts
            skill = _described(Skill("", "", place, parts))
        except NotThere:
            return
        except (BadFrontMatter, ToolError) as bad:
            self.notices.append(f"the skill in {place.root.joinpath(path)} is not used: {for_people(bad)}")
            return
        if skill.name not in self.found and len(self.found) == MOST_SKILLS:
            self.notices.append(f"the skill {skill.name} is not used: there are {MOST_SKILLS} nearer ones")
            return
        self.found.setdefault(skill.name, skill)


def _described(skill: Skill) -> Skill:
    facts = front_matter(text_of(skill.read(FILE), FILE))
    name, description = facts.get("name", ""), " ".join(facts.get("description", "").split())
    if not _NAME.fullmatch(name):
        raise BadFrontMatter(
            f"its name {name[:80]!r} is not of letters, digits and hyphens" if name else "it has no name"
        )
    if not description:
        raise BadFrontMatter("it has no description")
    return replace(skill, name=name, description=shorten(description, LONGEST_DESCRIPTION))


def _folders_in(shelf: Path) -> list[Path]:
    """Return the folders of a shelf of the user's own, which may be links."""
    try:
        return sorted(one for one in shelf.iterdir() if one.is_dir())
    except OSError:
        return []
