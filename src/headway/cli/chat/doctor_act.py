"""`/doctor`: the examination of `headway doctor`, from within a talk."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headway.cli.chat.commands import Surface


async def doctor(surface: Surface, names: str) -> None:
    """Look at everything, or at some providers, and show findings as they come; an interrupt leaves it."""
    from headway.cli.doctor.examining import Wish, examine  # it is not needed to talk
    from headway.cli.doctor.findings import Area, State, Verdict
    from headway.cli.doctor.showing import lines_of, verdict_words

    loaded, view = surface.conversation.loaded, surface.view
    area: Area | None = None
    problems = notes = 0
    async with aclosing(examine(lambda: loaded, loaded.around, Wish(tuple(names.split())))) as findings:
        async for finding in findings:
            problems += finding.state is State.PROBLEM
            notes += finding.state is State.NOTE
            if finding.area is not area:
                view.gap()
                view.say(finding.area.value.capitalize(), "bold")
                area = finding.area
            view.write([view.terminal.styled(line, **style) for line, style in lines_of(finding, view.paper.width)])
    view.gap()
    view.say(verdict_words(Verdict(problems, notes)))
    view.gap()
