"""What slash commands do about sessions: begin, list, take up, copy, name them, and say where one stands."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from headway.cli.chat.story import about_draft
from headway.cli.terminal import fit, size
from headway.failure import InvalidInput
from headway.store.records import Renamed

if TYPE_CHECKING:
    from headway.cli.chat.commands import Surface
    from headway.store.journal import SessionInfo

LISTED = 15
RECITED = 3_000


async def clear(surface: Surface, _: str) -> None:
    """Begin a new session."""
    before = surface.conversation.session.id
    was_kept = surface.conversation.is_kept
    await surface.conversation.begin_anew()
    words = f"a new conversation; the one before is kept: /resume {before}" if was_kept else "a new conversation"
    surface.view.say(words, "dim")


async def sessions(surface: Surface, _: str) -> None:
    """List the sessions of the folder."""
    conversation = surface.conversation
    found = conversation.held.sessions.list(str(conversation.folder))
    for info in found[:LISTED]:
        mark = "▸" if info.id == conversation.session.id else " "
        surface.view.say(f"{mark} {info.id}  {_age(info):>8}  {fit(info.name or '(nothing said yet)', 60)}")
    if len(found) > LISTED:
        surface.view.say(f"  … {len(found) - LISTED} more", "dim")


async def resume(surface: Surface, name: str) -> None:
    """Go on with another session."""
    if not name:
        await sessions(surface, "")
        return
    await surface.conversation.take_up(name)
    recap(surface)


async def fork(surface: Surface, _: str) -> None:
    """Go on in a copy."""
    if not surface.conversation.session.state.turn:
        raise InvalidInput("/fork", "nothing was said yet that could be copied")
    before = await surface.conversation.fork()
    words = f"this is a copy, session {surface.conversation.session.id}; the original stays as it is: /resume {before}"
    surface.view.say(words, "dim")


async def rename(surface: Surface, title: str) -> None:
    """Give the session a title."""
    if not title:
        raise InvalidInput("/rename", "there is no title", "Write it behind the command")
    await surface.conversation.session.keep(Renamed(title))
    surface.view.say(f"session {surface.conversation.session.id} is called “{title}” now", "dim")


def turns_of(count: int) -> str:
    """Return a number of turns in words."""
    return f"{count} turn{'' if count == 1 else 's'}"


def recap(surface: Surface) -> None:
    """Show where a session stands: its last words, and what is open in it."""
    view, session = surface.view, surface.conversation.session
    state = session.state
    said = [message for message in state.messages if message.text.strip() and not message.results]
    yours = next((message.text for message in reversed(said) if state.is_said_by_user(message)), "")
    last = said[-1] if said else None
    view.say(f"session {state.id}{f' “{state.title}”' if state.title else ''}, {turns_of(state.turn)}", "dim")
    if yours:
        view.you(fit(yours, 400))
    if last is not None and last.role == "assistant":
        text = last.text
        view.recite(text if len(text) <= RECITED else f"…{text[-RECITED:]}")
    for call in session.found.unknown:
        view.say(f"{call.name} had begun when the process ended: what it did is not known", "warn")
    if state.salvage.draft is not None:
        about = f"{size(len(state.salvage.draft.arguments))} of {about_draft(state.salvage.draft)}"
        view.say(f"a cut call is kept as a draft: {about}. Say “continue” to go on from there", "warn")
    view.gap()


def _age(info: SessionInfo) -> str:
    seconds = max(0.0, time.time() - info.updated_at)
    for limit, unit, name in ((90, 1, "s"), (5400, 60, "min"), (129_600, 3600, "h")):
        if seconds < limit:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 86_400:.0f} days"
