"""`headway chat` when its terminal goes away: it ends at once, in every phase, and what came is kept.

A chat that tries again to read what cannot be read any more takes a whole processor, for as long as the machine runs.
"""

import asyncio
import os
import pty

import pytest

from headway.sim.script import Call, Final, Pace, Script, WriteFile
from headway.store.sessions import Sessions, open_store
from support.chats import READY, at_home
from support.windows import Window

DRIP = Pace(characters=10, seconds=0.1)
PAGE = "".join(f"<p>Paragraph {number}</p>\n" for number in range(400))
INTERRUPTED = 130
IDLE = (Script(), (), READY)
STREAMING = (Script(steps=(Final("Some words come. " * 200),), pace=DRIP), ("Go.",), "words come")
CALLING = (Script(steps=(WriteFile("page.html", PAGE), Final("Ready.")), pace=DRIP), ("Go.",), r"page\.html \d")
ASKING = (Script(steps=(WriteFile("page.html", PAGE), Final("Ready."))), ("Go.",), r"\[y\]es")
RUNNING = (
    Script(steps=(Call("shell", {"command": "echo begun; sleep 60; touch ended"}), Final("Done."))),
    ("--approve", "auto", "Go."),
    "begun",
)
PHASES = {"idle": IDLE, "streaming": STREAMING, "in a call": CALLING, "asking": ASKING, "running": RUNNING}


def kept(home):
    """Return what a session has of the last reply, once whoever had it has let it go."""

    async def look():
        sessions = Sessions(open_store(f"sqlite:{home.folder}/headway.db"))
        try:
            session = await sessions.resume(sessions.list(str(home.work))[0].id)
            await session.close()
            return session.state.messages[-1].text
        finally:
            sessions.close()

    return asyncio.run(look())


@pytest.mark.parametrize("phase", PHASES)
def test_a_window_that_is_closed_ends_the_chat_in_every_phase(tmp_path, phase):
    script, arguments, sign = PHASES[phase]
    with at_home(tmp_path, script) as home, Window(home.command(*arguments), home.environment()) as window:
        window.sees(sign)
        window.close()
        assert window.ends() == INTERRUPTED
        assert list(home.work.iterdir()) == [], "nothing half-received was written, and what ran is stopped"
        if phase == "streaming":
            assert kept(home).startswith("Some words come.")


def test_a_keyboard_that_fails_ends_the_chat_although_its_screen_is_still_there(tmp_path):
    """As when the shell above is killed: another job has the terminal, and reading from it is an error for ever."""
    ours, theirs = pty.openpty()
    try:
        with at_home(tmp_path, Script()) as home, Window(home.command(), home.environment(), stdin=ours) as window:
            window.sees(READY)
            os.close(theirs)
            assert window.ends() == INTERRUPTED
    finally:
        os.close(ours)


def test_a_dumb_terminal_that_goes_away_ends_the_chat_too(tmp_path):
    script, arguments, sign = RUNNING
    with at_home(tmp_path, script) as home:
        with Window(home.command(*arguments), home.environment(TERM="dumb")) as window:
            window.sees(sign)
            window.close()
            assert window.ends() == INTERRUPTED
        assert list(home.work.iterdir()) == []
