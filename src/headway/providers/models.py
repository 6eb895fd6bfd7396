"""What is known about a model: how much it takes and gives, what it can, what it costs. One bundled file, read once.

A model the file does not know is taken for one of the same name elsewhere, then for one of its kind, then for an
ordinary one; `source` says which. Facts are for planning. What a provider answers counts for more.
"""

import re
from enum import Enum
from functools import cache
from importlib.resources import files

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from headway.events import Usage
from headway.providers.kinds import KINDS

PER_MILLION = 1_000_000
LOCAL_CONTEXT = 32_768
"""What a server of one's own is taken to have room for, as long as nobody says otherwise."""


class Source(Enum):
    """How sure the facts are."""

    SET = "the settings"
    LISTED = "the list of models"
    ALIKE = "a model of the same name elsewhere"
    GUESSED = "its name"


class Price(Struct, frozen=True, array_like=True):
    """Dollars for a million tokens, for requests whose input has at least `from_tokens`."""

    from_tokens: int
    input: float
    output: float
    cache_read: float | None = None
    cache_write: float | None = None


class ModelFacts(Struct, frozen=True):
    """One model, as far as a request to it must know."""

    context: int = 128_000
    output_limit: int = 8_192
    reasoning: bool = False
    images: bool = True
    """Unknown counts as yes: a refusal can be read, a picture left out in silence cannot."""
    tools: bool = True
    prefill: bool = False
    """Can it go on from assistant text?"""
    prices: tuple[Price, ...] = ()
    """By length of the input, shortest first; none when nobody knows."""
    source: Source = Source.GUESSED


FREE = (Price(0, 0.0, 0.0),)


class _Row(Struct, frozen=True, array_like=True):
    """A line of the file; a letter for each ability."""

    context: int
    output_limit: int
    abilities: str
    prices: tuple[Price, ...]


class _File(Struct, frozen=True):
    made_from: str
    vendors: dict[str, dict[str, _Row]]


def facts_for(vendor: str, model: str, *, local: bool = False) -> ModelFacts:
    """Return what is known about a vendor's model; total."""
    listed = _listed().vendors.get(vendor, {}).get(model)
    alike = _by_name().get(_plain(model)) if listed is None else None
    if listed is not None:
        facts = _facts(listed, Source.LISTED)
    elif alike is not None:
        facts = _facts(alike, Source.ALIKE)
    else:
        facts = _guessed(model, local=local)
    return replace(facts, prices=FREE) if local else facts


def cost(facts: ModelFacts, usage: Usage) -> float | None:
    """Return what was used in dollars; None when the price is not known."""
    price = next((price for price in reversed(facts.prices) if usage.input_tokens >= price.from_tokens), None)
    if price is None:
        return None
    read, written = max(0, usage.cache_read_tokens), max(0, usage.cache_write_tokens)
    fresh = max(0, usage.input_tokens - read - written)
    spent = fresh * price.input + max(0, usage.output_tokens) * price.output
    spent += read * (price.input if price.cache_read is None else price.cache_read)
    spent += written * (price.input if price.cache_write is None else price.cache_write)
    return spent / PER_MILLION


def is_listed(vendor: str, model: str) -> bool:
    """Say whether the file has this very model."""
    return model in _listed().vendors.get(vendor, {})


def models_of(vendor: str) -> tuple[str, ...]:
    """Return the models of a vendor that the file has; those that can use tools first, as the file has them."""
    rows = _listed().vendors.get(vendor, {})
    return tuple(sorted(rows, key=lambda name: "t" not in rows[name].abilities))


def _facts(row: _Row, source: Source) -> ModelFacts:
    return ModelFacts(
        context=row.context,
        output_limit=row.output_limit,
        reasoning="r" in row.abilities,
        images="i" in row.abilities,
        tools="t" in row.abilities,
        prefill="p" in row.abilities,
        prices=row.prices,
        source=source,
    )


def _guessed(model: str, *, local: bool) -> ModelFacts:
    name = _plain(model)
    kind = next((kind for kind in KINDS if kind.names.search(name)), None)
    if kind is None:
        return ModelFacts(context=LOCAL_CONTEXT) if local else ModelFacts()
    context = min(kind.context, LOCAL_CONTEXT) if local else kind.context
    return ModelFacts(context, min(kind.output_limit, context // 2), reasoning=kind.reasoning)


_AFTER_THE_NAME = re.compile(r"(?:-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|-preview|:free|:beta|@.*)+$")


def _plain(model: str) -> str:
    """Return a name as everybody would write it: without its maker, its date and its punctuation."""
    return _AFTER_THE_NAME.sub("", model[:200].lower().rpartition("/")[2]).replace(".", "-").replace("_", "-")


@cache
def _listed() -> _File:
    data = files("headway.providers").joinpath("models.json").read_bytes()
    return msgspec.json.decode(data, type=_File)


@cache
def _by_name() -> dict[str, _Row]:
    """Return all models by plain name; makers stand before those who resell, so the maker's row is the one."""
    found: dict[str, _Row] = {}
    for rows in _listed().vendors.values():
        for name, row in rows.items():
            found.setdefault(_plain(name), row)
    return found
