"""Slash commands: a table of data, and how a line is matched with it. What they do is in `acts`."""

from collections.abc import Awaitable, Callable, Sequence
from difflib import get_close_matches
from typing import Protocol, TypeAlias

from msgspec import Struct

from headway.agent.approval import Mode
from headway.cli.chat import acts, session_acts
from headway.cli.chat.conversation import Conversation
from headway.cli.chat.doctor_act import doctor
from headway.cli.chat.view import View
from headway.cli.chat.waiting import Waiting
from headway.cli.terminal import fit
from headway.failure import InvalidInput


class Surface(Protocol):
    """Where a command acts: the conversation, what it is shown on, and what else can be done there."""

    conversation: Conversation
    view: View
    waiting: Waiting
    """Messages and commands that are sent when the turn is over."""

    def set_mode(self, mode: Mode) -> None:
        """Switch to a mode."""

    def leave(self) -> None:
        """End the talk."""


Act: TypeAlias = Callable[[Surface, str], Awaitable[None]]


class Takes(Struct, frozen=True):
    """What may stand behind the name of a command."""

    shown: str
    """As people write it."""
    fits: Callable[[str], bool]


def _is_number(given: str) -> bool:
    return not given or (given.isdecimal() and len(given) < LONGEST_NUMBER)


def _is_one_word(given: str) -> bool:
    return len(given.split()) < 2  # or none


def _is_anything(_: str) -> bool:
    return True


LONGEST_NUMBER = 10
NOTHING = Takes("", lambda given: not given)
NUMBER = Takes("[N]", _is_number)
CLEAR = Takes("[clear]", lambda given: given in {"", "clear"})
MODE = Takes("[mode]", _is_one_word)
ROUTE = Takes("[name]", _is_one_word)
MODEL = Takes("[provider/model]", _is_one_word)
SESSION = Takes("ID", _is_one_word)
TITLE = Takes("TITLE", _is_anything)
PROVIDERS = Takes("[provider]", _is_anything)


class Command(Struct, frozen=True):
    """One command."""

    name: str
    about: str
    act: Act
    takes: Takes = NOTHING
    at_once: bool = True
    """May it act while a turn goes on? Otherwise it waits for the end of it."""


async def _help(surface: Surface, _: str) -> None:
    """Show what there is."""
    view = surface.view
    for one in TABLE:
        view.say(f"  {f'{one.name} {one.takes.shown}'.strip():<24} {one.about}", hang=27)
    view.gap()
    for keys, about in KEYS:
        view.say(f"  {keys:<24} {about}", hang=27)
    view.gap()


TABLE: tuple[Command, ...] = (
    Command("/help", "what there is", _help),
    Command("/model", "say who is asked, or ask another model", acts.model, MODEL),
    Command("/route", "list the routes of the settings, or take another one", acts.route, ROUTE),
    Command("/mode", "what may happen without asking: ask, edits, plan, auto", acts.mode, MODE),
    Command("/clear", "begin anew; this session is kept", session_acts.clear, at_once=False),
    Command("/compact", "have the older part summed up", acts.compact, at_once=False),
    Command("/cost", "tokens and dollars, salvaged and wasted", acts.cost),
    Command("/undo", "take the last change of a file back, or change N", acts.undo, NUMBER, at_once=False),
    Command("/diff", "what the session has changed, or change N", acts.diff, NUMBER),
    Command("/show", "the last result in full, or the one before it: /show 2", acts.show, NUMBER),
    Command("/queue", "the messages that wait, or forget them", acts.queue, CLEAR),
    Command("/sessions", "the sessions of this folder", session_acts.sessions),
    Command("/resume", "go on with another session", session_acts.resume, SESSION, at_once=False),
    Command("/fork", "go on in a copy of this session", session_acts.fork, at_once=False),
    Command("/rename", "give this session a title", session_acts.rename, TITLE, at_once=False),
    Command("/drafts", "a cut call that is kept, and how far it came", acts.drafts),
    Command("/status", "session, route, limits, health", acts.status),
    Command("/doctor", "settings, keys, providers, store, sandbox", doctor, PROVIDERS, at_once=False),
    Command("/quit", "leave", acts.leave),
)
ESCAPED = "a message that begins with a slash is written with two"
SHOWN = 60
KEYS = (
    ("Enter", "send; while an answer streams, queue; empty: send what is held"),
    ("Alt-Enter, \\ Enter", "a new line"),
    ("Esc, Ctrl-C", "stop the turn and keep what came; twice: leave"),
    ("Shift-Tab", "the next mode"),
    ("↑", "the message before, or the last one of the queue"),
    ("@path, Tab", "complete a path or a command"),
)


def names() -> Sequence[tuple[str, str]]:
    """Return the names of the commands and what they are about, for completion."""
    return [(one.name, one.about) for one in TABLE]


def is_command(words: str) -> bool:
    """Say whether a line is a command; words that begin with a slash are written with two."""
    return words.startswith("/") and not words.startswith("//")


def read(words: str) -> tuple[Command, str]:
    """Return the command of a line and its argument; the beginning of a name is enough if no other begins so."""
    name, *behind = words.split(maxsplit=1)
    exact = [one for one in TABLE if one.name == name]
    found = exact or [one for one in TABLE if one.name.startswith(name)]
    if len(found) == 1:
        return found[0], _fitting(found[0], behind[0].strip() if behind else "")
    near = [one.name for one in found] or get_close_matches(name, [one.name for one in TABLE], 2) or ["/help"]
    raise InvalidInput(name, "is no command", f"Try {' or '.join(near)}; {ESCAPED}")


def _fitting(command: Command, given: str) -> str:
    """Return what stands behind the name of a command, if it takes that."""
    name, takes = command.name, command.takes
    if takes.fits(given):
        return given
    what = f"it is written as {name} {takes.shown}" if takes.shown else "it takes nothing behind it"
    raise InvalidInput(name, f"{what}; with “{fit(given, SHOWN)}” nothing was done", ESCAPED.capitalize())
