"""A talk at a screen, from its first line to its last: what is put together, and who may end it."""

import asyncio
import signal

from headway import __version__
from headway.cli.chat.commands import names
from headway.cli.chat.completing import Suggestion, suggestions
from headway.cli.chat.conversation import Conversation
from headway.cli.chat.keys import input_buffer, keys
from headway.cli.chat.pasting import Pastes
from headway.cli.chat.recalling import Recalled
from headway.cli.chat.screen import Screen
from headway.cli.chat.session_acts import recap
from headway.cli.chat.talk import Talk
from headway.cli.chat.view import View
from headway.cli.lines import RunStatus
from headway.cli.terminal import Terminal

HISTORY = "chat_history.jsonl"


async def at_screen(conversation: Conversation, terminal: Terminal, prompt: str, *, is_resumed: bool) -> RunStatus:
    """Talk until somebody leaves; a signal leaves too, and is told by the status."""
    around, loop = conversation.loaded.around, asyncio.get_running_loop()

    def suggest(before: str) -> list[Suggestion]:
        return suggestions(before, conversation.folder, names)

    recalled = Recalled(around.data_folder / HISTORY)
    screen = Screen(terminal, around.environ, input_buffer(recalled, suggest))
    view = View(screen, terminal, conversation.workspace, loop.time)
    talk = Talk(conversation, view, screen, Pastes())
    screen.build(talk, keys(talk, recalled))
    screen.buffer.on_text_changed += lambda _: talk.questions.typing.pressed()
    status = RunStatus.DONE

    def end() -> None:
        nonlocal status
        status = RunStatus.INTERRUPTED
        talk.leave()

    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end)
    loop.add_signal_handler(signal.SIGINT, talk.stop)
    _greet(talk, is_resumed=is_resumed)
    try:
        await talk.run(prompt)
    except EOFError:  # the terminal is gone
        status = RunStatus.INTERRUPTED
    return status


def _greet(talk: Talk, *, is_resumed: bool) -> None:
    conversation, view = talk.conversation, talk.view
    chain = " → ".join(link.name for link in conversation.plan.chain)
    view.say(f"headway {__version__} · {chain} · {conversation.folder} · /help", "dim")
    for notice in conversation.plan.notices:
        view.say(notice, "warn")
    if conversation.held.trouble is not None:
        view.say(f"nothing of this is kept: {conversation.held.trouble.happened}", "warn")
    view.gap()
    if is_resumed:
        recap(talk)
