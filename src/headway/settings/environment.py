"""The environment as a layer of settings: HEADWAY_LIMITS_SILENCE_SECONDS stands for limits.silence_seconds, and so on.

Only the tables with fixed names have such variables. Providers and their keys come from the usual variables of each.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from headway.failure import InvalidInput
from headway.settings.layers import From, Layer, Origin
from headway.settings.places import Surroundings
from headway.settings.reading import closest, is_list, is_text
from headway.settings.schema import Agent, Gateway, Limits, Store

PREFIX = "HEADWAY_"
_SECTIONS: dict[str, type[Struct]] = {"limits": Limits, "gateway": Gateway, "store": Store, "agent": Agent}


def variables() -> dict[str, tuple[str, str, Any]]:
    """Return every variable with the table, the key and the type it stands for."""
    return {
        f"{PREFIX}{section}_{field.name}".upper(): (section, field.name, field.type)
        for section, kind in _SECTIONS.items()
        for field in msgspec.structs.fields(kind)
    }


def environment_layers(around: Surroundings) -> tuple[Layer, ...]:
    """Return a layer for each variable that is set, so that errors and origins can name it."""
    known = variables()
    layers = []
    for name, text in _ours(around.environ).items():
        if name not in known:
            near = closest(name, (other.lower() for other in known))
            hint = f"Did you mean {near.upper()}?" if near else ""
            raise InvalidInput(f"the variable {name}", "there is no such setting", hint)
        section, key, kind = known[name]
        value = _value(text, kind)
        layers.append(Layer(Origin(From.ENVIRONMENT, name), {section: {key: value}}, around.folder))
    return tuple(layers)


def _ours(environ: Mapping[str, str]) -> dict[str, str]:
    starts = tuple(f"{PREFIX}{section}_".upper() for section in _SECTIONS)
    return {name: text.strip() for name, text in environ.items() if name.startswith(starts) and text.strip()}


def _value(text: str, kind: Any) -> Any:
    """Read a variable's text as what the setting may be; whether it is right is for the reader of settings to say."""
    if is_text(kind):
        return text
    if is_list(kind):
        return [part.strip() for part in text.split(",") if part.strip()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)
