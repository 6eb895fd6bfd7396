"""A large file to be written, the models that write it, and what they were told on the way."""

import pytest

from headway.messages import Text
from headway.recovery.ledger import Policy, Strategy
from headway.sim.exchange import Exchange
from headway.sim.manners import MANNERS
from headway.sim.script import Final, Habits, Pace, Script, WriteFile

PAGE = "".join(f"Line {number} of the page: {number * 7919 % 10_007}.\n" for number in range(800))
WRITING = Script(
    prompt="Write page.html.",
    steps=(WriteFile("page.html", PAGE), Final("The page is ready.")),
    pace=Pace(characters=150),
)
STUBBORN = Habits(uses_drafts=False, obeys_sizes=False)
"""A model that sends the same huge call again, whatever it is told."""
NO_DRAFTS = Policy(forbidden=frozenset({Strategy.CONTINUE_DRAFT}))
EITHER_WAY = pytest.mark.parametrize("policy", [Policy(), NO_DRAFTS], ids=["drafts", "no_drafts"])


def told(wire: str, exchange: Exchange) -> list[str]:
    """Return everything that users say in a request, a text at a time; the guidance comes last."""
    request = MANNERS[wire].wire.parse_request(exchange.body)
    users = (message for message in request.messages if message.role == "user")
    return [part.text for message in users for part in message.parts if isinstance(part, Text)]


def offered(wire: str, exchange: Exchange) -> set[str]:
    """Return the names of the tools that a request offers."""
    return {tool.name for tool in MANNERS[wire].wire.parse_request(exchange.body).tools}
