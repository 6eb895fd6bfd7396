"""How long a request may become before its conversation is summed up. Pure.

The window of whoever is asked counts, and not that of a smaller one behind: a conversation is not given up for somebody
who may never be asked, and who is asked after all says what there is room for. A part of the window is left for the
reply; some models could write more than there is, so that part is bounded.
"""

from headway.history.measure import Gauge
from headway.turn.endpoint import Endpoint

SHARE = 0.85
"""Of a window; behind it, what is measured and what a provider counts may differ too much."""
USUAL_OUTPUT = 8_192
MOST_OUTPUT_SHARE = 0.3
"""Of that share, for the reply."""


def room_before_overflow(
    endpoint: Endpoint, gauge: Gauge, share: float = SHARE, output_tokens: int | None = None
) -> int | None:
    """Return how many characters a request may have; None if the window is not known.

    `output_tokens` is the cap on the reply, if there is one. A share of 0 knows no bound.
    """
    if endpoint.context is None or not share:
        return None
    tokens = _tokens(endpoint.context * share, output_tokens or endpoint.output_limit)
    return gauge.characters(endpoint.model, tokens)


def _tokens(window: float, output_tokens: int | None) -> int:
    return int(window - min(output_tokens or USUAL_OUTPUT, window * MOST_OUTPUT_SHARE))
