"""What is told to a model in a turn besides its brief, looked up anew for each: instructions, and skills by name."""

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from headway.agent.context.ground import ground_of
from headway.agent.context.instructions import read_instructions
from headway.agent.context.skills import find_skills, skill_tool
from headway.agent.tools.tool import Tool
from headway.agent.workspace import Workspace


class Guidance(Struct, frozen=True):
    """What there is for one turn."""

    words: str = ""
    """What the model is told."""
    tools: tuple[Tool, ...] = ()
    """The tools that go with it."""
    notices: tuple[str, ...] = ()
    """What a person should know: what was cut, and what could not be used."""


class Guide(Struct, frozen=True):
    """Knows where to look. Calling it blocks, reads files and never raises because of them."""

    workspace: Workspace
    config: Path | None = None
    """The user's own folder for settings."""
    home: Path | None = None
    instructions: bool = True
    skills: bool = True
    clean: Callable[[str], str] = str
    """Takes secrets out of a text."""

    def __call__(self) -> Guidance:
        """Look everything up."""
        ground = ground_of(self.workspace)
        words, notices, tools = list[str](), list[str](), tuple[Tool, ...]()
        if self.instructions:
            read = read_instructions(ground, self.config, self.home)
            words.append(read.words)
            notices += read.notices
        if self.skills:
            found = find_skills(ground, self.config, self.home)
            words.append(found.words)
            notices += found.notices
            tools = (skill_tool(found.skills),) if found.skills else ()
        return Guidance(self.clean("\n\n".join(filter(None, words))), tools, tuple(notices))
