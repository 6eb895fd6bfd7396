"""What one day of a world was like, and what can be read from it."""

from typing import Any

from msgspec import Struct

from headway.agent.happenings import Done, Ending
from headway.events import TextDelta
from headway.messages import Message
from headway.recovery.ledger import Strategy
from headway.sim.exchange import Exchange
from headway.turn import notices
from support.worlds import Day, World


class Account(Struct, kw_only=True):
    """What one day was like, for the judge."""

    day: Day
    ending: Ending | None
    """None: the user or the machine put an end to it."""
    heard: list[tuple[float, Any]]
    """What the user saw, and when."""
    exchanges: list[list[Exchange]]
    """The requests that each upstream got."""
    messages: tuple[Message, ...]
    """What the day added to the conversation."""
    process: int
    """How many processes there have been; a new one has forgotten what the last one learnt."""
    began_at: float
    upset_at: float | None
    ended_at: float


def struck(account: Account) -> set[str]:
    """Return the faults that struck that day."""
    return {name for log in account.exchanges for one in log for name in one.faults}


def forgot(account: Account) -> bool:
    """Say whether a part of the conversation was left out that day, because it had grown too long for somebody."""
    shorter = {Strategy.COMPACT, Strategy.SHORTEN}
    return any(isinstance(item, notices.TryingAgain) and item.strategy in shorter for _, item in account.heard)


def replies(account: Account) -> list[str]:
    """Return the words of each reply as the user saw them; what was withdrawn does not count."""
    found = [""]
    for _, item in account.heard:
        match item:
            case TextDelta(text=text):
                found[-1] += text
            case notices.Withdrawn():
                found[-1] = ""
            case notices.Asking(number=1):
                found.append("")
            case _:
                pass
    return found


def says_everything(world: World, account: Account) -> bool:
    """Say whether the model has nothing left to do."""
    return isinstance(account.ending, Done) and account.ending.text == world.script.afterwards
