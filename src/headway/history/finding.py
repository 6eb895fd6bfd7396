"""What rules say: a finding is the index of a message, or none for the request, and a sentence about it."""

from collections.abc import Callable, Iterator
from typing import TypeAlias

from headway.dialect import Dialect
from headway.history.survey import Survey
from headway.messages import Opaque

Finding: TypeAlias = tuple[int | None, str]
Rule: TypeAlias = Callable[[Survey, Dialect], Iterator[Finding]]

_SHOWN = 60


def quoted(text: str) -> str:
    """Return words of a stranger, short enough for one line and with nothing in them that moves a cursor."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")


def kind_of(opaque: Opaque) -> str:
    """Return what a part that only its wire knows calls itself, quoted."""
    value = opaque.raw.value
    return quoted(str(value.get("type") or next(iter(value), "nothing")))
