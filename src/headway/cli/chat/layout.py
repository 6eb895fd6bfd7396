"""How the live part is laid out, from top to bottom, and how it looks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples
from prompt_toolkit.layout import BufferControl, ConditionalContainer, Dimension, FormattedTextControl, HSplit, Window
from prompt_toolkit.layout.processors import BeforeInput

from headway.cli.chat.drawn_apart import DrawnApart
from headway.cli.terminal import cells, fit, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from headway.cli.chat.screen import Screen, Shown

MOST_SUGGESTED = 6
QUEUED = 3
LEAST_SHORTENED = 16
MOST_KEPT_OF_END = 20
"""Columns: of less than the first nothing is left out in the middle, and of the end no more is kept than the second."""
PROMPT, MORE, ANSWER = "› ", "  ", "? "


def style_for(*, colours: bool) -> dict[str, str]:
    """Return the styles of the live part."""
    if not colours:
        return {}
    return {
        "status": "ansiyellow",
        "queue": "ansiblue",
        "rule": "ansibrightblack",
        "facts": "ansibrightblack",
        "prompt": "bold ansiblue",
        "question": "bold ansiyellow",
        "chosen": "bold ansicyan",
        "suggested": "ansibrightblack",
    }


def body(screen: Screen, shown: Shown) -> HSplit:
    """Return the whole of it."""

    def width() -> int:
        return screen.width

    def live() -> str:
        room = max(2, screen.rows // 2)
        return "\n".join(shown.live()[-room:])

    def queue() -> str:
        waiting = shown.queue().lines()
        lines = ["  " + fit(f"▸ {words}", width() - 2) for words in waiting[:QUEUED]]
        if waiting:
            more = f"{len(waiting) - QUEUED} more; " if len(waiting) > QUEUED else ""
            ways = "Enter sends the first, ↑ edits the last" if shown.queue().holds else "↑ takes the last one back"
            lines.append("    " + fit(f"{more}{ways}, /queue clear forgets them", width() - 4))
        return "\n".join(lines)

    return HSplit(
        [
            _rows(lambda: ANSI(live()), lambda: live().count("\n") + 1 if shown.live() else 0),
            _row("class:status", lambda: _status(shown, width())),
            _rows(lambda: [("class:queue", queue())], lambda: queue().count("\n") + 1 if shown.queue() else 0),
            _row("class:question", lambda: fit(shown.question(), width()) if shown.question() else ""),
            Window(height=1, char="─", style="class:rule", width=width),
            _input(screen, shown),
            _suggestions(screen, width),
            _row("class:facts", lambda: fit(shown.facts(), width())),
        ]
    )


def _status(shown: Shown, width: int) -> str:
    words, end = shown.status()
    return fit(f"◦ {shortened(words, width - 2 - cells(end))}{end}", width) if words else ""


def shortened(text: str, width: int) -> str:
    """Return a text as one line of at most `width` columns; of a longer one the middle is left out.

    How a status ends is as telling as how it begins: it has the seconds, the size or the number of the attempt.
    """
    line = " ".join(visible(text).split())
    if cells(line) <= width or width < LEAST_SHORTENED:
        return fit(line, max(width, 1))
    end = _end(line.split(" "), min(width // 3, MOST_KEPT_OF_END))
    return fit(line, width - cells(end)) + end


def _end(words: list[str], room: int) -> str:
    """Return as many of the last words as there is room for, with a space before; what is in brackets stays whole."""
    end, whole = "", ""
    for word in reversed(words):
        end = f" {word}{end}"
        if cells(end) > room:
            break
        if end.count("(") == end.count(")"):
            whole = end
    return whole


def _row(style: str, words: Callable[[], str]) -> ConditionalContainer:
    """One line, if there are words for it."""
    control = FormattedTextControl(lambda: [(style, words())])
    return ConditionalContainer(Window(control, height=1), Condition(lambda: bool(words())))


def _rows(text: Callable[[], ANSI | StyleAndTextTuples], count: Callable[[], int]) -> ConditionalContainer:
    """As many lines as there are."""
    window = Window(
        FormattedTextControl(text),
        height=lambda: Dimension(min=0, preferred=count(), max=count()),
        dont_extend_height=True,
    )
    return ConditionalContainer(window, Condition(lambda: count() > 0))


def _input(screen: Screen, shown: Shown) -> Window:
    def prompt() -> StyleAndTextTuples:
        asked = bool(shown.question())
        return [("class:question", ANSWER)] if asked else [("class:prompt", PROMPT)]

    def prefix(line: int, wrap: int) -> StyleAndTextTuples:
        return [] if not line and not wrap else [("", MORE)]

    control = BufferControl(screen.buffer, input_processors=[DrawnApart(), BeforeInput(prompt)], focus_on_click=False)
    return Window(
        control,
        wrap_lines=True,
        get_line_prefix=prefix,
        height=lambda: Dimension(min=1, max=max(2, screen.rows // 3)),
        dont_extend_height=True,
    )


def _suggestions(screen: Screen, width: Callable[[], int]) -> ConditionalContainer:
    def lines() -> StyleAndTextTuples:
        state = screen.buffer.complete_state
        if state is None:
            return []
        chosen = state.complete_index if state.complete_index is not None else -1
        first = max(0, chosen - MOST_SUGGESTED + 1)
        parts: StyleAndTextTuples = []
        for number, one in enumerate(state.completions[first : first + MOST_SUGGESTED], first):
            mark, style = ("▸ ", "class:chosen") if number == chosen else ("  ", "class:suggested")
            about = f"  {one.display_meta_text}" if one.display_meta_text else ""
            parts.append((style, fit_line(f"{mark}{one.text:<12}{about}", width()) + "\n"))
        if len(state.completions) > MOST_SUGGESTED:
            parts.append(("class:suggested", f"  {len(state.completions)} in all\n"))
        return parts

    return _rows(lambda: _without_last_break(lines()), lambda: len(lines()))


def fit_line(text: str, width: int) -> str:
    """Return a line cut to a width, its spaces as they are."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _without_last_break(parts: StyleAndTextTuples) -> StyleAndTextTuples:
    return [*parts[:-1], (parts[-1][0], parts[-1][1].rstrip("\n"))] if parts else []
