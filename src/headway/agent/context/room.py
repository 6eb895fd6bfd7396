"""How long a request may become before its conversation is summed up. Pure.

Everybody counts who could be asked for the next reply, so that a reply that goes on with another model has room there
too. A part of each window is left for the reply; some models could write more than there is, so that part is bounded.
"""

from collections.abc import Iterable

from headway.history.measure import Gauge
from headway.turn.endpoint import Endpoint

SHARE = 0.85
"""Of a window; behind it, what is measured and what a provider counts may differ too much."""
USUAL_OUTPUT = 8_192
MOST_OUTPUT_SHARE = 0.3
"""Of that share, for the reply."""


def room_before_overflow(
    endpoints: Iterable[Endpoint], gauge: Gauge, share: float = SHARE, output_tokens: int | None = None
) -> int | None:
    """Return how many characters a request may have, where there is the least room; None if nobody's window is known.

    `output_tokens` is the cap on the reply, if there is one. A share of 0 knows no bound.
    """
    rooms = (
        gauge.characters(endpoint.model, _tokens(endpoint.context * share, output_tokens or endpoint.output_limit))
        for endpoint in endpoints
        if endpoint.context is not None and share > 0
    )
    return min(rooms, default=None)


def _tokens(window: float, output_tokens: int | None) -> int:
    return int(window - min(output_tokens or USUAL_OUTPUT, window * MOST_OUTPUT_SHARE))
