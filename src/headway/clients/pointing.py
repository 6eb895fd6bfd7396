"""How a client is pointed at the gateway: the variables, arguments and files that make its doors ours. Pure."""

import json
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from msgspec import Struct

from headway.clients.client import Client, Door, File

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PROXY_EXCEPTIONS = ("NO_PROXY", "no_proxy")
_PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")


class Doorway(Struct, frozen=True):
    """Where a door of a client leads now."""

    door: Door
    base: str
    key: str | None = None
    """The key that opens it; None: the client goes on showing its own."""

    def __repr__(self) -> str:  # the key opens the gateway
        return f"Doorway({self.door.provider!r}, {self.base!r})"


class Pointed(Struct, frozen=True):
    """What a client is started with."""

    environment: dict[str, str]
    """All of it."""
    arguments: tuple[str, ...]
    """What stands before its own."""
    file: File | None = None
    """A file that must be there, at the path that was given."""

    def __repr__(self) -> str:  # variables hold keys
        return f"Pointed({len(self.environment)} variables, {self.arguments!r})"


def pointed(client: Client, doorways: Sequence[Doorway], environ: Mapping[str, str], file_path: str = "") -> Pointed:
    """Return what to start a client with, from what it would have been started with."""
    environment = dict(environ)
    arguments = [_filled(argument, "", "", file_path) for argument in client.arguments] if doorways else []
    settings: dict[str, Any] = {}
    for doorway in doorways:
        door, key = doorway.door, doorway.key
        if key is not None:
            for name in door.clears:
                environment.pop(name, None)
        for name, template in door.environment.items():
            if key is not None or "$key" not in template:
                environment[name] = _filled(template, doorway.base, key or "", file_path)
        chosen = door.own_key_arguments if key is None and door.own_key_arguments is not None else door.arguments
        arguments += [_filled(argument, doorway.base, key or "", file_path) for argument in chosen]
        settings = _merged(settings, _filled_tree(door.settings, doorway))
    if client.settings_variable and settings:
        own = _json_object(environ.get(client.settings_variable, ""))
        environment[client.settings_variable] = json.dumps(_merged(own, settings))
    return Pointed(_past_proxies(environment), tuple(arguments), client.file if doorways else None)


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that differ."""
    return {name: value for name, value in after.items() if before.get(name) != value}


def _filled(template: str, base: str, key: str, file_path: str = "") -> str:
    return Template(template).safe_substitute(base=base, key=key, file=file_path)


def _filled_tree(value: Any, doorway: Doorway) -> Any:
    """Fill in a piece of settings; what would name a key that there is not is left out."""
    if isinstance(value, dict):
        return {
            name: _filled_tree(inner, doorway)
            for name, inner in value.items()
            if doorway.key is not None or inner != "$key"
        }
    return _filled(value, doorway.base, doorway.key or "") if isinstance(value, str) else value


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Lay one tree of settings over another."""
    whole = dict(below)
    for name, value in above.items():
        under = whole.get(name)
        whole[name] = _merged(under, value) if isinstance(under, dict) and isinstance(value, dict) else value
    return whole


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text.strip() else {}
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _past_proxies(environment: dict[str, str]) -> dict[str, str]:
    """Keep a client that has a proxy from asking it for what is on this machine."""
    if not any(environment.get(name) for name in _PROXIES):
        return environment
    said = next((environment[name] for name in _PROXY_EXCEPTIONS if environment.get(name)), "")
    names = [name.strip() for name in said.split(",") if name.strip()]
    if "*" not in names:
        said = ",".join(dict.fromkeys((*names, *LOOPBACK)))
    return environment | dict.fromkeys(_PROXY_EXCEPTIONS, said)
