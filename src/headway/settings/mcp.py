"""Entries of [mcp] to servers: checked where they are written, opened when they are needed.

A server of the file in a project's folder is not started before a person has said so: whoever wrote that file could
otherwise run a program, or have a key, on every machine that the project is copied to.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from headway.agent.mcp.spec import ServerSpec, Trust
from headway.agent.redaction import has_shape
from headway.agent.tools.environment import secrets_of, without_secrets
from headway.failure import InvalidInput
from headway.providers.secret import Secret
from headway.settings.layers import Layer
from headway.settings.references import Keychain, anchored, check_reference
from headway.settings.schema import McpEntry
from headway.transport.errors import TransportFailed
from headway.transport.message import target_of

_NAME = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9-]|_(?=[a-zA-Z0-9-])){0,31}")
"""Ends before the first `__` of a tool's name, so that two servers never share a tool."""
_REFERENCE = re.compile(r"(?:([A-Za-z][\w-]*) )?((?:env|file|keyring):.+)", re.DOTALL)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_KEY_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"})
_OURS = frozenset({"accept", "content-type", "content-length", "host", "transfer-encoding", "connection"})
_HARMLESS = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TEMP|TMP|TERM|XDG_\w+|(?:https?|all|no)_proxy"
    r"|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE|npm_config_\w+|UV_\w+|PIP_\w+|VIRTUAL_ENV"
    r"|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE|PATHEXT|COMSPEC|PROGRAMFILES",
    re.IGNORECASE,
)
"""What programs need to find themselves, their interpreter, the network and the user's language."""


class Value(Struct, frozen=True):
    """A value of `env` or `headers`: plain, or a secret by reference, with a word such as `Bearer` before it."""

    before: str
    reference: str
    plain: str = ""

    def opened(self, keychain: Keychain) -> tuple[str, Secret | None]:
        """Return the value, and the secret in it."""
        if not self.reference:
            return self.plain, None
        secret = keychain.open(self.reference)
        return f"{self.before}{secret.reveal()}", secret


def value_of(text: str) -> Value:
    """Read a value as people write it."""
    found = _REFERENCE.fullmatch(text.strip())
    if found is None:
        return Value("", "", text)
    return Value(f"{found[1]} " if found[1] else "", found[2])


def references_in(entry: McpEntry) -> list[str]:
    """Return the references to secrets that an entry holds."""
    values = map(value_of, (*entry.env.values(), *entry.headers.values()))
    return [value.reference for value in values if value.reference]


def checked_server(name: str, entry: McpEntry, table: dict[str, Any], layer: Layer) -> dict[str, Any]:
    """Return the table of an entry that is right by itself, its relative paths made whole."""
    place = f"{layer.origin}: mcp.{name[:80]}"
    if not _NAME.fullmatch(name):
        hint = "Use letters, digits, - and single _, at most 32: it becomes part of its tools' names."
        raise InvalidInput(place, "no server can be called that", hint)
    if bool(entry.command) == bool(entry.url):
        why = "it has both a command and a url" if entry.url else "it has neither a command nor a url"
        raise InvalidInput(place, why, 'Write command = ["program", "argument"], or url = "https://…".')
    _check_way(entry, place)
    for key, values in (("env", entry.env), ("headers", entry.headers)):
        for one, value in values.items():
            _check_value(key, one, value, f"{place}.{key}.{one[:80]}")
    whole = dict(table)
    if entry.cwd:
        whole["cwd"] = str(layer.folder / Path(entry.cwd).expanduser())
    for key, values in (("env", entry.env), ("headers", entry.headers)):
        if values:
            whole[key] = {one: _anchored(value, layer.folder) for one, value in values.items()}
    return whole


def spec_of(name: str, entry: McpEntry, workspace: Path, environ: Mapping[str, str], keychain: Keychain) -> ServerSpec:
    """Return a server with its secrets open; raises `InvalidInput` when one of them is not there."""
    secrets: dict[str, Secret] = {}

    def opened(values: Mapping[str, str]) -> dict[str, str]:
        found = {}
        for one, value in values.items():
            found[one], secret = value_of(value).opened(keychain)
            if secret is not None:
                secrets[secret.name] = secret
        return found

    harmless = {one: value for one, value in environ.items() if _HARMLESS.fullmatch(one)}
    return ServerSpec(
        name,
        entry.command,
        {**without_secrets(harmless), **opened(entry.env)},
        Path(entry.cwd) if entry.cwd else workspace,
        entry.url,
        tuple(opened(entry.headers).items()),
        secrets,
        entry.tools,
        Trust(entry.kind),
        entry.seconds,
        entry.start_seconds,
    )


def _check_way(entry: McpEntry, place: str) -> None:
    if entry.command and not entry.command[0].strip():
        raise InvalidInput(f"{place}.command", "it names no program", 'Write command = ["program", "argument"].')
    for at, word in enumerate(entry.command):
        if has_shape(word):
            hint = "Give it as a variable, by env; everybody on this machine sees the arguments of a program."
            raise InvalidInput(f"{place}.command[{at}]", "a key must not be written out here", hint)
    if entry.url:
        try:
            target_of(entry.url)
        except TransportFailed as failed:
            raise InvalidInput(f"{place}.url", failed.detail, 'Write url = "https://host/mcp".') from None
    useless = "headers" if entry.command and entry.headers else "env" if entry.url and entry.env else ""
    if useless:
        raise InvalidInput(f"{place}.{useless}", "this kind of server has none", "Leave it out.")


def _check_value(key: str, name: str, text: str, place: str) -> None:
    if not (_VARIABLE if key == "env" else _HEADER).fullmatch(name) or name.lower() in _OURS:
        raise InvalidInput(place, "it cannot be set", "Use another name." if key == "env" else "Leave it out.")
    value = value_of(text)
    if value.reference:
        check_reference(value.reference, place)
        if value.before and key == "env":
            raise InvalidInput(place, "only a header has a word before its key", f'Write "{value.reference}".')
        return
    is_key = name.lower() in _KEY_HEADERS or has_shape(text) or secrets_of({name.replace("-", "_"): text})
    if is_key and text:
        check_reference(text, place, name.upper().replace("-", "_"))


def _anchored(text: str, folder: Path) -> str:
    value = value_of(text)
    return f"{value.before}{anchored(value.reference, folder)}" if value.reference else text
