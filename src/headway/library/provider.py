"""Providers said in code: one line each, with their keys, which are never shown."""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct, structs

from headway.failure import InvalidInput
from headway.messages import WireName
from headway.providers.secret import Secret
from headway.settings.loading import Code
from headway.settings.references import KINDS
from headway.settings.schema import Limits


class Provider:
    """Somebody to ask: a provider that Headway knows by its name, or a wire and an address.

    `key` is the key itself, or a reference (`env:NAME`, `file:PATH`, `keyring:NAME`), or several of either, used in
    turn; without it, the provider's usual variable counts. `more` are the other settings of a `[providers.NAME]` table.
    """

    __slots__ = ("_references", "model", "name", "secrets", "table")

    def __init__(
        self,
        name: str,
        *,
        model: str = "",
        key: str | Sequence[str] | None = None,
        wire: WireName | None = None,
        base_url: str = "",
        **more: Any,
    ) -> None:
        """Take what is said; whether it can be asked is found out by the client."""
        if not name or "/" in name:
            raise InvalidInput(f"the provider {name!r}", "its name is empty or has a slash", "Call it something else.")
        self.name, self.model = name, model
        self._references, self.secrets = _keys(name, key)
        said = {"wire": wire, "base_url": base_url or None, "keys": self._references, **more}
        self.table = {field: _plain(value) for field, value in said.items() if value is not None}
        """What was said, in the words of a settings file."""

    @property
    def link(self) -> str:
        """Return how a chain names it."""
        return f"{self.name}/{self.model}" if self.model else self.name

    def __repr__(self) -> str:
        base_url = self.table.get("base_url", "")
        place = f" at {urlsplit(base_url).hostname}" if base_url else ""
        count = len(self._references or ())
        keys = "" if self._references is None else f", {count} {'key' if count == 1 else 'keys'}"
        return f"<Provider {self.link}{place}{keys}>"


def code_of(chain: Sequence[Provider | str], limits: Limits | None) -> Code | None:
    """Return what a program says, in the words of a settings file; None when it says nothing."""
    table: dict[str, Any] = {}
    said: dict[str, Provider] = {}
    for one in chain:
        if isinstance(one, Provider):
            _refuse_another_of_that_name(one, said.setdefault(one.name, one))
    if chain:
        table["providers"] = {name: one.table for name, one in said.items()}
        table["routes"] = {"default": {"chain": [one if isinstance(one, str) else one.link for one in chain]}}
    if limits is not None:
        table["limits"] = _said(limits)
    secrets = {name: secret for one in said.values() for name, secret in one.secrets.items()}
    return Code(table, secrets) if table else None


def _refuse_another_of_that_name(one: Provider, first: Provider) -> None:
    """Refuse a second provider of one name, unless it differs only in its model."""
    if (one.table, one.secrets) != (first.table, first.secrets):
        hint = "Give one of them another name."
        raise InvalidInput(f"the provider {one.name!r}", "it is in the chain twice, and not the same", hint)


def _keys(name: str, key: str | Sequence[str] | None) -> tuple[list[str] | None, dict[str, Secret]]:
    """Return references to all keys, and those keys that a program gave themselves."""
    if key is None:
        return None, {}
    references: list[str] = []
    secrets: dict[str, Secret] = {}
    for one in [key] if isinstance(key, str) else key:
        value = one.strip()
        if not value:
            hint = "Leave it out to use the usual variable; key=() asks without one."
            raise InvalidInput(f"the key of {name!r}", "it is empty", hint)
        if not (value.isprintable() and value.isascii()):
            raise InvalidInput(f"the key of {name!r}", "it holds more than a key: several lines or odd characters")
        kind, colon, _ = value.partition(":")
        if colon and kind in KINDS:
            references.append(value)
        else:
            references.append(f"given:{name}/{len(secrets) + 1}")
            secrets[references[-1]] = Secret(value, references[-1])
    return references, secrets


def _plain(value: Any) -> Any:
    return _said(value) if isinstance(value, Struct) else dict(value) if isinstance(value, Mapping) else value


def _said(table: Struct) -> dict[str, Any]:
    """Return what was set in a table, without what was left as it is."""
    silent = type(table)()
    return {name: value for name, value in structs.asdict(table).items() if value != getattr(silent, name)}
