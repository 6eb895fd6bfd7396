"""How many tokens a request has, before anybody has counted them. Pure.

Nobody tells beforehand how a model cuts text into tokens, but every provider tells afterwards how many there were. What
is learnt is how many of the characters that are measured here make one token, for each model; until then, few are taken
to do so, and the request is taken for longer than it is.
"""

from math import ceil

from msgspec import Struct

from headway.history.exchanges import size_of
from headway.messages import ModelRequest, ToolSpec

UNKNOWN = 3.0
"""Characters a token where nobody has counted: fewer than ordinary prose and code have."""
FEWEST, MOST = 0.5, 8.0
"""What is counted outside of these has another reason: pictures, or a provider's own words."""
LEAST_CHARACTERS = 1_000
"""Of a shorter request, too much of what is counted is not ours."""
NEWEST_SHARE = 0.5


class Gauge(Struct, frozen=True):
    """Knows how many characters a token has, by model."""

    known: dict[str, float] = {}

    def after(self, model: str, characters: int, tokens: int) -> "Gauge":
        """Return what is known after a provider has counted the tokens of a request of so many characters."""
        if characters < LEAST_CHARACTERS or tokens <= 0:
            return self
        seen = min(MOST, max(FEWEST, characters / tokens))
        before = self.known.get(model, seen)
        return Gauge({**self.known, model: before + NEWEST_SHARE * (seen - before)})

    def characters_a_token(self, model: str) -> float:
        """Return how many characters make one token."""
        return self.known.get(model, UNKNOWN)

    def tokens(self, model: str, characters: int) -> int:
        """Return how many tokens so many characters are, rather too many than too few."""
        return ceil(max(0, characters) / self.characters_a_token(model))

    def characters(self, model: str, tokens: int) -> int:
        """Return how many characters so many tokens have room for."""
        return int(max(0, tokens) * self.characters_a_token(model))


def request_size(request: ModelRequest) -> int:
    """Return how long a request is, in characters: what is said, what is told besides, and the tools on offer."""
    told = sum(len(text.text) for text in request.system)
    return told + size_of(request.messages) + sum(_tool_size(tool) for tool in request.tools)


def _tool_size(tool: object) -> int:
    if not isinstance(tool, ToolSpec):
        return 0
    schema = str(tool.parameters) if tool.parameters else ""  # about as long as its JSON
    return len(tool.name) + len(tool.description or "") + len(schema)
