"""Servers for people: a mark and a line for each, what to do about it below, and its tools if they are wanted."""

import textwrap

from headway.cli.mcp_examining import Examined, State
from headway.cli.terminal import Terminal, fit, visible

WIDEST = 100
_MARKS = {
    State.WORKS: ("✓", "green"),
    State.FAILED: ("✗", "red"),
    State.NOT_TRUSTED: ("!", "yellow"),
    State.OFF: ("·", ""),
    State.NOT_STARTED: ("·", ""),
}
_INDENT = "    "
NOTHING = (
    "There are no MCP servers in the settings. Add one to headway.toml:\n\n"
    '    [mcp.NAME]\n    command = ["program", "argument"]    # or: url = "https://host/mcp"\n'
)


class Page:
    """Writes servers as they come."""

    def __init__(self, terminal: Terminal, *, at_length: bool) -> None:
        """Write to a terminal, or to a file; at length, with times and tools."""
        self._terminal, self._at_length = terminal, at_length

    def nothing(self) -> None:
        """Say that there are none, and how there could be."""
        self._terminal.write(NOTHING)

    def show(self, one: Examined) -> None:
        """Write one server."""
        width = min(self._terminal.width, WIDEST)
        mark, colour = _MARKS[one.state]
        line = fit(f"{mark} {one.name}: {self._summary(one)}", width) if one.state is not State.FAILED else ""
        for text in [line] if line else _wrapped(f"{mark} {one.name}: {self._summary(one)}", width, ""):
            self._terminal.write(self._terminal.styled(text, **({"fg": colour} if colour else {})) + "\n")
        for text in self._below(one, width):
            self._terminal.write(f"{text}\n")

    def _summary(self, one: Examined) -> str:
        if one.state is State.WORKS:
            count = len(one.tools)
            return f"{count} {'tool' if count == 1 else 'tools'} ({one.way})"
        return one.words if one.state is State.FAILED else f"{one.state.value} ({one.way})"

    def _below(self, one: Examined, width: int) -> list[str]:
        lines = [text for notice in one.notices for text in _wrapped(notice, width)]
        if one.state in (State.NOT_TRUSTED, State.OFF):
            lines += _wrapped(one.words, width)
        if one.advice:
            lines += _wrapped(f"→ {one.advice}", width)
        if self._at_length and one.state is State.WORKS:
            times = ", ".join(f"{phase} {seconds:.2f} s" for phase, seconds in one.seconds.items())
            said = f"{one.server or 'no name'}, protocol {one.version}; {times}"
            lines += [_INDENT + self._terminal.styled(fit(said, width - 4), dim=True)]
            lines += [f"{_INDENT}{fit(f'{tool.name}  {tool.kind}  {tool.words}', width - 4)}" for tool in one.tools]
        return lines


def _wrapped(text: str, width: int, first: str = _INDENT) -> list[str]:
    return textwrap.wrap(
        " ".join(visible(text).split()),
        width,
        initial_indent=first,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
