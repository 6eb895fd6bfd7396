"""Which behaviours of the requirements a test proves: `@row(18)`, or `@row(14, 16)` for several at once."""

import pytest


def row(*numbers: int) -> pytest.MarkDecorator:
    """Mark a test as the proof of these rows of the table of behaviours."""
    return pytest.mark.row(*numbers)
