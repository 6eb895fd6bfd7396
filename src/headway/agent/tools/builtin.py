"""The tools that every agent has, in the order in which a model is told about them."""

from headway.agent.tools.editing import edit_file
from headway.agent.tools.listing import list_files
from headway.agent.tools.reading import read_file
from headway.agent.tools.searching import search
from headway.agent.tools.shell import shell
from headway.agent.tools.tool import Tool
from headway.agent.tools.writing import write_file

BUILTIN: tuple[Tool, ...] = (read_file, write_file, edit_file, list_files, search, shell)
