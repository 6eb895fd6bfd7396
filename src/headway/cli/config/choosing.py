"""What somebody chose, as settings. Pure: no question is asked here, and nothing is written."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import Struct

from headway.failure import InvalidInput
from headway.providers.catalog import Provider
from headway.providers.models import models_of
from headway.providers.presets import PRESETS
from headway.settings.reading import closest

SIMULATOR = "sim"
SIMULATED_URL = "http://127.0.0.1:8321/v1"
SIMULATED_MODEL = "simulated"
MOST_SHOWN = 8


class Chosen(Struct, frozen=True):
    """One provider of the chain."""

    provider: str
    model: str
    keys: tuple[str, ...] = ()
    """References; none where none is wanted."""
    base_url: str = ""


def tables_of(chain: Sequence[Chosen]) -> dict[str, Any]:
    """Return the settings that ask these, in this order."""
    providers: dict[str, Any] = {}
    for one in chain:
        entry = {"keys": list(one.keys), "base_url": one.base_url}
        if one.provider == SIMULATOR:
            entry = {"wire": "chat", "base_url": one.base_url or SIMULATED_URL, "keys": []}
        written = {key: value for key, value in entry.items() if value or one.provider == SIMULATOR}
        providers.setdefault(one.provider, written)
    names = [f"{one.provider}/{one.model}" for one in chain]
    return {"providers": providers, "routes": {"default": {"chain": names}}}


def preset_called(name: str) -> Provider | None:
    """Return the preset of a name; None for the simulator. Raises `InvalidInput` for a name that nobody knows."""
    if name == SIMULATOR:
        return None
    if name in PRESETS:
        return PRESETS[name]
    near = closest(name, (*PRESETS, SIMULATOR))
    hint = f"Did you mean {near!r}?" if near else f"Known: {', '.join(PRESETS)}, {SIMULATOR}."
    raise InvalidInput(f"the provider {name[:80]!r}", "there is no preset of that name", hint)


def with_keys(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the providers whose usual key is in the environment, with its variable; each key once."""
    found: dict[str, str] = {}
    for preset in PRESETS.values():
        variable = key_variable(preset, environ)
        if variable and environ.get(variable, "").strip() and preset.base_url and variable not in found.values():
            found[preset.name] = variable
    return found


def key_variable(preset: Provider, environ: Mapping[str, str]) -> str:
    """Return the variable that holds the provider's key, or would; empty where no key is wanted."""
    names = [variable.name for variable in preset.key_variables]
    return next((name for name in names if environ.get(name, "").strip()), names[0] if names else "")


def usual_model(preset: Provider | None) -> str:
    """Return the model that most people would take; empty where nobody can know, as of servers of one's own."""
    return SIMULATED_MODEL if preset is None else preset.model


def some_models(preset: Provider) -> tuple[str, ...]:
    """Return a few of its models: the usual one, and those that are called like it; none where there is no usual."""
    return tuple(get_close_matches(preset.model, models_of(preset.vendor), MOST_SHOWN, cutoff=0.1))
